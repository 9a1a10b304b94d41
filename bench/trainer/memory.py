#!/usr/bin/python3
"""How the private memory of each role grows over many steps of a real training.

    bench/trainer/memory.py [--steps 100000] [--only async] [--host ADDRESS]

Starts taas-trainer as chief, parameter servers, workers and evaluator, or alone, and reads the
private pages (RssAnon + RssShmem) of each from step 1,000 on. What a checkpoint takes comes and
goes, so the most of the tenth of the run that follows is compared with the most of the rest. Prints
one markdown table: both, the last seen, and whether the growth is within max(5 %, 2 MB).
Replicas on 127.0.0.1 speak by shared memory; --host, an address of the machine that is not a
loopback one, makes them speak by sockets. Needs `make build`. Exits with 1 if something grew.
"""

import argparse
import os
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("TAAS_TRAINER_BINARY", f"{ROOT}/bin/taas-trainer")
sys.path.insert(0, f"{ROOT}/trainer/cmd")

import processes  # noqa: E402  pylint: disable=wrong-import-position

FIRST_STEP = 1_000
BEGINNING = 0.1
CHECKPOINT_EVERY = 250
LOOK_EVERY_S = 0.2
# 100,000 steps of the slowest way on two busy cores.
LIMIT_S = 3_600
GROWTH_SHARE, GROWTH_BYTES = 0.05, 2 << 20

MLP = {"model": {"name": "mlp", "hidden": [100]}, "batchSize": 4, "logSteps": 1_000,
       "data": {"format": "generated",
                "generated": {"examples": 2_000, "testExamples": 100, "features": 100,
                              "classes": 10}}}
# Tables of which each step looks up few rows.
CLICKS = {"model": {"name": "wideDeep", "hidden": [8],
                    "wide": ["site"], "deep": [{"column": "ad", "units": 8}]},
          "batchSize": 4, "logSteps": 1_000, "optimizer": {"name": "sgd", "learningRate": 0.01},
          "data": {"format": "generated",
                   "columns": [{"name": "site", "type": "vocabulary",
                                "values": [f"site-{i}" for i in range(25)]},
                               {"name": "ad", "type": "hashed", "buckets": 50_000}],
                   "generated": {"pattern": "clicks", "examples": 2_000, "testExamples": 100}}}


class Way:
    def __init__(self, config=None, ps=2, workers=2, strategy=None, alone=False):
        self.config = config or MLP
        self.ps, self.workers, self.alone = ps, workers, alone
        self.strategy = strategy or {}


WAYS = {
    "async": Way(),
    "sync": Way(strategy={"mode": "Sync"}),
    "sync, 1 backup": Way(strategy={"mode": "Sync", "backupWorkers": 1}),
    "sync, 6 gradients of 3 replicas": Way(strategy={"mode": "Sync", "replicasToAggregate": 6}),
    "async, rows": Way(CLICKS),
    "sync, rows, 6 gradients of 3": Way(
        CLICKS, strategy={"mode": "Sync", "replicasToAggregate": 6}),
    "local": Way(alone=True),
    "towers": Way(alone=True, strategy={"type": "Towers", "towers": 2}),
}


def private_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        text = file.read()
    return 1024 * sum(int(re.search(rf"{name}:\s+(\d+) kB", text)[1])
                      for name in ("RssAnon", "RssShmem"))


class Growth:
    def __init__(self):
        self.first = self.most = self.last = 0

    def add(self, size, is_beginning):
        if is_beginning:
            self.first = max(self.first, size)
        self.most = max(self.most, size)
        self.last = size

    def is_flat(self):
        return self.most - self.first <= max(GROWTH_SHARE * self.first, GROWTH_BYTES)


def start(way, steps, host):
    config = {**way.config, "maxSteps": steps, "strategy": way.strategy}
    job = processes.Job(ps=way.ps, workers=way.workers, chief=True, **config)
    job.checkpoints(every=CHECKPOINT_EVERY)
    job.config["evaluation"] = {"everySeconds": 1}
    job.config["summaries"] = {"dir": job.directory + "/summaries", "everySteps": 100}
    if way.alone:
        job.config["strategy"].setdefault("type", "Local")
        job.start("local", environment={"TAAS_TRAINER": processes.json.dumps(job.config)})
        return job
    for role, addresses in job.cluster.items():
        job.cluster[role] = [address.replace("127.0.0.1", host) for address in addresses]
    job.start_all()
    job.start_replica("evaluator")
    return job


def measure(way, steps, host):
    growths = {}
    with start(way, steps, host) as job:
        leader = job.processes["local" if way.alone else "chief-0"]
        until = time.monotonic() + LIMIT_S
        while leader.code() is None and time.monotonic() < until:
            status = leader.get("/status") or {}
            step = status.get("step", 0)
            if step >= FIRST_STEP and status.get("state") == "Training":
                beginning = step <= FIRST_STEP + BEGINNING * steps
                for name, process in job.processes.items():
                    if process.code() is None:
                        growths.setdefault(name, Growth()).add(
                            private_bytes(process.child.pid), beginning)
            time.sleep(LOOK_EVERY_S)
        if leader.wait() != 0:
            raise SystemExit(f"bench: the training failed\n{job.logs()[-3000:]}")
    return growths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--only", help="ways whose name has this word")
    parser.add_argument("--host", default="127.0.0.1")
    args = parser.parse_args()
    wanted = {name: way for name, way in WAYS.items() if (args.only or "") in name}
    if not wanted:
        parser.error(f"no way has {args.only!r} in its name; there are: {'; '.join(WAYS)}")
    flat = True
    print("| way | role | MB from step 1,000 | most after it | last | flat |")
    print("|---|---|---|---|---|---|")
    for name, way in wanted.items():
        for role, growth in sorted(measure(way, args.steps, args.host).items()):
            sizes = " | ".join(f"{size / 1e6:.2f}"
                               for size in (growth.first, growth.most, growth.last))
            print(f"| {name} | {role} | {sizes} | {'yes' if growth.is_flat() else 'no'} |",
                  flush=True)
            flat = flat and growth.is_flat()
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main()
