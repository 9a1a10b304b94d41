#!/usr/bin/python3
"""The dashboard of the chart, in a real browser, as somebody who may edit one namespace.

Part of `make e2e`.
"""

import contextlib
import re
import subprocess

import browser
import programs
import taas
from scenario import Scenario

SERVICE = "service/taas-dashboard"
PERSON = "person"


@contextlib.contextmanager
def forwarded(kubectl, service):
    """The URL under which `kubectl port-forward` serves it, on a free port of this machine."""
    command = [programs.path("kubectl"), "port-forward", "-n", taas.NAMESPACE, service, ":80"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          env=kubectl.environ) as process:
        try:
            line = process.stdout.readline()
            (port,) = re.findall(r"127\.0\.0\.1:(\d+)", line)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


class ChartBrowserTest(Scenario):

    needs = ("node",)
    # Each browser takes a core.
    lane = "browser on the chart"
    # The form has no field for what the strictest kind wants of an image of one's own.
    pod_security = "baseline"

    def setUp(self):
        super().setUp()
        self.k("create", "serviceaccount", PERSON)
        self.k("create", "rolebinding", PERSON, "--clusterrole=edit",
               f"--serviceaccount={self.namespace}:{PERSON}")
        self.url = self.enterContext(forwarded(self.kubectl, SERVICE))

    def look(self, scenario, language):
        token = self.k("create", "token", PERSON).strip()
        browser.run(scenario, language, url=self.url, token=token, namespace=self.namespace,
                    local=False)

    def test_a_trainer_from_the_form_to_the_history(self):
        self.look("walk of a trainer", "en")

    def test_a_trainer_from_the_form_to_the_history_in_chinese(self):
        self.look("walk of a trainer", "zh")

    def test_an_own_image_from_the_form_to_the_history(self):
        self.look("walk of an own image", "en")

    def test_more_gpus_than_there_are_is_understood_and_repaired(self):
        self.look("more GPUs than there are", "zh")

    def test_a_program_that_ends_with_1_is_understood_and_repaired(self):
        self.look("a program that ends with 1", "en")

    def test_an_image_that_nobody_has_is_understood_and_repaired(self):
        self.look("an image that nobody has", "en")

    def test_an_image_that_nobody_has_is_understood_and_repaired_in_chinese(self):
        self.look("an image that nobody has", "zh")

    def test_out_of_memory_is_understood_and_repaired(self):
        self.look("out of memory", "en")

    def test_out_of_memory_is_understood_and_repaired_in_chinese(self):
        self.look("out of memory", "zh")
