"""What the operator's settings change for jobs: the chart's values, set and set back."""

import json

import taas
from acceptance import Acceptance
from dns_question import addresses
from job_kinds import KINDS, TFJOB

DOMAIN = "cluster.local"
VALUES = (f"operator.clusterDomain={DOMAIN}", "operator.tfjobServices=PerJob",
          "operator.tfjobLegacyLabels=true")


class SettingsTest(Acceptance):

    # It is the one operator of all tests.
    alone = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kubectl = cls.its_cluster().kubectl
        cls.addClassCleanup(taas.upgrade, kubectl)
        taas.upgrade(kubectl, *VALUES)

    def setUp(self):
        super().setUp()
        self.await_true("a leader among the pods with these values", lambda:
                        taas.leads(self.kubectl))

    def test_cluster_domain_and_one_service_per_tfjob_make_names_that_are_found(self):
        jobs = [kind.job(f"{kind.short}-domain", {"ps": 1, "worker": 2}) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        self.assertEqual(set(self.api.list("services")), {job.name for job in jobs})
        for job in jobs:
            cluster = json.loads(self.variables(job.pod("ps"))["TF_CONFIG"])["cluster"]
            name = f"{job.pod('worker', 1)}.{job.name}.{self.namespace}.svc.{DOMAIN}"
            self.assertEqual(cluster["worker"][1], name + ":2222")
            address = self.api.get("pods", job.pod("worker", 1))["status"]["podIP"]
            self.await_true(f"the name {name}", lambda name=name, address=address:
                            addresses(self.cluster.plane.address, name) == [address])

    def test_labels_of_earlier_tf_operators_are_on_pods_of_tfjobs(self):
        job = self.start(TFJOB.job("legacy", {"chief": 1, "worker": 2}))
        self.await_running(job)

        def selected(labels):
            return set(self.k("get", "pods", "-l", labels, "-o",
                              "jsonpath={.items[*].metadata.name}").split())

        self.assertEqual(selected("group-name=kubeflow.org,job-name=legacy"), set(job.pods()))
        self.assertEqual(selected("tf-job-name=legacy,controller-name=tf-operator,"
                                  "tf-replica-type=worker,tf-replica-index=1"),
                         {job.pod("worker", 1)})
        self.assertEqual(selected("job-name=legacy,replica-type=worker,replica-index=0"),
                         {job.pod("worker")})
        self.assertEqual(selected("job-name=legacy,job-role=master"), {job.pod("chief")})
