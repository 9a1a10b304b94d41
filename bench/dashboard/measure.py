"""What is measured, each as numbers.

    measure.lists(server, token)                        -> {"plain": […], "gzip": […], …}
    measure.changes(plane, server, jobs, tokens, pace)  -> Changes(…)
"""

import collections
import concurrent.futures
import threading
import time

import objects
import streams

# A median and a worst that mean something, and a few seconds.
ROUNDS = 10
# One after the other, with what a person would call a pause.
SINGLE_CHANGES = 50
SINGLE_PAUSE_S = 0.2
PER_SECOND = 10
LOAD_S = 20
# Of the one who changes: a busy API server takes longer for a write than a change's turn.
WRITERS = 4

# latencies: from sending the change to the event of each stream, writes: of it the API server's
# answer; in seconds. missing: events that never came.
Changes = collections.namedtuple("Changes", "latencies writes missing cpu_per_s firsts")


def lists(server, token):
    found = {}
    for name, gzip in (("plain", False), ("gzip", True)):
        found[name] = [server.get("/api/jobs", token, gzip) for _ in range(ROUNDS)]
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

    def __init__(self, plane, jobs):
        self.plane = plane
        self.jobs = jobs
        self.local = threading.local()
        self.sent = {}
        self.answered = {}

    def change(self, number):
        if not hasattr(self.local, "client"):
            self.local.client = self.plane.client()
        ns, name = self.jobs[number * 7 % len(self.jobs)]
        self.sent[number] = time.monotonic()
        self.local.client.patch(
            f"{objects.GROUP}/namespaces/{ns}/trainingjobs/{name}/status",
            {"status": {"message": streams.mark(number), "progress": {"step": 2000 + number}}})
        self.answered[number] = time.monotonic()


def changes(plane, server, jobs, tokens, count, per_second, first_number):
    """`count` changes at a steady pace while as many streams as tokens are open."""
    writer = Writer(plane, jobs)
    with streams.Tabs(server.port, tokens) as tabs:
        cpu_s, began = server.cpu_s(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            done = []
            for turn in range(count):
                time.sleep(max(0, began + turn / per_second - time.monotonic()))
                done.append(pool.submit(writer.change, first_number + turn))
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
