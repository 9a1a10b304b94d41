#!/usr/bin/python3
"""The trainer on a GPU that libraries in NVIDIA's place stand for: TAAS_GPUS of the environment."""

import json
import os
import re
import sys
import unittest

from processes import ENDLESS, RUNFILES, TOGETHER, TRAINER, Job

CUDA = os.path.join(RUNFILES, "trainer", "cuda", "fake")
sys.path.insert(0, CUDA)
import fake_machine  # pylint: disable=wrong-import-position
from fake_machine import H100  # pylint: disable=wrong-import-position

SMALL = "device 9 0 3000000 132 1 small\n"
ECC_UNCORRECTABLE, CONTAINED = 214, 226
BAD_NODE = 3


class GpuTrainingTest(unittest.TestCase):

    def job(self, **config):
        return self.enterContext(Job(**{"ps": 0, "workers": 1, **config}))

    def start(self, job, role, index=0, machine=H100, **environment):
        path = os.path.join(job.directory, f"{role}-{index}.cuda")
        with open(path, "w", encoding="utf-8") as file:
            file.write(machine)
        return job.start_replica(role, index, environment={
            "LD_LIBRARY_PATH": CUDA, "TAAS_FAKE_CUDA": path, "TAAS_GPUS": "1", **environment})

    def losses(self, process):
        return [float(loss) for loss in re.findall(r"loss = ([\d.e-]+)", process.log())]

    def test_a_training_is_that_of_the_processor(self):
        near, far = self.job(maxSteps=100), self.job(maxSteps=100)
        on_processor = near.start_replica("worker")
        on_gpu = self.start(far, "worker")
        near.expect_all_done(self)
        far.expect_all_done(self)
        self.assertIn('computing on a GPU device="NVIDIA H100 80GB HBM3"', on_gpu.log())
        self.assertNotIn("GPU", on_processor.log())
        wanted = self.losses(on_processor)
        self.assertGreater(len(wanted), 10)
        for got, loss in zip(self.losses(on_gpu), wanted, strict=True):
            self.assertAlmostEqual(got, loss, delta=1e-3 * loss + 1e-5)

    def test_workers_have_gpus_and_a_parameter_server_opens_none(self):
        job = self.job(ps=1, workers=2, strategy=TOGETHER, maxSteps=60)
        workers = [self.start(job, "worker", index) for index in range(2)]
        server = self.start(job, "ps", machine="init 803\n")
        job.expect_all_done(self)
        for worker in workers:
            self.assertIn("computing on a GPU", worker.log())
        self.assertNotIn("GPU", server.log())

    def test_without_what_was_promised_the_node_is_bad(self):
        for machine, environment, says in (
                (H100, {"LD_LIBRARY_PATH": ""}, "a GPU is wanted: no NVIDIA driver here"),
                ("", {}, "a GPU is wanted: this process sees 0"),
                ("init 803\n", {}, "of different releases"),
                ("version 12040\n" + H100, {}, "the NVIDIA driver knows CUDA 12.4"),
                ("device 7 0 17179869184 80 1 Tesla V100\n", {}, "compute capability 7.0")):
            with self.subTest(says):
                process = self.start(self.job(), "worker", machine=machine, **environment)
                self.assertEqual(process.wait(), BAD_NODE, process.log())
                self.assertIn(says, process.end()["message"])

    def test_a_gpu_that_is_lost_in_a_step_leaves_the_checkpoint_and_moves_the_replica(self):
        job = self.job(maxSteps=ENDLESS)
        job.checkpoints(every=20)
        process = self.start(job, "worker",
                             machine=f"{H100}fail kernel 2000 {ECC_UNCORRECTABLE}\n")
        self.assertEqual(process.wait(), BAD_NODE, process.log())
        self.assertIn("CUDA_ERROR_ECC_UNCORRECTABLE", process.end()["message"])
        again = self.start(job, "worker")
        again.says("resuming from checkpoint")
        again.says("step ")

    def test_one_that_is_lost_while_the_model_is_made_is_not_waited_for(self):
        process = self.start(self.job(), "worker", machine=f"{H100}fail clear 12 {CONTAINED}\n")
        self.assertEqual(process.wait(), BAD_NODE, process.log())
        self.assertNotIn("trying again", process.log())

    def test_memory_that_is_too_small_is_told_with_what_helps(self):
        process = self.start(self.job(), "worker", machine="device 9 0 300000 132 1 small\n")
        self.assertEqual(process.wait(), 1, process.log())
        self.assertRegex(process.end()["message"],
                         r"activations: no memory for \d+ kB on GPU 0 \(small\): .* kB of 300 kB "
                         r"are free; a smaller batchSize needs less")

    def test_a_number_that_is_none_is_refused(self):
        process = self.start(self.job(), "worker", TAAS_GPUS="all")
        self.assertEqual(process.wait(), 1)
        self.assertIn('TAAS_GPUS must be a whole number from 1 to 1000, is "all"', process.log())

    def test_more_than_one_is_refused_with_what_to_ask_for(self):
        process = self.start(self.job(), "worker", machine=H100 * 4, TAAS_GPUS="4")
        self.assertEqual(process.wait(), 1, process.log())
        self.assertEqual(process.end()["message"],
                         "this replica has 4 GPUs (TAAS_GPUS), and this trainer computes on one "
                         "GPU per replica today: ask for `gpus: 1` and more workers")

    def test_an_empty_number_is_none(self):
        job = self.job(maxSteps=20)
        process = self.start(job, "worker", machine="init 803\n", TAAS_GPUS="")
        job.expect_all_done(self)
        self.assertNotIn("GPU", process.log())

class CheckTest(unittest.TestCase):

    def check(self, machine, *arguments):
        return fake_machine.run([TRAINER, "devices", "--check", *arguments], machine)

    def test_a_gpu_that_computes_right_is_measured(self):
        done = self.check(SMALL + "device 7 0 1000000 40 0 old\n", "--format=json")
        self.assertEqual(done.returncode, 0, done.stdout)
        (check,) = json.loads(done.stdout)["checks"]
        self.assertEqual(check["index"], 0)
        self.assertEqual(check["memoryBytes"], 2_700_000 // 256 * 256)
        for figure in ("copiedGbPerS", "toDeviceGbPerS", "tf32TflopPerS", "seconds"):
            self.assertGreater(check[figure], 0, figure)
        self.assertRegex(self.check(SMALL).stdout, r"(?m)^check 0 +right  copies \d+ GB/s within")

    def test_one_that_does_not_is_told_and_so_is_a_machine_without_any(self):
        done = self.check(SMALL + "fail kernel 2 -1\n")
        self.assertEqual(done.returncode, BAD_NODE)
        self.assertIn("is broken: 1 of ", done.stdout)
        self.assertEqual(self.check("").returncode, BAD_NODE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
