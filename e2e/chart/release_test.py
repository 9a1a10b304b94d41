#!/usr/bin/python3
"""The release on a whole cluster: `helm test`, and what the users' roles add to the cluster's.

Part of `make e2e`, which has installed the chart with its defaults.
"""

import programs
import taas
from kubectl import CommandFailed
from scenario import Scenario

# The test's own limit is in the chart's values.
LIMIT = "8m"


class ReleaseTest(Scenario):

    def helm(self, *arguments):
        done = self.kubectl.run(programs.path("helm"), *arguments, "-n", taas.NAMESPACE)
        return done.stdout

    def test_helm_test_trains_and_prints_what_the_replicas_say(self):
        for attempt in ("first", "again"):
            with self.subTest(attempt):
                said = self.helm("test", taas.RELEASE, "--logs", "--timeout", LIMIT)
                self.assertIn("Phase:          Succeeded", said)
                self.assertIn("[chief-0] ", said)
                self.assertIn("[worker-0] ", said)
        job = self.kubectl.json("get", "tj", "taas-test-job", "-n", taas.NAMESPACE)
        self.assertEqual(job["status"]["progress"]["step"], 100)

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

    def may(self, user, verb, resource):
        try:
            return self.k("auth", "can-i", verb, resource, "--as", user).strip() == "yes"
        except CommandFailed:
            return False
