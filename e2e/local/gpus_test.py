#!/usr/bin/python3
"""GPUs of one machine, from the driver to the dashboard's map, and a training on them; libraries
stand for NVIDIA's."""

import json
import os
import unittest
import urllib.error
import urllib.request

from api import Api
from cluster import RUNFILES, Cluster

LIBRARIES = ":".join(os.path.join(RUNFILES, *folder) for folder in (
    ("operator", "base"), ("trainer", "cuda", "fake")))
H100 = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n"
# Of the driver's devices, by which NVML knows them, too.
FIRST, SECOND = (f"GPU-{a * 4}-{a * 2}-{a * 2}-{a * 2}-{a * 6}" for a in ("a0", "a1"))
ENDLESS = 2_000_000_000
JOB = "busy"


class GpusTest(unittest.TestCase):

    def setUp(self):
        self.cluster = self.enterContext(Cluster())
        self.devices = os.path.join(self.cluster.dir, "devices")
        self.set_devices(93, 7)
        cuda = os.path.join(self.cluster.dir, "cuda")
        with open(cuda, "w", encoding="utf-8") as file:
            file.write(H100 * 2)
        self.library = {"LD_LIBRARY_PATH": LIBRARIES, "TAAS_FAKE_NVML": self.devices,
                        "TAAS_FAKE_CUDA": cuda}
        self.cluster.environ |= self.library
        self.cluster.up()
        # The page is there a moment later than the API server.
        self.cluster.wait_for("the page", lambda: self.opened().returncode == 0)
        self.url = self.opened().stdout.split("#")[0].strip()

    def opened(self):
        return self.cluster.run(self.cluster.taas, "open", "--print", "--dir",
                                self.cluster.cluster_dir, check=False)

    def set_devices(self, first, second):
        with open(self.devices + ".new", "w", encoding="utf-8") as file:
            file.write(f"{FIRST} {first} 1000 81559 power=412500 temperature=64 reasons=4 "
                       f"volatile=0,0 NVIDIA H100 80GB HBM3\n"
                       f"{SECOND} {second} 50 81559 NVIDIA H100 80GB HBM3\n")
        os.rename(self.devices + ".new", self.devices)

    def apply_job(self):
        env = [{"name": name, "value": value} for name, value in self.library.items()]
        trainer = {"model": {"name": "mlp", "hidden": [8]},
                   "data": {"format": "generated", "generated": {
                       "examples": 1000, "testExamples": 100, "features": 4, "classes": 2}},
                   "batchSize": 10, "maxSteps": ENDLESS}
        roles = {"chief": {"replicas": 1, "gpus": 1, "env": env}, "ps": {"replicas": 1},
                 "worker": {"replicas": 1, "gpus": 1, "env": env}}
        job = {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": JOB},
               "spec": {"trainer": trainer, "roles": roles}}
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(job))

    def node(self):
        token = Api(self.cluster.kubeconfig).headers
        request = urllib.request.Request(self.url + "api/gpus", headers=token)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["nodes"][0]

    def map_is_there(self):
        """The API server answers before the page has its first lists, and says so."""
        try:
            return bool(self.node())
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            return False

    def used(self):
        """Of each device, by the replica that holds it."""
        node = self.node()
        measured = {it["id"]: it.get("utilization") for it in node["devices"]}
        return {f"{holder['role']}-{holder['index']}": measured[device]
                for holder in node["holders"] for device in holder["devices"]}

    def test_how_busy_each_replicas_gpu_is_stands_on_the_map_and_changes(self):
        self.cluster.wait_for("the map's first lists", self.map_is_there)
        node = self.node()
        self.assertEqual((node["product"], node["simulated"]), ("NVIDIA-H100-80GB-HBM3", False))
        self.assertEqual([it["id"] for it in node["devices"]], ["0", "1"])
        self.apply_job()
        self.cluster.wait_for("what both GPUs do", lambda:
                              sorted(filter(None, self.used().values())) == [0.07, 0.93])
        self.set_devices(5, 100)
        self.cluster.wait_for("what both GPUs do now", lambda:
                              sorted(filter(None, self.used().values())) == [0.05, 1])
        (held,) = [it for it in self.node()["devices"] if it["id"] == "0"]
        self.assertEqual((held["memoryUsedMiB"], held["memoryTotalMiB"]), (1000, 81559))
        self.assertEqual((held["powerWatts"], held["temperatureC"], held["throttle"],
                          held["eccUncorrected"]), (412.5, 64, ["PowerCap"], 0))
        (other,) = [it for it in self.node()["devices"] if it["id"] == "1"]
        self.assertNotIn("powerWatts", other)
        for replica, computes in (("chief-0", True), ("worker-0", True), ("ps-0", False)):
            log = self.cluster.kubectl("logs", f"{JOB}-{replica}").stdout
            self.assertEqual("computing on a GPU" in log, computes, f"{replica}: {log}")

    def test_ranks_of_an_all_reduce_compute_on_a_gpu_each(self):
        with open(self.cluster.example("gpus/all-reduce"), encoding="utf-8") as file:
            text = file.read()
        env = json.dumps([{"name": name, "value": value} for name, value in self.library.items()])
        # A model that a processor computes quickly in the place of a GPU.
        for old, new, times in (("gpus: 1", f"gpus: 1, env: {env}", 2), ("[500]", "[32]", 1)):
            self.assertEqual(text.count(old), times, old)
            text = text.replace(old, new)
        self.cluster.kubectl("apply", "-f", "-", stdin=text)
        name = "all-reduce-gpus"
        self.cluster.wait_for("its end", lambda: self.cluster.state(name) in ("Succeeded",
                                                                              "Failed"))
        status = self.cluster.status(name)
        self.assertEqual(status["state"], "Succeeded", status)
        self.assertGreater(status["progress"]["evaluation"]["accuracy"], 0.85)
        for replica in ("chief-0", "worker-0"):
            self.assertIn("computing on a GPU",
                          self.cluster.kubectl("logs", f"{name}-{replica}").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
