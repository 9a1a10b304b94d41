"""Pods that get no place, or lose it: no room, quota, limits, preemption, drain."""

from direct_api import core
from fault_jobs import KINDS, job_of, training_job
from fault_scenario import FaultScenario
from kubectl import CommandFailed

# More than a node of kwok has, and more than half of one.
MORE_THAN_ALL = {"container_spec": {"resources": {"requests": {"cpu": "1000"}}}}
MORE_THAN_HALF = {"resources": {"requests": {"cpu": "20"}}}
GPUS = {"container_spec": {"resources": {"limits": {"nvidia.com/gpu": 1}}}}
# Nobody has to confirm a deletion.
GONE_AT_ONCE = {"terminationGracePeriodSeconds": 0}
# More often than anybody is preempted in one test.
SEVERAL = 5


def on_node(name, **more):
    return {"nodeSelector": {"kubernetes.io/hostname": name}, **more}


class NoRoomTest(FaultScenario):

    def test_the_schedulers_words_stand_in_the_message(self):
        for kind in KINDS:
            self.submit(kind, job_of(kind, "huge-" + kind, 2, MORE_THAN_ALL))
        self.submit("tj", training_job("no-gpu", 1, GPUS))
        for kind in KINDS:
            self.await_message(kind, "huge-" + kind, "worker-0 (and 1 more) cannot be scheduled",
                               "Insufficient cpu")
        self.await_message("tj", "no-gpu", "Insufficient nvidia.com/gpu")

    def test_a_gang_that_waits_too_long_is_released_as_a_whole_and_tried_again(self):
        job = training_job("gang", 2, pendingDeadlineSeconds=2)
        # One of the two fits, and holds its place in vain.
        job["spec"]["roles"]["chief"] = {"replicas": 1, "template": {
            "spec": {**job["spec"]["roles"]["worker"]["template"]["spec"],
                     "nodeSelector": {"nobody": "has-it"}}}}
        self.submit("tj", job)
        self.wait_for("a worker to run", lambda: (self.pod("gang-worker-0") or {"status": {}})
                      ["status"].get("phase") == "Running")
        self.await_message("tj", "gang", "all replicas are released until",
                           "chief-0 cannot be scheduled", "didn't match")
        self.wait_for("all pods to be gone", lambda: not self.uids())
        self.wait_for("the next attempt", lambda: len(self.uids()) == 3)
        self.assertEqual(self.status_of("tj", "gang")["attempt"], 2)
        self.assertNotIn("restarts", self.status_of("tj", "gang"))


class QuotaTest(FaultScenario):

    def make(self, kind, spec):
        self.api.done("POST", core(self.namespace, kind.lower() + "s"),
                      {"apiVersion": "v1", "kind": kind, "metadata": {"name": "ours"},
                       "spec": spec})

    def test_a_quota_that_is_used_up_is_named_and_more_of_it_is_used_at_once(self):
        self.make("ResourceQuota", {"hard": {"pods": "1"}})
        quota = core(self.namespace, "resourcequotas", "ours")
        self.wait_for("the quota to count", lambda: "hard" in self.api.get(quota)["status"])
        for kind in KINDS:
            self.submit(kind, job_of(kind, "a-" + kind, 2))
        for kind in KINDS:
            self.await_message(kind, "a-" + kind, "create pod", "403 Forbidden",
                               "exceeded quota: ours", "limited: pods=1")
        self.assertEqual(len(self.uids()), 1)
        self.api.done("PATCH", quota, {"spec": {"hard": {"pods": "4"}}})
        for kind in KINDS:
            self.await_running(kind, "a-" + kind, 2)

    def test_a_limit_range_is_named_and_a_mended_template_is_tried_at_once(self):
        self.make("LimitRange", {"limits": [{"type": "Container", "max": {"cpu": "1"}}]})
        for kind in KINDS:
            self.submit(kind, job_of(kind, "b-" + kind, 1, {"container_spec": {
                "resources": {"limits": {"cpu": "2"}}}}))
        for kind in KINDS:
            self.await_message(kind, "b-" + kind, "maximum cpu usage per Container is 1")
        for kind in KINDS:
            mended = job_of(kind, "b-" + kind)["spec"]
            part = mended["roles"] if kind == "tj" else mended["tfReplicaSpecs"]
            self.edit(kind, "b-" + kind,
                      {"spec": {"roles" if kind == "tj" else "tfReplicaSpecs": part}})
            self.await_running(kind, "b-" + kind, 1)


class PreemptionTest(FaultScenario):

    def test_who_is_preempted_waits_says_so_and_is_back_later(self):
        urgent = "urgent-" + self.namespace
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        self.api.done("POST", path, {"metadata": {"name": urgent}, "value": 1000})
        self.addCleanup(self.api, "DELETE", f"{path}/{urgent}")
        for kind, node in zip(KINDS, ("fake-0", "fake-1")):
            self.submit(kind, job_of(kind, "low-" + kind, 1, on_node(
                node, container_spec=MORE_THAN_HALF, **GONE_AT_ONCE),
                backoffLimit=0 if kind == "tj" else SEVERAL))
        for kind in KINDS:
            self.await_running(kind, "low-" + kind, 1)
            self.take_from_kwok(f"low-{kind}-worker-0")
        for node in ("fake-0", "fake-1"):
            self.submit("tj", training_job("high-" + node, 1, on_node(
                node, container_spec=MORE_THAN_HALF), schedulingPolicy={
                    "priorityClassName": urgent}))
        for kind in KINDS:
            self.await_message(kind, "low-" + kind, "cannot be scheduled", "Insufficient cpu")
        for node in ("fake-0", "fake-1"):
            self.await_running("tj", "high-" + node, 1)
            self.api.done("DELETE", self.job_path("tj", "high-" + node))
        for kind in KINDS:
            restarts = self.await_running(kind, "low-" + kind, 1)["restarts"]
            labels = self.pod(f"low-{kind}-worker-0")["metadata"]["labels"]
            # Now and then the scheduler preempts the successor too, which has no node yet.
            self.assertIn(restarts["preempted"], range(1, SEVERAL))
            self.assertEqual(restarts, {"preempted": int(labels["taas.dev/pod-number"]) - 1})


class DrainTest(FaultScenario):

    def drain(self, node, limit_s):
        # The budget is asked again each 5 s.
        self.k("drain", node, "--pod-selector=taas.dev/job-name", f"--timeout={limit_s}s")

    def test_a_drain_waits_for_a_budget_and_counts_as_preempted(self):
        self.addCleanup(self.kubectl, "uncordon", "fake-2")
        for kind in KINDS:
            self.submit(kind, job_of(kind, "d-" + kind, 1, on_node("fake-2", **GONE_AT_ONCE),
                                     backoffLimit=0 if kind == "tj" else 1))
        for kind in KINDS:
            self.await_running(kind, "d-" + kind, 1)
            self.take_from_kwok(f"d-{kind}-worker-0")
        budgets = f"/apis/policy/v1/namespaces/{self.namespace}/poddisruptionbudgets"
        self.api.done("POST", budgets, {"metadata": {"name": "all"}, "spec": {
            "minAvailable": 2,
            "selector": {"matchExpressions": [{"key": "taas.dev/job-uid", "operator": "Exists"}]}}})
        self.wait_for("the budget to count", lambda: self.api.get(budgets + "/all").get(
            "status", {}).get("currentHealthy") == 2)
        before = self.uids()
        with self.assertRaises(CommandFailed) as refused:
            self.drain("fake-2", 1)
        self.assertIn("violate the pod's disruption budget", refused.exception.stderr)
        self.assertEqual(self.uids(), before)
        self.api.done("DELETE", budgets + "/all")
        self.drain("fake-2", 60)
        for kind in KINDS:
            self.await_message(kind, "d-" + kind, "cannot be scheduled", "unschedulable")
        self.kubectl("uncordon", "fake-2")
        for kind in KINDS:
            self.assertEqual(self.await_running(kind, "d-" + kind, 1)["restarts"],
                             {"preempted": 1})
