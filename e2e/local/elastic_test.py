#!/usr/bin/python3
"""An elastic job that trains by all-reduce, made larger and smaller by the scale subresource."""

import glob
import json
import os
import re
import signal
import unittest

from cluster import Cluster

NAME = "all-reduce-elastic"
SCALE = f"/apis/taas.dev/v1/namespaces/default/trainingjobs/{NAME}/scale"
# It trains until the test has seen enough, and then for so many steps more.
ENDLESS = 100_000_000
LAST_STEPS = 200


class ElasticTest(unittest.TestCase):

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.up()

    def apply(self):
        with open(self.cluster.example(NAME), encoding="utf-8") as file:
            text = file.read()
        # What it keeps when it is suspended.
        changes = {"maxSteps: 50000": f"maxSteps: {ENDLESS}\n    checkpoint: {{dir: /out/elastic}}",
                   "  volumes:\n": "  volumes:\n    - {name: out, mountPath: /out, "
                                   "source: {persistentVolumeClaim: {claimName: mnist-out}}}\n"}
        for old, new in changes.items():
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        self.cluster.kubectl("apply", "-f", "-", stdin=text)

    def patch(self, spec):
        self.cluster.kubectl("patch", "tj", NAME, "--type=merge", "-p", json.dumps({"spec": spec}))

    def scale(self):
        return json.loads(self.cluster.kubectl("get", "--raw", SCALE).stdout)

    def workers(self):
        selector = self.scale()["status"]["selector"]
        pods = json.loads(self.cluster.kubectl("get", "pods", "-l", selector, "-o", "json").stdout)
        return sorted(pod["metadata"]["name"] for pod in pods["items"])

    def ranks(self):
        """Of each epoch so far, by the chief's log."""
        log = self.cluster.kubectl("logs", f"{NAME}-chief-0", check=False).stdout
        return [int(ranks) for ranks in re.findall(r"epoch begins .*ranks=(\d+)", log)]

    def await_epoch(self, ranks):
        self.cluster.wait_for(f"an epoch of {ranks} ranks", lambda: self.ranks()[-1:] == [ranks])
        step = self.cluster.status(NAME).get("progress", {}).get("step", 0)
        self.cluster.wait_for(
            "a step of it",
            lambda: self.cluster.status(NAME).get("progress", {}).get("step", 0) > step)

    def test_a_job_grows_and_shrinks_while_it_trains_and_ends_well(self):
        cluster = self.cluster
        self.apply()
        self.await_epoch(3)
        chief = cluster.trainer("chief", 0)
        self.expect_shares_of_time(3)

        cluster.kubectl("scale", f"tj/{NAME}", "--replicas=4")
        self.await_epoch(5)
        self.assertEqual(self.scale()["spec"]["replicas"], 4)
        self.assertEqual(self.scale()["status"]["replicas"], 4)
        self.assertEqual(self.workers(), [f"{NAME}-worker-{i}" for i in range(4)])

        # Beyond the bounds: the API server says which they are.
        for replicas in (0, 5):
            done = cluster.kubectl("scale", f"tj/{NAME}", f"--replicas={replicas}", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("elastic allows 1 to 4 workers", done.stderr)

        # As an autoscaler does it.
        smaller = self.scale()
        smaller["spec"]["replicas"] = 1
        cluster.kubectl("replace", "--raw", SCALE, "-f", "-", stdin=json.dumps(smaller))
        self.await_epoch(2)
        cluster.wait_for("the others to go", lambda: self.workers() == [f"{NAME}-worker-0"])

        os.kill(cluster.trainer("worker", 0), signal.SIGKILL)
        cluster.wait_for("its replacement", lambda: self.status("restarts") == {"killed": 1})
        self.await_epoch(2)
        self.assertEqual(self.status("attempt"), 1)
        self.assertEqual(cluster.trainer("chief", 0), chief, "the chief was restarted")

        self.end()

    def expect_shares_of_time(self, count):
        """Of each rank, and whom `taas top` names is one of them."""
        def told():
            done = self.cluster.run(self.cluster.taas, "top", "job", NAME, "-o", "json")
            self.use = json.loads(done.stdout)["jobs"][0]
            return len(self.use.get("ranks", [])) == count
        self.cluster.wait_for("shares of all ranks", told)
        names = ["chief-0"] + [f"worker-{i}" for i in range(count - 1)]
        self.assertCountEqual([rank["replica"] for rank in self.use["ranks"]], names)
        for rank in self.use["ranks"]:
            self.assertGreater(rank["compute"], 0)
            self.assertGreater(rank["bytesPerStep"], 0)
        self.assertIn(self.use.get("slowest", names[0]), names)
        self.assertEqual(len(self.use["replicas"]), count)
        table = self.cluster.run(self.cluster.taas, "top", "job", NAME).stdout
        self.assertRegex(table, r"\nREPLICA +COMPUTE +WAIT +EXCHANGE +HIDDEN +SENT/STEP\n")

    def status(self, field):
        return self.cluster.status(NAME).get(field)

    def end(self):
        cluster = self.cluster
        self.patch({"suspend": True})
        cluster.wait_for("the suspension", lambda: cluster.state(NAME) == "Suspended" and
                         not cluster.processes(TAAS_JOB=f"default/{NAME}"))
        kept = glob.glob(os.path.join(cluster.out, "elastic", "model.ckpt-*.index"))
        last = max(int(re.search(r"-(\d+)\.index$", path).group(1)) for path in kept) + LAST_STEPS
        self.patch({"suspend": False, "trainer": {"maxSteps": last}})
        cluster.wait_for("the end", lambda: cluster.state(NAME) in ("Succeeded", "Failed"))
        status = cluster.status(NAME)
        self.assertEqual(status["state"], "Succeeded", status)
        self.assertEqual(status["progress"]["step"], last)
        self.assertEqual(status["progress"]["evaluation"]["step"], last)
        self.assertGreaterEqual(status["progress"]["evaluation"]["accuracy"], 0.93)


if __name__ == "__main__":
    unittest.main()
