#!/usr/bin/python3
"""The chart on a real API server: install, upgrade, rights, admission, uninstall.

    TAAS_CLUSTER_BIN=… TAAS_KUBERNETES_BIN=… e2e/chart/install_test.py

There are no nodes, so no pod runs; that they do is the matter of the tests on a whole cluster.
"""

import copy
import json
import re
import unittest

import yaml

import helm
from api_server import ApiServer

ACCOUNT = f"system:serviceaccount:{helm.NAMESPACE}:taas-operator"
CRDS = ["customresourcedefinition.apiextensions.k8s.io/tfjobs.kubeflow.org",
        "customresourcedefinition.apiextensions.k8s.io/trainingjobs.taas.dev"]
# As an earlier operator has it, but for the schema.
FOREIGN_TFJOB = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "tfjobs.kubeflow.org"},
    "spec": {
        "group": "kubeflow.org",
        "scope": "Namespaced",
        "names": {"plural": "tfjobs", "singular": "tfjob", "kind": "TFJob"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
            "openAPIV3Schema": {"type": "object",
                                "x-kubernetes-preserve-unknown-fields": True}}}],
    },
}
JOB = """
apiVersion: taas.dev/v1
kind: TrainingJob
metadata: {name: kept, namespace: default}
spec:
  trainer: {model: {name: softmax}, data: {format: generated}, maxSteps: 10}
  roles: {chief: {replicas: 1}, ps: {replicas: 1}}
"""


class InstallTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = ApiServer()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.addCleanup(self.clear)

    def clear(self):
        for release in json.loads(self.run_helm("list", "-A", "-o", "json")):
            self.run_helm("uninstall", release["name"], "-n", release["namespace"])
        self.server.delete_all("crds")

    def run_helm(self, *arguments):
        return helm.run(*arguments, kubeconfig=self.server.kubeconfig)

    def install(self, case="defaults", *arguments, verb="install", release=helm.RELEASE,
                namespace=helm.NAMESPACE):
        return self.run_helm(verb, release, helm.CHART, "-n", namespace, "--create-namespace",
                         "--values", helm.values_file(case), *arguments)

    def apply(self, obj):
        self.server.kubectl("apply", "-f", "-", text=json.dumps(obj))

    def apply_kinds_of_monitoring(self):
        """The definitions of the Prometheus operator itself."""
        for kind in ("servicemonitors", "prometheusrules"):
            self.server.kubectl("apply", "--server-side", "-f",
                                helm.definition(f"monitoring.coreos.com_{kind}.yaml"))

    def may(self, verb, resource, namespace=None, account=ACCOUNT, sub=""):
        where = ["-n", namespace] if namespace else ["-A"]
        code, out, _ = self.server.kubectl("auth", "can-i", verb, resource, f"--subresource={sub}",
                                           *where, "--as", account, check=False)
        self.assertIn(out.strip(), ("yes", "no"))
        return code == 0

    def test_the_server_takes_everything_that_the_chart_can_render(self):
        self.apply_kinds_of_monitoring()
        for case in helm.CASES:
            with self.subTest(case):
                for namespace in ("team-a", "team-b"):
                    code, _, error = self.server.kubectl("create", "ns", namespace, check=False)
                    self.assertTrue(code == 0 or "AlreadyExists" in error, error)
                self.install(case)
                manifest = self.run_helm("get", "manifest", helm.RELEASE, "-n", helm.NAMESPACE)
                # No field that the server does not know, which it would leave out in silence.
                self.server.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-",
                                    text=manifest)
                _, differences, error = self.server.kubectl(
                    "diff", "-f", "-", text=manifest, check=False)
                self.assertEqual((differences, error), ("", ""))
                # The next must not meet definitions that are going.
                self.run_helm("uninstall", helm.RELEASE, "-n", helm.NAMESPACE, "--wait")

    def notes(self, case, *arguments):
        text = self.install(case, "--dry-run=server", *arguments)
        return text[text.index("NOTES:"):]

    def test_the_notes_say_what_to_do_next(self):
        notes = self.notes("defaults")
        self.assertIn("all namespaces", notes)
        self.assertIn("rollout status deployment/taas-operator", notes)
        self.assertIn("--set test.enabled=true\n  helm test taas -n taas-system", notes)
        self.assertNotIn("WARNING", notes)
        (note,) = notes.split("NOTE:")[1:]
        self.assertIn("no priority class", note)

    def test_the_notes_name_a_namespace_in_which_jobs_are_worked_on(self):
        for namespace in ("team-a", "team-b"):
            self.server.kubectl("create", "ns", namespace, check=False)
        notes = self.notes("namespaced")
        self.assertIn("team-a, team-b", notes)
        self.assertIn("taas submit -n team-a", notes)

    def test_the_notes_warn_of_what_costs_jobs(self):
        cases = {
            "crds.keep=false": "deletes the kinds",
            "crds.install=false": "Apply crds/*.yaml",
            "operator.replicas=0": "no job is worked on",
            "operator.replicas=1": "while its node is lost",
            "rbac.create=false": "has no roles",
        }
        for value, words in cases.items():
            with self.subTest(value):
                self.assertIn(words, self.notes("defaults", "--set", value))

    def test_the_operator_s_account_may_what_it_does_and_nothing_else(self):
        self.install()
        allowed = ["get", "list", "watch", "patch", "delete"]
        for kind in ("trainingjobs.taas.dev", "tfjobs.kubeflow.org"):
            for verb in allowed:
                self.assertTrue(self.may(verb, kind), f"{verb} {kind}")
            self.assertTrue(self.may("patch", kind, sub="status"))
            self.assertFalse(self.may("create", kind))
            self.assertFalse(self.may("update", kind, sub="finalizers"))
        for resource in ("pods", "services"):
            for verb in ("get", "list", "watch", "create", "delete"):
                self.assertTrue(self.may(verb, resource), f"{verb} {resource}")
            self.assertFalse(self.may("patch", resource))
        for resource in ("events", "configmaps"):
            self.assertTrue(self.may("create", resource), resource)
        for verb in ("list", "watch", "update", "patch", "delete"):
            self.assertFalse(self.may(verb, "configmaps"), verb)
        self.assertTrue(self.may("update", "leases/taas-operator", helm.NAMESPACE))
        self.assertFalse(self.may("update", "leases/another", helm.NAMESPACE))
        self.assertFalse(self.may("get", "leases/taas-operator", "default"))
        for resource in ("secrets", "configmaps", "nodes"):
            self.assertFalse(self.may("get", resource), resource)
        for sub in ("log", "exec", "eviction"):
            self.assertFalse(self.may("create", "pods", sub=sub), sub)
            self.assertFalse(self.may("get", "pods", sub=sub), sub)

    def test_with_a_list_of_namespaces_it_may_nothing_in_others(self):
        for namespace in ("team-a", "team-b"):
            self.server.kubectl("create", "ns", namespace, check=False)
        self.install("namespaced")
        for namespace, wanted in (("team-a", True), ("team-b", True), ("default", False),
                                  (helm.NAMESPACE, False)):
            self.assertEqual(self.may("create", "pods", namespace), wanted, namespace)
        self.assertFalse(self.may("list", "pods"))
        self.assertTrue(self.may("update", "leases/taas-operator", helm.NAMESPACE))

    # Symptom: the release was half installed, for the Role of a namespace that did not exist.
    def test_a_namespace_that_there_is_not_is_named_before_anything_is_made(self):
        with self.assertRaises(helm.HelmError) as refused:
            self.install("defaults", "--set", "operator.namespaces={default,no-such-team}")
        self.assertIn("kubectl create ns no-such-team", str(refused.exception))
        self.assertEqual(self.server.names("deployments,roles,clusterroles", "-A", "-l",
                                           "app.kubernetes.io/part-of=taas"), [])

    def test_the_test_s_account_may_train_in_one_namespace(self):
        self.install("defaults", "--set", "test.enabled=true")
        account = f"system:serviceaccount:{helm.NAMESPACE}:taas-test"
        self.assertTrue(self.may("create", "trainingjobs.taas.dev", helm.NAMESPACE, account))
        self.assertTrue(self.may("get", "pods", helm.NAMESPACE, account, sub="log"))
        self.assertTrue(self.may("delete", "trainingjobs.taas.dev/taas-test-job", helm.NAMESPACE,
                                 account))
        self.assertFalse(self.may("delete", "trainingjobs.taas.dev/kept", helm.NAMESPACE, account))
        self.assertFalse(self.may("create", "trainingjobs.taas.dev", "default", account))
        self.assertFalse(self.may("create", "pods", helm.NAMESPACE, account))

    # Symptom: `helm test` was on by default, and its account may make jobs beside the operator: as
    # much as pods with the operator's account.
    def test_without_being_asked_nobody_but_the_operator_has_an_account_that_makes_pods(self):
        self.install()
        self.assertEqual(self.server.names("serviceaccounts", "-n", helm.NAMESPACE), [
            "serviceaccount/taas-dashboard", "serviceaccount/taas-operator"])

    def test_real_admission_takes_the_pods_where_pod_security_is_restricted(self):
        self.server.kubectl("create", "ns", "locked")
        self.server.kubectl("label", "ns", "locked",
                            "pod-security.kubernetes.io/enforce=restricted")
        # That one set of values names.
        self.server.kubectl("create", "priorityclass", "infrastructure", "--value=1000")
        templates = []
        for case in helm.CASES:
            found = helm.rendered(case)
            deployments = helm.of_kind(found, "Deployment")
            templates += [it["spec"]["template"]["spec"] for it in deployments]
            templates += [pod["spec"] for pod in helm.of_kind(found, "Pod")]
        for spec in templates:
            # What is rendered once is other tests' too.
            spec = copy.deepcopy(spec)
            pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec,
                   "metadata": {"name": "tried", "namespace": "locked"}}
            tried = ["create", "--dry-run=server", "-f", "-"]
            self.server.kubectl(*tried, text=json.dumps(pod))
            # The same pod with one word less is refused, so somebody did look.
            del spec["securityContext"]["seccompProfile"]
            _, _, error = self.server.kubectl(*tried, text=json.dumps(pod), check=False)
            self.assertIn("seccompProfile", error)

    def test_the_server_takes_the_policy_that_the_docs_have_for_namespaces_of_jobs(self):
        self.server.kubectl("create", "ns", "team-a", check=False)
        (policy,) = [block for block in
                     re.findall(r"```yaml\n(.*?)```", helm.read("docs", "helm.md"), flags=re.DOTALL)
                     if "kind: NetworkPolicy" in block]
        self.server.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-",
                            text=policy)

    def test_an_upgrade_with_the_same_values_changes_nothing(self):
        self.install()
        before = self.server.get("deployment,clusterrole,service,role,poddisruptionbudget",
                                 "-n", helm.NAMESPACE, "-l", "app.kubernetes.io/part-of=taas")
        self.install(verb="upgrade")
        after = self.server.get("deployment,clusterrole,service,role,poddisruptionbudget",
                                "-n", helm.NAMESPACE, "-l", "app.kubernetes.io/part-of=taas")
        versions = [[(obj["kind"], obj["metadata"]["name"], obj["metadata"]["resourceVersion"])
                     for obj in found["items"]] for found in (before, after)]
        self.assertEqual(versions[0], versions[1])
        self.assertGreater(len(versions[0]), 4)

    def test_every_set_of_values_can_follow_every_other(self):
        # A change that a server refuses would be one of a field that cannot be changed.
        for namespace in ("team-a", "team-b"):
            self.server.kubectl("create", "ns", namespace, check=False)
        self.apply_kinds_of_monitoring()
        self.install("defaults")
        for case in ("single-replica", "defaults", "namespaced", "everything", "single-replica",
                     "no-tfjob", "digest", "everything", "defaults"):
            self.install(case, "--set", "crds.keep=true", verb="upgrade")
        deployment = self.server.get("deployment/taas-operator", "-n", helm.NAMESPACE)
        self.assertEqual(deployment["spec"]["replicas"], 2)
        self.assertEqual(deployment["spec"]["strategy"]["type"], "RollingUpdate")
        leftovers = self.server.names("deployments,roles,rolebindings", "-A", "-l",
                                      "app.kubernetes.io/part-of=taas")
        self.assertEqual(leftovers, [
            "deployment.apps/taas-dashboard", "deployment.apps/taas-operator",
            "role.rbac.authorization.k8s.io/taas-operator-lease",
            "rolebinding.rbac.authorization.k8s.io/taas-operator-lease"])

    def test_uninstall_keeps_definitions_and_jobs_and_install_takes_them_again(self):
        self.install()
        self.server.kubectl("create", "-f", "-", text=JOB)
        self.run_helm("uninstall", helm.RELEASE, "-n", helm.NAMESPACE)
        self.assertEqual(self.server.names("crds"), CRDS)
        self.assertEqual(self.server.names("trainingjobs"), ["trainingjob.taas.dev/kept"])
        left = self.server.names("all,sa,roles,rolebindings,pdb,clusterroles,clusterrolebindings",
                                 "-A", "-l", "app.kubernetes.io/part-of=taas")
        self.assertEqual(left, [])
        uid = self.server.get("trainingjob/kept")["metadata"]["uid"]
        self.install()
        self.assertEqual(self.server.get("trainingjob/kept")["metadata"]["uid"], uid)

    def test_a_release_of_another_name_takes_kept_definitions_only_when_told(self):
        self.install()
        self.run_helm("uninstall", helm.RELEASE, "-n", helm.NAMESPACE)
        with self.assertRaises(helm.HelmError) as refused:
            self.install(release="other")
        self.assertIn("invalid ownership metadata", str(refused.exception))
        self.install("defaults", "--take-ownership", release="other")
        crd = self.server.get("crd/trainingjobs.taas.dev")
        self.assertEqual(crd["metadata"]["annotations"]["meta.helm.sh/release-name"], "other")

    def test_without_keep_uninstall_deletes_the_definitions(self):
        self.install("defaults", "--set", "crds.keep=false")
        self.assertEqual(self.server.names("crds"), CRDS)
        self.run_helm("uninstall", helm.RELEASE, "-n", helm.NAMESPACE, "--wait")
        self.assertEqual(self.server.names("crds"), [])

    def test_a_foreign_definition_of_tfjob_is_left_as_it_is(self):
        self.apply(FOREIGN_TFJOB)
        before = self.server.get("crd/tfjobs.kubeflow.org")
        notes = self.install()
        self.assertIn("WARNING: the definition of TFJob belongs to somebody who does not use Helm",
                      notes)
        self.install(verb="upgrade")
        self.run_helm("uninstall", helm.RELEASE, "-n", helm.NAMESPACE)
        after = self.server.get("crd/tfjobs.kubeflow.org")
        for field in ("uid", "generation"):
            self.assertEqual(after["metadata"][field], before["metadata"][field])

    def test_it_is_handed_over_as_the_notes_say(self):
        self.apply(FOREIGN_TFJOB)
        notes = self.install()
        commands = [line.split()[1:] for line in notes.splitlines()
                    if line.startswith("  kubectl annotate") or line.startswith("  kubectl label")]
        self.assertEqual(len(commands), 2)
        for command in commands:
            self.server.kubectl(*command)
        notes = self.install(verb="upgrade")
        self.assertNotIn("WARNING", notes)
        source = yaml.safe_load(helm.read("crds", "tfjobs.yaml"))
        version = self.server.get("crd/tfjobs.kubeflow.org")["spec"]["versions"][0]
        self.assertEqual(version["additionalPrinterColumns"],
                         source["spec"]["versions"][0]["additionalPrinterColumns"])

    def test_a_second_release_leaves_the_first_s_definitions_alone(self):
        self.server.kubectl("create", "ns", "team-a", check=False)
        self.server.kubectl("create", "ns", "team-b", check=False)
        self.install("defaults", "--set", "operator.namespaces={team-a}")
        self.install("defaults", "--set",
                     "operator.namespaces={team-b},crds.install=false,rbac.userRoles=false",
                     release="second", namespace="second-system")
        self.run_helm("uninstall", "second", "-n", "second-system")
        self.assertEqual(self.server.names("crds"), CRDS)
        account = "system:serviceaccount:second-system:second-taas-operator"
        self.assertFalse(self.may("create", "pods", "team-b", account))
        self.assertTrue(self.may("create", "pods", "team-a"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
