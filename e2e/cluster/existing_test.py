"""The tests on a cluster that somebody else keeps: what `make e2e KUBECONFIG=FILE` runs."""

import subprocess
import sys

import held
import taas
from cluster import Cluster
from scenario import Scenario

RUN_ANYWHERE = (
    "main_job_test.MainJobTest.test_learns_over_dns_names_and_answers_kubectl",
    "program_ends_test.OwnProgramTest.test_that_ran_out_of_memory",
    "main_job_test.RefusedByAdmissionTest.test_a_refusal_stands_in_the_message_of_both_kinds",
    "node_messages_test.NodeMessagesTest."
    "test_an_image_that_cannot_be_had_and_settings_that_are_not_there_are_named",
)
NEEDS_OUR_NODE = "main_job_test.ProcessTest.test_kill_9_of_a_process_of_each_role"


class ExistingClusterTest(Scenario):

    needs = ("components", "node")
    lane = "clusters"

    def test_it_gets_taas_for_the_tests_that_it_can_run_and_is_left_as_it_was(self):
        with Cluster() as other:
            taas.load_images(other.node)
            done = subprocess.run(
                [sys.executable, held.RUN, "test", "--kubeconfig", other.kubeconfig,
                 *RUN_ANYWHERE, NEEDS_OUR_NODE],
                check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            namespaces = other.kubectl("get", "namespaces", "-o", "name").split()
            pods = other.kubectl("get", "pods", "-A", "-l", "taas.dev/job-name", "-o", "name")
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], f"{len(RUN_ANYWHERE)} passed, 0 failed")
        self.assertIn("node node-0: kubelet v", lines[0])
        for name in RUN_ANYWHERE:
            self.assertTrue(any(line.startswith(f"ok     {name} ") for line in lines), name)
        self.assertIn(f"not run here: {NEEDS_OUR_NODE} needs node", lines)
        self.assertNotIn(f"namespace/{taas.NAMESPACE}", namespaces)
        self.assertEqual(pods, "")
