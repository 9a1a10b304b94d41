#!/usr/bin/python3
"""Jobs whose TF_CONFIG has another form than ours: sparse clusters, and a chief called master."""

import unittest

from processes import TOGETHER, Job

# Steps for which the leader of a sparse cluster, which waits for nobody, needs seconds.
LONG = 100_000


class DialectsTest(unittest.TestCase):

    def expect_led_by(self, job, leader):
        """All train and end with 0, replicas join the leader only, and only it evaluates."""
        for name, process in job.processes.items():
            if not name.startswith("ps"):
                process.says("step ")
                if name != leader:
                    job.processes[leader].says(f"replica joined replica={name} ")
        for name, process in job.processes.items():
            if name != leader:
                self.assertNotIn("replica joined", process.log(), job.logs())
        job.expect_all_done(self)
        evaluated = [name for name, process in job.processes.items()
                     if f"evaluation at step {LONG}" in process.log()]
        self.assertEqual(evaluated, [leader], job.logs())

    # On one address with many ports only the list of workers tells who leads the training.
    def test_dynamic_workers_and_their_parameter_servers_find_worker_zero(self):
        with Job(ps=2, workers=2, maxSteps=LONG, logSteps=100) as job:
            ps, workers = job.cluster["ps"], job.cluster["worker"]
            listed = {"TAAS_WORKER_HOSTS": ",".join(workers)}
            job.start_replica("ps", 0, {"worker": {}, "ps": ps[:1]}, environment=listed)
            job.start_replica("ps", 1, {"worker": {}, "ps": {"1": ps[1]}}, environment=listed)
            for index, address in enumerate(workers):
                job.start_replica("worker", index, {"worker": {str(index): address}, "ps": ps},
                                  environment=listed)
            self.expect_led_by(job, "worker-0")

    # Its TF_CONFIG names no chief to worker 0, which led the training beside it.
    def test_chief_among_dynamic_workers_is_the_only_one(self):
        with Job(chief=True, ps=1, workers=2, maxSteps=LONG, logSteps=100) as job:
            ps, workers = job.cluster["ps"], job.cluster["worker"]
            listed = {"TAAS_WORKER_HOSTS": ",".join(workers),
                      "TAAS_CHIEF_HOSTS": ",".join(job.cluster["chief"])}
            job.start_replica("ps", 0, {"worker": {}, "ps": ps}, environment=listed)
            for index, address in enumerate(workers):
                job.start_replica("worker", index, {"worker": {str(index): address}, "ps": ps},
                                  environment=listed)
            job.start_replica("chief", 0, {"worker": {}, "ps": ps, "chief": job.cluster["chief"]},
                              environment=listed)
            self.expect_led_by(job, "chief-0")

    def test_lone_dynamic_worker_and_its_parameter_servers_end(self):
        with Job(ps=2, workers=1) as job:
            ps, worker = job.cluster["ps"], job.cluster["worker"][0]
            listed = {"TAAS_WORKER_HOSTS": worker}
            job.start_replica("ps", 0, {"worker": {}, "ps": ps[:1]}, environment=listed)
            job.start_replica("ps", 1, {"worker": {}, "ps": {"1": ps[1]}}, environment=listed)
            job.start_replica("worker", 0, {"worker": {"0": worker}, "ps": ps},
                              environment=listed)
            job.expect_all_done(self)
            self.assertIn("evaluation at step 600", job.processes["worker-0"].log())

    def test_sparse_cluster_that_does_not_say_who_leads_ends_with_1_and_the_variable(self):
        with Job(ps=1, workers=1) as job:
            process = job.start_replica("ps", 0, {"worker": {}, "ps": job.cluster["ps"]})
            self.assertEqual(process.wait(), 1, process.log())
            self.assertIn("TAAS_WORKER_HOSTS", process.end()["message"])

    def test_master_is_the_chief(self):
        with Job(chief=True, ps=1, workers=1, strategy=TOGETHER) as job:
            job.cluster["master"] = job.cluster.pop("chief")
            job.start_all()
            job.expect_all_done(self)
            self.assertIn("evaluation at step 600", job.processes["master-0"].log())


if __name__ == "__main__":
    unittest.main()
