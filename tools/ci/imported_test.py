#!/usr/bin/python3
"""One Python runs many programs, which share an import and nothing else."""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import imported  # pylint: disable=wrong-import-position

# Leaves a line in a file for each time that it is imported, and prints one.
COUNTED = """
with open(__file__ + ".log", "a") as file:
    file.write("imported\\n")
print("an import prints this")
value = [1]
"""
MEGABYTE = 1_000_000


class ImportedTest(unittest.TestCase):

    def start(self, *modules):
        python = imported.Python(sys.executable, *modules)
        self.addCleanup(python.close)
        return python

    def test_a_module_is_imported_once_and_no_program_changes_it_for_the_next(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counted.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(COUNTED)
            with mock.patch.dict(os.environ, PYTHONPATH=folder):
                python = self.start("json", "counted")
            program = ("import counted, os; counted.value.append(2); print(counted.value, "
                       "os.environ.pop('PYTHONPATH'), 'mine' in globals()); mine = 1")
            for _ in range(2):
                self.assertEqual(python.run(program), f"[1, 2] {folder} False\n")
            with open(path + ".log", encoding="utf-8") as file:
                self.assertEqual(file.read(), "imported\n")

    def test_words_and_input_arrive_and_are_of_one_program_only(self):
        python = self.start("json")
        program = "import sys; print(sys.argv[1:], repr(sys.stdin.read()))"
        self.assertEqual(python.run(program, "a b", "ü", stdin="one\ntwo ü"),
                         "['a b', 'ü'] 'one\\ntwo ü'\n")
        self.assertEqual(python.run(program), "[] ''\n")

    def test_a_large_input_and_output_arrive(self):
        self.assertEqual(self.start().run(
            f"import sys; sys.stderr.write('e' * {MEGABYTE}); print(sys.stdin.read() * 2)",
            stdin="x" * MEGABYTE), "x" * 2 * MEGABYTE + "\n")

    def test_a_program_that_fails_says_why_and_the_next_one_runs(self):
        python = self.start("json")
        for program, why in (
                ("print('a'); raise ValueError('wrong')", "with 1: .*ValueError: wrong"),
                ("import sys; sys.exit('no such file')", "with 1: no such file"),
                ("import sys; sys.exit(7)", "with 7: "),
                ("import os; os.write(2, b'dies'); os.abort()", "with -6: dies"),
                ("a program", "with 1: .*SyntaxError")):
            with self.subTest(program), self.assertRaisesRegex(AssertionError, f"(?s)ended {why}"):
                python.run(program)
        self.assertEqual(python.run("import sys; print(1); sys.exit()"), "1\n")

    def test_a_module_that_is_not_there_is_named(self):
        python = self.start("no_such_module")
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, f"{sys.executable} ended with 1: (?s:.*)"
                                        "No module named 'no_such_module'"):
                python.run("print(1)")

    def test_the_process_ends_when_it_is_closed(self):
        python = imported.Python(sys.executable, "json")
        pid = int(python.run("import os; print(os.getppid())"))
        os.kill(pid, 0)
        python.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


if __name__ == "__main__":
    unittest.main()
