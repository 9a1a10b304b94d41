#!/usr/bin/python3
"""Jobs whose TF_CONFIG has another form than ours: sparse clusters, and a chief called master."""

import unittest

from processes import Job


class DialectsTest(unittest.TestCase):

    # On one address with many ports only the list of workers tells who leads the training.
    def test_dynamic_workers_and_their_parameter_servers_find_worker_zero(self):
        with Job(ps=2, workers=2) as job:
            ps, workers = job.cluster["ps"], job.cluster["worker"]
            listed = {"TAAS_WORKER_HOSTS": ",".join(workers)}
            job.start_replica("ps", 0, {"worker": {}, "ps": ps[:1]}, environment=listed)
            job.start_replica("ps", 1, {"worker": {}, "ps": {"1": ps[1]}}, environment=listed)
            for index, address in enumerate(workers):
                job.start_replica("worker", index, {"worker": {str(index): address}, "ps": ps},
                                  environment=listed)
            job.expect_all_done(self)
            self.assertIn("evaluation at step 600", job.processes["worker-0"].log())

    # Its TF_CONFIG names no chief to worker 0, which led the training beside it.
    def test_chief_among_dynamic_workers_is_the_only_one(self):
        with Job(chief=True, ps=1, workers=2) as job:
            ps, workers = job.cluster["ps"], job.cluster["worker"]
            listed = {"TAAS_WORKER_HOSTS": ",".join(workers),
                      "TAAS_CHIEF_HOSTS": ",".join(job.cluster["chief"])}
            job.start_replica("ps", 0, {"worker": {}, "ps": ps}, environment=listed)
            for index, address in enumerate(workers):
                job.start_replica("worker", index, {"worker": {str(index): address}, "ps": ps},
                                  environment=listed)
            job.start_replica("chief", 0, {"worker": {}, "ps": ps, "chief": job.cluster["chief"]},
                              environment=listed)
            job.expect_all_done(self)
            evaluated = [name for name, process in job.processes.items()
                         if "evaluation at step 600" in process.log()]
            self.assertEqual(evaluated, ["chief-0"], job.logs())
            # All three train: the chief is a peer of both workers.
            for index in range(2):
                self.assertIn("\nstep ", job.processes[f"worker-{index}"].log())

    def test_sparse_cluster_that_does_not_say_who_leads_ends_with_1_and_the_variable(self):
        with Job(ps=1, workers=1) as job:
            process = job.start_replica("ps", 0, {"worker": {}, "ps": job.cluster["ps"]})
            self.assertEqual(process.wait(), 1, process.log())
            self.assertIn("TAAS_WORKER_HOSTS", process.end()["message"])

    def test_master_is_the_chief(self):
        with Job(chief=True, ps=1, workers=1) as job:
            job.cluster["master"] = job.cluster.pop("chief")
            job.start_all()
            job.expect_all_done(self)
            self.assertIn("evaluation at step 600", job.processes["master-0"].log())


if __name__ == "__main__":
    unittest.main()
