#!/usr/bin/python3
"""How a trainer computes, seen from outside: placement, threads and the trace of steps."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from processes import ENDLESS, TOGETHER, TRAINER, Job, wait_until

CONFIG = {
    "model": {"name": "mlp", "hidden": [48, 32]},
    "data": {"format": "generated",
             "generated": {"examples": 1000, "features": 64, "classes": 10}},
    "batchSize": 32, "maxSteps": 30, "logSteps": 1000,
}
WORKER = json.dumps({"task": {"type": "worker", "index": 0}})


class EngineTest(unittest.TestCase):

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def train(self, *arguments, environment=None, **fields):
        done = subprocess.run(
            [TRAINER, "--config", json.dumps({**CONFIG, **fields}), *arguments], text=True,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment or {})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_placement_is_logged_in_the_words_of_tensorflow(self):
        lines = self.train("--log_device_placement").stderr.splitlines()
        for name, op in (("features", "Input"), ("hidden1/weights", "Variable"),
                         ("hidden1/MatMul", "MatMul"), ("gradients/ReluGrad", "ReluGrad")):
            self.assertIn(f"{name}: ({op}): /job:localhost/replica:0/task:0/device:CPU:0", lines)
        self.assertRegex("\n".join(lines), "Device mapping:\n/job:localhost/replica:0/task:0/"
                         r"device:CPU:0 -> device: 0, name: \S.*\n")
        done = self.train(environment={"TF_CONFIG": WORKER}, engine={"logDevicePlacement": True})
        self.assertIn("hidden1/MatMul: (MatMul): /job:worker/replica:0/task:0/device:CPU:0",
                      done.stderr.splitlines())
        self.assertNotIn("device:CPU", self.train().stderr)

    def test_each_tower_has_a_device(self):
        done = self.train("--log-device-placement", "--num_towers=3")
        for tower in range(3):
            self.assertIn("hidden1/MatMul: (MatMul): "
                          f"/job:localhost/replica:0/task:0/device:CPU:{tower}",
                          done.stderr.splitlines())

    def test_a_trace_holds_the_steps_that_were_asked_for(self):
        for towers, threads in ((1, 1), (1, 2), (2, 2)):
            path = os.path.join(self.dir, f"{towers}-{threads}.json")
            self.train("--trace", path, "--trace-steps", "5:7", f"--inter-op-threads={threads}",
                       f"--num_towers={towers}")
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            ops = [event for event in events if event.get("cat") == "op"]
            self.assertEqual({event["args"]["step"] for event in ops}, {5, 6, 7})
            products = [event for event in ops if event["name"] == "hidden1/MatMul"]
            self.assertEqual(len(products), 3 * towers)
            self.assertEqual(products[0]["args"]["shape"], "float32[32, 48]")
            self.assertEqual(products[0]["args"]["flops"], 2 * 32 * 48 * 64)
            if towers == 1:
                self.assertEqual(sum(it["name"] == "clip and update" for it in ops), 3)
            by_thread = {}
            for event in ops:
                by_thread.setdefault(event["tid"], []).append((event["ts"], event["dur"]))
            self.assertLessEqual(len(by_thread), towers * threads)
            for spans in by_thread.values():
                spans.sort()
                for (start, length), (following, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(start + length, following + 0.001)

    def test_each_replica_of_a_job_has_places_and_a_trace_of_its_own(self):
        path = os.path.join(self.dir, "trace.json")
        engine = {"logDevicePlacement": True, "interOpThreads": 2,
                  "trace": {"file": path, "fromStep": 2, "steps": 3}}
        traces = [os.path.join(self.dir, f"trace.worker-{index}.json") for index in range(2)]
        # On a busy machine one worker may make the first steps alone.
        with Job(ps=1, workers=2, maxSteps=ENDLESS, strategy=TOGETHER, engine=engine) as job:
            job.start_all()
            wait_until("both traces", lambda: all(map(os.path.exists, traces)))
            for index, trace in enumerate(traces):
                self.assertIn("hidden1/MatMul: (MatMul): "
                              f"/job:worker/replica:0/task:{index}/device:CPU:0",
                              job.processes[f"worker-{index}"].log().splitlines())
                with open(trace, encoding="utf-8") as file:
                    events = json.load(file)["traceEvents"]
                self.assertEqual(events[0]["args"]["name"], f"worker/{index}")
                self.assertEqual({event["args"]["step"] for event in events
                                  if event.get("cat") == "op"}, {2, 3, 4})
        self.assertFalse(os.path.exists(path))

    def test_settings_that_make_no_sense_are_refused(self):
        for arguments, code, named in ((["--inter-op-threads=0"], 2, "--inter-op-threads"),
                                       (["--trace-steps=3:2"], 2, "--trace-steps"),
                                       (["--trace-steps=3:4"], 1, "engine.trace.file")):
            done = subprocess.run([TRAINER, "--config", json.dumps(CONFIG), *arguments],
                                  text=True, check=False, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(named, done.stderr)

    def test_threads_do_not_change_what_is_learnt(self):
        for precision in ("float32", "bfloat16"):
            outcomes = set()
            for inter, intra in ((1, 1), (2, 1), (1, 2), (2, 2)):
                done = self.train("--deterministic", f"--inter-op-threads={inter}",
                                  f"--intra-op-threads={intra}", f"--precision={precision}",
                                  logSteps=30)
                outcomes.add(re.search(r"step 30, loss = (\S+)", done.stdout).group(1))
            self.assertEqual(len(outcomes), 1, outcomes)

    def test_precision_is_seen_in_graph_and_trace_or_in_the_log(self):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            able = "avx512_bf16" in file.read()
        path = os.path.join(self.dir, "precision.json")
        done = self.train("--precision=bfloat16", "--trace", path)
        self.assertEqual("no AVX512_BF16" in done.stderr, not able, done.stderr)
        with open(path, encoding="utf-8") as file:
            ops = {event["args"]["op"] for event in json.load(file)["traceEvents"]
                   if event["name"] == "hidden1/MatMul"}
        self.assertEqual(ops, {"MatMul(bfloat16)" if able else "MatMul"})
        shown = subprocess.run(
            [TRAINER, "graph", "--precision=bfloat16", "--config", json.dumps(CONFIG)], text=True,
            check=True, stdout=subprocess.PIPE, env={}).stdout
        self.assertEqual("MatMul(bfloat16)" in shown, able, shown)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
