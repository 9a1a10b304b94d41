#!/usr/bin/python3
"""Ranks of an all-reduce with a GPU each, as processes, whose gradients a NCCL that stands for
NVIDIA's sums between them: whole jobs, ranks that are killed, stop, come and go, and such as do not
fit."""

import os
import re
import signal
import sys
import unittest

from processes import ENDLESS, RUNFILES, Job, wait_until
from ring_jobs import RING, await_epoch, epochs, evaluation, expect_every_batch_once

CUDA = os.path.join(RUNFILES, "trainer", "cuda", "fake")
sys.path.insert(0, CUDA)
from fake_machine import H100  # pylint: disable=wrong-import-position

STEPS = 150
BAD_NODE = 3
ECC_UNCORRECTABLE, SYSTEM_ERROR = 214, 2
SMALL = {"model": {"name": "mlp", "hidden": [16]}, "batchSize": 16, "logSteps": 5}
BY_NCCL = 'gradients are summed between GPUs by="NCCL 2.28.9"'


class ProcessorRanks(Job):
    """A chief and two workers."""

    def __init__(self, **config):
        super().__init__(**{"chief": True, "ps": 0, "workers": 2, "strategy": RING,
                            "maxSteps": STEPS, **SMALL, **config})


class GpuRanks(ProcessorRanks):
    """The same on the GPUs 0, 1 and 2 of one machine."""

    ELASTIC = {}

    def __init__(self, **config):
        super().__init__(**config)
        self.machine = os.path.join(self.directory, "machine")
        with open(self.machine, "w", encoding="utf-8") as file:
            file.write(H100 * 4)

    def start_replica(self, role, index=0, more="", gpu=True, **environment):
        """`more`: lines of its machine's file besides, which is one of its own then."""
        machine = self.machine
        if more:
            machine = os.path.join(self.directory, f"{role}-{index}.machine")
            with open(machine, "w", encoding="utf-8") as file:
                file.write(more + H100 * 4)
        number = 0 if role == "chief" else index + 1
        cuda = {"LD_LIBRARY_PATH": CUDA, "TAAS_FAKE_CUDA": machine, "TAAS_GPUS": "1",
                "CUDA_VISIBLE_DEVICES": str(number)} if gpu else {}
        return super().start_replica(role, index,
                                     environment={**cuda, **self.ELASTIC, **environment})


class ElasticGpuRanks(GpuRanks):
    ELASTIC = {"TAAS_ELASTIC_WORKERS": "1:3"}


def losses(process):
    return [float(loss) for loss in re.findall(r"loss = ([\d.e-]+)", process.log())]


class GpuRingTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with GpuRanks() as job:
            job.start_all()
            job.expect_all_done(cls())
            cls.undisturbed = evaluation(job)
            cls.logs = {name: process.log() for name, process in job.processes.items()}
            cls.losses = losses(job.processes["chief-0"])

    def test_the_model_is_that_of_processors_and_of_the_same_bits_on_all_ranks(self):
        with ProcessorRanks() as near:
            near.start_all()
            near.expect_all_done(self)
            wanted = losses(near.processes["chief-0"])
            for process in near.processes.values():
                self.assertNotIn("gradients", process.log())
        for log in self.logs.values():
            self.assertIn(BY_NCCL, log)
        self.assertGreater(len(wanted), 10)
        for got, loss in zip(self.losses, wanted, strict=True):
            self.assertAlmostEqual(got, loss, delta=1e-3 * loss + 1e-5)

    def test_so_it_is_where_moments_and_tables_are_part_of_it(self):
        normed = {"model": {"name": "layers", "layers": [
            {"type": "dense", "units": 8, "activation": "relu"},
            {"type": "batchNorm", "decay": 0.9}]}}
        clicks = {
            "model": {"name": "wideDeep", "hidden": [8], "wide": ["ad", "hour"],
                      "deep": [{"column": "age"}, {"column": "ad", "units": 4}]},
            "data": {"format": "generated",
                     "generated": {"pattern": "clicks", "examples": 500, "testExamples": 50},
                     "columns": [{"name": "age", "type": "numeric",
                                  "normalise": {"scale": 0.05, "offset": -2.5}},
                                 {"name": "hour", "type": "identity", "buckets": 24},
                                 {"name": "ad", "type": "hashed", "buckets": 50}]}}
        for config in (normed, clicks):
            with self.subTest(config["model"]["name"]):
                config = {**config, "maxSteps": 60,
                          "optimizer": {"name": "sgd", "learningRate": 0.05}}
                got = []
                for kind in (GpuRanks, ProcessorRanks):
                    with kind(**config) as job:
                        job.start_all()
                        job.expect_all_done(self)
                        log = job.processes["chief-0"].log()
                        self.assertEqual(BY_NCCL in log, kind is GpuRanks)
                        got.append(losses(job.processes["chief-0"]))
                for loss, wanted in zip(*got, strict=True):
                    self.assertAlmostEqual(loss, wanted, delta=2e-3 * wanted + 1e-4)

    def test_what_is_learned_does_not_depend_on_a_rank_that_was_killed(self):
        with GpuRanks() as job:
            job.start_all()
            job.processes["worker-0"].says("\nstep 30,")
            job.processes["worker-1"].kill()
            job.processes["worker-0"].says("a step was not made")
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)
            self.assertEqual(set(expect_every_batch_once(self, job)), {3, 0})

    def test_nor_on_a_chief_that_was_killed_and_left_no_checkpoint(self):
        with GpuRanks() as job:
            job.start_all()
            job.processes["worker-0"].says("\nstep 30,")
            job.processes["chief-0"].kill()
            job.processes["worker-0"].says("a step was not made")
            job.start_replica("chief")
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_the_others_of_an_elastic_job_go_on_and_one_joins(self):
        with ElasticGpuRanks(maxSteps=4 * STEPS) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 30,")
            job.processes.pop("worker-1").kill()
            after = await_epoch(job, 2)
            job.start_replica("worker", 1)
            await_epoch(job, 3, after)
            job.expect_all_done(self)
            ranks = expect_every_batch_once(self, job)
            self.assertEqual(ranks[0], 3)
            self.assertIn(2, ranks)
            self.assertEqual(epochs(job)[-1][1], job.config["maxSteps"])
            accuracy = float(re.search(r"accuracy = ([\d.]+)", evaluation(job)).group(1))
            self.assertGreater(accuracy, 0.8)

    def test_a_rank_that_stops_is_named_long_before_its_heartbeats_are_missed(self):
        with ElasticGpuRanks(maxSteps=4 * STEPS,
                             strategy={**RING, "heartbeatSeconds": 20}) as job:
            job.start_all()
            chief, worker = job.processes["chief-0"], job.processes["worker-1"]
            chief.says("\nstep 30,")
            worker.signal(signal.SIGSTOP)
            # By whichever of the others has waited first, which ends the epoch for all.
            named = wait_until("its name", lambda: re.findall(
                r"(?:is waited for.*peer=|between GPUs: )\"?rank (\d)",
                chief.log() + job.processes["worker-0"].log()))
            self.assertNotIn("rank silent", chief.log())
            worker.signal(signal.SIGCONT)
            job.expect_all_done(self)
            # The chief and the workers in their order.
            self.assertEqual(named[0], "2")

    def test_another_nccl_is_refused_with_both_and_the_others_go_on(self):
        with GpuRanks() as job:
            chief = job.start_replica("chief")
            job.start_replica("worker", 0)
            other = job.start_replica("worker", 1, more="nccl 22703\n")
            self.assertEqual(other.wait(), 1, other.log())
            self.assertRegex(other.end()["message"],
                             r"rank 2 at [\d.:]+ has NCCL 2\.27\.3, and rank 0 at [\d.:]+ has NCCL "
                             r"2\.28\.9: ranks must have the same; give all of them one image")
            self.assertIsNone(chief.code())
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_where_one_has_no_nccl_all_go_through_the_hosts(self):
        with GpuRanks() as job:
            libraries = os.path.join(job.directory, "libraries")
            os.mkdir(libraries)
            for name in os.listdir(CUDA):
                if name.startswith("lib") and not name.startswith("libnccl"):
                    os.symlink(os.path.join(CUDA, name), os.path.join(libraries, name))
            job.start_replica("chief")
            job.start_replica("worker", 0)
            without = job.start_replica("worker", 1, LD_LIBRARY_PATH=libraries)
            job.expect_all_done(self)
            self.assertIn("no NCCL here", without.log())
            for process in job.processes.values():
                self.assertRegex(process.log(),
                                 "gradients go through memory of the hosts "
                                 r'why="rank 2 at [\d.:]+ has a GPU without NCCL"')
                self.assertNotIn(BY_NCCL, process.log())
            for got, loss in zip(losses(job.processes["chief-0"]), self.losses, strict=True):
                self.assertAlmostEqual(got, loss, delta=1e-3 * loss + 1e-5)

    # Its gradients lie at other places: those of a GPU begin at larger multiples.
    def test_a_rank_on_a_processor_is_refused_with_both_and_the_others_go_on(self):
        with GpuRanks() as job:
            job.start_replica("chief")
            job.start_replica("worker", 0)
            other = job.start_replica("worker", 1, gpu=False)
            self.assertEqual(other.wait(), 1, other.log())
            self.assertRegex(other.end()["message"],
                             "rank 2 comes with buckets of .*, and here it is buckets of .*: ranks "
                             "must have the same program and model, on devices of one kind")
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_a_mean_that_fails_is_made_anew(self):
        with GpuRanks() as job:
            for role, index in (("chief", 0), ("worker", 0)):
                job.start_replica(role, index)
            failing = job.start_replica("worker", 1, more=f"fail ncclAllReduce 20 {SYSTEM_ERROR}\n")
            job.expect_all_done(self)
            self.assertRegex(failing.log(),
                             "GPUs did not sum gradients; the next epoch tries again "
                             "why=\"GPU 0 .*unhandled system error")
            self.assertEqual(evaluation(job), self.undisturbed)
            self.assertEqual(len(epochs(job)), 3, epochs(job))

    def test_a_gpu_that_is_lost_in_a_mean_moves_its_rank(self):
        with GpuRanks() as job:
            for role, index in (("chief", 0), ("worker", 0)):
                job.start_replica(role, index)
            failing = job.start_replica("worker", 1,
                                        more=f"fail collective@2 20 {ECC_UNCORRECTABLE}\n")
            self.assertEqual(failing.wait(), BAD_NODE, failing.log())
            self.assertIn("CUDA_ERROR_ECC_UNCORRECTABLE", failing.end()["message"])
            job.start_replica("worker", 1)
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.undisturbed)

    def test_gradients_go_in_bfloat16_where_that_is_asked_for(self):
        per_step = {}
        for precision in ("float32", "bfloat16"):
            with GpuRanks(maxSteps=ENDLESS,
                          strategy={**RING, "gradientPrecision": precision}) as job:
                job.start_all()
                chief = job.processes["chief-0"]
                chief.says("\nstep 100,")
                shares = wait_until("shares", lambda: (chief.get("/status") or {}).get("shares"))
                per_step[precision] = shares["bytesPerStep"]
                for got, loss in zip(losses(chief)[:20], self.losses):
                    self.assertAlmostEqual(got, loss, delta=0.02 * loss + 1e-3)
        # Three ranks send 2/3 of 5,376 bytes twice, or of half of that; and losses.
        self.assertGreater(per_step["float32"], 7_100)
        self.assertLess(per_step["bfloat16"], 4_100)

    def test_a_job_that_is_stopped_ends_although_its_ranks_wait_for_each_other(self):
        with GpuRanks(maxSteps=ENDLESS) as job:
            job.start_all()
            job.processes["chief-0"].says("\nstep 30,")
            for process in job.processes.values():
                process.signal(signal.SIGTERM)
            for process in job.processes.values():
                self.assertEqual(process.wait(), 143, process.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
