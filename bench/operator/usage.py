"""Memory and processor time of a process, as the kernel counts them.

    rss_mb(pid), private_mb(pid), cpu_s(pid), thread_cpu_s(pid)
"""

import collections
import os

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def stat(directory):
    """The name, which may hold spaces, and the fields after it of a process or a thread."""
    with open(f"{directory}/stat", encoding="utf-8", errors="replace") as file:
        before, _, after = file.read().rpartition(")")
    return before.partition("(")[2], after.split()


def fields(pid):
    return stat(f"/proc/{pid}")[1]


def ticks_s(found):
    """In user and kernel mode."""
    return (int(found[11]) + int(found[12])) / TICKS_PER_S


def cpu_s(pid):
    """Of all its threads, also those that have ended."""
    return ticks_s(fields(pid))


def thread_cpu_s(pid):
    """Of the threads that it has now, by their names."""
    taken = collections.Counter()
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            name, found = stat(f"/proc/{pid}/task/{thread}")
        except (FileNotFoundError, ProcessLookupError):  # It has just ended.
            continue
        taken[name] += ticks_s(found)
    return dict(taken)


def rss_mb(pid):
    """10⁶ bytes, as the targets count."""
    return int(fields(pid)[21]) * PAGE_BYTES / 1e6


def told_mb(pid, *names):
    """The sum of these lines of its status."""
    found = {}
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in names:
                found[name] = int(value.split()[0]) * 1024 / 1e6
    if len(found) < len(names):
        raise ValueError(f"/proc/{pid}/status has no {' or '.join(names)}: the process has ended")
    return sum(found.values())


def peak_mb(pid):
    return told_mb(pid, "VmHWM")


def private_mb(pid):
    """What is its own, without the pages of its files, which the kernel may drop."""
    return told_mb(pid, "RssAnon", "RssShmem")
