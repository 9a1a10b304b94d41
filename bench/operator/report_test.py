#!/usr/bin/python3
"""The report: medians of what was kept, ratios to the peer, and targets met or not."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import report
import rows


def sample(row, contestant, **values):
    return {"row": row, "contestant": contestant, "run": 0, "small": False, **values}


def launched(contestant, exist_s, run_s, row="one", **values):
    return sample(row, contestant, exist_s=exist_s, run_s=run_s, cpu_s=1.0, rss_mb=20.0,
                  idle_mb=11.0, **values)


def cells(text, start):
    """Those of the one line of a table that starts so."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


class ReportTest(unittest.TestCase):

    def test_a_launch_is_compared_by_medians_with_both_peers_and_bare_clients(self):
        text = report.text([
            *(launched("taas-tfjob", exist, 10) for exist in (5, 4, 60)),
            launched("peer-tuned", 10, 30), launched("peer-default", 50, 100),
            launched("bare-tfjob", 4, 9), launched("telling-tfjob", 5, 10),
        ])
        self.assertEqual(cells(text, "TaaS, TFJob")[1:],
                         ["5 (4 … 60)", "10 (10 … 10)", "2.0× / 3.0×", "10.0× / 10.0×",
                          "80 % / 90 %", "100 % / 100 %", "1 (1 … 1)", "20 (20 … 20)"])
        # The peer has a service for each replica, too.
        self.assertEqual(cells(text, "training-operator, tuned")[5], "40 % / 30 %")

    def test_what_each_program_took_is_told_where_it_was_kept(self):
        text = report.text([
            launched("taas-tfjob", 5, 9, programs={"etcd": 2.0, "operator": 4.0}),
            launched("taas-tfjob", 5, 9, programs={"etcd": 3.0, "operator": 4.0}),
            launched("bare-tfjob", 4, 9, programs={"etcd": 1.0}),
        ])
        self.assertEqual(cells(text, "etcd")[1:], ["2.5 (2 … 3)", "1"])
        self.assertEqual(cells(text, "operator")[1:], ["4 (4 … 4)", "—"])

    def test_a_target_is_met_or_not(self):
        text = report.text([launched("taas-tfjob", 5, 9), launched("peer-tuned", 10, 30),
                            launched("peer-default", 39, 80), launched("bare-tfjob", 4, 9)])
        title = rows.ALL["one"].title + ", all pods exist, beside "
        self.assertEqual(cells(text, title + "the tuned peer")[-3:], ["2.0×", "≥ 1.8×", "yes"])
        self.assertEqual(cells(text, title + "the peer's defaults")[-3:],
                         ["7.8×", "≥ 8×", "**no**"])
        self.assertEqual(cells(text, title + "bare clients")[-3:], ["80 %", "≥ 80 %", "yes"])

    def test_a_target_for_every_time_holds_for_the_worst_sample(self):
        text = report.text([sample("restart", "taas-tfjob", restart_s=[0.1, 0.1, 0.6])])
        self.assertEqual(cells(text, "kill -9 to the replacement of a lost pod")[-1], "**no**")

    def test_a_target_for_all_but_one_in_a_hundred_leaves_that_one_out(self):
        good, bad = [4.0] * 99 + [50.0], [4.0] * 98 + [50.0] * 2
        for found, met in ((good, "yes"), (bad, "**no**")):
            text = report.text([sample("first", "taas-tfjob", asked_ms=found, exists_ms=found)])
            self.assertEqual(cells(text, "first pod of a job exists, p99")[-1], met)

    def test_what_was_not_measured_has_no_target(self):
        self.assertNotIn("beside bare clients", report.text([launched("taas-tfjob", 5, 9)]))

    def test_one_request_in_one_minute_at_rest_is_too_many(self):
        text = report.text([sample("rest2k", "taas-tfjob", requests=[0, 0, 1], watches=[0],
                                   cpu_s=[0.01], rss_mb=12.0)])
        self.assertEqual(
            cells(text, rows.ALL["rest2k"].title + ", requests a minute")[-1], "**no**")

    def test_requests_of_a_life_stand_by_what_they_were_for(self):
        text = report.text([
            sample("life", "taas-tfjob", total=3, requests={"create pods": 2, "create events": 1}),
            sample("life", "peer-default", total=9, requests={"create events": 9}),
        ])
        self.assertEqual(cells(text, "create events")[1:], ["1", "9"])
        self.assertEqual(cells(text, "create pods")[1:], ["2", "0"])

    def test_a_failed_trial_is_told_and_is_no_sample(self):
        text = report.text([launched("taas-tfjob", 5, 9),
                            sample("one", "taas-tfjob", failed="etcd was full")])
        self.assertIn("FAILED one taas-tfjob: etcd was full", text)
        self.assertEqual(cells(text, "TaaS, TFJob")[1], "5")

    def test_a_rehearsal_says_that_it_is_one(self):
        self.assertIn("rehearsal",
                      report.text([{**launched("taas-tfjob", 5, 9), "small": True}]))


if __name__ == "__main__":
    unittest.main()
