#!/usr/bin/python3
"""The main job with the programs that ship: it learns, tells the truth, survives a kill."""

import json
import os
import signal
import struct
import subprocess
import unittest

from cluster import LIMIT_S, Cluster, kubectl_path

STEP_LINE = r"step \d+, loss = \d+\.\d+ \(\d+\.\d examples/sec; \d+\.\d+ sec/batch\)"
WAITS = 100


def run_in_ci(cluster, example):
    done = cluster.run(cluster.taas, "local", "ci", "-f", cluster.example(example),
                       "--volume", f"mnist-data={cluster.data}", "--timeout", str(LIMIT_S),
                       "-o", "json", check=False)
    return done, json.loads(done.stdout)


class MainJobTest(unittest.TestCase):

    def test_learns_as_well_as_one_process_and_leaves_nothing_running(self):
        with Cluster() as cluster:
            done, result = run_in_ci(cluster, "mnist")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(result["state"], "Succeeded")
            self.assertEqual(result["steps"], 2000)
            self.assertGreaterEqual(result["accuracy"], 0.93)
            self.assertIn("generated", result["dataSource"])
            self.assertEqual(cluster.processes(), [])
            done, single = run_in_ci(cluster, "mnist-local")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertAlmostEqual(result["accuracy"], single["accuracy"], delta=0.01)

    def test_survives_a_killed_worker_and_says_so(self):
        with Cluster() as cluster:
            cluster.up()
            cluster.kubectl("apply", "-f", cluster.example("mnist"))

            def steps_seen():
                logs = cluster.kubectl("logs", "mnist-chief-0", check=False).stdout
                return "step " in logs

            cluster.wait_for("the first steps", steps_seen)
            pid = cluster.trainer("worker", 1)
            self.assertIsNotNone(pid)
            os.kill(pid, signal.SIGKILL)
            cluster.wait_for("the end", lambda: cluster.state("mnist") in ("Succeeded", "Failed"))
            status = cluster.status("mnist")
            self.assertEqual(status["state"], "Succeeded", status["message"])
            self.assertEqual(status["restarts"], {"killed": 1})
            self.assertEqual(status["progress"]["step"], 2000)
            self.assertGreaterEqual(status["progress"]["evaluation"]["accuracy"], 0.93)

    def test_real_kubectl_follows_the_job_from_apply_to_delete(self):
        with Cluster() as cluster:
            cluster.up()
            cluster.kubectl("apply", "-f", cluster.example("mnist"))
            # A second apply of the same file changes nothing.
            before = cluster.job("mnist")["metadata"]["generation"]
            cluster.kubectl("apply", "-f", cluster.example("mnist"))
            self.assertEqual(cluster.job("mnist")["metadata"]["generation"], before)
            watch = subprocess.Popen([kubectl_path(), "get", "tj", "mnist", "-w"],
                                     env=cluster.environ, text=True, stdout=subprocess.PIPE)
            cluster.kubectl("wait", "--for=condition=Succeeded", "tj/mnist",
                            f"--timeout={LIMIT_S}s")
            cluster.wait_for("the state", lambda: cluster.state("mnist") == "Succeeded")
            table = cluster.kubectl("get", "tj").stdout
            self.assertRegex(table, r"NAME +STATE +READY")
            self.assertRegex(table, r"mnist +Succeeded")
            yaml = cluster.kubectl("get", "tj", "mnist", "-o", "yaml").stdout
            self.assertIn("kind: TrainingJob", yaml)
            self.assertRegex(cluster.kubectl("logs", "-f", "mnist-chief-0").stdout, STEP_LINE)
            merged = cluster.run(cluster.taas, "logs", "mnist").stdout
            for replica in ("chief-0", "ps-0", "ps-1", "worker-0", "worker-1"):
                self.assertIn(f"[{replica}]", merged)
            # The end of a program that has just left a watch once met the end of OpenSSL, one time
            # in fifty.
            for _ in range(WAITS):
                cluster.run(cluster.taas, "wait", "mnist", "--for", "Succeeded", "--timeout", "5")
            self.assertRegex(cluster.run(cluster.taas, "list").stdout, r"mnist +Succeeded")
            cluster.kubectl("delete", "tj", "mnist")
            cluster.wait_for("the end of its pods", lambda: "No resources" in
                             cluster.kubectl("get", "pods").stderr)
            watch.terminate()
            seen = watch.communicate(timeout=LIMIT_S)[0]
            self.assertIn("Running", seen)
            self.assertIn("Succeeded", seen)
            checkpoints = os.listdir(os.path.join(cluster.out, "checkpoints"))
            self.assertIn("model.ckpt-2000.index", checkpoints)

    def test_bad_data_fails_with_the_file_and_the_cause(self):
        def truncate(path):
            with open(path, "r+b") as file:
                file.truncate(1000)

        def not_gzip(path):
            with open(path, "wb") as file:
                file.write(struct.pack(">IIII", 0x803, 1, 28, 28) + bytes(784))

        cases = [("train-images.gz", truncate, "truncated"),
                 ("train-labels.gz", not_gzip, "gzip"),
                 ("test-images.gz", os.remove, "No such file")]
        for name, spoil, cause in cases:
            with self.subTest(name), Cluster() as cluster:
                spoil(os.path.join(cluster.data, name))
                done, result = run_in_ci(cluster, "mnist-local")
                self.assertEqual(done.returncode, 1)
                self.assertEqual(result["state"], "Failed")
                self.assertIn(name, result["message"])
                self.assertIn(cause, result["message"])


if __name__ == "__main__":
    unittest.main()
