#!/usr/bin/python3
"""Every example runs as its first lines say, and learns."""

import glob
import json
import os
import unittest

from cluster import LIMIT_S, RUNFILES, Cluster

# Run by main_job_test.
MAIN_JOB = {"mnist", "mnist-local"}
# Of those that give their reader time to look on: as many steps as they learn in.
SHORTER = {"all-reduce-elastic": ("maxSteps: 50000", "maxSteps: 500")}
# Programs that train nothing.
WITHOUT_ACCURACY = {"own-image"}


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def names(self):
        files = glob.glob(os.path.join(RUNFILES, "examples", "*.yaml"))
        names = {os.path.splitext(os.path.basename(file))[0] for file in files} - MAIN_JOB
        self.assertGreaterEqual(len(names), 7)
        return sorted(names)

    def changed(self, name, old, new):
        """The path of a copy of an example in which a text is another."""
        with open(self.cluster.example(name), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1)
        path = os.path.join(self.cluster.dir, "changed.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        return path

    def run_manifest(self, path, code=0):
        done = self.cluster.run(
            self.cluster.taas,
            "local",
            "ci",
            "-f",
            path,
            "--volume",
            f"mnist-data={self.cluster.data}",
            "--volume",
            f"mnist-out={self.cluster.out}",
            "--timeout",
            str(LIMIT_S),
            "-o",
            "json",
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_every_example_succeeds_and_learns(self):
        for name in self.names():
            with self.subTest(name):
                change = SHORTER.get(name)
                result = self.run_manifest(self.changed(name, *change) if change
                                           else self.cluster.example(name))
                self.assertEqual(result["state"], "Succeeded")
                if name not in WITHOUT_ACCURACY:
                    self.assertGreaterEqual(result["accuracy"], 0.93)
                self.assertEqual(self.cluster.processes(), [])

    # Worker 0 took itself for the chief, whom its TF_CONFIG does not name, and the chief waited.
    def test_tfjob_with_dynamic_workers_is_led_by_its_chief(self):
        path = self.changed("tfjob", "runPolicy:", "enableDynamicWorker: true\n  runPolicy:")
        result = self.run_manifest(path)
        self.assertEqual(result["state"], "Succeeded")
        self.assertGreaterEqual(result["accuracy"], 0.93)

    def test_program_of_an_image_that_is_not_here_fails_with_the_reason(self):
        path = self.changed("own-image", "command: [sh, -c]", "command: [/opt/no-such-program]")
        result = self.run_manifest(path, code=1)
        self.assertEqual(result["state"], "Failed")
        self.assertIn("/opt/no-such-program", result["message"])
        self.assertIn('image "busybox:1.37" is not pulled: the command of container trainer runs '
                      "with the programs of this machine", result["message"])

    def test_every_example_is_valid(self):
        for name in self.names():
            with self.subTest(name):
                self.cluster.run(self.cluster.taas, "validate", "-f", self.cluster.example(name))


if __name__ == "__main__":
    unittest.main()
