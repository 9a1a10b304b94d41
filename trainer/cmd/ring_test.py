#!/usr/bin/python3
"""Jobs that train by all-reduce, as processes: whole, with ranks that are killed, with a chief that
is killed and followed by one that has no checkpoint, and with workers that come and go.
"""

import datetime
import glob
import json
import os
import re
import signal
import time
import unittest

from processes import ENDLESS, Job, wait_until
from ring_jobs import RING, Elastic, await_epoch, epochs, evaluation, expect_every_batch_once

STEPS = 1500


def ring(**config):
    return Job(chief=True, ps=0, workers=2, strategy=RING, maxSteps=STEPS, **config)


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class RingTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with ring() as job:
            job.start_all()
            job.expect_all_done(cls())
            cls.undisturbed = evaluation(job)

    # Each step is of a part of every rank, whoever computes it.
    def test_what_is_learned_does_not_depend_on_a_rank_that_was_killed(self):
        with ring() as job:
            job.start_all()
            job.processes["worker-0"].says("\nstep 100,")
            job.processes["worker-1"].kill()
            job.processes["worker-0"].says("a step was not made")
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_nor_on_a_chief_that_was_killed_and_left_no_checkpoint(self):
        with ring() as job:
            job.start_all()
            job.processes["worker-0"].says("\nstep 100,")
            job.processes["chief-0"].kill()
            job.processes["worker-0"].says("a step was not made")
            chief = job.start_replica("chief")
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)
            # Its log is one with that of the first.
            self.assertEqual(chief.log().count("\nstep 100,"), 1, "it has begun anew")

    def test_the_rate_follows_the_ranks_where_that_is_wanted(self):
        optimizer = {"name": "sgd", "learningRate": 0.02, "scaleByWorkers": True}
        with ring(optimizer=optimizer) as scaled, \
                ring(optimizer={"name": "sgd", "learningRate": 0.06}) as larger:
            for job in (scaled, larger):
                job.start_all()
                job.expect_all_done(self)
            self.assertEqual(evaluation(scaled), evaluation(larger))

    def test_a_chief_that_is_told_to_stop_keeps_what_was_trained(self):
        with ring() as job:
            job.config["maxSteps"] = ENDLESS
            job.checkpoints(every=ENDLESS)
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 100,")
            for process in job.processes.values():
                process.signal(signal.SIGTERM)
            chief.wait()
            self.assertEqual(chief.code(), 143, job.logs())
            self.assertIn("checkpoint saved", chief.log())
            self.expect_its_checkpoint_on_the_next_ones_page(job)

    def expect_its_checkpoint_on_the_next_ones_page(self, job):
        (step,) = re.findall(r"checkpoint saved .*step=(\d+)", job.processes["chief-0"].log())
        saved = os.path.join(job.out, f"model.ckpt-{step}.")
        size = sum(os.path.getsize(path) for path in glob.glob(saved + "*"))
        job.start_all()
        chief = job.processes["chief-0"]
        (listed,) = wait_until("its page",
                               lambda: (chief.get("/status") or {}).get("checkpoints"))
        self.assertEqual((listed["step"], listed["bytes"]), (int(step), size))
        self.assertLess(abs(time.time() - seconds(listed["savedAt"])), 3600)

    def test_who_is_missing_is_named(self):
        with ring() as job:
            chief = job.start_replica("chief")
            job.start_replica("worker", 0)
            chief.says("replica joined")
            page = None
            # Both are, until the page has heard of the one that joined.
            while not page or "worker-1" not in page["message"] or "worker-0" in page["message"]:
                page = chief.get("/status")
            self.assertIn("waiting for worker-1 at " + job.cluster["worker"][1], page["message"])

    def test_ranks_leave_a_chief_that_is_silent_and_go_on_with_it_when_it_is_back(self):
        with ring() as job:
            job.config["strategy"] = {**RING, "heartbeatSeconds": 2}
            job.start_all()
            chief, worker = job.processes["chief-0"], job.processes["worker-0"]
            worker.says("\nstep 100,")
            chief.signal(signal.SIGSTOP)
            worker.says("the chief is silent: leaving the epoch")
            worker.says("a step was not made")
            wait_until("the worker to say for whom it waits",
                       lambda: "waiting for chief-0 at" in worker.get("/status")["message"])
            chief.signal(signal.SIGCONT)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_it_is_told_what_the_time_of_each_rank_goes_to(self):
        with ring() as job:
            job.config["maxSteps"] = ENDLESS
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 100,")
            page = {"peers": [{}]}
            while "shares" not in page or not all("shares" in peer for peer in page["peers"]):
                page = chief.get("/status")
            self.assertEqual(len(page["peers"]), 2)
            for shares in [page["shares"]] + [peer["shares"] for peer in page["peers"]]:
                self.assertGreater(shares["compute"], 0)
                self.assertGreater(shares["exchange"], 0)
                self.assertLessEqual(
                    shares["compute"] + shares["wait"] + shares["exchange"], 1.002)
                self.assertGreater(shares["bytesPerStep"], 0)

    # Three ranks send 2/3 of 19,240 bytes twice, or of half of that.
    def test_gradients_go_in_bfloat16_where_all_ranks_are_told_so(self):
        with ring(logSteps=100) as job:
            job.config["maxSteps"] = ENDLESS
            job.config["strategy"] = {**RING, "gradientPrecision": "bfloat16"}
            chief = job.start_replica("chief")
            job.start_replica("worker", 0)
            job.config["strategy"] = RING
            other = job.start_replica("worker", 1)
            self.assertNotEqual(other.wait(), 0)
            self.assertRegex(other.log(),
                             "sent in float32, and here it is .*, sent in bfloat16: ranks must")
            job.config["strategy"] = {**RING, "gradientPrecision": "bfloat16"}
            job.start_replica("worker", 1)
            chief.says("\nstep 100,")
            shares = wait_until("shares", lambda: (chief.get("/status") or {}).get("shares"))
            self.assertGreater(shares["bytesPerStep"], 12_000)
            self.assertLess(shares["bytesPerStep"], 16_000)

    def test_parameter_servers_are_refused(self):
        with Job(chief=True, ps=1, workers=1, strategy=RING) as job:
            chief = job.start_replica("chief")
            self.assertEqual(chief.wait(), 1)
            self.assertIn("TF_CONFIG has 1 ps: leave them out", chief.log())


def borrowed(process):
    """Sizes of memory of other processes that this one has mapped to read."""
    with open(f"/proc/{process.child.pid}/maps", encoding="ascii") as file:
        found = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r--s .*taas-payload", file.read(), re.M)
    return [int(end, 16) - int(begin, 16) for begin, end in found]


class LentGradientsTest(unittest.TestCase):
    """Of a model whose gradients are worth it: neighbours read them where they lie."""

    # 64 * 2048 + 2048 + 2048 * 10 + 10 numbers, in pages.
    GRADIENTS = 151 * 4096

    def job(self):
        return Job(chief=True, ps=0, workers=2, strategy=RING, maxSteps=300,
                   model={"name": "mlp", "hidden": [2048]})

    def test_a_rank_that_was_killed_while_others_read_its_gradients_changes_no_bit(self):
        learned = []
        for kills in (False, True):
            with self.job() as job:
                job.start_all()
                if kills:
                    worker = job.processes["worker-0"]
                    worker.says("\nstep 50,")
                    self.assertEqual(borrowed(worker).count(self.GRADIENTS), 2, borrowed(worker))
                    job.processes["worker-1"].kill()
                    worker.says("a step was not made")
                    job.start_replica("worker", 1)
                job.expect_all_done(self)
                learned.append(evaluation(job))
        self.assertEqual(*learned)


class ElasticTest(unittest.TestCase):

    def test_a_worker_comes_and_one_goes_while_the_others_train(self):
        with Elastic(chief=True, ps=0, workers=2, strategy=RING, maxSteps=20 * STEPS) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 100,")
            joined = job.add_worker()
            joined.says("\nstep ")
            # Told to stop for good, as one that is scaled away.
            gone = job.processes.pop("worker-1")
            gone.signal(signal.SIGTERM)
            self.assertEqual(gone.wait(), 143)
            # Killed in the midst of that, perhaps while it gives its model to the others; nobody
            # waits for its place.
            lost = job.processes.pop("worker-2")
            lost.kill()
            job.expect_all_done(self)
            ranks = expect_every_batch_once(self, job)
            self.assertEqual((ranks[:2], ranks[-2:]), ([3, 4], [2, 0]))
            self.assertEqual(epochs(job)[-1][1], job.config["maxSteps"])
            accuracy = float(re.search(r"accuracy = ([\d.]+)", evaluation(job)).group(1))
            self.assertGreater(accuracy, 0.9)
            self.assertIn(f"evaluation at step {job.config['maxSteps']}:", chief.log())

    def test_rates_are_those_of_the_ranks_that_are_there(self):
        with Elastic(chief=True, ps=0, workers=1, strategy=RING, maxSteps=ENDLESS,
                     jsonLogs=True) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says('"step":100,')
            job.add_worker().says('"step":')
            await_epoch(job, 3)
            said = len(chief.log())

            def lines():
                return [json.loads(line) for line in chief.log()[said:].splitlines()
                        if line.startswith('{"examplesPerSecond"') and line.endswith("}")]
            line = wait_until("a line of theirs", lines)[-1]
            self.assertAlmostEqual(line["examplesPerSecond"] * line["secondsPerBatch"],
                                   3 * job.config["batchSize"], delta=1e-3)

    def test_below_the_smallest_number_all_wait_and_say_for_whom(self):
        with Elastic(chief=True, ps=0, workers=2, strategy=RING, maxSteps=ENDLESS) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 100,")
            for name in ("worker-1", "worker-0"):
                gone = job.processes.pop(name)
                gone.signal(signal.SIGTERM)
                gone.wait()
            wait_until("the chief to say for whom it waits",
                       lambda: "waiting for worker-0 at" in chief.get("/status")["message"])
            self.assertNotIn("worker-1", chief.get("/status")["message"])
            before = len(epochs(job))
            job.start_replica("worker", 0)
            await_epoch(job, 2, after=before)
            expect_every_batch_once(self, job)

    def test_one_that_is_silent_is_left_out_and_comes_back(self):
        with Elastic(chief=True, ps=0, workers=2, maxSteps=ENDLESS,
                     strategy={**RING, "heartbeatSeconds": 2}) as job:
            job.start_all()
            chief, worker = job.processes["chief-0"], job.processes["worker-1"]
            chief.says("\nstep 100,")
            worker.signal(signal.SIGSTOP)
            chief.says("rank silent for more than 2 s")
            without = await_epoch(job, 2)
            worker.signal(signal.SIGCONT)
            await_epoch(job, 3, after=without)
            expect_every_batch_once(self, job)


if __name__ == "__main__":
    unittest.main()
