#!/usr/bin/python3
"""Times the dashboard's server on a real API server with thousands of jobs and pods.

    bench/dashboard/run.py [--jobs 5000] [--pods 50000] [--streams 200] [--binary FILE]

Prints one markdown table. Needs `make build`, and `tools/setup/setup.sh` with `kubernetes`,
`packages e2e` and `browser`. There is no kubelet, no scheduler and no operator: all objects are as
these would have left them, and nothing but the bench changes them.
"""

import argparse
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "e2e", name) for name in ("chart", "cluster", "browser")]

# The folders of these must be known first.
import browser_times
import measure
import objects
import page_server
import plane as planes
import programs
import streams
from report import ms, show

# Tabs of one user are limited, and a team is more than one.
USERS = 20
# Above the numbers of all changes before.
CHANGES_FROM = 10_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--jobs", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000, help="of all jobs, 3 of each or more")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--binary", default=os.path.join(ROOT, "bin", "taas-operator"))
    args = parser.parse_args()
    if min(args.jobs, args.streams) < 1 or args.pods < 3 * args.jobs or args.pods % args.jobs:
        parser.error("all jobs have as many pods: chief, ps and at least one worker")
    return args


def note(text):
    print(f"{time.strftime('%T')} {text}", file=sys.stderr, flush=True)


def p99(seconds):
    return sorted(seconds)[int(len(seconds) * 0.99)] if seconds else float("inf")


def list_rows(found, firsts):
    rows = []
    for name, title in (("plain", "as it is"), ("gzip", "compressed")):
        size = found[name][0][1] / 1e6
        rows.append((f"GET api/jobs, {title}, {size:.2f} MB",
                     ms([took for took, _ in found[name]]), "≤ 1 s"))
    rows.append((f"first `jobs` event of api/stream, {firsts[0].size / 1e6:.2f} MB",
                 ms([first.seconds for first in firsts]), "≤ 1 s"))
    return rows


def load_rows(load, streams):
    pace = measure.LOAD
    what = (f"{streams} streams, {pace.per_second} changes a second for "
            f"{pace.count // pace.per_second} s")
    return [
        (f"{what}: CPU of the server", f"{load.cpu_per_s:.2f} cores", "≤ 1"),
        ("the same: a change until each stream has it", ms(load.latencies), "≤ 500 ms"),
        ("the same: 99 of 100 within", f"{p99(load.latencies) * 1e3:.0f} ms", "≤ 500 ms"),
        ("of it the API server's answer to the write", ms(load.writes), ""),
        ("the same: events that did not come", str(load.missing), "0"),
        (f"first event of each of these streams, {measure.streams.AT_ONCE} opened at a time",
         ms([first.seconds for first in load.firsts]), ""),
    ]


def browser_rows(plane, server, token, jobs):
    """What a browser adds: the list as a person sees it."""
    with browser_times.Tab(f"http://127.0.0.1:{server.port}/", token) as tab:
        first, rest = browser_times.opened(tab, "jobs", browser_times.ROW, cold=True)
        rows = [("browser: first visit, nothing cached, until the first row is painted",
                 ms(first), "≤ 1 s"),
                ("the same: until the page rests", ms(rest), "≤ 1.5 s")]
        again, _ = browser_times.opened(tab, "jobs", browser_times.ROW, cold=False)
        rows.append(("browser: later visit, until the first row is painted", ms(again), "≤ 1 s"))
        fps, pause = browser_times.frames_per_s(tab, len(jobs))
        rows.append((f"browser: frames a second while it scrolls; longest pause "
                     f"{pause * 1e3:.0f} ms",
                     f"{statistics.median(fps):.0f} … {min(fps):.0f}", "≥ 50"))
        tab.do("open", at="jobs?sort=name", sees=browser_times.ROW, cold=False)
        # The first by its name is in sight.
        writer = measure.Writer(plane, jobs[:1], first=0)
        times = browser_times.change_times(tab, writer.change, streams.mark, CHANGES_FROM)
        rows.append((f"browser: from the API server's answer to a change until its row is painted "
                     f"({len(times)} changes)", ms(times), "≤ 500 ms"))
    return rows


def measured(plane, args, jobs):
    tokens = [planes.user_token(n % USERS) for n in range(args.streams)]
    with page_server.PageServer(args.binary, plane) as server:
        rows = [("start until the first lists are there", f"{server.ready_s:.2f} s", "")]
        note("lists")
        rows += list_rows(measure.lists(server, tokens[0], args.jobs, args.pods),
                          measure.first_events(server, tokens[0]))
        rest_mb = server.memory_mb("VmRSS")
        note("one stream")
        one = measure.changes(measure.Writer(plane, jobs, first=0), server, tokens[:1],
                              measure.ONE_BY_ONE)
        rows += [(f"a change until an open stream has it ({measure.ONE_BY_ONE.count} changes)",
                  ms(one.latencies), "≤ 500 ms"),
                 ("of it the API server's answer to the write", ms(one.writes), ""),
                 ("events that did not come", str(one.missing), "0")]
        note(f"{args.streams} streams")
        load = measure.changes(measure.Writer(plane, jobs, first=measure.ONE_BY_ONE.count), server,
                               tokens, measure.LOAD)
        rows += load_rows(load, args.streams)
        note("browser")
        rows += browser_rows(plane, server, tokens[0], jobs)
        rows += [("memory with lists, one page", f"{rest_mb:.0f} MB", "≤ 200 MB"),
                 ("memory after the streams", f"{server.memory_mb('VmRSS'):.0f} MB", "≤ 200 MB"),
                 ("memory, peak", f"{server.memory_mb('VmHWM'):.0f} MB", "")]
    return rows


def main():
    args = arguments()
    before = os.getloadavg()
    os.environ.setdefault("TAAS_KUBERNETES_BIN", programs.folder("kubernetes"))
    with planes.Plane(USERS) as plane:
        objects.install(plane, os.path.join(ROOT, "crds"))
        note(f"writing {args.jobs} jobs and {args.pods} pods")
        jobs = objects.Objects(plane, args.jobs, args.pods).write()
        rows = measured(plane, args, jobs)
    show(f"{args.jobs} jobs, {args.pods} pods", before, rows)


if __name__ == "__main__":
    main()
