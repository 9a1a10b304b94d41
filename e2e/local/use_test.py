#!/usr/bin/python3
"""What a trained model is for, from the command line: evaluated, asked, exported, in a pod each."""

import gzip
import json
import os
import signal
import struct
import subprocess
import unittest

from cluster import LIMIT_S, Cluster

JOB = "models/softmax"
# As the job above, in the only place that a TFJob has for it.
TRAINER = {
    "model": {"name": "softmax"},
    "data": {"format": "idx",
             "train": {"images": "/data/train-images.gz", "labels": "/data/train-labels.gz"},
             "test": {"images": "/data/test-images.gz", "labels": "/data/test-labels.gz"}},
    "strategy": {"type": "Local"}, "optimizer": {"name": "sgd", "learningRate": 0.5},
    "batchSize": 100, "maxSteps": 60, "checkpoint": {"dir": "/out/checkpoints"},
}
TFJOB = {
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "old"},
    "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {
        "containers": [{
            "name": "tensorflow", "image": "taas/trainer:0.1.0",
            "env": [{"name": "TAAS_TRAINER", "value": json.dumps(TRAINER)}],
            "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True},
                             {"name": "out", "mountPath": "/out"}]}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "mnist-data"}},
                    {"name": "out", "persistentVolumeClaim": {"claimName": "old-out"}}]}}}}},
}
PIXELS = 28 * 28


class UseTest(unittest.TestCase):
    """One job that is trained once, and what is done with its model."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.up()
        cls.cluster.kubectl("apply", "-f", cls.cluster.example(JOB))
        cls.cluster.wait_for("the end of the training",
                             lambda: cls.cluster.state("softmax") in ("Succeeded", "Failed"))
        cls.trained = cls.cluster.status("softmax")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def setUp(self):
        self.assertEqual(self.trained["state"], "Succeeded", self.trained)

    def tearDown(self):
        self.cluster.wait_for("the end of what was made", lambda: self.left() == [])
        # No operator took a pod of these for one of the job's.
        status = self.cluster.status("softmax")
        for field in ("state", "attempt", "progress", "restarts"):
            self.assertEqual(status.get(field), self.trained.get(field), field)

    def left(self):
        return self.cluster.kubectl("get", "pods,configmaps", "-l", "taas.dev/use-of=softmax",
                                    "-o", "name").stdout.split()

    def taas(self, *args, code=0, stdin=None):
        done = self.cluster.run(self.cluster.taas, *args, check=False, stdin=stdin)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def labels(self):
        with gzip.open(os.path.join(self.cluster.data, "test-labels.gz")) as file:
            return list(file.read()[8:])

    def test_eval_is_what_the_training_said_at_its_end(self):
        result = json.loads(self.taas("eval", "softmax", "-o", "json").stdout)
        said = self.trained["progress"]["evaluation"]
        self.assertEqual(result["step"], 300)
        self.assertEqual(result["examples"], said["examples"])
        self.assertAlmostEqual(result["accuracy"], said["accuracy"], places=5)
        self.assertGreaterEqual(result["accuracy"], 0.83)

    # `taas eval` said that it ran an image of its own.
    def test_a_tfjob_s_model_is_evaluated_like_any_other(self):
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(TFJOB))
        done = self.taas("wait", "tfjob/old")
        self.assertIn("Newest checkpoint: /out/checkpoints on claim old-out, step 60, ",
                      done.stderr)
        result = json.loads(self.taas("eval", "tfjob/old", "-o", "json").stdout)
        self.assertEqual(result["step"], 60)
        self.assertGreaterEqual(result["accuracy"], 0.7)

    # `taas eval` said that its checkpoints had ended with the pod.
    def test_checkpoints_on_no_volume_lie_on_the_machine(self):
        folder = os.path.join(self.cluster.dir, "on no volume")
        trainer = {**TRAINER, "checkpoint": {"dir": folder}}
        job = {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "bare"},
               "spec": {"trainer": trainer, "roles": {"worker": {"replicas": 1}},
                        "volumes": [{"name": "data", "mountPath": "/data", "readOnly": True,
                                     "source": {"persistentVolumeClaim":
                                                {"claimName": "mnist-data"}}}]}}
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(job))
        done = self.taas("wait", "bare")
        self.assertIn(f"Newest checkpoint: {folder}, on no volume, step 60, ", done.stderr)
        self.assertIn("The next job with this checkpoint.dir goes on from there.", done.stderr)
        self.assertIn("model.ckpt-60.index", os.listdir(folder))
        result = json.loads(self.taas("eval", "bare", "-o", "json").stdout)
        self.assertEqual(result["step"], 60)

    def test_predict_of_a_file_in_a_volume_is_right_as_often_as_eval_says(self):
        done = self.taas("predict", "tj/softmax", "--input-path", "/data/test-images.gz")
        classes = [json.loads(line)["class"] for line in done.stdout.splitlines()]
        right = sum(a == b for a, b in zip(classes, self.labels(), strict=True))
        self.assertAlmostEqual(right / len(classes),
                               self.trained["progress"]["evaluation"]["accuracy"], places=5)

    def test_predict_takes_lines_and_files_of_this_machine(self):
        with gzip.open(os.path.join(self.cluster.data, "test-images.gz")) as file:
            pixels = file.read()[16:16 + 3 * PIXELS]
        rows = [[pixel / 255 for pixel in pixels[i * PIXELS:(i + 1) * PIXELS]] for i in range(3)]
        done = self.taas("predict", "softmax", "--input", "-",
                         stdin="".join(json.dumps(row) + "\n" for row in rows))
        of_lines = [json.loads(line)["class"] for line in done.stdout.splitlines()]
        few = os.path.join(self.cluster.dir, "few images.idx")
        with open(few, "wb") as file:
            file.write(struct.pack(">IIII", 0x803, 3, 28, 28) + pixels)
        done = self.taas("predict", "softmax", "--input", few)
        of_file = [json.loads(line)["class"] for line in done.stdout.splitlines()]
        self.assertEqual(len(of_file), 3)
        self.assertEqual(of_lines, of_file)

    def test_what_the_command_says_of_bad_examples_is_printed_and_its_exit_code_is_taken_over(self):
        done = self.taas("predict", "softmax", "--input", "-", stdin="1 2 3\n", code=1)
        self.assertIn("has 3 numbers, the model takes 784", done.stdout)

    def test_export_lies_in_the_jobs_volume(self):
        self.taas("export", "softmax", "--format", "safetensors", "--to", "/out/model.safetensors")
        path = os.path.join(self.cluster.cluster_dir, "volumes/default/softmax-out",
                            "model.safetensors")
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        self.assertEqual(header["__metadata__"]["global_step"], "300")
        shapes = sorted(tensor["shape"] for name, tensor in header.items()
                        if name != "__metadata__")
        self.assertEqual(shapes, [[10], [PIXELS, 10]])
        self.taas("export", "softmax", "--format", "savedModel", "--to", "/out/saved/1")
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path),
                                                    "saved/1/saved_model.pb")))

    def test_where_the_checkpoints_lie_is_said(self):
        folder = os.path.join(self.cluster.cluster_dir, "volumes/default/softmax-out/checkpoints")
        newest = [name for name in os.listdir(folder) if name.startswith("model.ckpt-300.")]
        self.assertGreaterEqual(len(newest), 2)
        done = self.taas("wait", "softmax")
        self.assertIn("Newest checkpoint: /out/checkpoints on claim softmax-out, step 300, ",
                      done.stderr)
        self.assertIn(f"On this machine: {folder}\n", done.stderr)
        self.assertIn("`taas eval softmax`", done.stderr)
        described = self.taas("describe", "softmax").stdout
        self.assertIn("/out/checkpoints on claim softmax-out, step 300, ", described)
        self.assertIn(folder, described)

    def test_a_cluster_of_one_job_says_whether_its_model_stays(self):
        out = os.path.join(self.cluster.dir, "kept")
        os.mkdir(out)
        for volumes, stays in (([], False), (["--volume", f"softmax-out={out}"], True)):
            done = self.taas("local", "ci", "-f", self.cluster.example(JOB), "--volume",
                             f"mnist-data={self.cluster.data}", *volumes, "--timeout",
                             str(LIMIT_S), "-o", "json")
            checkpoint = json.loads(done.stdout)["checkpoint"]
            if stays:
                folder = os.path.join(out, "checkpoints")
                self.assertEqual((checkpoint["step"], checkpoint["folder"]), (300, folder))
                self.assertEqual(checkpoint["bytes"], sum(
                    os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)
                    if name.startswith("model.ckpt-300.")))
            else:
                self.assertIsNone(checkpoint)
                self.assertIn("--volume softmax-out=DIR", done.stderr)

    def test_a_pod_that_finds_no_node_says_so_and_goes_at_ctrl_c(self):
        self.cluster.kubectl("cordon", "local")
        process = subprocess.Popen([self.cluster.taas, "eval", "softmax"], text=True,
                                   env=self.cluster.environ, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        try:
            said = ""
            while "cannot be scheduled" not in said:
                line = process.stderr.readline()
                self.assertNotEqual(line, "", said)
                said += line
            self.assertIn("nodes are available", said)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=LIMIT_S)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(out, "")
        finally:
            process.kill()
            process.communicate()
            self.cluster.kubectl("uncordon", "local")


if __name__ == "__main__":
    unittest.main()
