#!/usr/bin/python3
"""Figures: medians with their spread, percentiles, and numbers as a reader wants them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import figures


class FiguresTest(unittest.TestCase):

    def test_a_percentile_is_a_sample_that_enough_others_do_not_exceed(self):
        hundred = list(range(100, 0, -1))
        self.assertEqual(figures.percentile(hundred, 0.5), 50)
        self.assertEqual(figures.percentile(hundred, 0.99), 99)
        self.assertEqual(figures.percentile(hundred, 1), 100)

    def test_the_99th_percentile_of_few_samples_is_the_worst(self):
        self.assertEqual(figures.percentile([3, 1, 2], 0.99), 3)
        self.assertEqual(figures.percentile([7], 0.5), 7)

    def test_no_samples_have_no_percentile(self):
        with self.assertRaises(ValueError):
            figures.percentile([], 0.5)

    def test_numbers_have_three_digits_that_mean_something(self):
        for value, want in ((0, "0"), (0.01234, "0.0123"), (1, "1"), (1.5, "1.5"), (12.345, "12.3"),
                            (123.4, "123"), (12345.6, "12,346"), (100, "100"), (10, "10")):
            self.assertEqual(figures.number(value), want)

    def test_several_samples_are_shown_with_their_spread(self):
        self.assertEqual(figures.text([3.0, 1.0, 2.0], "s"), "2 s (1 … 3)")
        self.assertEqual(figures.text([2.5], "MB"), "2.5 MB")
        self.assertEqual(figures.text([]), "—")

    def test_a_ratio_says_how_many_times_more_the_other_is(self):
        self.assertEqual(figures.ratio([2, 2, 100], [8]), 4)

    def test_a_ratio_with_something_that_was_not_measured_is_none(self):
        self.assertIsNone(figures.ratio([], [1]))
        self.assertIsNone(figures.ratio([1], []))
        self.assertIsNone(figures.ratio([0], [1]))


if __name__ == "__main__":
    unittest.main()
