#!/usr/bin/python3
"""Values that the chart must refuse, each with a word that leads to the mistake.

    TAAS_CLUSTER_BIN=FOLDER-WITH-HELM e2e/chart/refused_values_test.py
"""

import json
import os
import re
import tempfile
import unittest

import yaml

import helm

# Values, and what Helm's message must have in it.
REFUSED = {
    "a typo in a group": ({"operater": {}}, "operater"),
    "a typo below it": ({"operator": {"replica": 2}}, "replica"),
    "a typo in an image": ({"operator": {"image": {"name": "x"}}}, "name"),
    "a typo in the trainer's image": ({"trainer": {"image": {"pullPolicy": "Always"}}},
                                      "pullPolicy"),
    "a typo at the third level": ({"metrics": {"serviceMonitor": {"enable": True}}}, "enable"),
    "a typo in leader election": ({"operator": {"leaderElection": {"enable": True}}}, "enable"),
    "a typo in resources": ({"operator": {"resources": {"limit": {"cpu": 1}}}}, "limit"),
    "a resource that there is not": ({"operator": {"resources": {"limits": {"mem": "1Gi"}}}},
                                     "mem"),
    "a typo in a toleration": ({"operator": {"tolerations": [{"keys": "a"}]}}, "keys"),
    "a kind of affinity that there is not": ({"operator": {"affinity": {"podAntiAfinity": {}}}},
                                             "podAntiAfinity"),
    "a typo in a peer": ({"networkPolicy": {"metricsFrom": [{"podselector": {}}]}}, "podselector"),
    "a number as text": ({"operator": {"replicas": "2"}}, "replicas"),
    "a fraction of a replica": ({"operator": {"replicas": 1.5}}, "replicas"),
    "a negative number": ({"operator": {"replicas": -1}}, "replicas"),
    "a list as text": ({"operator": {"namespaces": "a,b"}}, "namespaces"),
    "a namespace twice": ({"operator": {"namespaces": ["a", "a"]}}, "namespaces"),
    "a namespace that is no name": ({"operator": {"namespaces": ["Team A"]}}, "namespaces"),
    "no kind": ({"operator": {"kinds": []}}, "kinds"),
    "a kind that it does not know": ({"operator": {"kinds": ["PyTorchJob"]}}, "kinds"),
    "a switch as text": ({"metrics": {"enabled": "yes"}}, "enabled"),
    "a port out of range": ({"metrics": {"port": 70000}}, "port"),
    "an interval without a unit": ({"metrics": {"serviceMonitor": {"interval": "30"}}}, "interval"),
    "a digest that is none": ({"operator": {"image": {"digest": "latest"}}}, "digest"),
    "a tag with a colon": ({"trainer": {"image": {"tag": "a:b"}}}, "tag"),
    "a registry with a scheme": ({"image": {"registry": "https://registry.example.com"}},
                                 "registry"),
    "less than nothing": ({"operator": {"resources": {"limits": {"cpu": -1}}}}, "cpu"),
    "an amount that is none": ({"test": {"resources": {"cpu": "much", "memory": "1Gi"}}}, "cpu"),
    "half of the test's resources": ({"test": {"resources": {"cpu": None}}}, "cpu"),
    "a label that is none": ({"commonLabels": {"team": "two words"}}, "team"),
    "a name that is none": ({"fullnameOverride": "My_Name"}, "fullnameOverride"),
    "a choice that there is not": ({"operator": {"tfjobServices": "PerPod"}}, "tfjobServices"),
    "a word for crds.tfjob": ({"crds": {"tfjob": "maybe"}}, "tfjob"),
    "an unknown gang scheduler": ({"operator": {"gangScheduler": "yunikorn"}}, "gangScheduler"),
    "two operators without election": ({"operator": {"leaderElection": {"enabled": False}}},
                                       "operator.replicas=1"),
    "a lease that ends before it is renewed": (
        {"operator": {"leaderElection": {"leaseSeconds": 10}}}, "more than renewSeconds (10)"),
    "retries as far apart as the limit": (
        {"operator": {"leaderElection": {"retrySeconds": 9}}}, "retrySeconds (9)"),
    "a typo in the image for GPUs": ({"trainer": {"cudaImage": {"name": "x"}}}, "name"),
    "a tag of no image for GPUs": ({"trainer": {"cudaImage": {"tag": "v1"}}},
                                   "trainer.cudaImage has a tag"),
    "the name of a scheduler of no kind": ({"operator": {"gangSchedulerName": "x"}},
                                           "operator.gangScheduler is none"),
    "a history of two servers": (
        {"dashboard": {"replicas": 2, "history": {"enabled": True}}}, "dashboard.replicas"),
    "an account without a name": ({"serviceAccount": {"create": False}}, "serviceAccount.name"),
    "a monitor of nothing": (
        {"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}}, "nothing to scrape"),
    "a registry before a registry": (
        {"image": {"registry": "registry.example.com/ml"},
         "trainer": {"image": {"repository": "mirror.example.com/taas/trainer"}}},
        "trainer.image.repository"),
    "an Ingress to nothing": (
        {"dashboard": {"enabled": False, "ingress": {"enabled": True}}}, "behind the Ingress"),
    "a claim for no history": (
        {"dashboard": {"history": {"existingClaim": "of-jobs"}}}, "nothing would be kept"),
    "a test of a kind that it does not work on": (
        {"operator": {"kinds": ["TFJob"]}, "test": {"enabled": True}}, "the test is a TrainingJob"),
    "a runbook that is no address": (
        {"metrics": {"prometheusRule": {"runbookUrl": "docs/operations.md"}}}, "runbookUrl"),
    "alerts on nothing": (
        {"metrics": {"enabled": False, "prometheusRule": {"enabled": True}}}, "nothing to scrape"),
}

# What is unusual and right.
TAKEN = {
    "no value at all": {},
    "values of a chart that has this one": {"global": {"imageRegistry": "x"}},
    "an account of one's own": {"serviceAccount": {"create": False, "name": "mine"}},
    "no operator for now": {"operator": {"replicas": 0}},
    "a GPU as a resource": {"operator": {"resources": {"limits": {"nvidia.com/gpu": 1}}}},
    "an image with a registry and a port": {
        "trainer": {"image": {"repository": "localhost:5000/ml/trainer"}}},
    "a registry before a folder": {
        "image": {"registry": "registry.example.com"},
        "trainer": {"image": {"repository": "mirror/trainer"}}},
    "a registry on a port": {"image": {"registry": "localhost:5000"}},
    "TFJob's definition by a switch": {"crds": {"tfjob": False}},
    "an account name of a whole domain": {"serviceAccount": {"name": "a.b"}},
}


def render(values):
    with tempfile.TemporaryDirectory(prefix="taas-values-") as folder:
        path = os.path.join(folder, "values.yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(values, file)
        return helm.render("defaults", "--values", path)


class RefusedValuesTest(unittest.TestCase):

    def test_what_is_wrong_is_refused_with_the_word_that_is(self):
        for name, (values, word) in REFUSED.items():
            with self.subTest(name):
                with self.assertRaises(helm.HelmError) as refused:
                    render(values)
                self.assertIn(word, str(refused.exception))

    def test_what_is_only_unusual_is_taken(self):
        for name, values in TAKEN.items():
            with self.subTest(name):
                self.assertTrue(helm.objects(render(values)))

    def test_each_object_of_the_schema_is_closed_or_says_what_its_keys_are(self):
        schema = json.loads(helm.read("charts", "taas", "values.schema.json"))
        # Objects of Kubernetes that the API server itself checks, and other charts' values.
        free = re.compile(r"/(global|nodeAffinity|podAffinity|podAntiAffinity|namespaceSelector|"
                          r"podSelector|topologySpreadConstraints/items)$")
        open_ones = []

        def look(node, path):
            if isinstance(node, list):
                for child in node:
                    look(child, path)
            if not isinstance(node, dict):
                return
            closed = "additionalProperties" in node or free.search(path)
            if node.get("type") == "object" and not closed:
                open_ones.append(path)
            for key, child in node.items():
                look(child, path if key == "properties" else f"{path}/{key}")

        look(schema, "")
        self.assertEqual(open_ones, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
