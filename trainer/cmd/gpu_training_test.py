#!/usr/bin/python3
"""The trainer on a GPU that libraries in NVIDIA's place stand for: TAAS_GPUS of the environment."""

import json
import os
import re
import sys
import tempfile
import unittest

from processes import ENDLESS, RUNFILES, TOGETHER, TRAINER, Job

CUDA = os.path.join(RUNFILES, "trainer", "cuda", "fake")
NVML = os.path.join(RUNFILES, "operator", "base")
sys.path.insert(0, CUDA)
import fake_machine  # pylint: disable=wrong-import-position
from fake_machine import H100  # pylint: disable=wrong-import-position

SMALL = "device 9 0 3000000 132 1 small\n"
ECC_UNCORRECTABLE, CONTAINED = 214, 226
ID = "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0"
SYSTEM_ERROR = 2  # ncclSystemError
TOWERS = {"type": "Towers", "towers": 2}
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

    def nvml(self, job, more):
        """An environment in which NVML tells that of the device."""
        path = os.path.join(job.directory, "nvml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{ID} 1 2 3 {more} NVIDIA H100\n")
        return {"LD_LIBRARY_PATH": f"{CUDA}:{NVML}", "TAAS_FAKE_NVML": path}

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

    def test_what_nvml_has_counted_stands_in_the_sentence_of_a_step_that_failed(self):
        job = self.job(maxSteps=ENDLESS)
        process = self.start(job, "worker", machine=f"{H100}fail kernel 2000 {ECC_UNCORRECTABLE}\n",
                             **self.nvml(job, "volatile=7,0 aggregate=9,3 ecc=1"))
        self.assertEqual(process.wait(), BAD_NODE, process.log())
        message = process.end()["message"]
        self.assertIn("CUDA_ERROR_ECC_UNCORRECTABLE", message)
        self.assertIn("an error that ECC could not correct (Xid 48", message)
        self.assertIn(f"NVML of {ID}: ECC errors since its reset: 0 uncorrected, 7 corrected; in "
                      "its life: 3 uncorrected", message)

    def test_memory_that_is_known_to_be_bad_is_not_computed_on(self):
        job = self.job(maxSteps=ENDLESS)
        process = self.start(job, "worker", **self.nvml(job, "volatile=0,2"))
        self.assertEqual(process.wait(), BAD_NODE, process.log())
        self.assertIn(f"{ID}) is not to be computed on: its memory has had 2 errors",
                      process.end()["message"])

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

    def test_convolutions_are_cudnns_and_their_plans_are_kept_where_the_environment_says(self):
        lenet = {"model": {"name": "lenet"}, "maxSteps": 3, "batchSize": 4,
                 "data": {"format": "generated",
                          "generated": {"pattern": "waves", "classes": 10, "examples": 20,
                                        "testExamples": 1, "image": [28, 28, 1]}}}
        plans = self.enterContext(tempfile.TemporaryDirectory())
        made = []
        for _ in range(2):
            job = self.job(**lenet)
            process = self.start(job, "worker", TAAS_GPU_PLANS=plans)
            job.expect_all_done(self)
            self.assertRegex(process.log(), "convolutions are computed by cuDNN .*version=9.28.1")
            self.assertNotIn("by patches", process.log())
            made.append({name: os.stat(os.path.join(plans, name)).st_mtime_ns
                         for name in os.listdir(plans)})
        self.assertGreaterEqual(len(made[0]), 5)
        self.assertEqual(made[1], made[0])
        # One of another version than this trainer's.
        job = self.job(**lenet)
        process = self.start(job, "worker", machine=f"{H100}cudnn 90501\n")
        job.expect_all_done(self)
        self.assertRegex(process.log(), "convolutions are computed by patches and cuBLASLt .*"
                                        "is cuDNN 9.5.1, and this trainer needs 9.6.0")

    def test_a_number_that_is_none_is_refused(self):
        process = self.start(self.job(), "worker", TAAS_GPUS="all")
        self.assertEqual(process.wait(), 1)
        self.assertIn('TAAS_GPUS must be a whole number from 1 to 1000, is "all"', process.log())

    def test_several_are_those_of_as_many_towers(self):
        near = self.job(maxSteps=60, strategy=TOWERS, batchSize=20)
        far = self.job(maxSteps=60, strategy=TOWERS, batchSize=20,
                       engine={"logDevicePlacement": True})
        on_processor = near.start_replica("worker")
        on_gpus = self.start(far, "worker", machine=H100 * 2, TAAS_GPUS="2")
        near.expect_all_done(self)
        far.expect_all_done(self)
        self.assertEqual(on_gpus.log().count("computing on a GPU"), 2)
        for number in range(2):
            self.assertIn(f"/device:GPU:{number} -> device: {number}, name: NVIDIA H100 80GB HBM3",
                          on_gpus.log())
        wanted = self.losses(on_processor)
        self.assertGreater(len(wanted), 5)
        for got, loss in zip(self.losses(on_gpus), wanted, strict=True):
            self.assertAlmostEqual(got, loss, delta=1e-3 * loss + 1e-5)

    def test_others_are_refused_with_what_to_ask_for(self):
        has = "this replica has 4 GPUs (TAAS_GPUS), and "
        for strategy, says in (
                (TOGETHER, "with strategy ParameterServer a replica computes on one: ask for "
                           "`gpus: 1` and more workers, or for `strategy: {type: Towers, towers: "
                           "4}`, which computes on all of one machine"),
                (TOWERS, "strategy Towers has 2 towers, each of which computes on one: ask for "
                         "`gpus: 2`, or for `towers: 4`; with `gpus: 1` all towers share one")):
            with self.subTest(says):
                process = self.start(self.job(strategy=strategy), "worker", machine=H100 * 4,
                                     TAAS_GPUS="4")
                self.assertEqual(process.wait(), 1, process.log())
                self.assertEqual(process.end()["message"], has + says)

    def test_more_than_there_are_and_nccl_that_does_not_work_are_the_nodes_fault(self):
        for machine, says in ((H100, "2 GPUs are wanted: this process sees 1"),
                              ("nccl 21500\n" + H100 * 2, "is NCCL 2.15.0, and this trainer needs"),
                              (f"fail ncclGroupEnd 1 {SYSTEM_ERROR}\n" + H100 * 2,
                               "2 GPUs are wanted: NCCL: make the ranks: unhandled system error")):
            with self.subTest(says):
                process = self.start(self.job(strategy=TOWERS), "worker", machine=machine,
                                     TAAS_GPUS="2")
                self.assertEqual(process.wait(), BAD_NODE, process.log())
                self.assertIn(says, process.end()["message"])

    def test_one_of_several_that_is_lost_is_named_and_the_checkpoint_stays(self):
        job = self.job(maxSteps=ENDLESS, strategy=TOWERS, batchSize=20)
        job.checkpoints(every=20)
        machine = H100 * 2
        process = self.start(job, "worker", TAAS_GPUS="2",
                             machine=f"{machine}fail kernel@1 1500 {ECC_UNCORRECTABLE}\n")
        self.assertEqual(process.wait(), BAD_NODE, process.log())
        self.assertRegex(process.end()["message"],
                         r"GPU 1 \(NVIDIA H100 80GB HBM3\): .*CUDA_ERROR_ECC_UNCORRECTABLE")
        again = self.start(job, "worker", machine=machine, TAAS_GPUS="2")
        again.says("resuming from checkpoint")
        again.says("step ")

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
        # A sanitizer may have said a word of its own before.
        (check,) = json.loads(done.stdout[done.stdout.index("{"):])["checks"]
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

    def test_one_whose_memory_is_bad_is_told_and_what_a_good_one_has_had(self):
        with tempfile.NamedTemporaryFile("w", suffix=".nvml", encoding="utf-8") as nvml:
            def say(more):
                nvml.seek(0)
                nvml.truncate()
                nvml.write(f"{ID} 1 2 3 {more} small\n")
                nvml.flush()
            environment = {"LD_LIBRARY_PATH": f"{CUDA}:{NVML}", "TAAS_FAKE_NVML": nvml.name}
            say("volatile=7,0 remapped=1,0,0,0 ecc=1")
            done = fake_machine.run([TRAINER, "devices", "--check"], SMALL, environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("; ECC errors since its reset: 0 uncorrected, 7 corrected; 1 rows",
                          done.stdout)
            say("volatile=7,0 remapped=1,2,1,0")
            done = fake_machine.run([TRAINER, "devices", "--check"], SMALL, environment)
            self.assertEqual(done.returncode, BAD_NODE)
            self.assertIn(f"(small, {ID}) is not to be computed on: bad rows", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
