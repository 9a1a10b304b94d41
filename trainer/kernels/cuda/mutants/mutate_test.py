#!/usr/bin/python3
"""Which mistakes are made in which lines, and that those known as none still are."""

import os
import random
import unittest

import mutate

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.dirname(HERE)

KERNEL = """\
// y = a - b.
#include "x.h"

template <unsigned kThreads>
__device__ float Of(const float* x, int64_t n) {
  __shared__ float warps[8];
  if (i >= n) return;  // a < b
  sum += x[i] / 2.0f;
  __syncthreads();
  return a - b;
}
"""


def sources():
    out = {}
    for name in sorted(os.listdir(KERNELS)):
        if name.endswith((".cu", ".h")):
            with open(os.path.join(KERNELS, name), encoding="utf-8") as file:
                out[name] = file.read()
    return out


def afters(code, kind=None):
    return {mutant.after.strip() for mutant in mutate.mutants_of("x.cu", code + "\n")
            if kind in (None, mutant.kind)}


class MutantsTest(unittest.TestCase):

    def test_each_rule_makes_its_mistake(self):
        for code, kind, want in (
                ("if (i < n) {", "bound", "if (i <= n) {"),
                ("if (a == b) {", "equality", "if (a != b) {"),
                ("x = a * b + c;", "operator", "x = a + b + c;"),
                ("if (a && !b) {", "logic", "if (a && b) {"),
                ("x = a - b[i];", "operands", "x = b[i] - a;"),
                ("x = a[i];", "index", "x = a[i + 1];"),
                ("for (int i = 0; i < 4; ++i) {", "constant", "for (int i = 0; i < 5; ++i) {"),
                ("x = 0.5f;", "constant", "x = 1.0f;"),
                ("__syncthreads();", "barrier", ""),
                ("x = __shfl_xor_sync(kAllLanes, x, b);", "mask",
                 "x = __shfl_xor_sync(0x7fffffffu, x, b);"),
                ("if (i >= n) return;", "guard", ""),
                ("x = a ? b : c;", "choice", "x = a ? c : b;"),
                ("i = threadIdx.x;", "place", "i = blockIdx.x;"),
                ("x = fmaxf(x, y);", "function", "x = fminf(x, y);"),
                ("p.y[i] += x;", "statement", "")):
            with self.subTest(code):
                self.assertIn(want, afters("  " + code, kind))

    def test_only_code_of_kernels_is_changed(self):
        lines = {mutant.line for mutant in mutate.mutants_of("x.cu", KERNEL)}
        self.assertEqual(lines, {7, 8, 9, 10})
        self.assertNotIn("<=", "".join(afters("  x = y;  // a < b")))
        self.assertEqual(afters("  x = 1'024;", "constant"), set(), "a part of a number is none")
        self.assertEqual(afters("  Sum<8>(x);", "bound"), set(), "no bound but a template's")

    def test_of_a_header_only_the_part_for_gpus_is_changed(self):
        host = "  if (a < b) {\n"
        guard = "#if defined(__CUDACC__) || defined(Y)\n"
        text = f"#ifndef X\n{host}{guard}{host}#endif\n{host}#endif\n"
        self.assertEqual({mutant.line for mutant in mutate.mutants_of("x.h", text)}, {4})

    def test_each_changes_its_line_and_no_other(self):
        for mutant in mutate.mutants_of("x.cu", KERNEL):
            before, after = KERNEL.splitlines(), mutant.apply(KERNEL).splitlines()
            self.assertEqual(len(before), len(after))
            changed = [i for i, (a, b) in enumerate(zip(before, after), 1) if a != b]
            self.assertEqual(changed, [mutant.line])

    def test_none_is_there_twice(self):
        for file, text in sources().items():
            keys = [(mutant.line, mutant.after) for mutant in mutate.mutants_of(file, text)]
            self.assertEqual(len(keys), len(set(keys)), file)


class ChoiceTest(unittest.TestCase):

    def test_each_file_has_its_share(self):
        self.assertEqual(mutate.shares({"a": 1, "b": 30, "c": 69}, 10), {"a": 1, "b": 3, "c": 6})
        self.assertEqual(mutate.shares({"a": 2, "b": 3}, 100), {"a": 2, "b": 3})
        self.assertEqual(sum(mutate.shares({"a": 1, "b": 1, "c": 1}, 2).values()), 2)
        self.assertEqual(mutate.shares({"a": 0, "b": 3}, 2), {"a": 0, "b": 2})

    def test_a_hundred_are_spread_over_all_kernels(self):
        chosen = mutate.choose(sources(), count=100, seed=1)
        self.assertEqual(sum(count for _, count, _ in chosen), 100)
        for file, count, found in chosen:
            if file.endswith(".cu"):
                self.assertGreaterEqual(count, 1, file)
            self.assertGreaterEqual(len(found), count)

    def test_the_same_seed_chooses_the_same(self):
        one = mutate.choose(sources(), count=100, seed=1)
        self.assertEqual(one, mutate.choose(sources(), count=100, seed=1))
        self.assertNotEqual(one, mutate.choose(sources(), count=100, seed=2))

    def test_kinds_take_turns(self):
        found = mutate.mutants_of("x.cu", KERNEL)
        kinds = {mutant.kind for mutant in found}
        first = [m.kind for m in mutate.in_order(found, random.Random(1))][:len(kinds)]
        self.assertEqual(set(first), kinds)


class EquivalentsTest(unittest.TestCase):

    def test_blocks_are_read(self):
        self.assertEqual(
            mutate.read_equivalents("# a comment\n\nx.cu\n- a;\n+\n= why\n= it is\n\n"),
            {("x.cu", "a;", ""): "why it is"})

    def test_each_is_still_a_mutant_of_the_sources_and_has_a_reason(self):
        with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as file:
            known = mutate.read_equivalents(file.read())
        possible = {mutant.key() for name, text in sources().items()
                    for mutant in mutate.mutants_of(name, text)}
        for key, reason in known.items():
            self.assertIn(key, possible, "take it out of equivalent.txt")
            self.assertGreater(len(reason), 10, key)


if __name__ == "__main__":
    unittest.main(verbosity=2)
