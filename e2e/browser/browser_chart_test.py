#!/usr/bin/python3
"""The dashboard of the chart, in a real browser, as somebody who may edit one namespace.

Part of `make e2e`.
"""

import json

import browser
import seeds
from dashboard_scenario import PERSON, DashboardScenario


LIMITS = {
    "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "100m"},
                         "defaultRequest": {"cpu": "10m"}}]},
}


class ChartBrowserTest(DashboardScenario):

    # See browser_local_test.py.
    lane = "browser"
    # The form has no field for what the strictest kind wants of an image of one's own.
    pod_security = "baseline"

    def setUp(self):
        super().setUp()
        # What trains until the browser stops it must not keep the browser from that.
        self.k("create", "-f", "-", stdin=json.dumps(LIMITS))

    def look(self, scenario, language, **more):
        browser.run(scenario, language, url=self.url, namespace=self.namespace, local=False,
                    **{"token": self.token(), **more})

    def test_a_trainer_from_the_form_to_its_end(self):
        self.look("walk of a trainer", "en")

    def test_a_trainer_from_the_form_to_its_end_in_chinese(self):
        self.look("walk of a trainer", "zh")

    def test_an_own_image_from_the_form_to_its_end(self):
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

    def test_a_token_that_ends_is_asked_for_again_above_the_page(self):
        jobs = {"steady": "steady", "new": "new"}

        def come(name):
            job = seeds.own(name, PERSON, seeds.TALK.format(name))
            job["metadata"]["namespace"] = self.namespace
            self.k("apply", "-f", "-", stdin=json.dumps(job))

        # A token is no longer good when what it is bound to has gone.
        self.k("create", "secret", "generic", "bound")
        token = self.k("create", "token", PERSON, "--bound-object-kind", "Secret",
                       "--bound-object-name", "bound").strip()
        come(jobs["steady"])
        self.look("a token that ends", "en", token=token, jobs=jobs, acts={
            "end": lambda: self.k("delete", "secret", "bound"), "renew": self.token,
            "come": lambda: come(jobs["new"])})
