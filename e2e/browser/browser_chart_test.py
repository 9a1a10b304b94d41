#!/usr/bin/python3
"""The dashboard of the chart, in a real browser, as somebody who may edit one namespace.

Part of `make e2e`.
"""

import browser
from dashboard_scenario import DashboardScenario


class ChartBrowserTest(DashboardScenario):

    # Each browser takes a core.
    lane = "browser on the chart"
    # The form has no field for what the strictest kind wants of an image of one's own.
    pod_security = "baseline"

    def look(self, scenario, language):
        browser.run(scenario, language, url=self.url, token=self.token(),
                    namespace=self.namespace, local=False)

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
