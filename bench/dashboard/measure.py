"""What is measured, each as numbers.

    measure.lists(server, token, 5000, 50000)       {"plain": [(s, bytes)], "gzip": [(s, bytes)]}
    measure.changes(Writer(plane, jobs, first=0), server, tokens, ONE_BY_ONE)
"""

import collections
import concurrent.futures
import json
import threading
import time

import objects
import streams

# A median and a worst that mean something, and a few seconds.
ROUNDS = 10
# Of the one who changes: a busy API server takes longer for a write than a change's turn.
WRITERS = 4

Pace = collections.namedtuple("Pace", "count per_second")
# Slowly enough that the one before has mostly arrived.
ONE_BY_ONE = Pace(count=50, per_second=5)
# As in a cluster in which much goes on, for 20 s.
LOAD = Pace(count=200, per_second=10)
# latencies: from sending the change to the event of each stream, writes: of it the API server's
# answer; in seconds. missing: events that never came.
Changes = collections.namedtuple("Changes", "latencies writes missing cpu_per_s firsts")


def check(text, jobs, pods):
    """That the rows are of all jobs and know their pods: else all figures would be of something
    smaller."""
    rows = json.loads(text)["jobs"]
    running = sum(role["ready"] for row in rows for role in row["roles"])
    if (len(rows), running) != (jobs, pods):
        raise SystemExit(f"bench: GET api/jobs: {len(rows)} jobs with {running} pods that run, "
                         f"instead of {jobs} with {pods}")


def lists(server, token, jobs, pods):
    found = {}
    for name, gzip in (("plain", False), ("gzip", True)):
        answers = [server.get("/api/jobs", token, gzip) for _ in range(ROUNDS)]
        if not gzip:
            check(answers[0][1], jobs, pods)
        found[name] = [(took, len(body)) for took, body in answers]
    return found


def first_events(server, token):
    """Of tabs that open one after the other."""
    firsts = []
    for _ in range(ROUNDS):
        with streams.Tabs(server.port, [token]) as tabs:
            firsts += tabs.firsts
    return firsts


class Writer:
    """Changes one job after the other, each with a number that its row shows."""

    def __init__(self, plane, jobs, first):
        """`first`: the number of its first change; those of an earlier one are lower."""
        self.plane = plane
        self.jobs = jobs
        self.first = first
        self.local = threading.local()
        self.sent = {}
        self.answered = {}

    def change(self, turn):
        number = self.first + turn
        if not hasattr(self.local, "client"):
            self.local.client = self.plane.client()
        ns, name = self.jobs[number * 7 % len(self.jobs)]
        self.sent[number] = time.monotonic()
        self.local.client.patch(
            f"{objects.GROUP}/namespaces/{ns}/trainingjobs/{name}/status",
            {"status": {"message": streams.mark(number), "progress": {"step": 2000 + number}}})
        self.answered[number] = time.monotonic()


def changes(writer, server, tokens, pace):
    """Changes at a steady pace while as many streams as tokens are open."""
    with streams.Tabs(server.port, tokens) as tabs:
        cpu_s, began = server.cpu_s(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            done = []
            for turn in range(pace.count):
                time.sleep(max(0, began + turn / pace.per_second - time.monotonic()))
                done.append(pool.submit(writer.change, turn))
            for write in done:
                write.result()
        cpu_per_s = (server.cpu_s() - cpu_s) / (time.monotonic() - began)
        arrivals = tabs.finish()
        firsts = tabs.firsts
    latencies = [at - sent for number, sent in writer.sent.items()
                 for at in arrivals.get(number, [])]
    writes = [writer.answered[number] - sent for number, sent in writer.sent.items()]
    # A row may be told of twice, never less than once.
    missing = sum(max(0, len(tokens) - len(arrivals.get(number, []))) for number in writer.sent)
    return Changes(latencies, writes, missing, cpu_per_s, firsts)
