"""A job by all-reduce whose workers become more and fewer, and die, in real pods."""

import os
import re
import signal

from kubectl import CommandFailed
from main_job import ENDLESS_STEPS, SHARE, LongJob

NAME = "all-reduce-elastic"


class ElasticJobTest(LongJob):

    needs = ("node",)
    # A tenth of a core for each of its five: it trains beside the jobs of that lane.
    lane = ""

    def setUp(self):
        super().setUp()
        self.make_claim("mnist-data", self.data_folder)
        job = self.read(NAME)
        job["spec"]["trainer"]["maxSteps"] = ENDLESS_STEPS
        for role in job["spec"]["roles"].values():
            role["resources"] = SHARE
        self.submit(job)

    def ranks(self):
        """Of the epoch that goes on, by the chief's log; 0: there is none."""
        log = self.k("logs", f"{NAME}-chief-0", check=False)
        return int((re.findall(r"epoch begins .*ranks=(\d+)", log) or ["0"])[-1])

    def await_steps_of(self, ranks):
        self.wait_for(f"an epoch of {ranks} ranks", lambda: self.ranks() == ranks)
        step = self.step(NAME)
        self.wait_for("progress in it", lambda: self.step(NAME) > step)

    def uids(self, *replicas):
        return [self.pod_uid(f"{NAME}-{replica}") for replica in replicas]

    def kill(self, role, index):
        """kill -9 of the replica's process; returns when its pod's successor is ready."""
        pod = f"{NAME}-{role}-{index}"
        before = self.pod_uid(pod)
        (process,) = self.cluster.sandbox.processes(
            TAAS_JOB=f"{self.namespace}/{NAME}", TAAS_ROLE=role, TAAS_INDEX=str(index))
        os.kill(process, signal.SIGKILL)
        self.await_successor(pod, before)

    def test_workers_come_go_and_die_and_no_other_pod_feels_it(self):
        self.await_steps_of(3)
        first = self.uids("chief-0", "worker-0", "worker-1")

        self.k("scale", f"tj/{NAME}", "--replicas=3")
        self.await_steps_of(4)
        self.kill("worker", 2)
        self.await_steps_of(4)
        self.assertEqual(self.uids("chief-0", "worker-0", "worker-1"), first)

        # The chief decides who trains. The others wait for its successor with what they know.
        step = self.step(NAME)
        self.kill("chief", 0)
        self.await_steps_of(4)
        self.assertGreater(self.step(NAME), step)
        self.assertEqual(self.uids("worker-0", "worker-1"), first[1:])

        self.k("scale", f"tj/{NAME}", "--replicas=1")
        self.await_steps_of(2)
        self.wait_for("the others to go", lambda: self.uids("worker-1", "worker-2") == ["", ""])
        self.assertEqual(self.uids("worker-0"), first[1:2])
        status = self.status(NAME)
        self.assertEqual((status["restarts"], status["attempt"]), ({"killed": 2}, 1))

        # Beyond its bounds: the API server says which they are.
        with self.assertRaises(CommandFailed) as refused:
            self.k("scale", f"tj/{NAME}", "--replicas=5")
        self.assertIn("elastic allows 1 to 4 workers", refused.exception.stderr)
        self.assertEqual(self.job(NAME)["spec"]["roles"]["worker"]["replicas"], 1)
