#!/usr/bin/python3
"""Times the page of logs on a job that has written a million lines, in a real browser.

    bench/dashboard/logs.py [--lines 1000000]

Prints one markdown table. Needs `make build`, and `tools/setup/setup.sh` with `kubernetes`,
`packages e2e` and `browser`. The job runs on a cluster of `taas local up` of its own.
"""

import argparse
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "e2e", name) for name in ("cluster", "browser")]

# The folders of these must be known first.
import browser_times
from local_cluster import LocalCluster
from report import ms, show
from waiting import until

JOB = "talker"
AT = f"jobs/default/trainingjobs/{JOB}/logs"
LINE = ".logs-text"
# Short ones: of longer lines the node would keep fewer than a million.
SCRIPT = "seq {lines}; exec sleep 100000"


def job(lines):
    container = {"name": "trainer", "image": "busybox:1.37",
                 "command": ["sh", "-c", SCRIPT.format(lines=lines)]}
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
            "metadata": {"name": JOB, "namespace": "default"},
            "spec": {"roles": {"worker": {
                "replicas": 1, "template": {"spec": {"containers": [container]}}}}}}


def last_line(cluster):
    pods = cluster.kubectl("get", "pods", "-o", "name").split()
    return cluster.kubectl("logs", pods[0], "--tail=1") if pods else ""


def measured(cluster, lines):
    token = cluster.kubectl("config", "view", "--raw", "-o", "jsonpath={.users[0].user.token}")
    with browser_times.Tab(cluster.url, token) as tab:
        first, rest = browser_times.opened(tab, AT, LINE, cold=True)
        again, _ = browser_times.opened(tab, AT, LINE, cold=False)
        loaded = tab.do("press", button="Load all lines", text="Following", gone="Loading")
        shown = int(re.sub(r"\D", "", loaded["said"]))
        if shown < lines:
            raise SystemExit(f"bench: the page has {loaded['said']!r} instead of {lines:,} lines")
        fps, pause = browser_times.frames_per_s(tab, rows=0)
    return [
        ("first visit, nothing cached, until the first lines are painted", ms(first), "≤ 1 s"),
        ("the same: until the page rests", ms(rest), ""),
        ("later visit, until the first lines are painted", ms(again), "≤ 1 s"),
        (f"“Load all lines”, until all {lines:,} are there", f"{loaded['ms'] / 1e3:.1f} s", ""),
        (f"frames a second while these scroll; longest pause {pause * 1e3:.0f} ms",
         f"{statistics.median(fps):.0f} … {min(fps):.0f}", "≥ 50"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    args = parser.parse_args()
    before = os.getloadavg()
    with LocalCluster() as cluster:
        cluster.apply([job(args.lines)])
        until("all lines to be written", lambda: last_line(cluster).strip() == str(args.lines))
        rows = measured(cluster, args.lines)
    show(f"{args.lines:,} lines of one replica", before, rows)


if __name__ == "__main__":
    main()
