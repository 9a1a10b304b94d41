#!/usr/bin/python3
"""What must hold of everything that the chart renders, with any of the sets of values.

    TAAS_CLUSTER_BIN=FOLDER-WITH-HELM e2e/chart/rendered_rules_test.py
"""

import glob
import json
import os
import re
import subprocess
import unittest

import helm
import yaml
from helm import rendered

# Pod Security "restricted", and what we ask for beyond it: (of what, field, is it right).
OF_THE_POD = [
    ("hostNetwork", lambda pod: not pod.get("hostNetwork")),
    ("hostPID", lambda pod: not pod.get("hostPID")),
    ("hostIPC", lambda pod: not pod.get("hostIPC")),
    ("volumes", lambda pod: all("hostPath" not in volume for volume in pod.get("volumes", []))),
    ("seccompProfile", lambda pod: pod["securityContext"]["seccompProfile"]["type"]
     == "RuntimeDefault"),
    ("runAsNonRoot", lambda pod: pod["securityContext"]["runAsNonRoot"] is True),
    ("runAsUser", lambda pod: pod["securityContext"].get("runAsUser", 1) != 0),
]
OF_THE_CONTAINER = [
    ("privileged", lambda own: not own["securityContext"].get("privileged")),
    ("allowPrivilegeEscalation", lambda own: own["securityContext"]["allowPrivilegeEscalation"]
     is False),
    ("capabilities", lambda own: own["securityContext"]["capabilities"] == {"drop": ["ALL"]}),
    ("readOnlyRootFilesystem", lambda own: own["securityContext"]["readOnlyRootFilesystem"]
     is True),
    ("hostPort", lambda own: all("hostPort" not in port for port in own.get("ports", []))),
    ("requests", lambda own: {"cpu", "memory"} <= set(own["resources"]["requests"])),
    ("limits", lambda own: {"cpu", "memory"} <= set(own["resources"]["limits"])),
]
# Rights that are a way to others, or to what is nobody's business.
NEVER = {
    "resources": {"*", "secrets", "serviceaccounts", "pods/exec", "pods/attach",
                  "pods/ephemeralcontainers", "nodes/proxy", "roles", "clusterroles"},
    "verbs": {"*", "bind", "escalate", "impersonate"},
    "apiGroups": {"*", "rbac.authorization.k8s.io"},
}
OPERATOR_VERBS = {
    "trainingjobs": {"get", "list", "watch", "patch", "delete"},
    "trainingjobs/status": {"patch"},
    "tfjobs": {"get", "list", "watch", "patch", "delete"},
    "tfjobs/status": {"patch"},
    "pods": {"get", "list", "watch", "create", "delete"},
    "services": {"get", "list", "watch", "create", "delete"},
    "events": {"create"},
    "configmaps": {"create"},  # It reads none.
}
# It writes nothing but questions, and reads no logs: those go with the caller's own token.
DASHBOARD_VERBS = {
    "trainingjobs": {"list", "watch"},
    "tfjobs": {"list", "watch"},
    "pods": {"list", "watch"},
    "events": {"list", "watch"},
}
DASHBOARD_WIDE_VERBS = {"nodes": {"list", "watch"}}
REVIEWS = {"tokenreviews": {"create"}, "subjectaccessreviews": {"create"}}


def pods(found):
    for obj in found:
        if obj["kind"] == "Pod":
            yield obj["metadata"]["name"], obj["spec"]
        if "template" in obj.get("spec", {}):
            yield obj["metadata"]["name"], obj["spec"]["template"]["spec"]


def verbs_of(roles):
    verbs = {}
    for role in roles:
        for rule in role["rules"]:
            for resource in rule["resources"]:
                verbs.setdefault(resource, set()).update(rule["verbs"])
    return verbs


class PodsTest(unittest.TestCase):

    def test_they_are_what_pod_security_calls_restricted(self):
        for case in helm.CASES:
            names = []
            for name, pod in pods(rendered(case)):
                names.append(name)
                for field, right in OF_THE_POD:
                    with self.subTest(case, pod=name, field=field):
                        self.assertTrue(right(pod))
                for container in pod["containers"] + pod.get("initContainers", []):
                    for field, right in OF_THE_CONTAINER:
                        with self.subTest(case, container=container["name"], field=field):
                            self.assertTrue(right(container))
            tests = len(helm.of_kind(rendered(case), "Pod"))
            self.assertEqual(len(names), 2 + tests, "operator's, dashboard's and the test's")

    def test_the_table_refuses_a_pod_that_says_nothing(self):
        bare = {"securityContext": {"seccompProfile": {"type": "Unconfined"},
                                    "runAsNonRoot": False, "runAsUser": 0},
                "hostNetwork": True, "hostPID": True, "hostIPC": True,
                "volumes": [{"hostPath": {"path": "/"}}]}
        for field, right in OF_THE_POD:
            self.assertFalse(right(bare), field)
        bare = {"securityContext": {"privileged": True, "allowPrivilegeEscalation": True,
                                    "capabilities": {"add": ["ALL"]},
                                    "readOnlyRootFilesystem": False},
                "ports": [{"hostPort": 80}], "resources": {"requests": {}, "limits": {}}}
        for field, right in OF_THE_CONTAINER:
            self.assertFalse(right(bare), field)

    def test_images_have_a_tag_or_a_digest_and_never_latest(self):
        for case in helm.CASES:
            for _, pod in pods(rendered(case)):
                for container in pod["containers"] + pod.get("initContainers", []):
                    self.assertRegex(container["image"], r"(@sha256:[0-9a-f]{64}|:v?[0-9.]+)$")

    def test_the_operator_is_told_only_flags_that_it_has(self):
        known = set()
        for path in glob.glob(os.path.join(helm.ROOT, "operator", "cmd", "*.cc")):
            known |= set(re.findall(r'"(--[a-z][a-z-]+)"', helm.read(path)))
        for case in helm.CASES:
            for deployment in helm.of_kind(rendered(case), "Deployment"):
                (container,) = deployment["spec"]["template"]["spec"]["containers"]
                used = {argument.split("=")[0] for argument in container["args"]}
                self.assertEqual(used - known, {"dashboard"} & used, case)

    def test_the_test_is_told_only_flags_that_taas_has(self):
        known = set()
        for path in glob.glob(os.path.join(helm.ROOT, "cli", "*.cc")):
            known |= set(re.findall(r"--[a-z][a-z-]+", helm.read(path)))
        for case in helm.CASES:
            for pod in helm.of_kind(rendered(case), "Pod"):
                for container in pod["spec"]["containers"] + pod["spec"]["initContainers"]:
                    used = {word.split("=")[0] for word in container["args"]
                            if word.startswith("--")}
                    self.assertEqual(used - known, set(), case)


class RightsTest(unittest.TestCase):

    def test_no_role_has_a_wildcard_a_secret_or_a_way_to_more_rights(self):
        for case in helm.CASES:
            for role in helm.of_kind(rendered(case), "Role") + helm.of_kind(
                    rendered(case), "ClusterRole"):
                for rule in role["rules"]:
                    for part, never in NEVER.items():
                        with self.subTest(case, role=role["metadata"]["name"]):
                            self.assertEqual(set(rule[part]) & never, set())

    def test_the_operator_has_the_verbs_that_it_uses_and_no_other(self):
        roles = [role for role in helm.of_kind(rendered("defaults"), "ClusterRole")
                 if role["metadata"]["name"] == "taas-operator"]
        self.assertEqual(verbs_of(roles), OPERATOR_VERBS)

    def test_with_a_list_of_namespaces_it_has_the_same_there_and_nothing_elsewhere(self):
        found = rendered("namespaced")
        wide = [role["metadata"]["name"] for role in helm.of_kind(found, "ClusterRole")]
        self.assertEqual(sorted(wide), ["taas-dashboard-reviews", "taas-edit", "taas-view"])
        self.assertEqual([it["metadata"]["name"] for it in helm.of_kind(
            found, "ClusterRoleBinding")], ["taas-dashboard-reviews"])
        own = [role for role in helm.of_kind(found, "Role")
               if role["metadata"]["name"] == "taas-operator"]
        self.assertEqual([role["metadata"]["namespace"] for role in own], ["team-a", "team-b"])
        for role in own:
            self.assertEqual(verbs_of([role]), OPERATOR_VERBS)

    def test_the_dashboard_reads_lists_and_asks_who_may_see_them(self):
        def roles(case, kind, name):
            return [role for role in helm.of_dashboard(rendered(case), kind)
                    if role["metadata"]["name"] == name]
        self.assertEqual(verbs_of(roles("defaults", "ClusterRole", "taas-dashboard")),
                         {**DASHBOARD_VERBS, **DASHBOARD_WIDE_VERBS})
        self.assertEqual(verbs_of(roles("defaults", "ClusterRole", "taas-dashboard-reviews")),
                         REVIEWS)
        for role in roles("namespaced", "Role", "taas-dashboard"):
            self.assertEqual(verbs_of([role]), DASHBOARD_VERBS)
        self.assertEqual(roles("namespaced", "ClusterRole", "taas-dashboard"), [])

    def test_the_dashboard_reads_kueue_with_a_gang_scheduler_or_without(self):
        lists = {"list", "watch"}
        within = {"localqueues": lists, "workloads": lists}
        for value in ("dashboard.kueue=true", "operator.gangScheduler=kueue"):
            def roles(case, kind, value=value):
                return [role for role in helm.of_dashboard(
                    helm.objects(helm.render(case, "--set", value)), kind)
                    if role["metadata"]["name"] == "taas-dashboard"]
            with self.subTest(value):
                self.assertEqual(
                    verbs_of(roles("defaults", "ClusterRole")),
                    {**DASHBOARD_VERBS, **DASHBOARD_WIDE_VERBS, **within, "clusterqueues": lists})
                for role in roles("namespaced", "Role"):
                    self.assertEqual(verbs_of([role]), {**DASHBOARD_VERBS, **within})

    def test_without_the_dashboard_nothing_of_it_is_there(self):
        found = helm.objects(helm.render("defaults", "--set", "dashboard.enabled=false"))
        self.assertFalse([obj for obj in found if "taas-dashboard" in str(obj)])

    def test_a_kind_that_is_left_out_is_not_to_be_seen(self):
        roles = [role for role in helm.of_kind(rendered("no-tfjob"), "ClusterRole")
                 if role["metadata"]["name"] == "taas-operator"]
        self.assertEqual(set(verbs_of(roles)),
                         {name for name in OPERATOR_VERBS if not name.startswith("tfjobs")})

    def test_gang_schedulers_and_adoption_have_the_rights_that_they_need(self):
        all_verbs = {"get", "list", "watch", "create", "patch", "delete"}
        pods, services = OPERATOR_VERBS["pods"], OPERATOR_VERBS["services"]
        cases = {
            "operator.gangScheduler=volcano": {"podgroups": all_verbs},
            "operator.gangScheduler=coscheduling": {"podgroups": all_verbs},
            "operator.gangScheduler=kueue": {"pods": pods | {"patch"}},
            "operator.adopt=true": {"pods": pods | {"patch"}, "services": services | {"patch"}},
        }
        for value, more in cases.items():
            with self.subTest(value):
                roles = [role for role in helm.of_kind(
                    helm.objects(helm.render("defaults", "--set", value)), "ClusterRole")
                    if role["metadata"]["name"] == "taas-operator"]
                self.assertEqual(verbs_of(roles), {**OPERATOR_VERBS, **more})

    def test_only_the_release_s_own_lease_may_be_changed(self):
        (role,) = [role for role in helm.of_kind(rendered("defaults"), "Role")
                   if role["metadata"]["name"] == "taas-operator-lease"]
        self.assertEqual(role["metadata"]["namespace"], helm.NAMESPACE)
        for rule in role["rules"]:
            if rule["verbs"] != ["create"]:
                self.assertEqual(rule["resourceNames"], ["taas-operator"])
        (deployment,) = helm.of_operator(rendered("defaults"), "Deployment")
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertIn("--lease-name=taas-operator", arguments)
        self.assertIn("--lease-namespace=" + helm.NAMESPACE, arguments)

    def test_each_binding_leads_to_a_role_and_an_account_of_the_release(self):
        for case in helm.CASES:
            found = rendered(case)
            names = {(obj["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"])
                     for obj in found}
            for binding in helm.of_kind(found, "RoleBinding") + helm.of_kind(
                    found, "ClusterRoleBinding"):
                role = binding["roleRef"]
                self.assertIn((role["kind"], binding["metadata"].get("namespace"), role["name"]),
                              names)
                for subject in binding["subjects"]:
                    self.assertIn((subject["kind"], subject["namespace"], subject["name"]), names)


class MetricsTest(unittest.TestCase):

    def served(self):
        """From the code: a fresh operator's page lacks what it has not counted yet."""
        names = set()
        for path in glob.glob(os.path.join(helm.ROOT, "operator", "**", "*.cc"), recursive=True):
            names |= set(re.findall(r'Build\w+\(\)\s*\.Name\("(taas_\w+)"\)', helm.read(path)))
        return names

    def histograms(self):
        source = helm.read("operator", "controller", "metrics.cc")
        return set(re.findall(r'BuildHistogram\(\)\s*\.Name\("(taas_\w+)"\)', source))

    def expressions(self):
        found = rendered("everything")
        (rule,) = helm.of_kind(found, "PrometheusRule")
        yield from (alert["expr"] for group in rule["spec"]["groups"] for alert in group["rules"])
        (config,) = helm.of_kind(found, "ConfigMap")
        dashboard = json.loads(config["data"]["taas-operator.json"])
        for panel in dashboard["panels"]:
            yield from (target["expr"] for target in panel["targets"])
        yield from (variable["query"] for variable in dashboard["templating"]["list"])

    def test_alerts_and_dashboard_ask_for_metrics_that_the_operator_serves(self):
        served = self.served()
        self.assertIn("taas_jobs", served)
        served |= {name + "_bucket" for name in self.histograms()}
        served -= self.histograms()
        asked = set()
        for expression in self.expressions():
            asked |= set(re.findall(r"\btaas_\w+", re.sub(r'"[^"]*"', "", expression)))
        self.assertEqual(asked - served, set())

    def faults(self, what, text):
        """What the parser of Prometheus says of it."""
        done = subprocess.run([helm.program("promrules", "TAAS_CLUSTER_BIN"), what], input=text,
                              capture_output=True, text=True, timeout=helm.LIMIT_S, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def test_prometheus_itself_takes_the_alerts(self):
        (rule,) = helm.of_kind(rendered("everything"), "PrometheusRule")
        self.assertEqual(self.faults("rules", yaml.safe_dump(rule["spec"])), "")
        alert = rule["spec"]["groups"][0]["rules"][0]
        for field, wrong in (("expr", "sum(taas_jobs"), ("for", "5 minutes")):
            with self.subTest(field):
                spec = {"groups": [{"name": "wrong", "rules": [{**alert, field: wrong}]}]}
                self.assertNotEqual(self.faults("rules", yaml.safe_dump(spec)), "")

    def test_prometheus_itself_takes_the_dashboard_s_expressions(self):
        (config,) = helm.of_kind(rendered("everything"), "ConfigMap")
        panels = json.loads(config["data"]["taas-operator.json"])["panels"]
        # What Grafana puts in.
        expressions = [target["expr"].replace("$__rate_interval", "5m")
                       for panel in panels for target in panel["targets"]]
        self.assertGreater(len(expressions), 10)
        self.assertEqual(self.faults("expressions", json.dumps(expressions)), "")
        self.assertIn("sum(", self.faults("expressions", json.dumps(["sum("])))

    def test_prometheus_itself_takes_the_queries_of_the_page(self):
        page = helm.read("docs", "operations.md")
        section = re.search(r"^## Questions and queries\n(.*?)^## ", page, re.M | re.S).group(1)
        queries = re.findall(r"^\| [^|]* \| `([^`]+)` \|$", section, re.M)
        self.assertGreater(len(queries), 5)
        self.assertEqual(self.faults("expressions", json.dumps(queries)), "")
        asked = set(re.findall(r"\btaas_\w+", " ".join(queries)))
        self.assertEqual(asked - self.served(), set())

    def test_what_is_about_jobs_is_asked_by_their_namespaces(self):
        # The maximum by kind alone would be of one namespace.
        wrong = [expression for expression in self.expressions()
                 if re.search(r"max by \(([^)]*)\) \(taas_(?:jobs|gpus)", expression)
                 and not re.search(r"by \([^)]*job_namespace\) \(", expression)]
        self.assertEqual(wrong, [])

    def test_each_alert_leads_to_its_section_where_the_page_has_an_address(self):
        for values, address in (("everything", "https://git.example.com/taas/docs/operations.md"),
                                ("defaults", None)):
            found = helm.rendered(values, "--set", "metrics.prometheusRule.enabled=true")
            (rule,) = helm.of_kind(found, "PrometheusRule")
            for alert in rule["spec"]["groups"][0]["rules"]:
                with self.subTest(values, alert=alert["alert"]):
                    self.assertEqual(alert["annotations"].get("runbook_url"),
                                     address and f"{address}#{alert['alert'].lower()}")

    def test_they_ask_for_states_and_causes_that_there_are(self):
        words = set(re.findall(r'"(\w+)"', helm.read("operator", "api", "names.cc")))
        asked = set()
        for expression in self.expressions():
            for value in re.findall(r'\b(?:state|cause)=~?"([^"]*)"', expression):
                asked |= set(value.split("|"))
        self.assertIn("Running", asked)
        self.assertEqual(asked - words, set())

    def test_what_is_scraped_is_the_port_that_is_served(self):
        found = rendered("everything")
        (monitor,) = helm.of_kind(found, "ServiceMonitor")
        (service,) = helm.of_operator(found, "Service")
        (deployment,) = helm.of_operator(found, "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        (port,) = service["spec"]["ports"]
        self.assertEqual([end["port"] for end in monitor["spec"]["endpoints"]], [port["name"]])
        ports = {entry["name"]: entry["containerPort"] for entry in container["ports"]}
        self.assertEqual(ports[port["targetPort"]], 9090)
        self.assertIn("--metrics-addr=[::]:9090", container["args"])
        labels = service["metadata"]["labels"]
        self.assertEqual(labels, {**labels, **monitor["spec"]["selector"]["matchLabels"]})

    def test_trainers_are_asked_at_the_port_that_the_policy_opens(self):
        (port,) = re.findall(r"kStatusPort = (\d+);", helm.read("operator", "api", "defaults.h"))
        (label,) = re.findall(r'kJobLabel = "([^"]+)"', helm.read("operator", "api", "job.h"))
        for policy in helm.of_kind(rendered("everything"), "NetworkPolicy"):
            (trainers,) = [rule for rule in policy["spec"]["egress"] if "to" in rule]
            self.assertEqual([entry["port"] for entry in trainers["ports"]], [int(port)])
        (peer,) = trainers["to"]
        self.assertEqual(peer["podSelector"]["matchExpressions"],
                         [{"key": label, "operator": "Exists"}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
