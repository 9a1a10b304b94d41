"""Parts of the control plane that go away under running jobs: what is lost is nothing."""

import json
import re
import time

from direct_api import core, jobs
from fault_jobs import KINDS, job_of, replicas_patch, suspend_patch
from fault_scenario import FaultScenario

# Longer than an upgrade of an API server takes; delays have grown to their limit in it.
OUTAGE_S = 15
# Each of the four watches asks at 0.8, 1.6, 3.2 … s.
TRIES_MIN, TRIES_MAX = 8, 60
# Of a core, in that time.
OUTAGE_CPU_S = 3.0
COMPACT = "http://127.0.0.1:2379/v3/kv/"


class OutageScenario(FaultScenario):

    def tearDown(self):
        if not all(part.running() for part in self.cluster.components.values()):
            self.bring_back()
        super().tearDown()

    def bring_back(self):
        """What was killed. The operator's own patience is what is tested, so the others, which wait
        for up to a minute after an outage, are started anew."""
        clients = ("kube-controller-manager", "kube-scheduler", "kwok")
        for name in clients:
            self.part(name).discard()
        for name in ("etcd", "kube-apiserver"):
            if not self.part(name).running():
                self.part(name).start()
        self.plane.await_ready()
        for name in clients:
            self.part(name).start()

    def start_jobs(self, workers=2):
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind, workers))
        for kind in KINDS:
            self.await_running(kind, kind, workers)
        return self.uids()

    def check_as_before(self, uids):
        """The jobs run in the same pods, and a lost one is made again."""
        for kind in KINDS:
            self.assertNotIn("restarts", self.await_running(kind, kind, 2))
        self.assertEqual(self.uids(), uids)
        for kind in KINDS:
            name = kind + "-worker-1"
            self.remove(name)
            self.await_other_pod(name, uids[name])
            self.await_restarts(kind, kind, 2, {"preempted": 1})

    def part(self, name):
        return self.cluster.components[name]


class ApiServerTest(OutageScenario):

    def test_jobs_go_on_over_restarts_of_the_api_server(self):
        uids = self.start_jobs()
        for _ in range(2):
            self.part("kube-apiserver").kill()
            self.bring_back()
        self.check_as_before(uids)

    def test_a_long_outage_of_all_that_is_stored_is_waited_for_in_patience(self):
        uids = self.start_jobs()
        tried, used = self.tries(), self.operator.cpu_seconds()
        self.part("kube-apiserver").kill()
        self.part("etcd").kill()
        self.pass_time(OUTAGE_S)
        self.bring_back()
        back = time.monotonic()
        self.submit("tj", job_of("tj", "after", 2))
        self.await_running("tj", "after", 2)
        print(f"first job after an outage of {OUTAGE_S} s: {time.monotonic() - back:.1f} s, "
              f"{self.tries() - tried} tries", flush=True)
        self.assertIn(self.tries() - tried, range(TRIES_MIN, TRIES_MAX))
        self.assertLess(self.operator.cpu_seconds() - used, OUTAGE_CPU_S)
        self.api.done("DELETE", jobs(self.namespace, "tj", "after"))
        self.wait_for("its pods to be gone", lambda: len(self.uids()) == 4)
        self.check_as_before(uids)

    def tries(self):
        return len(re.findall("will (watch|list) again", self.operator.log_text()))

    def test_what_happened_in_a_past_that_etcd_has_forgotten_is_found_by_a_list(self):
        uids = self.start_jobs()
        self.operator.freeze()
        self.remove("tj-worker-0")
        self.submit("tj", job_of("tj", "unseen", 1))
        self.wait_for("the pod to be gone", lambda: not self.uid("tj-worker-0"))
        self.part("kube-apiserver").kill()
        revision = json.loads(self.etcd("range", {"key": "YQ=="}))["header"]["revision"]
        self.etcd("compaction", {"revision": revision, "physical": True})
        self.bring_back()
        seen = len(self.operator.log_text())
        self.operator.thaw()
        self.await_other_pod("tj-worker-0", uids["tj-worker-0"])
        self.await_restarts("tj", "tj", 2, {"preempted": 1})
        self.await_running("tj", "unseen", 1)
        self.assertIn("410", self.operator.log_text()[seen:])

    def etcd(self, verb, request):
        program = ("import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], "
                   "sys.argv[2].encode()).read().decode())")
        return self.cluster.sandbox.run("/usr/bin/python3", "-c", program, COMPACT + verb,
                                        json.dumps(request))


class ControllerManagerTest(OutageScenario):

    def test_without_garbage_collection_jobs_run_and_wait_for_what_is_not_collected(self):
        uids = self.start_jobs()
        self.part("kube-controller-manager").stop()
        self.check_as_before(uids)
        before = self.uids()
        for kind in KINDS:
            self.api.done("DELETE", jobs(self.namespace, kind, kind))
            self.submit(kind, job_of(kind, kind, 2))
        for kind in KINDS:
            self.await_message(kind, kind, "of an earlier job of this name is gone")
        self.assertEqual(self.uids(), before)
        self.part("kube-controller-manager").start()
        for kind in KINDS:
            self.await_running(kind, kind, 2)
        self.assertEqual(set(self.uids().values()) & set(before.values()), set())


class NamespaceTest(OutageScenario):

    def test_a_namespace_that_ends_with_its_jobs_is_left_in_peace(self):
        self.start_jobs()
        # What keeps the namespace from ending, and one of the jobs.
        self.edit("tj", "tj", {"metadata": {"finalizers": ["example.org/hold"]}})
        self.api.done("DELETE", "/api/v1/namespaces/" + self.namespace)
        self.wait_for("all else to be gone", lambda: not self.uids() and
                      self.get_job("tfjob", "tfjob") is None)
        self.await_rest()
        self.assertEqual(self.uids(), {})
        self.edit("tj", "tj", {"metadata": {"finalizers": None}})
        self.wait_for("the end of the namespace", lambda: self.api.get(
            "/api/v1/namespaces/" + self.namespace) is None)

    def tearDown(self):
        self.assertTrue(self.operator.check())


class DefinitionsTest(OutageScenario):

    def test_an_operator_that_started_before_the_definitions_has_found_both(self):
        for group in ("taas.dev", "kubeflow.org"):
            lines = [line for line in self.operator.log_text().splitlines() if group in line]
            self.assertTrue(any("does not have this kind" in line for line in lines), group)
            self.assertTrue(any("has this kind now" in line for line in lines), group)

    def test_a_definition_that_goes_takes_its_jobs_and_the_other_kind_goes_on(self):
        self.start_jobs()
        self.addCleanup(self.cluster.define)
        self.kubectl("delete", "crd", "tfjobs.kubeflow.org")
        self.submit("tj", job_of("tj", "meanwhile"))
        self.await_running("tj", "meanwhile", 1)
        before = self.operator.requests()
        self.edit("tj", "tj", replicas_patch("tj", 1))
        self.await_running("tj", "tj", 1)
        self.assertLess(self.operator.requests() - before, 30)
        self.cluster.define()
        self.submit("tfjob", job_of("tfjob", "again"))
        self.await_running("tfjob", "again", 1)
        self.edit("tfjob", "again", suspend_patch("tfjob", True))
        self.wait_for("its pod to be gone", lambda: self.api.get(
            core(self.namespace, "pods", "again-worker-0")) is None)
