"""The kubeflow-training SDK, as users have it, with TFJobs on a real cluster."""

import os
import subprocess

import programs
from cluster import SHELL_IMAGE
from scenario import Scenario

PROGRAM = os.path.join(programs.TREE, "e2e", "clients", "client_program.py")
LIMIT_S = 300


class SdkTest(Scenario):

    pod_security = "baseline"

    def client(self, case):
        """A run of the program that the local cluster is tested with, too."""
        python = os.path.join(programs.folder("clients"), "python")
        if not os.path.exists(python):
            raise programs.ProgramMissing(
                f"there is no {python}: `tools/setup/setup.sh python clients` installs the SDK")
        done = subprocess.run(
            [python, PROGRAM, case, "--namespace", self.namespace, "--image", SHELL_IMAGE],
            env={"KUBECONFIG": self.cluster.kubeconfig, "PATH": programs.SYSTEM_PATH},
            text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], case + " done", done.stdout)

    def test_it_creates_awaits_reads_and_deletes_a_job(self):
        self.client("tfjob")

    def test_it_follows_a_job_that_restarts_is_suspended_and_fails(self):
        self.client("tfjob-life")
