#!/usr/bin/python3
"""Which libraries the pack takes along."""

import os
import sys
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "bench/gpu"))
sys.dont_write_bytecode = True

import pack  # noqa: E402  pylint: disable=wrong-import-position


class PackTest(unittest.TestCase):

    def test_libraries_that_every_linux_has_stay_there(self):
        libraries = pack.libraries_of(os.path.join(RUNFILES, "bench/gpu/gpu_bench"))
        self.assertIn("libdnnl.so.2", libraries)
        self.assertIn("libgomp.so.1", libraries)
        for path in libraries.values():
            self.assertTrue(os.path.isfile(path), path)
        for provided in ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1",
                         "linux-vdso.so.1", "ld-linux-x86-64.so.2"):
            self.assertTrue(pack.PROVIDED.match(provided), provided)
            self.assertNotIn(provided, libraries)
        for name in libraries:
            self.assertFalse(name.startswith(("/", "libcuda")), name)
        self.assertFalse(pack.PROVIDED.match("libcrypto.so.3"))
        self.assertFalse(pack.PROVIDED.match("libcares.so.2"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
