#!/usr/bin/python3
"""The dashboard of `taas local up`, in a real browser, in English and in Chinese.

Part of `make e2e`; needs no cluster and no root.
"""

import unittest

import browser
import nonsense
import seeds
from local_cluster import LocalCluster


class OnLocalCluster(unittest.TestCase):
    """One cluster for the tests of a class; each test logs in by links of its own."""

    # A browser takes a core: there are two lanes of them, which take about as long.
    lane = "browser"
    jobs = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(LocalCluster())

    def look(self, scenario, language, acts=None):
        browser.run(scenario, language, url=self.cluster.url, jobs=self.jobs,
                    namespace=seeds.NAMESPACE, local=True,
                    acts={"link": self.cluster.link, "calm": self.cluster.calm, **(acts or {})})


class LocalWalkTest(OnLocalCluster):

    jobs = {"diverging": "too-fast"}

    def test_a_trainer_from_the_form_to_the_history(self):
        self.look("walk of a trainer", "en")

    def test_a_trainer_from_the_form_to_the_history_in_chinese(self):
        self.look("walk of a trainer", "zh")

    def test_an_own_image_from_the_form_to_the_history(self):
        self.look("walk of an own image", "en")

    def test_an_own_image_from_the_form_to_the_history_in_chinese(self):
        self.look("walk of an own image", "zh")

    def test_more_gpus_than_there_are_is_understood_and_repaired(self):
        self.look("more GPUs than there are", "en")

    def test_more_gpus_than_there_are_is_understood_and_repaired_in_chinese(self):
        self.look("more GPUs than there are", "zh")

    def test_a_program_that_ends_with_1_is_understood_and_repaired(self):
        self.look("a program that ends with 1", "en")

    def test_a_program_that_ends_with_1_is_understood_and_repaired_in_chinese(self):
        self.look("a program that ends with 1", "zh")

    def test_out_of_memory_is_understood_and_repaired(self):
        self.look("out of memory", "en")

    def test_out_of_memory_is_understood_and_repaired_in_chinese(self):
        self.look("out of memory", "zh")

    def test_a_loss_that_rises_is_a_warning(self):
        # Symptom: a training with a learning rate of 1000, whose loss was 554, was Healthy.
        name = self.jobs["diverging"]
        self.look("a loss that rises", "en", acts={
            "come": lambda: self.cluster.apply([seeds.diverging(name, "ada")])})

    def test_another_port_of_the_host_gets_nothing_that_opens_the_dashboard(self):
        # Symptom: the cookie was the API server's token, and a browser sends cookies to every
        # port of a host: a tenant's TensorBoard beside the dashboard got the token.
        self.look("another port of the host", "en", acts={"token": self.cluster.token})


class LocalPagesTest(OnLocalCluster):
    """Pages with jobs in all states on them."""

    lane = "pages"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jobs = seeds.plant(cls.cluster)

    def test_every_page_is_accessible_and_quiet(self):
        self.look("every page", "en")

    def test_every_page_is_accessible_and_quiet_in_chinese(self):
        self.look("every page", "zh")

    def test_a_log_is_reached_by_keyboard(self):
        self.look("by keyboard", "en")

    def test_a_log_is_reached_by_keyboard_in_chinese(self):
        self.look("by keyboard", "zh")

    def test_the_page_works_under_a_path_of_its_own(self):
        self.look("under a path of its own", "en")


class LocalNonsenseTest(OnLocalCluster):

    lane = "pages"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jobs = nonsense.plant(cls.cluster)

    def test_nonsense_in_every_text_is_shown_as_text(self):
        self.look("nonsense in every text", "en")


class LocalOutageTest(OnLocalCluster):

    lane = "pages"
    jobs = {"steady": "steady", "new": "new"}

    def test_pages_outlive_a_cluster_that_goes_away(self):
        steady, new = (seeds.own(name, "ada", seeds.TALK.format(name))
                       for name in self.jobs.values())
        self.cluster.apply([steady])
        self.look("a cluster that goes away", "en", acts={
            "stop": self.cluster.stop, "start": self.cluster.start,
            "come": lambda: self.cluster.apply([new])})


class TypesTest(unittest.TestCase):

    def test_the_scenarios_and_the_texts_fit_together(self):
        browser.check_types()
