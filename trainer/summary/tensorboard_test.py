#!/usr/bin/python3
"""Real TensorBoard reads what a training recorded: tags, steps, values, histograms, the graph."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Runs where TensorBoard is installed; prints all that it reads of the directories.
READER = """
import json, sys, types
# As where only TensorBoard is installed: TensorFlow takes long to load and is not needed.
sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
runs = {}
for directory in sys.argv[1:]:
    run = EventAccumulator(directory, size_guidance={"scalars": 0, "histograms": 0})
    run.Reload()
    runs[directory] = {
        "scalars": {tag: [[event.step, event.value] for event in run.Scalars(tag)]
                    for tag in run.Tags()["scalars"]},
        "histograms": {tag: [[event.step, [getattr(event.histogram_value, field) for field in
                                           ("min", "max", "num", "sum", "sum_squares",
                                            "bucket_limit", "bucket")]]
                             for event in run.Histograms(tag)]
                       for tag in run.Tags()["histograms"]},
        "graph": [{"name": node.name, "op": node.op, "input": list(node.input),
                   "device": node.device, "type": node.attr["T"].type,
                   "shapes": [[dim.size for dim in shape.dim]
                              for shape in node.attr["_output_shapes"].list.shape]}
                  for node in run.Graph().node] if run.Tags()["graph"] else []}
print(json.dumps(runs))
"""

# Prints what the plugins for graphs and hyperparameters make of a directory with runs.
PLUGINS = """
import json, sys, types
sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.hparams import (api_pb2, backend_context, get_experiment,
                                         list_session_groups)
runs = plugin_event_multiplexer.EventMultiplexer()
runs.AddRunsFromDirectory(sys.argv[1])
runs.Reload()
provider = data_provider.MultiplexerDataProvider(runs, sys.argv[1])
backend = backend_context.Context(base_plugin.TBContext(data_provider=provider))
experiment = get_experiment.Handler(context.RequestContext(), backend, "e",
                                    api_pb2.GetExperimentRequest()).run()
groups = list_session_groups.Handler(
    context.RequestContext(), backend, "e", api_pb2.ListSessionGroupsRequest(
        start_index=0, slice_size=9, allowed_statuses=[0, 1, 2, 3])).run()
print(json.dumps({
    "parameters": [info.name for info in experiment.hparam_infos],
    "groups": [[{name: getattr(value, value.WhichOneof("kind"))
                 for name, value in group.hparams.items()},
                {"/".join(filter(None, (m.name.group, m.name.tag))): m.value
                 for m in group.metric_values},
                [session.status for session in group.sessions]]
               for group in groups.session_groups],
    "graph": {node.name: [node.op, node.device, list(node.input)]
              for node in runs.Graph("run").node}}))
"""

LAYERS = {"hidden1/weights": 64 * 32, "hidden1/biases": 32,
          "softmax_linear/weights": 32 * 10, "softmax_linear/biases": 10}


class TensorBoardTest(unittest.TestCase):

    def setUp(self):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorBoard and sets "
                               "TAAS_TENSORFLOW_BIN")
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.events = os.path.join(self.dir, "events")

    def train(self, steps, role="worker", every=50, **fields):
        config = {
            "model": {"name": "mlp", "hidden": [32]},
            "data": {"format": "generated",
                     "generated": {"examples": 1000, "testExamples": 200, "features": 64,
                                   "classes": 10}},
            "optimizer": {"name": "sgd", "learningRate": 0.1,
                          "decay": {"steps": 100, "rate": 0.5, "staircase": True}},
            "batchSize": 32, "maxSteps": steps, "logSteps": 1_000,
            "checkpoint": {"dir": os.path.join(self.dir, "out")},
            "summaries": {"dir": self.events, "everySteps": every}, **fields}
        done = subprocess.run(
            [TRAINER, "--config", json.dumps(config)], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={"TF_CONFIG": json.dumps({"task": {"type": role, "index": 0}}),
                 "TAAS_TERMINATION_LOG": os.path.join(self.dir, "end")})
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(os.path.join(self.dir, "end"), encoding="utf-8") as file:
            return json.load(file)

    def read(self, *directories):
        done = subprocess.run([PYTHON, "-c", READER, *directories], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def graph(self, *arguments):
        config = {"model": {"name": "mlp", "hidden": [32]},
                  "data": {"format": "generated",
                           "generated": {"examples": 100, "features": 64, "classes": 10}},
                  "batchSize": 20}
        done = subprocess.run([TRAINER, "graph", "--config", json.dumps(config), *arguments],
                              text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def check_graph(self, nodes):
        """Edges lead to nodes that are there; each node has a device, a type and shapes."""
        names = {node["name"] for node in nodes}
        self.assertEqual(len(names), len(nodes))
        for node in nodes:
            for name in node["input"]:
                self.assertIn(name.split(":")[0], names, node)
            self.assertRegex(node["device"], "^/job:.*/replica:0/task:0/device:CPU:0$")
            self.assertIn(node["type"], [1, 3], node)  # DT_FLOAT, DT_INT32
            self.assertTrue(node["shapes"], node)
        return {node["name"]: node for node in nodes}

    def test_graph_of_a_configuration(self):
        forward = os.path.join(self.dir, "forward")
        training = os.path.join(self.dir, "training")
        self.assertIn("tfevents", self.graph("--format", "event", "--to", forward))
        self.graph("--format", "event", "--to", training, "--training")
        runs = self.read(forward, training)
        nodes = self.check_graph(runs[forward]["graph"])
        self.assertEqual(nodes["hidden1/MatMul"]["input"], ["features", "hidden1/weights"])
        self.assertEqual(nodes["hidden1/MatMul"]["shapes"], [[20, 32]])
        self.assertEqual(nodes["hidden1/weights"]["op"], "VariableV2")
        self.assertEqual(nodes["features"]["op"], "Placeholder")
        self.assertEqual(nodes["labels"]["type"], 3)
        self.assertFalse([name for name in nodes if name.startswith("gradients/")])
        with_gradients = self.check_graph(runs[training]["graph"])
        self.assertLess(set(nodes), set(with_gradients))
        self.assertTrue([name for name in with_gradients if name.startswith("gradients/")])

    def test_graph_as_text_and_drawing(self):
        text = self.graph()
        self.assertIn("hidden1/MatMul", text)
        self.assertRegex(text, r"(?m)^memory: variables .*, peak of all in between ")
        self.assertIn('"features" -> "hidden1/MatMul";', self.graph("--format", "dot"))

    def test_training_records_its_graph(self):
        self.train(steps=1)
        nodes = self.check_graph(self.read(self.events)[self.events]["graph"])
        self.assertEqual(nodes["hidden1/MatMul"]["device"],
                         "/job:worker/replica:0/task:0/device:CPU:0")

    def test_scalars_and_histograms_of_a_training(self):
        end = self.train(steps=200)
        run = self.read(self.events)[self.events]
        scalars = run["scalars"]
        self.assertEqual(set(scalars), {"loss", "accuracy", "learning_rate",
                                        "examples_per_second", "global_step/sec",
                                        "eval/loss", "eval/accuracy"})
        self.assertEqual([step for step, _ in scalars["eval/loss"]], [200])
        steps = [1, 50, 100, 150, 200]
        self.assertEqual([step for step, _ in scalars["loss"]], steps)
        self.assertAlmostEqual(scalars["loss"][-1][1], end["loss"], delta=1e-5)
        self.assertLess(scalars["loss"][-1][1], scalars["loss"][0][1])
        self.assertEqual([round(rate, 6) for _, rate in scalars["learning_rate"]],
                         [0.1, 0.1, 0.1, 0.05, 0.05])
        for (_, per_second), (_, steps_per_second) in zip(scalars["examples_per_second"],
                                                          scalars["global_step/sec"]):
            self.assertAlmostEqual(per_second / steps_per_second, 32, delta=0.01)
        tags = set(LAYERS) | {"gradients/" + name for name in LAYERS}
        self.assertEqual(set(run["histograms"]), tags)
        # On a busy machine histograms are left out before anything else, all of a step together.
        taken = [step for step, _ in run["histograms"]["gradients/" + next(iter(LAYERS))]]
        self.assertEqual(taken[0], 1)
        self.assertLessEqual(set(taken), set(steps))
        for tag, entries in run["histograms"].items():
            self.assertEqual([step for step, _ in entries], taken, tag)
            for _, (least, most, count, total, squares, limits, buckets) in entries:
                self.assertEqual(count, LAYERS[tag.removeprefix("gradients/")], tag)
                self.assertEqual(sum(buckets), count, tag)
                self.assertEqual(sorted(limits), limits, tag)
                self.assertLessEqual(least, most)
                self.assertGreater(limits[-1], most, tag)
                self.assertLessEqual(total * total, squares * count * 1.000001, tag)

    def test_graph_and_hyperparameters_are_shown(self):
        self.events = os.path.join(self.dir, "logs", "run")
        end = self.train(steps=100)
        done = subprocess.run([PYTHON, "-c", PLUGINS, os.path.join(self.dir, "logs")], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertIn("optimizer.decay.staircase", found["parameters"])
        (parameters, metrics, statuses), = found["groups"]
        self.assertEqual(parameters["model.hidden"], "[32]")
        self.assertEqual(parameters["optimizer.learningRate"], 0.1)
        self.assertEqual(parameters["optimizer.decay.staircase"], True)
        self.assertAlmostEqual(metrics["loss"], end["loss"], delta=1e-5)
        success = 1
        self.assertEqual(statuses, [success])
        graph = found["graph"]
        self.assertEqual(graph["hidden1/weights"][0], "VariableV2")
        self.assertEqual(graph["hidden1/MatMul"][2], ["features", "hidden1/weights"])
        self.assertEqual({device for _, device, _ in graph.values()},
                         {"/job:worker/replica:0/task:0/device:CPU:0"})

    def test_learning_rate_is_the_one_that_is_applied(self):
        self.train(steps=4, every=1, strategy={"type": "Towers", "towers": 2},
                   optimizer={"name": "ftrl", "learningRate": 0.1, "warmup": {"steps": 2},
                              "scaleByWorkers": True})
        rates = self.read(self.events)[self.events]["scalars"]["learning_rate"]
        self.assertEqual([round(rate, 6) for _, rate in rates], [0, 0.1, 0.2, 0.2])

    def test_evaluation_is_a_run_of_its_own(self):
        self.train(steps=100)
        end = self.train(steps=100, role="evaluator")
        directory = os.path.join(self.events, "eval")
        scalars = self.read(directory)[directory]["scalars"]
        self.assertEqual([step for step, _ in scalars["accuracy"]], [100])
        self.assertAlmostEqual(scalars["accuracy"][0][1], end["evaluation"]["accuracy"], places=5)
        self.assertAlmostEqual(scalars["loss"][0][1], end["evaluation"]["loss"], places=5)

    def test_training_that_goes_on_from_a_checkpoint_goes_on_in_the_curves(self):
        self.train(steps=100)
        self.train(steps=300)
        self.assertEqual(len([name for name in os.listdir(self.events) if "tfevents" in name]), 2)
        scalars = self.read(self.events)[self.events]["scalars"]
        steps = [step for step, _ in scalars["loss"]]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertEqual(steps[:3], [1, 50, 100])
        self.assertEqual(steps[-1], 300)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
