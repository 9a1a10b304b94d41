"""docs/acceptance.md has a row for each number, and the tests that it names exist."""

import os
import re
import unittest

import programs

PAGE = os.path.join("docs", "acceptance.md")
ROWS = [f"C{number:02}" for number in range(1, 36)]
ROW = re.compile(r"^\| (C\d\d) \| (.+?) \| (.+) \|$")
# `path`: `test`, `test` …
TESTS = re.compile(r"\[`[^`]+`\]\(\.\./([^)]+)\): ((?:`\w+`(?:, )?)+)")


def text_of(path):
    with open(os.path.join(programs.TREE, path), encoding="utf-8") as file:
        return file.read()


def rows():
    found = [ROW.match(line) for line in text_of(PAGE).splitlines() if re.match(r"\| C\d", line)]
    return [match.groups() if match else None for match in found]


class AcceptanceTableTest(unittest.TestCase):

    def test_each_number_has_one_row_with_a_test(self):
        self.assertEqual([row and row[0] for row in rows()], ROWS)
        for number, _, cell in rows():
            self.assertRegex(cell, TESTS, number)

    def test_the_tests_that_are_named_exist(self):
        named = [(path, test) for path, tests in TESTS.findall(text_of(PAGE))
                 for test in re.findall(r"\w+", tests)]
        self.assertGreaterEqual(len(named), len(ROWS))
        for path, test in named:
            # As Python and as googletest define one.
            self.assertRegex(text_of(path), rf"(def |TEST\w*\(\w+, ){test}\(?\b", path)
