#!/usr/bin/python3
"""What the installed operators asked for over the whole run of the suite, against their roles."""

import json
import unittest

import audit
import operations_page
import rights
import taas
from cluster import SHELL_IMAGE
from scenario import CONTAINER_SECURITY, POD_SECURITY, Scenario

# A job is changed this often in one go, so that the operator's writes meet versions of others.
CHANGES = 30
BOTH_KINDS = {"trainingjobs": "tj", "tfjobs": "tfjob"}


def pod_template(name):
    container = {"name": name, "image": SHELL_IMAGE, "command": ["true"],
                 "securityContext": CONTAINER_SECURITY}
    return {"spec": {"securityContext": POD_SECURITY, "containers": [container]}}


def training_job(name, **more):
    return {
        "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": name},
        "spec": {"roles": {"worker": {"replicas": 1, "template": pod_template("trainer")}}, **more},
    }


def tf_job(name, **more):
    worker = {"replicas": 1, "restartPolicy": "ExitCode", "template": pod_template("tensorflow")}
    return {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
        "spec": {"runPolicy": more, "tfReplicaSpecs": {"Worker": worker}},
    }


class RightsTest(unittest.TestCase):
    """The comparison itself."""

    def setUp(self):
        role = {"kind": "Role", "metadata": {"name": "own", "namespace": "here"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "create"]},
            {"apiGroups": ["x"], "resources": ["leases"], "resourceNames": ["mine"],
             "verbs": ["get"]}]}
        binding = {"kind": "RoleBinding", "metadata": {"name": "own", "namespace": "here"},
                   "roleRef": {"kind": "Role", "name": "own"}, "subjects": [
                       {"kind": "ServiceAccount", "name": "me", "namespace": "here"}]}
        self.objects = [role, binding]

    def asked(self, verb, resource, namespace, name="", group=""):
        return audit.Request(verb, group, resource, namespace, name, 200, True, "", 0.0, 0.0,
                             {})

    def test_differences_are_named_each_way(self):
        granted = rights.granted(self.objects, "me", "here")
        requests = [self.asked("list", "pods", "here"), self.asked("list", "pods", "there"),
                    self.asked("get", "leases", "here", "another", "x")]
        self.assertEqual(rights.unused(granted, requests),
                         ["create pods in here", "get leases.x mine in here"])
        self.assertEqual(rights.uncovered(granted, requests),
                         ["get leases.x another in here", "list pods (any) in there"])

    def test_another_s_binding_gives_nothing(self):
        self.assertEqual(rights.granted(self.objects, "you", "here"), set())


class RecordedRightsTest(Scenario):

    # The record is of the API servers that the suite started.
    needs = ("components", "node")
    last = True

    def requests(self):
        return [request for cluster in self.clusters()
                for request in audit.requests(cluster.plane.audit_log, taas.USER)]

    def granted(self):
        """By the roles of the release, of each revision that Helm remembers."""
        # A revision with a list of namespaces gave in these what others give in all.
        return {right if right.namespace == taas.NAMESPACE else right._replace(namespace="")
                for cluster in self.clusters() for right in rights.of_release(cluster.kubectl)}

    def live_to_the_end(self):
        """Jobs that end and go, so that each right is needed whatever other tests did."""
        self.kubectl.create(*(self.here(job) for job in (
            training_job("life", cleanPodPolicy="All", ttlSecondsAfterFinished=1),
            tf_job("old-life", cleanPodPolicy="All", ttlSecondsAfterFinished=1))))
        for kind in BOTH_KINDS.values():
            self.wait_for(f"the end of all of {kind}",
                          lambda: not self.k("get", kind, "-o", "name"))

    def begin_large_job(self):
        """One whose list of replicas has an object of its own."""
        job = training_job(rights.LARGE_JOB)
        worker = job["spec"]["roles"]["worker"]
        worker["replicas"] = rights.LARGE_JOB_WORKERS
        worker["template"]["spec"]["nodeSelector"] = {"no-node-has": "this"}
        self.kubectl.create(self.here(job))
        self.wait_for("the list of its replicas", lambda: self.k(
            "get", "configmap", "-l", "taas.dev/job-name=" + rights.LARGE_JOB, "-o", "name"))
        self.k("delete", "tj", rights.LARGE_JOB)

    def meet_foreign_objects(self):
        """Names that are taken already are looked at: whose are they?"""
        template = pod_template("trainer")
        self.kubectl.create(
            self.here({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "taken-worker-0"},
                       **template}),
            self.here({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "taken"},
                       "spec": {"ports": [{"port": 1}]}}))
        self.kubectl.create(self.here(training_job("taken")))
        self.wait_for("a message about the foreign object",
                      lambda: "taken" in self.status("taken").get("message", ""))

    def meet_other_writers(self):
        """A write that meets a later version reads the job anew."""
        for resource, kind in BOTH_KINDS.items():
            make = training_job if kind == "tj" else tf_job

            def read_back():
                # Each change has the operator write something, and the next is soon there.
                jobs = [self.here(make("busy", suspend=number % 2 == 0))
                        for number in range(CHANGES)]
                self.k("apply", "-f", "-", stdin="\n".join(map(json.dumps, jobs)))
                self.k("delete", kind, "busy")
                return any(request[:3:2] == ("get", resource) for request in self.requests())

            self.wait_for(f"a job of {resource} that is read again", read_back)

    def here(self, obj):
        obj["metadata"]["namespace"] = self.namespace
        return obj

    def test_the_operator_needed_each_right_that_it_has_and_no_other(self):
        self.live_to_the_end()
        self.begin_large_job()
        self.meet_foreign_objects()
        self.meet_other_writers()
        granted, requests = self.granted(), self.requests()
        self.assertGreater(len(granted), 20)
        # Where a role allows it, a no came from an API server that had just started and did not
        # know its roles yet.
        self.assertEqual(rights.uncovered(granted, requests), [], "asked for without a right")
        self.assertEqual(rights.unused(granted, requests), [], "granted and never needed")

    def test_what_the_operator_told_in_events_and_logs_is_documented(self):
        events = {operations_page.Event.of(request.body) for request in self.requests()
                  if request.resource == "events"}
        self.assertIn(("Lease", "Normal", "LeaderElection"), events)
        self.assertEqual(events - operations_page.events_on_page(), set())
        log = self.kubectl("logs", "-l", taas.OPERATOR, "-n", taas.NAMESPACE, "--tail=-1")
        lines = [json.loads(line) for line in log.splitlines()]
        self.assertGreater(len(lines), 2)
        fields = set().union(*lines)
        self.assertEqual(fields - operations_page.log_fields_on_page(), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
