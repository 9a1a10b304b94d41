"""Memory and processor time of a process, as the kernel counts them.

    rss_mb(pid), cpu_s(pid)
"""

import os

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def fields(pid):
    """Those of /proc/PID/stat after the name, which may hold spaces."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def cpu_s(pid):
    """Of all its threads, in user and kernel mode."""
    stat = fields(pid)
    return (int(stat[11]) + int(stat[12])) / TICKS_PER_S


def rss_mb(pid):
    """10⁶ bytes, as the targets count."""
    return int(fields(pid)[21]) * PAGE_BYTES / 1e6


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"/proc/{pid}/status has no VmHWM: the process has ended")
