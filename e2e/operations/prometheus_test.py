"""A real Prometheus scrapes the installed operators where the chart's ServiceMonitor leads, and
raises the chart's alert about what they serve.

How long each alert waits is left out here: e2e/chart/alerts_test.py has that.
"""

import json
import os
import urllib.request

import neighbours  # Before what it makes known.

import helm
import programs
import taas
from component import Component
from scenario import Scenario

PORT = 9090
SCRAPE = "1s"
TIMEOUT_S = 60
# With wrong labels nothing of the operators would be found, and these two would not be quiet.
QUIET = {"TaasOperatorDown", "TaasOperatorsNotOneLeader"}
RAISED = "TaasTfJobsOfAnotherController"
OTHER = "training-operator"
TFJOB = {
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "theirs"},
    "spec": {"runPolicy": {"suspend": True}, "tfReplicaSpecs": {"Worker": {
        "template": {"spec": {"containers": [{"name": "tensorflow", "image": "their/image:1"}]}},
    }}},
}
# Conditions are written by ours as well, which then owns them: the start tells of the other.
BEGIN = "2026-01-01T00:00:00Z"
BEGUN = {"startTime": BEGIN, "conditions": [{
    "type": "Created", "status": "True", "reason": "TFJobCreated",
    "message": "TFJob theirs is created.", "lastTransitionTime": BEGIN, "lastUpdateTime": BEGIN}]}


def scraped(monitor, endpoints):
    """What the Prometheus operator makes of a ServiceMonitor and the endpoints that it selects."""
    (wanted,) = monitor["spec"]["endpoints"]
    return {"job_name": monitor["metadata"]["name"], "static_configs": [
        {"targets": [f"{address['ip']}:{port['port']}"],
         "labels": {"namespace": found["metadata"]["namespace"],
                    "service": found["metadata"]["name"], "pod": address["targetRef"]["name"]}}
        for found in endpoints for subset in found.get("subsets", ())
        for address in subset.get("addresses", ())
        for port in subset["ports"] if port["name"] == wanted["port"]]}


class PrometheusTest(Scenario):

    needs = ("components", "node")
    # While a TFJob of another controller is there, others are begun later.
    alone = True

    def setUp(self):
        super().setUp()
        self.plane = self.cluster.plane
        self.folder = os.path.join(self.plane.work, "prometheus-" + self.namespace)
        os.mkdir(self.folder)
        objects = helm.objects(helm.render(
            "defaults", "--set", "metrics.prometheusRule.enabled=true", "--set",
            "metrics.serviceMonitor.enabled=true"))
        (self.rule,) = helm.of_kind(objects, "PrometheusRule")
        (self.monitor,) = helm.of_kind(objects, "ServiceMonitor")
        self.start()

    def write(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def endpoints(self):
        """Those that the ServiceMonitor selects: Debian's Prometheus does not look for them."""
        labels = self.monitor["spec"]["selector"]["matchLabels"]
        return self.kubectl.json("get", "endpoints", "-n", taas.NAMESPACE, "-l", ",".join(
            f"{name}={value}" for name, value in labels.items()))["items"]

    def both_operators(self):
        found = scraped(self.monitor, self.endpoints())
        pods = sorted(target["labels"]["pod"] for target in found["static_configs"])
        return found if pods == taas.operators(self.kubectl) else None

    def start(self):
        groups = [{**group, "rules": [{**alert, "for": "0s"} for alert in group["rules"]]}
                  for group in self.rule["spec"]["groups"]]
        config = self.write("prometheus.json", {
            "global": {"scrape_interval": SCRAPE, "scrape_timeout": SCRAPE,
                       "evaluation_interval": SCRAPE},
            "rule_files": [self.write("rules.json", {"groups": groups})],
            "scrape_configs": [self.wait_for("operators that are ready", self.both_operators)],
        })
        self.prometheus = Component(self.plane.sandbox, "prometheus", [
            programs.path("prometheus"), "--config.file=" + config,
            "--storage.tsdb.path=" + os.path.join(self.folder, "data"),
            f"--web.listen-address={self.plane.address}:{PORT}"], self.cluster.logs)
        self.prometheus.start()
        self.addCleanup(self.prometheus.kill)

    def ask(self, what):
        """What Prometheus answers, or nothing as long as it is starting."""
        self.prometheus.check()
        try:
            with urllib.request.urlopen(f"http://{self.plane.address}:{PORT}/api/v1/{what}",
                                        timeout=TIMEOUT_S) as reply:
                return json.load(reply)["data"]
        except OSError:
            return {}

    def pods_scraped(self):
        return {target["labels"]["pod"] for target in self.ask("targets").get("activeTargets", [])
                if target["health"] == "up"}

    def alerts(self):
        """Labels of those that fire, by name; None before it has looked once."""
        groups = self.ask("rules").get("groups", [])
        rules = [rule for group in groups for rule in group["rules"]]
        if not rules or any(rule["health"] != "ok" for rule in rules):
            return None
        return {alert["labels"]["alertname"]: alert["labels"]
                for rule in rules for alert in rule["alerts"] if alert["state"] == "firing"}

    def fires(self, name):
        alerts = self.alerts()
        return alerts is not None and name in alerts

    def is_quiet(self, *names):
        alerts = self.alerts()
        return alerts is not None and not set(names) & set(alerts)

    def begin_by_another_controller(self):
        """A TFJob whose status says that another one has begun it."""
        self.kubectl.create({**TFJOB, "metadata": {"name": "theirs",
                                                   "namespace": self.namespace}})
        # Ours has then said what it has to say, and does not write over what comes now.
        self.wait_for("the TFJob to be suspended",
                      lambda: self.status("theirs", "tfjob").get("state") == "Suspended")
        self.k("patch", "tfjob", "theirs", "--subresource=status", "--type=merge",
               "--field-manager=" + OTHER, "--patch", json.dumps({"status": BEGUN}))

    def test_an_alert_is_raised_about_what_the_operators_serve_and_ends_with_it(self):
        operators = set(taas.operators(self.kubectl))
        self.wait_for(f"metrics of {operators}", lambda: self.pods_scraped() == operators)
        self.wait_for("no alert", lambda: self.is_quiet(RAISED, *QUIET))
        self.begin_by_another_controller()
        self.wait_for("the alert", lambda: self.fires(RAISED))
        self.assertEqual(self.alerts()[RAISED], {"alertname": RAISED, "severity": "warning"})
        self.assertTrue(self.is_quiet(*QUIET))
        self.k("delete", "tfjob", "theirs")
        self.wait_for("the end of the alert", lambda: self.is_quiet(RAISED))
