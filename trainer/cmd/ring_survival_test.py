#!/usr/bin/python3
"""Kills the ranks of jobs by all-reduce, the chief as the others, one every two seconds, and
freezes some for longer than silence is borne. Each job must end well, after the steps and with the
batches and the evaluation of one that nobody disturbed, with memory that does not grow.

`make survive-ring SEED=n KILLS=300` runs it; it is not among the tests that run by themselves.
"""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import time
import unittest

from processes import TRAINER, Job

WORKERS = 4
# Of a job: some forty seconds where nobody disturbs it.
STEPS = 60_000
EVERY_S = 2.0
# The chief gives a rank up that is silent for 10 s (trainer/cluster/membership.h).
FROZEN_S = (11.0, 13.0)
FROZEN_SHARE = 0.03
# Of one disturbed job, whatever happens to it.
LIMIT_S = 1_800
# A replica that came when its chief was about to end does not find it any more.
FAREWELL_S = 10
# A process that is younger than this still maps what it needs.
SETTLED_S = 4.0
GROWS_BY = 1.25
POLL_S = 0.005


def ring():
    job = Job(chief=True, ps=0, workers=WORKERS, strategy={"type": "AllReduce"}, maxSteps=STEPS,
              logSteps=1_000)
    job.checkpoints(every=5_000)
    return job


def evaluations(job):
    return set(re.findall(r"^evaluation at step (\d+: .*)$", job.processes["chief-0"].log(), re.M))


def batches(job):
    """How many are part of the last checkpoint, whose step is the last one."""
    done = subprocess.run([TRAINER, "inspect", "--values", "-o", "json", job.out], check=True,
                          text=True, stdout=subprocess.PIPE)
    newest = json.loads(done.stdout)["newest"]
    tensors = {tensor["name"]: tensor for tensor in newest["tensors"]}
    return {name: int(tensors[name]["max"]) for name in ("global_step", "taas/cursor/watermark")}


def resident_mib(process):
    try:
        with open(f"/proc/{process.child.pid}/status", encoding="ascii") as file:
            (kib,) = re.findall(r"^VmRSS:\s+(\d+) kB", file.read(), re.M)
    except (OSError, ValueError):
        return None
    return int(kib) / 1024


class Survival:

    def __init__(self, test, seed, kills):
        self.test, self.random, self.left = test, random.Random(seed), kills
        self.lost = {"chief": [], "worker": [], "frozen": []}
        # By role: of processes that had settled.
        self.resident = {"chief": [], "worker": []}
        self.step_s = 0

    def run(self):
        with ring() as job:
            began = time.monotonic()
            job.start_all()
            self.await_end(job, began)
            self.step_s = (time.monotonic() - began) / STEPS
            (self.undisturbed,) = evaluations(job)
            self.batches = batches(job)
        self.test.assertEqual(
            self.batches, {"global_step": STEPS, "taas/cursor/watermark": STEPS * (1 + WORKERS)})
        jobs = 0
        while self.left > 0:
            jobs += 1
            self.run_job()
        self.report(jobs)

    def run_job(self):
        with ring() as job:
            began = time.monotonic()
            job.start_all()
            while job.processes["chief-0"].code() is None and self.left > 0:
                time.sleep(EVERY_S)
                self.note_memory(job)
                self.disturb(job)
            self.await_end(job, began)
            self.test.assertEqual(evaluations(job), {self.undisturbed}, job.logs())
            self.test.assertEqual(batches(job), self.batches)
            print(f"a job ended after {time.monotonic() - began:.0f} s; {self.left} kills left",
                  flush=True)

    def disturb(self, job):
        name = self.random.choice(sorted(job.processes))
        process = job.processes[name]
        if process.code() is not None:
            self.expect_well(job, name)
            return
        role, index = name.split("-")
        observer = job.processes["worker-0" if role == "chief" else "chief-0"]
        self.left -= 1
        began, kind = time.monotonic(), role
        if self.random.random() < FROZEN_SHARE:
            process.signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(*FROZEN_S))
            before = self.step(observer)
            began, kind = time.monotonic(), "frozen"
            process.signal(signal.SIGCONT)
        else:
            process.kill()
            job.start_replica(role, int(index))
            # The others stand still until the new one is there.
            before = self.step(observer)
        lost = self.until_next_step(job, observer, before, began)
        if lost is not None:
            self.lost[kind].append(lost)
            print(f"{kind} {name}: {1000 * lost:.0f} ms", flush=True)

    def until_next_step(self, job, observer, before, began):
        """Seconds; none where the job ends, or it is not known from where to count."""
        while before is not None:
            now = self.step(observer)
            # The next after one that may have been all but made.
            if now is not None and now >= before + 2:
                return time.monotonic() - began - 2 * self.step_s
            if observer.code() is not None or job.processes["chief-0"].code() is not None:
                return None
            self.test.assertLess(time.monotonic() - began, LIMIT_S, job.logs())
            time.sleep(POLL_S)
        return None

    def step(self, process):
        page = process.get("/status")
        return page.get("step") if page else None

    def note_memory(self, job):
        for name, process in job.processes.items():
            mib = resident_mib(process)
            if mib is not None and time.monotonic() - process.started > SETTLED_S:
                self.resident[name.split("-")[0]].append(mib)

    def expect_well(self, job, name):
        self.test.assertEqual(job.processes[name].code(), 0, job.logs())

    def await_end(self, job, began):
        chief = job.processes["chief-0"]
        while chief.code() is None:
            self.test.assertLess(time.monotonic() - began, LIMIT_S, job.logs())
            time.sleep(POLL_S)
        self.expect_well(job, "chief-0")
        ended = time.monotonic()
        for name, process in job.processes.items():
            late = process.started > ended - FAREWELL_S
            while process.code() is None and time.monotonic() < ended + FAREWELL_S:
                time.sleep(POLL_S)
            if process.code() is None and late:
                process.kill()
            else:
                self.expect_well(job, name)

    def report(self, jobs):
        print(f"{jobs} jobs of {STEPS} steps, {1000 * self.step_s:.2f} ms each undisturbed")
        for kind, seconds in self.lost.items():
            if not seconds:
                continue
            ordered = sorted(1000 * second for second in seconds)
            print(f"{kind}: {len(ordered)} times, lost {statistics.median(ordered):.0f} ms, "
                  f"nine tenths {ordered[len(ordered) * 9 // 10]:.0f} ms, "
                  f"at most {ordered[-1]:.0f} ms")
        for role, mib in self.resident.items():
            if not mib:
                continue
            usual = statistics.median(mib)
            print(f"memory of a {role}: {usual:.0f} MiB, at most {max(mib):.0f}")
            self.test.assertLess(max(mib), GROWS_BY * usual)


class RingSurvivalTest(unittest.TestCase):

    def test_a_job_does_not_notice_who_was_killed(self):
        seed = int(os.environ.get("TAAS_SURVIVAL_SEED", "1"))
        kills = int(os.environ.get("TAAS_SURVIVAL_KILLS", "20"))
        Survival(self, seed, kills).run()


if __name__ == "__main__":
    unittest.main(verbosity=2)
