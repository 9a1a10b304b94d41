"""Waiting for something that another process changes.

    until("the node to be ready", lambda: node_is_ready())
"""

import time

# What takes longer than this hangs: the slowest step takes a tenth of it on two busy cores.
LIMIT_S = 240
# A look is often a run of kubectl, which takes some 50 ms of a core: what takes long is looked at
# less often.
POLL_S, POLL_GROWTH, POLL_MAX_S = 0.2, 1.2, 1


class TookTooLong(AssertionError):
    pass


def until(what, check, limit_s=LIMIT_S, poll_s=None):
    """The first true answer of `check`; with `poll_s` it is asked that often until the end."""
    deadline = time.monotonic() + limit_s
    rest_s = poll_s or POLL_S
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TookTooLong(f"waited {limit_s} s for {what}; the last look said {answer!r}")
        time.sleep(rest_s)
        if poll_s is None:
            rest_s = min(rest_s * POLL_GROWTH, POLL_MAX_S)
