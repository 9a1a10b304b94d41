#!/usr/bin/python3
"""docs/operations.md names what the operator has: each metric, event, log line and flag, no other.

    e2e/operations/operations_page_test.py      needs bin/taas-operator, which `make build` makes
"""

import os
import subprocess
import unittest

import operations_page as page

PROGRAM = os.path.join(os.environ.get("TAAS_BIN") or os.path.join(page.TREE, "bin"),
                       "taas-operator")
# These print and end.
NOT_SETTINGS = {"--help", "--version"}
LIMIT_S = 60


class OperationsPageTest(unittest.TestCase):

    maxDiff = None

    def test_it_has_each_metric_with_its_type_and_labels(self):
        self.assertIn("taas_jobs", page.metrics_in_code())
        self.assertEqual(page.types_on_page(), page.types_in_code())
        self.assertEqual(page.metrics_on_page(), page.metrics_in_code())

    def test_it_has_each_state_and_each_cause(self):
        self.assertEqual(page.values_on_page("taas_jobs"), page.names_in_code("JobState"))
        self.assertEqual(page.values_on_page("taas_restarts_total"),
                         page.names_in_code("RestartCause"))

    def test_it_has_each_reason_of_an_event(self):
        self.assertIn("Restarting", page.reasons_in_code())
        self.assertEqual(page.reasons_on_page(), page.reasons_in_code())

    def test_it_has_each_log_line_with_its_levels_and_fields(self):
        self.assertIn(("operator started", ("credentials", "server")), page.log_lines_in_code())
        self.assertEqual(page.log_lines_on_page(), page.log_lines_in_code())

    def test_no_field_of_a_line_has_the_name_of_what_every_line_has(self):
        # Readers of JSON keep one of two fields of one name, so the line's message was lost.
        taken = {(message, field) for message, fields in page.log_lines_in_code()
                 for field in fields if field in page.FIELDS_OF_ALL}
        self.assertEqual(taken, set())

    def test_it_has_each_flag_with_its_default_and_its_variable(self):
        text = subprocess.run([PROGRAM, "--help"], env={}, check=True, text=True, timeout=LIMIT_S,
                              stdout=subprocess.PIPE).stdout
        defaults = page.flags_in_help(text)
        self.assertIn("--leader-elect", defaults)
        told = page.flags_on_page()
        self.assertEqual(set(told), set(defaults) - NOT_SETTINGS)
        # The image's has the release in it, which the page does not say again.
        wrong = {flag: told[flag] for flag, default in defaults.items()
                 if default and flag != "--trainer-image" and told[flag] != f"`{default}`"}
        self.assertEqual(wrong, {})
        self.assertEqual(page.variables_in_help(text), {
            flag: "TAAS" + flag[1:].replace("-", "_").upper() for flag in told})


if __name__ == "__main__":
    unittest.main(verbosity=2)
