#!/usr/bin/python3
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compile_kernels  # pylint: disable=wrong-import-position

# As ptxas of CUDA 13.0 says it: a kernel that spills, one that calls a function and one with static
# shared memory; an architecture after the other.
SAID = """\
ptxas info    : 24 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function 'Sum' for 'sm_90'
ptxas info    : Function properties for Sum
    192 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 20 registers, used 1 barriers, 192 bytes cumulative stack size, 128 bytes smem
ptxas info    : Compile time = 6.853 ms
ptxas info    : Function properties for _Z4Slowfi
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'Spill' for 'sm_90'
ptxas info    : Function properties for Spill
    288 bytes stack frame, 536 bytes spill stores, 564 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 288 bytes cumulative stack size
ptxas info    : Compiling entry function 'Sum' for 'sm_80'
ptxas info    : Function properties for Sum
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 376 bytes cmem[0]
"""


class CompileKernelsTest(unittest.TestCase):

    def test_each_function_has_a_row_for_each_architecture(self):
        self.assertEqual(compile_kernels.resources(SAID), [
            ("Spill", "sm_90", "32", "288", "536", "564", "0"),
            ("Sum", "sm_80", "8", "0", "0", "0", "0"),
            ("Sum", "sm_90", "20", "192", "0", "0", "128"),
            ("_Z4Slowfi", "sm_90", "-", "8", "0", "0", "-"),
        ])

    def test_what_is_not_understood_is_refused(self):
        for said in ("", SAID.replace("bytes stack frame", "bytes of stack"),
                     SAID.replace("Used", "Needed")):
            with self.assertRaises(ValueError):
                compile_kernels.resources(said)

    def test_the_table_is_the_same_whatever_comes_first(self):
        rows = compile_kernels.resources(SAID)
        self.assertEqual(compile_kernels.table(rows), compile_kernels.table(rows[::-1]))

    def test_lines_of_what_spills_are_found(self):
        table = compile_kernels.table(compile_kernels.resources(SAID))
        self.assertEqual([line.split()[:2] for line in compile_kernels.spilling(table)],
                         [["Spill", "sm_90"]])
        self.assertEqual(compile_kernels.spilling(table.replace("564", "0").replace("536", "0")),
                         [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
