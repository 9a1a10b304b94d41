#!/usr/bin/python3
"""The Python `kubernetes` client and the kubeflow-training SDK against the local cluster.

The clients live in an environment of their own, so each case is one run of client_program.py there.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], "taas", "e2e", "local"))

from cluster import RUNFILES, Cluster  # pylint: disable=wrong-import-position

PYTHON = os.path.join(os.environ.get("TAAS_CLIENTS_BIN", "/TAAS_CLIENTS_BIN-is-not-set"), "python")
PROGRAM = os.path.join(RUNFILES, "e2e", "clients", "client_program.py")


class ClientsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs the clients, sets TAAS_CLIENTS_BIN")
        cls.cluster = Cluster()
        cls.cluster.up()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def client(self, case):
        done = self.cluster.run(PYTHON, PROGRAM, case)
        self.assertEqual(done.stdout.splitlines()[-1], case + " done")

    def test_the_kubernetes_client_runs_watches_reads_patches_and_deletes_a_pod(self):
        self.client("pod")

    def test_the_kubernetes_client_reads_what_pods_and_nodes_use(self):
        self.client("metrics")

    def test_the_kubernetes_client_works_with_trainingjobs_as_custom_objects(self):
        self.client("trainingjob")

    def test_the_kubeflow_sdk_creates_awaits_reads_and_deletes_a_tfjob(self):
        self.client("tfjob")

    def test_the_kubeflow_sdk_follows_a_tfjob_that_restarts_is_suspended_and_fails(self):
        self.client("tfjob-life")


if __name__ == "__main__":
    unittest.main(verbosity=2)
