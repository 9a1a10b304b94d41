#!/usr/bin/python3
"""The operator with the chart's account and the chart's flags, over whole lives of jobs.

    TAAS_CLUSTER_BIN=… TAAS_KUBERNETES_BIN=… e2e/chart/operator_rights_test.py

TAAS_BIN may name another folder with taas-operator than bin/, where `make build` puts it. The API
server is real, and what a kubelet would write is written by the test. The audit log says what the
operator asked for: nothing may have been denied, and a right that was never used is one too many.
"""

import json
import unittest

import helm
from api_server import ApiServer
from operator_scenario import ACCOUNT, USER, OperatorScenario, operator_arguments

# Found where api_server has looked.
import rights

# Asked for only when the reply to a write is lost or somebody else wrote at the same time.
READ_BACK = ("pods", "services", "trainingjobs", "tfjobs")
# The API server asks for it, of whoever makes an object that holds up the deletion of its owner.
GUARDED = ("trainingjobs/finalizers", "tfjobs/finalizers")
KUEUES_FINALIZER = "kueue.x-k8s.io/managed"

TRAINING_JOB = {
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "life"},
    "spec": {
        "trainer": {"model": {"name": "softmax"}, "data": {"format": "generated"}, "maxSteps": 10},
        "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 1}, "worker": {"replicas": 1}},
        "cleanPodPolicy": "All", "ttlSecondsAfterFinished": 1,
    },
}
TF_JOB = {
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "old-life"},
    "spec": {
        "runPolicy": {"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 1},
        "tfReplicaSpecs": {"Worker": {"replicas": 1, "restartPolicy": "ExitCode", "template": {
            "spec": {"containers": [{"name": "tensorflow", "image": "none"}]}}}},
    },
}


class GuardingServer(ApiServer):
    """As that of OpenShift."""

    flags = ("--enable-admission-plugins=OwnerReferencesPermissionEnforcement",)


class RightsScenario(OperatorScenario):

    server_type = ApiServer

    def setUp(self):
        server = self.server_type()
        self.addCleanup(server.stop)
        self.serve(server)

    def start(self, case, *settings):
        self.install(case, *settings)
        token = self.server.kubectl("create", "token", ACCOUNT, "-n", helm.NAMESPACE)
        kubeconfig = self.server.write_kubeconfig("operator", token.strip())
        self.start_operator(["--kubeconfig", kubeconfig,
                             *operator_arguments(case, settings=settings)])

    def live(self, job, pods, admit=lambda name: None):
        """Its pods run, the last is killed and comes back, all end well, the job goes."""
        kind = job["kind"].lower()
        self.create(job)
        admit(job["metadata"]["name"])
        for name in pods:
            self.run_pod(name)
        self.replace_killed(pods[-1])
        for name in reversed(pods):
            self.end_pod(name, 0)
        path = f"{kind}/{job['metadata']['name']}"
        self.until(f"the end of {path}",
                   lambda: self.object(kind, job["metadata"]["name"]) is None)

    def begin_large_job(self, admit):
        self.create({**TRAINING_JOB, "metadata": {"name": rights.LARGE_JOB}, "spec": {
            **TRAINING_JOB["spec"],
            "roles": {"ps": {"replicas": 1}, "worker": {"replicas": rights.LARGE_JOB_WORKERS}}}})
        admit(rights.LARGE_JOB)
        last = f"{rights.LARGE_JOB}-worker-{rights.LARGE_JOB_WORKERS - 1}"
        self.until("all pods of a large job", lambda: self.pod(last) is not None)

    def lives(self, case, *settings, without_jobs=(), admit=lambda name: None):
        self.begin_large_job(admit)
        self.live(TRAINING_JOB, ["life-chief-0", "life-ps-0", "life-worker-0"], admit)
        self.live(TF_JOB, ["old-life-worker-0"], admit)
        requests = self.server.requests_of(USER)
        self.assertEqual([request for request in requests if not request.allowed], [])
        granted = rights.granted(helm.rendered(case, *settings), ACCOUNT, helm.NAMESPACE)
        self.assertEqual(rights.uncovered(granted, requests), [], "asked for without a right")
        granted = {right for right in granted if right.namespace not in without_jobs
                   and not (right.verb == "get" and right.resource in READ_BACK)
                   and right.resource not in GUARDED}
        self.assertEqual(rights.unused(granted, requests), [], "granted and never used")


class OperatorRightsTest(RightsScenario):

    def test_it_needs_exactly_the_rights_that_it_has_in_all_namespaces(self):
        self.start("single-replica")
        self.lives("single-replica")

    def test_it_needs_exactly_the_rights_that_it_has_in_its_list_of_namespaces(self):
        self.namespace = "team-b"
        for namespace in ("team-a", "team-b"):
            self.server.kubectl("create", "ns", namespace)
        self.start("namespaced")
        self.lives("namespaced", without_jobs=("team-a",))

    def merge(self, *what, change):
        self.server.kubectl("patch", *what, "-n", self.namespace, "--type=merge", "-p",
                            json.dumps(change))

    def find_name_taken(self, group):
        """Somebody's own PodGroup has the name of a job's: it is read, and left alone."""
        kind = f"podgroups.{group}"
        (served,) = self.server.get("crd", kind)["spec"]["versions"]
        own = {"apiVersion": f"{group}/{served['name']}", "kind": "PodGroup",
               "metadata": {"name": "taken"}, "spec": {"minMember": 77}}
        self.create(own)
        self.create({**TRAINING_JOB, "metadata": {"name": "taken"},
                     "spec": {**TRAINING_JOB["spec"],
                              "schedulingPolicy": {"gang": "Required"}}})
        self.until("the message to name the PodGroup", lambda: "PodGroup taken" in self.object(
            "tj", "taken").get("status", {}).get("message", ""))
        self.assertEqual(self.object("podgroup", "taken")["spec"]["minMember"], 77)
        self.server.kubectl("delete", "tj/taken", "podgroup/taken", "-n", self.namespace)

    def live_in_gangs(self, scheduler, group):
        self.server.kubectl("create", "-f", helm.definition(f"{group}_podgroups.yaml"))
        settings = ("--set", "operator.gangScheduler=" + scheduler)
        self.start("single-replica", *settings)
        self.find_name_taken(group)
        self.lives("single-replica", *settings, admit=self.change_and_admit)

    def test_it_needs_exactly_the_rights_that_it_has_with_volcano(self):
        self.live_in_gangs("volcano", "scheduling.volcano.sh")

    def test_it_needs_exactly_the_rights_that_it_has_with_coscheduling(self):
        self.live_in_gangs("coscheduling", "scheduling.x-k8s.io")

    def change_and_admit(self, name):
        """The group follows the job; then Volcano would say that it may have pods."""
        group = ("podgroup", name)
        self.until(f"the group of {name}", lambda: self.object(*group))
        roles = ("roles", "worker") if name == "life" else ("tfReplicaSpecs", "Worker")
        for workers in (2, 1) if name != rights.LARGE_JOB else ():
            before = self.object(*group)["spec"]
            self.merge("tj" if name == "life" else "tfjob", name, change={
                "spec": {roles[0]: {roles[1]: {"replicas": workers}}}})
            self.until("a group of another size",
                       lambda was=before: self.object(*group)["spec"] != was)
        self.merge(*group, change={"status": {"phase": "Inqueue"}})

    def test_it_needs_exactly_the_rights_that_it_has_with_kueue(self):
        settings = ("--set", "operator.gangScheduler=kueue")
        self.start("single-replica", *settings)
        queued = {**TRAINING_JOB, "metadata": {"name": "queued"}, "spec": {
            **TRAINING_JOB["spec"], "schedulingPolicy": {"queue": "team-a"}}}
        self.create(queued)
        worker = "queued-worker-0"
        for name in ("queued-chief-0", "queued-ps-0", worker):
            self.run_pod(name)
        self.merge("pod", worker, change={"metadata": {"finalizers": [KUEUES_FINALIZER]}})
        before = self.pod(worker)["metadata"]["uid"]
        self.server.kubectl("delete", "pod", worker, "-n", self.namespace, "--wait=false")
        self.until("its successor", lambda: (self.pod(worker) or {"metadata": {"uid": before}})
                   ["metadata"]["uid"] != before)
        self.lives("single-replica", *settings)


class GuardedOwnersTest(RightsScenario):

    server_type = GuardingServer

    def test_with_the_right_to_finalizers_jobs_live_as_anywhere(self):
        settings = ("--set", "rbac.finalizers=true")
        self.start("single-replica", *settings)
        self.lives("single-replica", *settings)

    def test_without_it_the_job_says_what_is_missing(self):
        self.start("single-replica")
        self.create(TRAINING_JOB)
        self.until("the API server's words", lambda: "cannot set blockOwnerDeletion" in self.object(
            "tj", "life").get("status", {}).get("message", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
