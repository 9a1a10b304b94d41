#!/usr/bin/python3
"""Jobs whose training data is streamed, as real processes: every strategy, and a damaged file."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from processes import TOGETHER, TRAINER, Job

FEATURES = [{"name": "image_raw", "dtype": "bytes", "decode": "raw", "shape": [28, 28, 1]},
            {"name": "label", "dtype": "int64"}]


class StreamingTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([TRAINER, "data", "fetch", "mnist", cls.dir, "--generate"], check=True)
        for name in ("train", "test"):
            subprocess.run([TRAINER, "data", "convert", "--from", "idx", "--to", "tfrecord",
                            f"{cls.dir}/{name}-images.gz", f"{cls.dir}/{name}-labels.gz",
                            f"{cls.dir}/{name}.tfrecord"], check=True)

    def config(self, train="train.tfrecord", **streaming):
        return {"model": {"name": "softmax"}, "batchSize": 100, "maxSteps": 300,
                "optimizer": {"name": "sgd", "learningRate": 0.5}, "logSteps": 100,
                "data": {"format": "tfrecord", "classes": 10,
                         "tfrecord": {"label": "label", "features": FEATURES},
                         "streaming": {"shuffleBuffer": 1000, **streaming},
                         "train": {"files": [f"{self.dir}/{train}"]},
                         "test": {"files": [f"{self.dir}/test.tfrecord"]}}}

    def expect_learnt(self, process):
        self.assertIn("data is streamed", process.log())
        self.assertGreater(process.end()["evaluation"]["accuracy"], 0.8, process.log())

    def test_replicas_of_a_parameter_server_learn_in_step_and_on_their_own(self):
        for strategy in ({}, TOGETHER):
            with self.subTest(strategy=strategy), \
                    Job(ps=1, workers=2, chief=True, strategy=strategy, **self.config()) as job:
                # With the rate of the others, the last step of a stale gradient decides.
                job.config.update(maxSteps=1000, optimizer={"name": "sgd", "learningRate": 0.1})
                job.start_all()
                job.expect_all_done(self)
                self.expect_learnt(job.processes["chief-0"])

    def test_a_worker_that_is_killed_is_replaced_and_the_rest_is_trained(self):
        with Job(ps=1, workers=2, chief=True, **self.config()) as job:
            job.config["maxSteps"] = 3000
            job.start_all()
            worker = job.processes["worker-1"]
            worker.says("data is streamed")
            worker.kill()
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.expect_learnt(job.processes["chief-0"])

    def run_alone(self, config):
        return subprocess.run([TRAINER, "--config", json.dumps(config)], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={})

    def test_a_damaged_record_ends_the_training_and_is_named(self):
        with open(f"{self.dir}/train.tfrecord", "rb") as file:
            content = bytearray(file.read())
        content[len(content) // 2 + 100] ^= 1
        with open(f"{self.dir}/damaged.tfrecord", "wb") as file:
            file.write(content)
        done = self.run_alone(self.config(train="damaged.tfrecord"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"damaged\.tfrecord: record \d+ at offset \d+: the checksum")

    def test_a_training_does_not_go_on_with_other_data(self):
        # Symptom: a file that was added between two runs changed the order of examples, unseen.
        with open(f"{self.dir}/train.tfrecord", "rb") as file:
            content = file.read()
        for streamed in (True, False):
            with self.subTest(streamed=streamed), \
                    tempfile.TemporaryDirectory(dir=self.dir) as directory:
                def put(name):
                    with open(f"{directory}/{name}", "wb") as file:
                        file.write(content)
                put("part-0")
                config = self.config()
                if not streamed:
                    del config["data"]["streaming"]
                config["data"]["train"] = {"files": [f"{directory}/part-*"]}
                config.update(maxSteps=20, checkpoint={"dir": f"{directory}/out"})
                done = self.run_alone(config)
                self.assertEqual(done.returncode, 0, done.stderr)
                config["maxSteps"] = 30
                put("part-1")
                done = self.run_alone(config)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"made with other training data: it had \d+ examples "
                                              r"in file part-0, .*; the job has \d+ examples in 2 "
                                              r"files, part-0 to part-1, ")
                os.remove(f"{directory}/part-1")
                done = self.run_alone(config)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_compressed_is_unpacked_as_the_error_says(self):
        subprocess.run([TRAINER, "data", "convert", "--from", "tfrecord", "--to", "tfrecord",
                        f"{self.dir}/train.tfrecord", f"{self.dir}/packed.gz"], check=True)
        done = self.run_alone(self.config(train="packed.gz"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("taas-trainer data convert --from tfrecord --to tfrecord", done.stderr)
        subprocess.run([TRAINER, "data", "convert", "--from", "tfrecord", "--to", "tfrecord",
                        f"{self.dir}/packed.gz", f"{self.dir}/unpacked"], check=True)
        done = self.run_alone({**self.config(train="unpacked"), "maxSteps": 20})
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
