#!/usr/bin/python3
"""The release on a whole cluster: `helm test`, the users' roles, upgrade, rollback and uninstall
while a job trains.

Part of `make e2e`, which has installed the chart with its defaults.
"""

import json
import os

import long_job
import programs
import taas
from kubectl import CommandFailed
from scenario import Scenario

# The chart as it landed last before this one: `helm package charts/taas` in that tree. The program
# is this tree's in both, unless TAAS_PREVIOUS_IMAGE names an archive of that tree's, with this tag.
PREVIOUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "previous.tgz")
PREVIOUS_TAG = "previous"
TAG = "operator.image.tag="
# The test's own limit is in the chart's values.
LIMIT = "8m"


class ReleaseTest(Scenario):

    alone = True

    def helm(self, *arguments):
        done = self.kubectl.run(programs.path("helm"), *arguments, "-n", taas.NAMESPACE)
        return done.stdout

    def test_helm_test_trains_and_prints_what_the_replicas_say(self):
        for attempt in ("first", "again"):
            with self.subTest(attempt):
                said = self.helm("test", taas.RELEASE, "--logs", "--timeout", LIMIT)
                self.assertIn("Phase:          Succeeded", said)
                # Said by whoever took it; one of them may come too late for so few steps.
                self.assertRegex(said, r"\[(chief|worker)-0\] step 100, loss = ")
                self.assertIn("Succeeded", said)
        job = self.kubectl.json("get", "tj", "taas-test-job", "-n", taas.NAMESPACE)
        self.assertEqual(job["status"]["progress"]["step"], 100)

    def test_helm_test_trains_in_a_namespace_of_the_list_that_the_operator_has(self):
        """Neither operator nor release is there; the operator's rights end there, too."""
        self.upgrade(taas.CHART, "listed", "--set-json",
                     f'operator.namespaces=["{self.namespace}"]')
        try:
            said = self.helm("test", taas.RELEASE, "--logs", "--timeout", LIMIT)
            self.assertIn("Succeeded", said)
            self.assertEqual(self.status("taas-test-job")["progress"]["step"], 100)
        finally:
            self.upgrade(taas.CHART, "everywhere", "--set-json",
                         "operator.namespaces=[]")

    def evict(self, pod):
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction",
                    "metadata": {"name": pod, "namespace": taas.NAMESPACE}}
        self.kubectl("create", "--raw",
                     f"/api/v1/namespaces/{taas.NAMESPACE}/pods/{pod}/eviction", "-f", "-",
                     stdin=json.dumps(eviction))

    def await_two_operators(self):
        budget = ("get", "pdb", "taas-operator", "-n", taas.NAMESPACE)
        self.wait_for("two that are ready", lambda: self.kubectl.json(*budget)["status"].get(
            "disruptionsAllowed") == 1)

    def test_a_drain_takes_one_operator_and_the_other_when_there_are_two_again(self):
        self.await_two_operators()
        first, second = taas.operators(self.kubectl)
        self.evict(first)
        with self.assertRaises(CommandFailed) as refused:
            self.evict(second)
        self.assertIn("would violate the pod's disruption budget", refused.exception.stderr)
        self.await_two_operators()
        self.assertIn(second, taas.operators(self.kubectl))
        self.evict(second)
        self.await_two_operators()

    def test_who_may_edit_a_namespace_may_edit_its_jobs_and_who_may_view_only_see_them(self):
        cases = {
            "edit": {("create", "tj"): True, ("delete", "tfjobs"): True, ("get", "tj"): True},
            "view": {("create", "tj"): False, ("delete", "tfjobs"): False, ("get", "tj"): True},
        }
        for role, rights in cases.items():
            self.k("create", "rolebinding", role, "--clusterrole=" + role, "--user=" + role)
            for (verb, resource), wanted in rights.items():
                with self.subTest(role, verb=verb):
                    self.wait_for(f"{role} may {verb} {resource}: {wanted}",
                                  lambda: self.may(role, verb, resource) == wanted)

    def begin_long_job(self):
        """The uids of its pods, which train until the test's namespace goes."""
        self.kubectl.apply(long_job.of(self.namespace))
        self.await_training(long_job.NAME)
        self.wait_for("progress", lambda: self.step(long_job.NAME))
        return [self.pod_uid(pod) for pod in long_job.PODS]

    def operator_pods(self):
        return self.kubectl.json("get", "pods", "-n", taas.NAMESPACE, "-l",
                                 taas.OPERATOR)["items"]

    def operators(self):
        return {pod["metadata"]["uid"] for pod in self.operator_pods()}

    def check_unharmed(self, pods):
        """The operator that is there now sees it train; nothing was made anew."""
        step = self.step(long_job.NAME)
        self.wait_for("progress", lambda: self.step(long_job.NAME) > step)
        self.assertEqual([self.pod_uid(pod) for pod in long_job.PODS], pods)
        status = self.status(long_job.NAME)
        self.assertEqual((status["state"], status.get("restartCount", 0)), ("Running", 0))

    def replace_operators(self, *command):
        """Returns when the operators of before have ended."""
        before = self.operators()
        self.helm(*command, "--wait", "--timeout", LIMIT)
        self.wait_for("the end of the old operators", lambda: not self.operators() & before)

    def upgrade(self, chart, mark, *settings):
        """The new ones are other ones by their mark."""
        self.replace_operators("upgrade", taas.RELEASE, chart, "--reset-then-reuse-values",
                               "--set-string", "operator.podAnnotations.e2e=" + mark, *settings)

    def previous_program(self):
        archive = os.environ.get("TAAS_PREVIOUS_IMAGE")
        if not archive:
            return ()
        self.cluster.node.import_image(archive)
        return ("--set-string", TAG + PREVIOUS_TAG)

    def images(self):
        return {pod["spec"]["containers"][0]["image"] for pod in self.operator_pods()
                if "deletionTimestamp" not in pod["metadata"]}

    def test_an_upgrade_from_the_previous_chart_and_back_leaves_a_job_that_trains_alone(self):
        self.upgrade(PREVIOUS, "previous", *self.previous_program())
        previous = self.images()
        pods = self.begin_long_job()
        self.upgrade(taas.CHART, "upgraded", "--set-string", TAG)
        self.check_unharmed(pods)
        current = self.images()
        self.replace_operators("rollback", taas.RELEASE)
        self.assertEqual(self.images(), previous)
        self.check_unharmed(pods)
        self.upgrade(taas.CHART, "again", "--set-string", TAG)
        self.assertEqual(self.images(), current)
        self.check_unharmed(pods)

    def test_a_job_trains_on_without_a_release_and_the_next_one_takes_it_up(self):
        pods = self.begin_long_job()
        self.helm("uninstall", taas.RELEASE, "--wait")
        try:
            self.wait_for("no operator", lambda: not self.operators())
            steps = self.steps_logged(long_job.PODS[0])
            self.wait_for("more steps", lambda: self.steps_logged(long_job.PODS[0]) > steps)
        finally:
            taas.install(self.kubectl)
        self.check_unharmed(pods)

    def may(self, user, verb, resource):
        try:
            return self.k("auth", "can-i", verb, resource, "--as", user).strip() == "yes"
        except CommandFailed:
            return False
