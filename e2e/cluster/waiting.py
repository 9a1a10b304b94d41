"""Waiting for something that another process changes.

    until("the node to be ready", lambda: node_is_ready())
"""

import time

# What takes longer than this hangs: the slowest step takes a tenth of it on two busy cores.
LIMIT_S = 240
# A look is often a run of kubectl, which takes some 50 ms of a core.
POLL_S = 0.2


class TookTooLong(AssertionError):
    pass


def until(what, check, limit_s=LIMIT_S, poll_s=POLL_S):
    """The first true answer of `check`."""
    deadline = time.monotonic() + limit_s
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TookTooLong(f"waited {limit_s} s for {what}; the last look said {answer!r}")
        time.sleep(poll_s)
