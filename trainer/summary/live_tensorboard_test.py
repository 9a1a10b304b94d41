#!/usr/bin/python3
"""Real TensorBoard beside trainings: one that still writes, one that was killed and started again,
and one of several processes, whose graph it colours by device."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "trainer/cmd"))
from processes import TRAINER, Job, wait_until  # pylint: disable=wrong-import-position

PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Keeps the directory argv[1] loaded, as TensorBoard does; at each line of standard input it reads
# what has come and prints [step, value] of all losses.
WATCHER = """
import json, sys, types
# As where only TensorBoard is installed: TensorFlow takes long to load and is not needed.
sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
run = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
for _ in sys.stdin:
    run.Reload()
    losses = run.Scalars("loss") if "loss" in run.Tags()["scalars"] else []
    print(json.dumps([[event.step, event.value] for event in losses]), flush=True)
"""

# Prints which runs of the directory argv[1] have a graph for TensorBoard's page, and of the run
# "run" name, op, inputs and device of each node that the page gets.
GRAPH_PAGE = """
import json, sys, types
sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
from google.protobuf import text_format
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins import base_plugin
from tensorboard.plugins.graph import graphs_plugin
runs = plugin_event_multiplexer.EventMultiplexer()
runs.AddRunsFromDirectory(sys.argv[1])
runs.Reload()
page = graphs_plugin.GraphsPlugin(base_plugin.TBContext(
    data_provider=data_provider.MultiplexerDataProvider(runs, sys.argv[1])))
info = page.info_impl(context.RequestContext(), "e")
body, _ = page.graph_impl(context.RequestContext(), "run", None, False, experiment="e")
graph = text_format.Parse(body, graph_pb2.GraphDef())
print(json.dumps({"runs": [name for name, run in info.items() if run["run_graph"]],
                  "nodes": {node.name: [node.op, node.device, list(node.input)]
                            for node in graph.node}}))
"""

# A training is ahead of who reads its lines by what this pipe takes: some seventy of them.
PIPE_BYTES = 4096
EVERY = 10


class Watcher:
    """TensorBoard's reader of one directory, in a process of its own."""

    def __init__(self, directory):
        self.process = subprocess.Popen([PYTHON, "-c", WATCHER, directory], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def losses(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("TensorBoard's reader ended")
        return json.loads(line)

    def steps(self):
        return [step for step, _ in self.losses()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class LiveTensorBoardTest(unittest.TestCase):

    def setUp(self):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorBoard and sets "
                               "TAAS_TENSORFLOW_BIN")
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.events = os.path.join(self.dir, "events")
        self.out = os.path.join(self.dir, "out")

    def start(self, steps, checkpoint_every):
        """A training that waits for whoever reads what it prints: a line for each step."""
        config = {
            "model": {"name": "mlp", "hidden": [8]}, "strategy": {"type": "Local"},
            "data": {"format": "generated",
                     "generated": {"examples": 1000, "features": 16, "classes": 10}},
            "optimizer": {"name": "sgd", "learningRate": 0.01},
            "batchSize": 32, "maxSteps": steps, "logSteps": 1,
            "checkpoint": {"dir": self.out, "everySteps": checkpoint_every},
            "summaries": {"dir": self.events, "everySteps": EVERY}}
        training = subprocess.Popen(
            [TRAINER, "--config", json.dumps(config)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, pipesize=PIPE_BYTES,
            env={"TF_CONFIG": json.dumps({"task": {"type": "worker", "index": 0}})})

        def end():
            training.kill()
            training.wait()
            training.stdout.close()
            training.stderr.close()
        self.addCleanup(end)
        return training

    def watch(self):
        # Else the reader may look before the training's own thread has made it, and gives up.
        os.makedirs(self.events, exist_ok=True)
        watcher = Watcher(self.events)
        self.addCleanup(watcher.close)
        return watcher

    def read_on(self, training, watcher, enough):
        """Reads lines of the training until TensorBoard shows enough losses; returns them."""
        for _ in training.stdout:
            losses = watcher.losses()
            if enough(losses):
                return losses
        return self.fail("the training ended before TensorBoard showed enough of it\n" +
                         training.stderr.read())

    def finish(self, training):
        for _ in training.stdout:
            pass
        self.assertEqual(training.wait(), 0, training.stderr.read())

    def test_a_file_is_read_while_it_is_written(self):
        steps = 2000
        training = self.start(steps, checkpoint_every=steps)
        watcher = self.watch()
        shown = []
        for count in (2, 5, 9):
            before, shown = shown, self.read_on(training, watcher,
                                                lambda losses: len(losses) >= count)
            self.assertEqual(shown[:len(before)], before)
            self.assertEqual([step for step, _ in shown[:3]], [1, 10, 20][:len(shown)])
            # It has much to do, and waits for us.
            self.assertIsNone(training.poll())
            self.assertLess(shown[-1][0], steps // 2)
        self.finish(training)
        whole = watcher.losses()
        self.assertEqual([step for step, _ in whole], [1, *range(EVERY, steps + 1, EVERY)])
        self.assertEqual(whole[:len(shown)], shown)
        # Nothing was passed over: who reads the file at once sees the same.
        self.assertEqual(self.watch().losses(), whole)

    def test_a_training_that_was_killed_and_started_again_is_one_curve(self):
        # So far apart that the training, which is ahead by what this process and the pipe hold,
        # does not come to the second checkpoint.
        saved, repeated = 400, 40
        training = self.start(saved * 100, checkpoint_every=saved)
        watcher = self.watch()
        # What it has recorded is beyond the first checkpoint and before the second. The first is
        # written beside the training, which waits for us meanwhile.
        first = self.read_on(training, watcher,
                             lambda losses: losses and losses[-1][0] > saved + repeated + EVERY)
        state = os.path.join(self.out, "checkpoint")
        wait_until("the first checkpoint", lambda: os.path.exists(state))
        training.kill()
        training.wait()
        with open(state, encoding="utf-8") as file:
            self.assertIn(f'model_checkpoint_path: "model.ckpt-{saved}"\n', file.read())
        self.assertEqual([step for step, _ in first[:-1]],
                         [1, *range(EVERY, first[-1][0], EVERY)])

        # The second life ends before the step at which the first was killed.
        again = self.start(saved + repeated, checkpoint_every=saved)
        self.finish(again)
        self.assertEqual(len([name for name in os.listdir(self.events) if "tfevents" in name]), 2)
        # That it goes on there is a step of its own: of each life the first is recorded.
        want = [1, *range(EVERY, saved + 1, EVERY), saved + 1,
                *range(saved + EVERY, saved + repeated + 1, EVERY)]
        for reader in (watcher, self.watch()):
            self.assertEqual(reader.steps(), want)

    def test_the_graph_of_a_job_has_the_devices_of_its_tasks(self):
        logs = os.path.join(self.dir, "logs")
        with Job(ps=2, workers=1, chief=True, maxSteps=20,
                 summaries={"dir": os.path.join(logs, "run"), "everySteps": 10}) as job:
            job.start_all()
            job.expect_all_done(self)
        done = subprocess.run([PYTHON, "-c", GRAPH_PAGE, logs], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["runs"], ["run"])
        variables = {name: device for name, (op, device, _) in shown["nodes"].items()
                     if op == "VariableV2"}
        self.assertEqual(sorted(variables), [f"{layer}/{part}"
                                             for layer in ("hidden1", "softmax_linear")
                                             for part in ("biases", "weights")])
        self.assertEqual(set(variables.values()), {f"/job:ps/task:{i}/device:CPU:0"
                                                   for i in range(2)}, variables)
        # What is computed is where a gradient is.
        product = shown["nodes"]["hidden1/MatMul"]
        self.assertEqual(product[2], ["features", "hidden1/weights"])
        self.assertRegex(product[1], "^/job:(chief|worker)/replica:0/task:0/device:CPU:0$")


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
