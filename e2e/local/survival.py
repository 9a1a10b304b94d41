"""Kills processes of the main job with SIGKILL at seeded random moments and checks what survives.

Six trainers (chief, two parameter servers, two workers, evaluator) and `taas local` itself,
which is API server, operator and node in one, are all fair game. The job must end Succeeded;
what every process noted of the updates it applied (TAAS_TEST_LEDGER_DIR) must agree record by
record.
"""

import json
import os
import random
import signal
import statistics
import sys
import time
import urllib.request

from cluster import RUNFILES, Cluster

REPLICAS = [("chief", 0), ("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("evaluator", 0)]
TRAINING = [("chief", 0), ("worker", 0), ("worker", 1)]
# Kills of one job: as many as fit into a minute with time to recover between some of them.
KILLS_OF_A_JOB = 20
# Between two kills: some hit a recovery, most a job at work.
PAUSE_S = (0.1, 3.0)
# Steps of a job. The main job's 2,000 are trained before the first kills are over.
STEPS = 30_000
LEDGERS = "ledgers"


def manifest(name, mode):
    environment = [{"name": "TAAS_TEST_LEDGER_DIR", "value": f"/out/{LEDGERS}/{name}"}]
    role = {"env": environment}
    return {
        "apiVersion": "taas.dev/v1",
        "kind": "TrainingJob",
        "metadata": {"name": name},
        "spec": {
            "trainer": {
                "model": {"name": "mlp", "hidden": [100]},
                "data": {
                    "format": "idx",
                    "train": {
                        "images": "/data/train-images.gz",
                        "labels": "/data/train-labels.gz",
                    },
                    "test": {"images": "/data/test-images.gz", "labels": "/data/test-labels.gz"},
                },
                "strategy": {"type": "ParameterServer", "mode": mode},
                "optimizer": {"name": "momentum", "learningRate": 0.01},
                "batchSize": 100,
                "maxSteps": STEPS if mode == "Async" else STEPS // 3,
                "checkpoint": {"dir": f"/out/{name}", "everySeconds": 2},
                "evaluation": {"everySeconds": 1},
            },
            "roles": {
                "chief": {"replicas": 1, **role},
                "ps": {"replicas": 2, **role},
                "worker": {"replicas": 2, **role},
                "evaluator": {"replicas": 1, **role},
            },
            "volumes": [
                {
                    "name": "data",
                    "mountPath": "/data",
                    "readOnly": True,
                    "source": {"persistentVolumeClaim": {"claimName": "mnist-data"}},
                },
                {
                    "name": "out",
                    "mountPath": "/out",
                    "source": {"persistentVolumeClaim": {"claimName": "mnist-out"}},
                },
            ],
        },
    }


class Survival:
    """One seeded run: `kills` kills over as many jobs as it takes."""

    def __init__(self, seed, kills):
        self.random = random.Random(seed)
        self.seed, self.kills = seed, kills
        # By role and circumstances: seconds.
        self.recoveries = {}
        self.counts = {}

    def run(self):
        with Cluster() as cluster:
            self.cluster = cluster
            cluster.up()
            jobs = 0
            while self.kills > 0:
                jobs += 1
                self.run_job(f"survival-{jobs}", "Async" if jobs % 2 else "Sync")
            return self.report(jobs)

    def run_job(self, name, mode):
        os.makedirs(os.path.join(self.cluster.out, LEDGERS, name))
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest(name, mode)))
        self.cluster.wait_for("the first step", lambda: self.step(name) > 0)
        left = min(self.kills, KILLS_OF_A_JOB)
        while left > 0 and not self.ended(name):
            time.sleep(self.random.uniform(*PAUSE_S))
            if self.kill_one(name):
                left -= 1
                self.kills -= 1
        self.cluster.wait_for(f"the end of {name}", lambda: self.ended(name))
        self.check(name, mode)
        self.cluster.kubectl("delete", "tj", name)

    def ended(self, name):
        return self.cluster.state(name) in ("Succeeded", "Failed")

    def kill_one(self, name):
        """False if the one to be killed does not run just now."""
        victim = self.random.choice(REPLICAS + [("taas", 0)])
        role, index = victim
        if role == "taas":
            self.cluster.process.kill()
            self.cluster.process.wait()
            self.cluster.up()
        else:
            pid = self.cluster.trainer(role, index)
            if pid is None or self.ended(name):
                return False
            before = self.step(name)
            steady = all(self.step(name, *page) > 0 for page in TRAINING)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
            if role in ("worker", "ps") and self.random.random() < 0.5:
                self.measure_recovery(name, role, index, before, steady)
        self.counts[role] = self.counts.get(role, 0) + 1
        print(f"killed {role}-{index} of {name}", flush=True)
        return True

    def measure_recovery(self, name, role, index, before, steady):
        """From the kill to a later step: of the worker that took the dead one's place, else of the
        chief, which has to come past what it lost; or to the end of the job."""
        began = time.monotonic()
        page = ("worker", index) if role == "worker" else ("chief", 0)
        self.cluster.wait_for(
            "the next step", lambda: self.ended(name) or self.step(name, *page) > before
        )
        seconds = time.monotonic() - began
        if self.entry(name, role, index).get("quickFailures", 0) > 1:
            # The operator waits 1 s, 2 s, 4 s … before it starts another pod.
            circumstances = "one of several failures"
        else:
            circumstances = "its first failure" if steady else "beside another recovery"
        self.recoveries.setdefault((role, circumstances), []).append(seconds)
        print(f"{role}-{index} of {name}, {circumstances}: {seconds:.2f} s", flush=True)

    def entry(self, name, role, index):
        """What the operator has noted of the replica; nothing before it has begun."""
        annotation = (
            self.cluster.job(name)["metadata"].get("annotations", {}).get("taas.dev/ledger")
        )
        return json.loads(annotation)["replicas"][role][str(index)] if annotation else {}

    def step(self, name, role="chief", index=0):
        """What the replica says; 0 while it does not answer."""
        port = self.entry(name, role, index).get("statusPort")
        if port is None:
            return 0
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=1) as reply:
                status = json.load(reply)
        except (OSError, ValueError):
            return 0
        return status.get("step", 0) if status.get("state") == "Training" else 0

    def check(self, name, mode):
        status = self.cluster.status(name)
        if status["state"] != "Succeeded":
            raise AssertionError(
                f"seed {self.seed}: {name} ended {status['state']}: {status['message']}"
            )
        steps = manifest(name, mode)["spec"]["trainer"]["maxSteps"]
        if f"model.ckpt-{steps}.index" not in os.listdir(os.path.join(self.cluster.out, name)):
            raise AssertionError(
                f"seed {self.seed}: {name} has no checkpoint of its last step, {steps}"
            )
        done = self.cluster.run(
            os.path.join(RUNFILES, "trainer/ps/check_ledgers"),
            os.path.join(self.cluster.out, LEDGERS, name),
            str(steps),
            str(1 if mode == "Async" else 3),
            check=False,
        )
        print(f"{name} ({mode}): {done.stdout.strip()}", flush=True)
        if done.returncode != 0:
            raise AssertionError(
                f"seed {self.seed}: the ledgers of {name}: {done.stdout}{done.stderr}"
            )

    def report(self, jobs):
        print(
            f"seed {self.seed}: {sum(self.counts.values())} kills over {jobs} jobs: "
            + ", ".join(f"{role} {count}" for role, count in sorted(self.counts.items()))
        )
        for (role, circumstances), seconds in sorted(self.recoveries.items()):
            print(
                f"recovery of a {role} to the next step, {circumstances}: "
                f"median {statistics.median(seconds):.2f} s, "
                f"worst {max(seconds):.2f} s of {len(seconds)}"
            )


if __name__ == "__main__":
    Survival(seed=int(sys.argv[1]), kills=int(sys.argv[2])).run()
