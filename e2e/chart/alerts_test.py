#!/usr/bin/python3
"""Each alert of the chart fires when it should, and at no other time, as Prometheus sees it.

    TAAS_CLUSTER_BIN=FOLDER-WITH-HELM e2e/chart/alerts_test.py      needs Debian's prometheus

promtool goes through made-up series minute by minute (alert_cases.py). That the series which the
operator really serves have these names and labels is e2e/operations/prometheus_test.py.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest

import alert_cases
import helm

PROMTOOL = "/usr/bin/promtool"
# Sets of values, and what is set beside.
WITH_ALERTS = {"defaults": ("--set", "metrics.prometheusRule.enabled=true"), "everything": ()}


class Rendered:
    """The alerts of a set of values, and the labels that Prometheus gives what it scrapes."""

    def __init__(self, values):
        objects = helm.rendered(values, *WITH_ALERTS[values])
        (rule,) = helm.of_kind(objects, "PrometheusRule")
        self.groups = rule["spec"]["groups"]
        self.alerts = {alert["alert"]: alert for group in self.groups for alert in group["rules"]}
        (service,) = helm.of_operator(objects, "Service")
        meta = service["metadata"]
        self.own = {"namespace": meta["namespace"], "service": meta["name"]}

    def fired(self, case, labels):
        """What promtool expects of an alert that fires with these labels beside its own."""
        alert = self.alerts[case.alert]
        notes = alert["annotations"]
        for name, value in labels.items():
            notes = {key: text.replace("{{ $labels.%s }}" % name, value)
                     for key, text in notes.items()}
        return {"exp_labels": {**alert["labels"], **labels}, "exp_annotations": notes}

    def group(self, case, turned_round):
        """A group of promtool's tests. `turned_round`: it expects the contrary, at the end."""
        fires = [self.fired(case, labels) for labels in case.labels(self.own)]
        minutes = []
        for minute in range(case.minutes + 1):
            wanted = fires if minute == case.minutes and case.fires else []
            if minute == case.minutes and turned_round:
                wanted = [] if case.fires else fires
            minutes.append({"eval_time": f"{minute}m", "alertname": case.alert,
                            "exp_alerts": wanted})
        return {"name": case.name, "interval": "1m", "alert_rule_test": minutes,
                "input_series": [{"series": series, "values": values}
                                 for series, values in case.series(self.own)]}


def promtool(rendered, turned_round=False):
    """The finished process, of all cases."""
    with tempfile.TemporaryDirectory(prefix="taas-alerts-") as folder:
        rules, tests = (os.path.join(folder, name) for name in ("rules.json", "tests.json"))
        groups = [rendered.group(case, turned_round) for case in alert_cases.CASES]
        for path, value in ((rules, {"groups": rendered.groups}),
                            (tests, {"rule_files": [rules], "evaluation_interval": "1m",
                                     "tests": groups})):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(value, file)
        return subprocess.run([PROMTOOL, "test", "rules", tests], capture_output=True, text=True,
                              timeout=helm.LIMIT_S, check=False)


class AlertsTest(unittest.TestCase):
    maxDiff = None

    def test_each_fires_in_the_minute_that_it_should_and_in_none_before(self):
        for values in WITH_ALERTS:
            with self.subTest(values):
                done = promtool(Rendered(values))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_case_that_expects_the_contrary_is_refused(self):
        done = promtool(Rendered("defaults"), turned_round=True)
        refused = set(re.findall(r"^ +name: (.*),$", done.stdout + done.stderr, re.M))
        self.assertEqual(refused, {case.name for case in alert_cases.CASES})

    def test_each_alert_has_a_case_that_fires_and_one_that_does_not(self):
        for values in WITH_ALERTS:
            for fires in (True, False):
                with self.subTest(values, fires=fires):
                    self.assertEqual({case.alert for case in alert_cases.CASES
                                      if case.fires == fires}, set(Rendered(values).alerts))


if __name__ == "__main__":
    unittest.main(verbosity=2)
