"""The Python client `taas` on a real cluster, where curves come through the API server."""

import json
import os
import re
import subprocess

import programs
from cluster import SHELL_IMAGE
from scenario import Scenario

PACKAGE = os.path.join(programs.TREE, "python")
PROGRAM = os.path.join(programs.TREE, "e2e", "python", "client_cases.py")
PAGE = os.path.join(programs.TREE, "docs", "python.md")
LIMIT_S = 400


def first_program(path):
    with open(path, encoding="utf-8") as file:
        return re.search(r"```python\n(.*?)```", file.read(), re.DOTALL)[1]


class PythonClientTest(Scenario):

    # Programs of one's own say nothing of their security here.
    pod_security = "baseline"

    def case(self, name, *arguments):
        python = os.path.join(programs.folder("clients"), "python")
        if not os.path.exists(python):
            raise programs.ProgramMissing(
                f"there is no {python}: `tools/setup/setup.sh python clients` installs it")
        done = subprocess.run(
            [python, PROGRAM, name, "--image", SHELL_IMAGE, "--examples",
             os.path.join(programs.TREE, "examples"), *arguments],
            env={"KUBECONFIG": self.kubeconfig(), "PATH": programs.SYSTEM_PATH,
                 "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"},
            text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], name + " done", done.stdout)
        return done.stdout

    def kubeconfig(self):
        """With this test's namespace as the context's, which is all that a program is told."""
        path = os.path.join(self.cluster.logs, f"{self.namespace}.kubeconfig")
        text = self.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json")
        config = json.loads(text)
        config["contexts"][0]["context"]["namespace"] = self.namespace
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                  encoding="utf-8") as file:
            json.dump(config, file)
        self.addCleanup(os.remove, path)
        return path

    def test_the_example_of_the_page_as_it_stands(self):
        self.assertEqual(first_program(PAGE), first_program(os.path.join(PACKAGE, "README.md")))
        self.make_example_claims()
        said = self.case("example", "--page", PAGE)
        self.assertRegex(said, r"Succeeded, step 2000/2000\naccuracy 0\.9")

    def test_a_job_is_submitted_awaited_and_its_logs_read_and_followed(self):
        self.make_example_claims()
        self.case("train")

    def test_curves_of_pods_that_only_the_api_server_reaches(self):
        self.make_claim("mnist-out")
        self.case("series")

    def test_a_failure_and_what_cannot_be_scheduled_are_understood_from_the_exceptions(self):
        self.case("failure")

    def test_restarts_scale_suspend_resume_delete(self):
        self.case("life")

    def test_a_tfjob(self):
        self.case("tfjob")

    def test_what_the_cluster_refuses(self):
        self.case("refused")
