#!/usr/bin/python3
"""What bare clients send: the objects that an operator made, for the new job of the same name."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import bare

POD = {
    "metadata": {
        "name": "a-worker-0", "namespace": "bench", "uid": "u-pod", "resourceVersion": "7",
        "creationTimestamp": "2026-11-21T10:00:00Z", "generation": 1, "managedFields": [{}],
        "labels": {"taas.dev/job-uid": "u-old"},
        "ownerReferences": [{"kind": "TFJob", "name": "a", "uid": "u-old", "controller": True}],
    },
    "spec": {"containers": [{"name": "tensorflow"}], "nodeName": "fake-1"},
    "status": {"phase": "Running"},
}


class BareTest(unittest.TestCase):

    def test_what_the_server_added_is_not_sent(self):
        made = json.loads(bare.kept("Pod", POD).body)
        self.assertEqual(made["spec"], {"containers": [{"name": "tensorflow"}]})
        self.assertEqual(set(made["metadata"]), {"name", "namespace", "labels", "ownerReferences"})
        self.assertNotIn("status", made)
        self.assertEqual((made["apiVersion"], made["kind"]), ("v1", "Pod"))

    def test_each_object_belongs_to_the_new_job_of_its_name(self):
        line = bare.renewed(bare.kept("Pod", POD), {"a": "u-new", "b": "u-other"}).decode()
        method, path, body = line.removesuffix("\n").split("\t")
        made = json.loads(body)
        self.assertEqual((method, path), ("POST", "/api/v1/namespaces/bench/pods"))
        self.assertEqual(made["metadata"]["ownerReferences"][0]["uid"], "u-new")
        self.assertEqual(made["metadata"]["labels"], {"taas.dev/job-uid": "u-new"})

    def test_a_config_map_keeps_what_it_says(self):
        found = {"metadata": POD["metadata"], "immutable": True, "data": {"cluster": "{}"}}
        item = bare.kept("ConfigMap", found)
        made = json.loads(item.body)
        self.assertEqual(item.path, "/api/v1/namespaces/bench/configmaps")
        self.assertEqual((made["kind"], made["data"], made["immutable"]),
                         ("ConfigMap", {"cluster": "{}"}, True))
        self.assertNotIn("spec", made)

    def test_services_and_config_maps_come_before_pods_of_their_job_and_its_status_last(self):
        class Client:
            def list(self, path):
                if path == "jobs":
                    return [{"metadata": {"name": "a", "uid": "u", "labels": {},
                                          "annotations": {"taas.dev/ledger": "1", "other": "2"}},
                             "spec": {}, "status": {"state": "Running"}}]
                owner = [{"name": "a", "uid": "u"}]
                name = path.rpartition("/")[2]
                item = {"metadata": {"name": name, "namespace": "bench", "ownerReferences": owner},
                        "spec": {}}
                return [item, {"metadata": {"name": "foreign", "namespace": "bench"}, "spec": {}}]

        found = bare.objects_of(Client(), "jobs")
        self.assertEqual([item.path.rpartition("/")[2] for item in found],
                         ["a", "services", "configmaps", "pods", "status"])
        self.assertEqual([item.path for item in found if item.method == "PATCH"],
                         ["jobs/a", "jobs/a/status"])
        self.assertEqual(json.loads(found[0].body),
                         {"metadata": {"annotations": {"taas.dev/ledger": "1"}}})
        self.assertEqual(json.loads(found[-1].body), {"status": {"state": "Running"}})
        self.assertEqual(len(bare.without_words(found)), 3)

    def test_what_is_heard_is_a_watch_with_nothing_to_send(self):
        self.assertEqual(bare.heard("/api/v1/pods", labelSelector="a/b"),
                         b"GET\t/api/v1/pods?watch=true&labelSelector=a%2Fb\t\n")


if __name__ == "__main__":
    unittest.main()
