#!/usr/bin/python3
"""`check`, with the real programs, on the driver that stands for NVIDIA's: what its parts write,
also when a run hangs, and its exit codes."""

import glob
import json
import os
import stat
import subprocess
import tarfile
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
HERE = os.path.join(RUNFILES, "bench/gpu")
CUDA = os.path.join(RUNFILES, "trainer/cuda/fake")
PROGRAMS = {"parity": "trainer/kernels/cuda/testing/parity", "gpu_bench": "bench/gpu/gpu_bench",
            "taas-trainer": "trainer/cmd/taas-trainer"}
H100 = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n"
ILLEGAL_ADDRESS = 700
HANGS = "#!/bin/sh\nsleep 1000\n"
SANITIZER = '#!/bin/sh\necho "========= %s"; %s\n'
PYTHON = '#!/bin/sh\nwhile [ "$1" != --out ]; do shift; done\necho \'{"rows": []}\' >"$2"\n'


class CheckTest(unittest.TestCase):

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.bin = f"{self.folder}/bin"
        os.mkdir(self.bin)
        self.write(f"{self.folder}/machine", H100)
        with open(f"{HERE}/check", encoding="utf-8") as file:
            self.write(f"{self.folder}/check", file.read())
        self.programs = {name: os.path.join(RUNFILES, path) for name, path in PROGRAMS.items()}
        self.results = {}

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, stat.S_IRWXU)
        return path

    def pack(self):
        with tarfile.open(f"{self.folder}/pack.tar.xz", "w", dereference=True) as archive:
            for name, path in self.programs.items():
                archive.add(path, f"pack/bin/{name}")
            about = self.write(f"{self.folder}/about", json.dumps(
                {"commit": "0123456789abcdef", "gpuCode": "feed"}))
            archive.add(about, "pack/pack.json")
            for name, result in self.results.items():
                archive.add(self.write(f"{self.folder}/result", json.dumps(result)),
                            f"pack/results/{name}")

    def check(self, *arguments):
        """Its exit code, and what each part wrote."""
        self.pack()
        ended = subprocess.run(
            [f"{self.folder}/check", "--small", *arguments], check=False, timeout=280,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={"PATH": f"{self.bin}:/usr/bin:/bin", "LD_LIBRARY_PATH": CUDA,
                 "TAAS_FAKE_CUDA": f"{self.folder}/machine"})
        print(ended.stdout.decode())
        found = {}
        for path in glob.glob(f"{self.folder}/results/*.json"):
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
            found[result["part"]] = result
        return ended.returncode, found

    def test_parity_is_clean(self):
        code, found = self.check("--parity")
        self.assertEqual(list(found), ["parity"])
        part = found["parity"]
        self.assertEqual((code, part["clean"], part["complete"]), (0, True, True))
        self.assertEqual((part["commit"], part["gpuCode"]), ("0123456789abcdef", "feed"))
        self.assertEqual([run["run"] for run in part["runs"]], ["parity", "steps"])
        self.assertTrue(part["runs"][0]["result"]["clean"])
        self.assertEqual(part["runs"][1]["result"]["device"], "NVIDIA H100 80GB HBM3")
        self.assertEqual(os.listdir(f"{self.folder}/results"),
                         ["parity-no-card-0123456789ab.json"])

    def test_parity_that_is_not_clean_ends_with_1_and_says_what(self):
        self.write(f"{self.folder}/machine", f"{H100}fail kernel 40 {ILLEGAL_ADDRESS}\n")
        code, found = self.check("--parity")
        self.assertEqual((code, found["parity"]["clean"]), (1, False))
        self.assertIn("says", found["parity"]["runs"][0])

    def test_what_hangs_is_ended_and_takes_nothing_with_it(self):
        self.programs["parity"] = self.write(f"{self.folder}/hangs", HANGS)
        code, found = self.check("--parity", "--bench", "--limit", "4")
        runs = {run["run"]: run for run in found["parity"]["runs"]}
        self.assertTrue(runs["parity"]["timedOut"])
        self.assertEqual(runs["steps"]["skipped"], "no time was left")
        self.assertEqual((code, found["parity"]["clean"]), (1, False))
        self.assertTrue(found["bench"]["complete"])

    def test_speeds_are_measured(self):
        code, found = self.check("--bench")
        part = found["bench"]
        self.assertEqual((code, part["complete"]), (0, True))
        runs = {run["run"]: run for run in part["runs"]}
        self.assertEqual(runs["one step of taas-trainer"]["exit"], 0, runs)
        self.assertGreater(part["execToEndOfOneStepSeconds"], 0)
        self.assertTrue(runs["kernels"]["result"]["complete"])
        self.assertTrue(runs["convolutions"]["result"]["complete"])
        self.assertTrue(runs["attentions"]["result"]["complete"])
        self.assertTrue(runs["models"]["result"]["complete"])

    def test_the_card_is_named_with_its_clocks(self):
        self.write(f"{self.bin}/nvidia-smi", "#!/bin/sh\necho 'NVIDIA H100, 580.1, 1980, 2619, "
                                             "1980, 2619, 41, 70.5, 81559'\n")
        self.programs["parity"] = self.write(f"{self.folder}/hangs", HANGS)
        _, found = self.check("--parity", "--limit", "1")
        self.assertEqual(found["parity"]["card"]["name"], "NVIDIA H100")
        self.assertEqual(found["parity"]["card"]["clocks.sm"], "1980")
        self.assertEqual(os.listdir(f"{self.folder}/results"),
                         ["parity-nvidia-h100-0123456789ab.json"])

    def test_peers_run_in_each_way_unless_they_are_known(self):
        python = self.write(f"{self.folder}/python", PYTHON)
        code, found = self.check("--peers", "--python", python)
        self.assertEqual(code, 0)
        runs = [run["run"] for run in found["peers"]["runs"]]
        self.assertEqual(runs[0], "rows")
        self.assertEqual(runs[1], "MLP 784-500-10, graph")
        self.assertEqual(runs[-1], "GPT-2 124M bf16, compiled")
        # The last run was cut off: it alone is made up for.
        found["peers"]["runs"][-1]["exit"] = None
        self.results["peers-no-card-0.json"] = {**found["peers"], "card": {}}
        _, found = self.check("--peers", "--python", python)
        self.assertEqual([run["run"] for run in found["peers"]["runs"]], [runs[0], runs[-1]])
        self.assertEqual(found["peers"]["known"],
                         {name: "peers-no-card-0.json" for name in runs[1:-1]})
        _, found = self.check("--peers", "--python", python, "--again")
        self.assertEqual(len(found["peers"]["runs"]), len(runs))

    def test_the_sanitizer_decides_too(self):
        _, found = self.check("--sanitize")
        self.assertEqual(found["sanitize"]["missing"], "compute-sanitizer")
        for says, ends, clean in (("ERROR SUMMARY: 0 errors", "exit 0", True),
                                  ("ERROR SUMMARY: 3 errors", "exit 9", False),
                                  ("COMPUTE-SANITIZER", "sleep 9", True),
                                  ("Invalid __global__ read of size 4", "sleep 9", False)):
            self.write(f"{self.bin}/compute-sanitizer", SANITIZER % (says, ends))
            code, found = self.check("--sanitize", "--limit", "2")
            self.assertEqual((code == 0, found["sanitize"]["clean"]), (clean, clean), says)
            self.assertEqual(len(found["sanitize"]["runs"]), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
