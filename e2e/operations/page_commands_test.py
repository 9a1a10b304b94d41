#!/usr/bin/python3
"""The commands of docs/operations.md and docs/helm.md do on a cluster what the pages say.

Those of helm.md that push_test.py does not follow: they take the release away and bring it back, so
its order here is not the page's.
"""

import os
import tempfile

import long_job
import programs
import taas
from guide import Guide
from scenario import Scenario

TEAMS = ("team-a", "team-b")
JOBS = "count/trainingjobs.taas.dev"
# Of helm.md; in a namespace that a release for some namespaces does not look at.
MAIN_JOB = "The main job on your cluster"
LOGIN = "Images that need a login"
PRIORITY_CLASS = "taas"


class PageScenario(Scenario):

    page = ""

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="taas-e2e-page-"))
        self.guide = Guide(self.page, self.cluster.kubeconfig, self.folder)


class OperationsCommandsTest(PageScenario):

    page = "docs/operations.md"

    def test_what_is_looked_at_first_is_there(self):
        self.kubectl.apply(long_job.of(self.namespace))
        self.await_training(long_job.NAME)
        printed = self.guide.follow("At night")
        self.assertNotIn("No resources found", printed)
        row = rf"{self.namespace} +trainingjob.taas.dev/{long_job.NAME} +Running"
        self.assertRegex(printed, row)
        self.guide.follow("Backup and restore")
        with open(os.path.join(self.folder, "jobs.yaml"), encoding="utf-8") as file:
            self.assertIn("namespace: " + self.namespace, file.read())
        self.assertEqual(self.guide.left(), [])


class MainJobCommandsTest(PageScenario):

    page = "docs/helm.md"

    def test_data_comes_onto_a_claim_and_the_main_job_learns(self):
        self.addCleanup(self.kubectl, "delete", "namespace", "ml", "--ignore-not-found")
        printed = self.guide.follow(MAIN_JOB)
        self.assertRegex(printed, r"mnist +Succeeded")
        self.guide.follow(LOGIN)
        account = self.kubectl.json("get", "serviceaccount", "default", "-n", "ml")
        self.assertEqual(account["imagePullSecrets"], [{"name": "registry-login"}])


class HelmCommandsTest(PageScenario):

    alone = True
    # It takes the kinds away, and with them all jobs.
    needs = ("components",)
    page = "docs/helm.md"

    def setUp(self):
        super().setUp()
        self.addCleanup(self.kubectl, "delete", "priorityclass", "--ignore-not-found",
                        PRIORITY_CLASS)
        self.addCleanup(taas.install, self.kubectl)
        self.addCleanup(self.kubectl, "delete", "namespace", "--ignore-not-found", *TEAMS,
                        taas.NAMESPACE)

    def test_a_release_for_some_namespaces_is_followed_to_its_end(self):
        self.kubectl.run(programs.path("helm"), "uninstall", taas.RELEASE, "-n", taas.NAMESPACE,
                         "--wait")
        self.guide.follow("Some namespaces only")
        self.guide.follow("Upgrade")
        self.guide.follow("Priorities")
        self.kubectl("rollout", "status", taas.DEPLOYMENT, "-n", taas.NAMESPACE)
        self.assertEqual(self.classes(), {PRIORITY_CLASS})
        self.wait_for("the kinds to be counted", self.kinds_are_counted)
        self.guide.follow("Many users, one operator")
        # Nothing is let in before that.
        self.wait_for("the quota's status", self.jobs_counted)
        self.kubectl.apply(long_job.of(TEAMS[0]))
        self.wait_for("a job in the namespace", lambda: self.kubectl.json(
            "get", "tj", long_job.NAME, "-n", TEAMS[0]).get("status", {}).get("state") == "Running")
        self.assertEqual(self.jobs_counted(), "1")
        self.follow_notes()
        self.guide.follow("Uninstall")
        self.assertNotIn("trainingjobs.taas.dev", self.kubectl("get", "crd", "-o", "name"))
        self.guide.followed.update({MAIN_JOB, LOGIN})
        # Those of the first section are followed by push_test.py.
        self.assertEqual(self.guide.left(), [])

    def classes(self):
        """Of the pods that the release's Deployments ask for."""
        found = self.kubectl.json("get", "deployments", "-n", taas.NAMESPACE)["items"]
        return {it["spec"]["template"]["spec"].get("priorityClassName") for it in found}

    def kinds_are_counted(self):
        """Of quotas made in turn, one has a status: of one that was made before its controller
        knew the kinds, within half a minute, it looks minutes later."""
        quotas = self.json("get", "quota")["items"]
        if any(JOBS in quota.get("status", {}).get("used", {}) for quota in quotas):
            return True
        self.k("create", "quota", f"probe-{len(quotas)}", f"--hard={JOBS}=1")
        return False

    def jobs_counted(self):
        """None before the quota is at work."""
        quota = self.kubectl.json("get", "quota", "jobs", "-n", TEAMS[0])
        return quota.get("status", {}).get("used", {}).get(JOBS)

    def follow_notes(self):
        """The commands that the release shows when it is installed; the page's port is fixed."""
        notes = self.guide.run(f"helm get notes {taas.RELEASE} -n {taas.NAMESPACE}", "helm")
        commands = [line for line in notes.splitlines()
                    if line.startswith("  ") and "port-forward" not in line]
        printed = self.guide.run("\n".join(commands), "the chart's notes")
        self.assertIn("Phase:          Succeeded", printed)
        self.assertRegex(printed, r"first +Succeeded")
