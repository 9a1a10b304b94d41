#!/usr/bin/python3
"""The tables say what was measured, and a dash where nothing was."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import Model, Product  # pylint: disable=wrong-import-position
from report import HEAD, Row, memory_table, spread  # pylint: disable=wrong-import-position

# A step of 12 GFLOP, and so 10 examples in a second at 12 GFLOP/s.
MODEL = Model("Toy", {"name": "toy"}, 10, 1, 1, {}, 10, [Product(1000, 1000, 2000)])


def cells(row):
    return [cell.strip() for cell in row.line().strip("|").split("|")]


class ReportTest(unittest.TestCase):

    def test_ratios_are_medians_of_rounds_and_not_ratios_of_medians(self):
        row = Row(MODEL, [12, 24, 12], {"ours": [8, 20, 6], "PyTorch": [4, 20, 2],
                                        "TensorFlow": [8, 10, 3]},
                  {"PyTorch": "eager", "TensorFlow": "XLA"})
        self.assertEqual(cells(row), [
            "Toy, 10", "12", "12 (12 … 24)", "10", "8 (6 … 20)", "80%", "4 (2 … 20)", "eager",
            "2.00", "8 (3 … 10)", "XLA", "2.00"])
        self.assertEqual(len(cells(row)), HEAD.splitlines()[-1].count("---"))

    def test_a_side_that_was_not_measured_is_a_dash(self):
        row = Row(MODEL, [12], {"PyTorch": [4]}, {"PyTorch": "eager"})
        self.assertEqual(cells(row)[4:], ["—", "—", "4 (4 … 4)", "eager", "—", "—", "—", "—"])
        self.assertIn("| Toy | — | 300 | — |", memory_table({"Toy": {"PyTorch": 300.4}}))

    def test_large_numbers_have_no_fraction_and_small_ones_three_digits(self):
        self.assertEqual(spread([1234567.8, 0.12345, 45.678]), "45.7 (0.123 … 1,234,568)")


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
