#!/usr/bin/python3
"""What replicas measure of their GPUs, on the chief's /status; a library stands for NVML."""

import json
import os
import subprocess
import unittest

from processes import ENDLESS, RUNFILES, TRAINER, Job, wait_until

LIBRARIES = os.path.join(RUNFILES, "operator", "base")
CUDA = os.path.join(RUNFILES, "trainer", "cuda", "fake")


class GpusTest(unittest.TestCase):

    def setUp(self):
        self.job = self.enterContext(Job(chief=True, workers=2, maxSteps=ENDLESS))
        self.devices = os.path.join(self.job.directory, "devices")
        self.set_devices("GPU-aa 93 100 200 H100\nGPU-bb 7 50 200 H100\nGPU-cc 1 0 200 H100\n")

    def set_devices(self, lines):
        with open(self.devices + ".new", "w", encoding="utf-8") as file:
            file.write(lines)
        os.rename(self.devices + ".new", self.devices)

    def start(self, visible):
        """Replicas by name with their CUDA_VISIBLE_DEVICES; None: it is not set."""
        for name, devices in visible.items():
            role, index = name.split("-")
            environment = {"LD_LIBRARY_PATH": LIBRARIES, "TAAS_FAKE_NVML": self.devices}
            if devices is not None:
                environment["CUDA_VISIBLE_DEVICES"] = devices
            self.job.start_replica(role, int(index), environment=environment)

    def seen(self):
        """What the chief tells of each replica: {"worker-0": [("GPU-bb", 0.07)]}."""
        status = self.job.processes["chief-0"].get("/status") or {}
        return {f"{it['role']}-{it['index']}":
                [(gpu["id"], gpu.get("utilization")) for gpu in it.get("gpus", [])]
                for it in [status, *status.get("peers", [])] if it}

    def await_seen(self, want):
        try:
            wait_until("the GPUs on the chief's page", lambda: self.seen() == want)
        except AssertionError as error:
            self.fail(f"{error}\n{self.seen()}\n{self.job.logs()}")

    def test_the_chief_tells_of_the_gpus_of_all(self):
        self.start({"chief-0": "0", "ps-0": "", "worker-0": "1", "worker-1": None})
        self.await_seen({"chief-0": [("GPU-aa", 0.93)], "ps-0": [],
                         "worker-0": [("GPU-bb", 0.07)],
                         "worker-1": [("GPU-aa", 0.93), ("GPU-bb", 0.07), ("GPU-cc", 0.01)]})
        self.set_devices("GPU-aa 3 100 200 H100\nGPU-bb - 50 200 H100\n")
        self.await_seen({"chief-0": [("GPU-aa", 0.03)], "ps-0": [],
                         "worker-0": [("GPU-bb", None)],
                         "worker-1": [("GPU-aa", 0.03), ("GPU-bb", None)]})

    def test_a_replica_that_computes_tells_of_the_gpu_that_it_computes_on(self):
        machine = os.path.join(self.job.directory, "machine")
        with open(machine, "w", encoding="utf-8") as file:
            file.write("device 9 0 85899345920 132 1 NVIDIA H100\n" * 3)
        ids = [f"GPU-{a * 4}-{a * 2}-{a * 2}-{a * 2}-{a * 6}" for a in ("a0", "a1", "a2")]
        # In another order than CUDA's, as NVML may have them.
        self.set_devices(f"{ids[2]} 2 1 9 H100\n{ids[1]} 1 1 9 power=412500 limit=700000 "
                         f"temperature=64 reasons=4 volatile=1,0 H100\n{ids[0]} 0 1 9 H100\n")
        self.start({"ps-0": "", "worker-1": ""})
        self.job.start_replica("chief", 0, environment={
            "LD_LIBRARY_PATH": f"{CUDA}:{LIBRARIES}", "TAAS_FAKE_NVML": self.devices})
        self.job.start_replica("worker", 0, environment={
            "LD_LIBRARY_PATH": f"{CUDA}:{LIBRARIES}", "TAAS_FAKE_NVML": self.devices,
            "TAAS_FAKE_CUDA": machine, "TAAS_GPUS": "1", "CUDA_VISIBLE_DEVICES": "1,2"})
        wait_until("the GPU on the chief's page",
                   lambda: self.seen().get("worker-0") == [(ids[1], 0.01)])
        status = self.job.processes["chief-0"].get("/status")
        (gpu,) = next(it["gpus"] for it in status["peers"]
                      if (it["role"], it["index"]) == ("worker", 0))
        self.assertEqual((gpu["powerWatts"], gpu["powerLimitWatts"], gpu["temperatureC"],
                          gpu["throttle"], gpu["eccUncorrected"]),
                         (412.5, 700, 64, ["PowerCap"], 0))
        own = self.job.processes["worker-0"].get("/status")["gpus"]
        self.assertEqual(own, [gpu])

    def test_of_a_replica_that_is_gone_nothing_is_told(self):
        self.start({"chief-0": "0", "ps-0": "", "worker-0": "1", "worker-1": "2"})
        self.await_seen({"chief-0": [("GPU-aa", 0.93)], "ps-0": [],
                         "worker-0": [("GPU-bb", 0.07)], "worker-1": [("GPU-cc", 0.01)]})
        self.job.processes["worker-1"].kill()
        self.await_seen({"chief-0": [("GPU-aa", 0.93)], "ps-0": [],
                         "worker-0": [("GPU-bb", 0.07)], "worker-1": []})


class DevicesTest(unittest.TestCase):
    """taas-trainer devices, where others stand for NVIDIA's driver and libraries."""

    def found(self, *arguments, **environment):
        done = subprocess.run([TRAINER, "devices", *arguments], capture_output=True, text=True,
                              env={**os.environ, **environment}, check=True)
        return done.stdout

    def test_driver_devices_and_libraries_are_named(self):
        machine = os.path.join(os.environ["TEST_TMPDIR"], "machine")
        with open(machine, "w", encoding="utf-8") as file:
            file.write("device 9 0 85899345920 132 1 NVIDIA H100\n")
        here = {"LD_LIBRARY_PATH": CUDA, "TAAS_FAKE_CUDA": machine}
        report = json.loads(self.found("--format", "json", **here))
        self.assertEqual(report["usable"], 1)
        self.assertEqual(report["devices"][0]["name"], "NVIDIA H100")
        self.assertEqual(report["libraries"][2]["version"], "2.28.9")
        self.assertIn("\ndevice 0  NVIDIA H100  9.0  80.0 GiB", self.found(**here))

    def test_a_machine_without_them_is_an_answer_too(self):
        # In the place of one that this machine may have.
        none = os.path.join(os.environ["TEST_TMPDIR"], "none")
        os.mkdir(none)
        with open(os.path.join(none, "libcuda.so.1"), "w", encoding="utf-8") as file:
            file.write("no library" * 100)
        self.assertIn("no NVIDIA driver here: ", self.found(LD_LIBRARY_PATH=none))


if __name__ == "__main__":
    unittest.main(verbosity=2)
