"""What users write wrongly, or where they should not: a 4xx or a sentence says what is wrong."""

import itertools
import json

import programs
from direct_api import APPLY, core, jobs
from fault_jobs import KINDS, ended, job_of, training_job
from fault_scenario import FaultScenario
from taas import LEDGER

KIB = 1024
# The API's limit of all annotations of one object.
ANNOTATIONS_MAX = 256 * KIB
# etcd takes so much in one request.
OBJECT_MAX = 1536 * KIB
LARGE = 1400 * KIB
# Far less than what the operator writes into a job first.
STEP = 32
# And no request at all is longer.
REQUEST_MAX = 3072 * KIB
# As deep as an API server takes it, and a hundred times wider than any template. Three times as
# wide would still fit, but then a busy API server needs longer for a patch than the 34 s that it
# gives itself.
DEEP = 9_900
WIDE = 100_000
# Replicas of a job whose status must stay small, and how many of them end with much to say.
MANY = 1000
TALKATIVE = 200
TERMINATION_MESSAGE = "x" * 4000
# What a status of any job may come to: a hundredth of what etcd takes is plenty.
STATUS_MAX = 16 * KIB


class FieldValidationTest(FaultScenario):

    def create(self, mode, kind):
        """kubectl's answer to a job with a field that nobody has."""
        job = job_of(kind, f"{mode}-{kind}")
        job["spec"]["surprise"] = 1
        return self.kubectl.run(
            programs.path("kubectl"), "create", "-n", self.namespace, "--validate=" + mode,
            "-f", "-", stdin=json.dumps(job), check=False)

    def test_strict_refuses_warn_warns_and_ignore_is_silent(self):
        for kind in KINDS:
            with self.subTest(kind):
                strict = self.create("strict", kind)
                self.assertNotEqual(strict.returncode, 0)
                self.assertIn('unknown field "spec.surprise"', strict.stderr)
                self.assertIsNone(self.get_job(kind, "strict-" + kind))
                warn = self.create("warn", kind)
                self.assertIn('Warning: unknown field "spec.surprise"', warn.stderr)
                self.assertEqual(self.create("ignore", kind).stderr, "")
                for mode in ("warn", "ignore"):
                    self.assertNotIn("surprise", self.await_spec(kind, f"{mode}-{kind}"))

    def await_spec(self, kind, name):
        self.await_running(kind, name, 1)
        return self.get_job(kind, name)["spec"]


class OversizedTest(FaultScenario):

    def large_job(self, kind, name, size):
        text = {"env": [{"name": "BALLAST", "value": "x" * size}]}
        return job_of(kind, name, 1, {"container_spec": text})

    def warnings(self, name):
        found = self.api.get(core(self.namespace, "events"))["items"]
        return [event["message"] for event in found
                if event["type"] == "Warning" and event["involvedObject"]["name"] == name]

    def test_a_large_job_runs_and_one_that_cannot_be_changed_any_more_is_told_of(self):
        for kind in KINDS:
            self.submit(kind, self.large_job(kind, "large-" + kind, LARGE))
            path = jobs(self.namespace, kind)
            huge = self.large_job(kind, "huge", REQUEST_MAX)
            self.assertEqual(self.api("POST", path, huge).code, 413)
            self.fill(kind, path)
        for kind in KINDS:
            self.await_running(kind, "large-" + kind, 1)
            # There is no room for a sentence in the other one.
            self.wait_for("an event", lambda k=kind: any(
                "write the ledger of" in message and "request is too large" in message
                for message in self.warnings("full-" + k)))
        self.assertEqual(self.uids().keys(), {f"large-{kind}-worker-0" for kind in KINDS})
        self.submit("tj", training_job("ordinary"))
        self.await_running("tj", "ordinary", 1)

    def fill(self, kind, path):
        """The largest job that is taken."""
        codes = (self.api("POST", path, self.large_job(kind, "full-" + kind, size)).code
                 for size in range(OBJECT_MAX, LARGE, -STEP))
        refused = list(itertools.takewhile(lambda code: code != 201, codes))
        # If the first was taken there may be room in it.
        self.assertEqual(set(refused), {500})

    def test_annotations_without_room_for_the_ledger_are_named(self):
        for kind in KINDS:
            job = job_of(kind, "full-" + kind)
            job["metadata"]["annotations"] = {"example.org/notes": "x" * (ANNOTATIONS_MAX - 100)}
            self.submit(kind, job)
        for kind in KINDS:
            self.await_message(kind, "full-" + kind, "write the ledger of", "422",
                               "metadata.annotations: Too long")
        self.assertEqual(self.uids(), {})
        for kind in KINDS:
            self.edit(kind, "full-" + kind,
                      {"metadata": {"annotations": {"example.org/notes": None}}})
            self.await_running(kind, "full-" + kind, 1)

    def odd_job(self, kind, name, text):
        """As text: Python's writer goes no deeper than 1,000 levels."""
        job = job_of(kind, name, 1, {"odd": "here"})
        return json.dumps(job).replace('"here"', text)

    def test_a_template_nested_without_end_is_refused_and_a_wide_one_costs_nobody_time(self):
        for kind in KINDS:
            deep = self.odd_job(kind, "deep-" + kind, "[" * DEEP + "]" * DEEP)
            wide = self.odd_job(kind, "wide-" + kind, "[" + ",".join(["{}"] * WIDE) + "]")
            for job in (deep, wide):
                # What comes back is too deep for Python.
                self.assertEqual(self.api("POST", jobs(self.namespace, kind), job).code, 201)
        self.submit("tj", training_job("ordinary"))
        self.await_running("tj", "ordinary", 1)
        for kind in KINDS:
            self.await_running(kind, "wide-" + kind, 1)
            self.wait_for("what is wrong", lambda k=kind: "nested more than 100 levels" in self.k(
                "get", k, "deep-" + k, "-o", "jsonpath={.status.message}"))
        self.assertEqual(self.uids().keys(), {
            "ordinary-worker-0", *(f"wide-{kind}-worker-0" for kind in KINDS)})

    def test_a_thousand_replicas_with_much_to_say_have_a_short_status(self):
        # No node takes them: what counts is that they are many.
        job = training_job("many", MANY, {"nodeSelector": {"nobody": "has-it"}},
                           backoffLimit=1000000, exitCodes={"retryable": [7]})
        self.submit("tj", job)
        self.wait_for("all pods", lambda: len(self.uids()) == MANY)
        self.await_message("tj", "many", f"(and {MANY - 1} more) cannot be scheduled")
        answers = self.api.all([
            ("PATCH", self.pod_path(f"many-worker-{i}", "status"),
             ended("trainer", 7, TERMINATION_MESSAGE)) for i in range(TALKATIVE)])
        self.assertEqual({answer.code for answer in answers}, {200})
        # Beside these a few may be preempted: the control plane's collector of pods deletes what it
        # saw ending by its name, when the next pod of that name is there already.
        self.wait_for("all ends to be counted", lambda: self.status_of("tj", "many").get(
            "restarts", {}).get("userError") == TALKATIVE)
        self.wait_for("all pods", lambda: len(self.uids()) == MANY)
        found = self.get_job("tj", "many")
        self.assertLessEqual(set(found["status"]["restarts"]), {"userError", "preempted"})
        self.assertLess(len(json.dumps(found["status"])), STATUS_MAX)
        self.assertLess(len(found["metadata"]["annotations"][LEDGER]), 48 * KIB)


class ApplyTest(FaultScenario):

    def apply(self, kind, manager, change, force=False):
        query = f"?fieldManager={manager}" + ("&force=true" if force else "")
        whole = {key: value for key, value in job_of(kind, kind).items() if key != "spec"}
        return self.api("PATCH", jobs(self.namespace, kind, kind) + query, {**whole, **change},
                        APPLY)

    def test_two_who_apply_are_told_of_each_other_and_neither_of_the_operator(self):
        limit = "ttlSecondsAfterFinished"
        for kind in KINDS:
            with self.subTest(kind):
                spec = job_of(kind, kind)["spec"]
                policy = spec if kind == "tj" else spec["runPolicy"]
                policy[limit] = 1000
                self.assertEqual(self.apply(kind, "a", {"spec": spec}).code, 201)
                self.await_running(kind, kind, 1)
                uids = self.uids()
                other = {limit: 2000}
                change = {"spec": other if kind == "tj" else {"runPolicy": other}}
                conflict = self.apply(kind, "b", change)
                self.assertEqual(conflict.code, 409)
                self.assertIn('conflict with "a"', conflict.message)
                self.assertIn(limit, conflict.message)
                self.assertEqual(self.apply(kind, "b", change, force=True).code, 200)
                # What the operator has written is neither in the way nor taken away.
                del policy[limit]
                self.assertEqual(self.apply(kind, "a", {"spec": spec}).code, 200)
                forged = {"metadata": {"name": kind, "annotations": {LEDGER: "{}"}}}
                conflict = self.apply(kind, "b", forged)
                self.assertEqual(conflict.code, 409)
                self.assertIn('conflict with "taas"', conflict.message)
                found = self.get_job(kind, kind)
                self.assertIn(LEDGER, found["metadata"]["annotations"])
                self.await_running(kind, kind, 1)
                self.assertEqual(self.uid(kind + "-worker-0"), uids[kind + "-worker-0"])


# Each field that a user may find in a status, with what is not so. Of progress the operator knows
# only what the main replica said last, and it keeps that.
LIES = {
    "state": "Succeeded",
    "message": "all is well",
    "attempt": 2147483647,
    "ready": "99/99",
    "startTime": "9999-12-31T23:59:59Z",
    "completionTime": "0001-01-01T00:00:00Z",
    "observedGeneration": 77,
    "restartCount": 2147483647,
    "restarts": {"userError": 2147483647, "killed": 2147483647},
    "conditions": [{"type": "Succeeded", "status": "True", "reason": "Lie", "message": "lie",
                    "lastTransitionTime": "9999-12-31T23:59:59Z"}],
    # As many ends as a budget would not bear.
    "history": [{"role": "worker", "index": 0, "attempt": 1, "podNumber": number,
                 "cause": "userError", "exitCode": 1, "time": "2020-01-01T00:00:00Z"}
                for number in range(1, 21)],
}
WRONG_TYPES = {"state": 3, "attempt": "many", "conditions": "none", "startTime": "noon",
               "restarts": [1]}


class EditedStatusTest(FaultScenario):

    def lies(self, kind):
        lies = dict(LIES)
        if kind == "tj":
            lies["replicaStatuses"] = {"worker": {"desired": 9, "active": 9, "ready": 9,
                                                  "succeeded": 9, "failed": 9}}
            lies["selector"] = "a=b"
            lies["gpus"] = 9
        else:
            lies["replicaStatuses"] = {"Worker": {"active": 9, "succeeded": 9, "failed": 9}}
            lies["lastReconcileTime"] = "0001-01-01T00:00:00Z"
        return lies

    def write_status(self, kind, status):
        return self.api("PATCH", jobs(self.namespace, kind, kind, "status"), {"status": status})

    def test_what_is_written_into_a_status_is_put_right(self):
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind, 2))
        for kind in KINDS:
            with self.subTest(kind):
                self.await_running(kind, kind, 2)
                true = self.wait_for("a status that stays", lambda: self.settled(kind))
                uids = self.uids()
                self.assertEqual(self.write_status(kind, self.lies(kind)).code, 200)
                self.wait_for("the truth", lambda: self.same(self.status_of(kind, kind), true))
                for field, value in WRONG_TYPES.items():
                    answer = self.write_status(kind, {field: value})
                    self.assertEqual(answer.code, 422, f"{field}: {answer.text}")
                    self.assertIn("status." + field, answer.message)
                answer = self.write_status(kind, {"surprise": 1})
                self.assertNotIn("surprise", answer.object["status"])
                self.assertEqual(self.write_status(kind, None).code, 200)
                self.wait_for("the truth", lambda: self.same(self.status_of(kind, kind), true))
                self.assertEqual(self.uids(), uids)

    def without_history(self, status):
        """What it was before its end is nobody's knowledge but that of the conditions."""
        kept = ("Created", "Succeeded")
        return {**status, "conditions": [condition for condition in status.get("conditions", [])
                                         if condition["type"] in kept]}

    def test_what_is_written_into_the_status_of_a_job_that_has_ended_is_put_right(self):
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind, cleanPodPolicy="None"))
        for kind, container in (("tj", "trainer"), ("tfjob", "tensorflow")):
            with self.subTest(kind):
                pod = f"{kind}-worker-0"
                self.await_running(kind, kind, 1)
                self.take_from_kwok(pod)
                self.api.done("PATCH", self.pod_path(pod, "status"), ended(container, 0))
                self.wait_for("success", lambda k=kind: self.status_of(k, k).get("state") ==
                              "Succeeded")
                true = self.without_history(
                    self.wait_for("a status that stays", lambda k=kind: self.settled(k)))
                uids = self.uids()
                for status in ({**self.lies(kind), "state": "Running", "message": "lie"}, None):
                    self.assertEqual(self.write_status(kind, status).code, 200)
                    self.wait_for("the truth", lambda k=kind: self.same(
                        self.without_history(self.status_of(k, k)), true))
                    conditions = self.status_of(kind, kind)["conditions"]
                    self.assertLess(max(one["lastTransitionTime"] for one in conditions), "2100")
                if kind == "tfjob":
                    # Tools take the last for the state.
                    self.assertEqual(conditions[-1]["type"], "Succeeded")
                self.assertEqual(self.uids(), uids)

    def settled(self, kind):
        first = self.status_of(kind, kind)
        self.pass_time(1)
        return first if self.status_of(kind, kind) == first else None

    def same(self, status, true):
        """But for the times at which conditions were written."""

        def timeless(one):
            one = {key: value for key, value in one.items() if key != "lastReconcileTime"}
            one["conditions"] = {
                condition["type"]: {key: value for key, value in condition.items()
                                    if not key.endswith("Time")}
                for condition in one.get("conditions", [])}
            return one

        return timeless(status) == timeless(true)

    def test_a_ledger_that_is_forged_is_told_of_or_made_again_and_no_pod_goes(self):
        forgeries = (
            ("not json", "the text is not JSON"),
            ('{"attempt": "two"}', "attempt"),
            ('{"attempt": 1, "replicas": {"worker": {"0": {"pod": 2147483647}}}}',
             "replicas.worker.0.pod"),
            ('{"attempt": -5}', "attempt"))
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind, 2))
        for kind in KINDS:
            self.await_running(kind, kind, 2)
        uids = self.uids()
        for text, words in forgeries:
            for kind in KINDS:
                with self.subTest(text, kind=kind):
                    self.write_ledger(kind, text)
                    self.await_message(kind, kind, words, LEDGER)
        for kind in KINDS:
            self.write_ledger(kind, None)
        for kind in KINDS:
            self.wait_for("a ledger", lambda: LEDGER in self.get_job(kind, kind)["metadata"].get(
                "annotations", {}))
            self.await_running(kind, kind, 2)
        self.assertEqual(self.uids(), uids)

    def write_ledger(self, kind, text):
        self.edit(kind, kind, {"metadata": {"annotations": {LEDGER: text}}})

    def test_times_of_another_age_neither_end_a_job_nor_the_operator(self):
        for time in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"):
            for kind in KINDS:
                with self.subTest(time, kind=kind):
                    name = f"{kind}-{time[:4]}"
                    self.submit(kind, job_of(kind, name, 1, activeDeadlineSeconds=100000000))
                    self.await_running(kind, name, 1)
                    self.operator.freeze()
                    self.edit(kind, name, {"metadata": {"annotations": {LEDGER: None}}})
                    self.api.done("PATCH", jobs(self.namespace, kind, name, "status"),
                                  {"status": {"startTime": time}})
                    self.operator.thaw()
                    self.wait_for("a time that can be true", lambda: self.status_of(
                        kind, name).get("startTime", time) != time)
                    self.await_running(kind, name, 1)
                    job = self.get_job(kind, name)
                    self.assertIn(LEDGER, job["metadata"]["annotations"])
                    self.assertGreaterEqual(job["status"]["startTime"],
                                            job["metadata"]["creationTimestamp"])
                    self.assertLess(job["status"]["startTime"], "9999")
