"""The tests on a cluster that somebody else keeps: what `make e2e KUBECONFIG=FILE` runs."""

import subprocess
import sys

import held
import taas
from cluster import Cluster
from scenario import Scenario

RUNS_ANYWHERE = "main_job_test.OwnProgramTest.test_that_ran_out_of_memory"
NEEDS_OUR_NODE = "main_job_test.ProcessTest.test_kill_9_of_a_process_of_each_role"


class ExistingClusterTest(Scenario):

    needs = ("components", "node")

    def test_it_gets_taas_for_the_tests_that_it_can_run_and_is_left_as_it_was(self):
        with Cluster() as other:
            taas.load_images(other.node)
            done = subprocess.run(
                [sys.executable, held.RUN, "test", "--kubeconfig", other.kubeconfig,
                 RUNS_ANYWHERE, NEEDS_OUR_NODE],
                check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            namespaces = other.kubectl("get", "namespaces", "-o", "name").split()
            pods = other.kubectl("get", "pods", "-A", "-l", "taas.dev/job-name", "-o", "name")
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], "1 passed, 0 failed")
        self.assertIn("node node-0: kubelet v", lines[0])
        self.assertTrue(any(line.startswith(f"ok     {RUNS_ANYWHERE} ") for line in lines), lines)
        self.assertIn(f"not run here: {NEEDS_OUR_NODE} needs node", lines)
        self.assertNotIn(f"namespace/{taas.NAMESPACE}", namespaces)
        self.assertEqual(pods, "")
