"""Who runs on this machine, by what it was started with.

    pids = [pid for pid, environ in processes.environments() if b"HOME=/mine" in environ]
"""

import os


# What has processes that outlive this one, while it has them: after Ctrl-C no thread of a test is
# there to end them, and run.py does.
OWNERS = set()


def environments():
    """(pid, its environment as a set of NAME=value) of each process of which that may be read."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                yield int(entry), set(file.read().split(b"\0"))
        except OSError:
            continue
