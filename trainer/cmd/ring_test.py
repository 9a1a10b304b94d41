#!/usr/bin/python3
"""Jobs that train by all-reduce, as processes: whole, with ranks that are killed, with a chief that
is killed and followed by one that has no checkpoint.
"""

import re
import signal
import unittest

from processes import ENDLESS, Job

RING = {"type": "AllReduce"}
STEPS = 1500


def evaluation(job):
    (found,) = re.findall(r"^evaluation at step (\d+: .*)$", job.processes["chief-0"].log(), re.M)
    return found


def ring(**config):
    return Job(chief=True, ps=0, workers=2, strategy=RING, maxSteps=STEPS, **config)


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

    def test_parameter_servers_are_refused(self):
        with Job(chief=True, ps=1, workers=1, strategy=RING) as job:
            chief = job.start_replica("chief")
            self.assertEqual(chief.wait(), 1)
            self.assertIn("TF_CONFIG has 1 ps: leave them out", chief.log())


if __name__ == "__main__":
    unittest.main()
