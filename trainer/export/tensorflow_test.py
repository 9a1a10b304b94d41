#!/usr/bin/python3
"""Real TensorFlow loads what the trainer exports, and predicts the same."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "tools/ci"))
import imported  # pylint: disable=wrong-import-position

TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
ALL_OPS = os.path.join(RUNFILES, "trainer/export/export_all_ops")
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Loads the SavedModel argv[1] by the loaders of TensorFlow 2 and 1, and prints what both say of the
# examples on standard input.
LOADER = """
import json, sys
import numpy as np
import tensorflow as tf
rows = np.array(json.load(sys.stdin), np.float32)
loaded = tf.saved_model.load(sys.argv[1])
out = loaded.signatures["serving_default"](features=tf.constant(rows))
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    meta = tf.compat.v1.saved_model.load(session, ["serve"], sys.argv[1])
    signature = meta.signature_def["serving_default"]
    old = session.run({name: info.name for name, info in signature.outputs.items()},
                      {signature.inputs["features"].name: rows})
print(json.dumps({"new": {name: value.numpy().tolist() for name, value in out.items()},
                  "old": {name: value.tolist() for name, value in old.items()},
                  "variables": sorted(v.name for v in loaded.variables)}))
"""

# Prints the float variables of the checkpoint argv[1].
CHECKPOINT = """
import json, sys
import tensorflow as tf
reader = tf.train.load_checkpoint(sys.argv[1])
print(json.dumps({name: reader.get_tensor(name).ravel().tolist()
                  for name, dtype in reader.get_variable_to_dtype_map().items()
                  if dtype == tf.float32}))
"""

# Saves a module with one variable and a function into the directory argv[1], as TensorFlow 2 does.
MODULE = """
import sys
import tensorflow as tf
class Scale(tf.Module):
    def __init__(self):
        self.by = tf.Variable([[2.0, 3.0, 4.0]])
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "rows")])
    def scaled(self, rows):
        return {"scaled": rows * self.by}
module = Scale()
tf.saved_model.save(module, sys.argv[1], signatures={"serving_default": module.scaled})
"""

EXAMPLES = 12
TOLERANCE = 1e-5


def flat(value):
    return sum((flat(part) for part in value), []) if isinstance(value, list) else [value]


def read_safetensors(path):
    """Names of its float32 tensors to lists of numbers, and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    data = data[8 + length:]
    out = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            out[name] = list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))
    return out, metadata


class TensorFlowTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorFlow and sets "
                               "TAAS_TENSORFLOW_BIN")
        cls.python = imported.Python(PYTHON, "tensorflow")
        cls.addClassCleanup(cls.python.close)

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.saved_model = os.path.join(self.dir, "saved_model")

    def run_program(self, words, stdin="", env=None):
        done = subprocess.run(words, input=stdin, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def load(self, rows):
        return json.loads(self.python.run(LOADER, self.saved_model, stdin=json.dumps(rows)))

    def assert_near(self, got, want, what):
        got, want = flat(got), flat(want)
        self.assertEqual(len(got), len(want), what)
        scale = max(1, *(abs(number) for number in want))
        for a, b in zip(got, want):
            self.assertLessEqual(abs(a - b), TOLERANCE * scale, what)

    def train(self, model, classes, **more):
        config = {
            "model": model, "strategy": {"type": "Local"}, "batchSize": 20, "maxSteps": 60,
            "logSteps": 1_000, "seed": 3, "checkpoint": {"dir": os.path.join(self.dir, "out")},
            "data": {"format": "generated",
                     "generated": {"examples": 400, "testExamples": 100, "features": 6,
                                   "classes": classes}},
            "optimizer": {"name": "adam", "learningRate": 0.01}, **more}
        self.run_program([TRAINER, "--config", json.dumps(config)], env={
            "TF_CONFIG": json.dumps({"task": {"type": "worker", "index": 0}})})
        return config

    def digits(self):
        """The data of a training on images in two IDX files: a bright column says the class."""
        side, count = 12, 60
        pixels = bytes(200 if x // 3 == image % 4 else (image * 5 + y * 7 + x) % 90
                       for image in range(count) for y in range(side) for x in range(side))
        paths = [os.path.join(self.dir, name) for name in ("images", "labels")]
        with open(paths[0], "wb") as file:
            file.write(struct.pack(">4B3I", 0, 0, 8, 3, count, side, side) + pixels)
        with open(paths[1], "wb") as file:
            file.write(struct.pack(">4BI", 0, 0, 8, 1, count) +
                       bytes(image % 4 for image in range(count)))
        return {"format": "idx", "train": {"images": paths[0], "labels": paths[1]}}

    def use(self, verb, config, *words, stdin=""):
        return self.run_program([TRAINER, verb, "--checkpoint", os.path.join(self.dir, "out"),
                                 "--config", json.dumps(config), *words], stdin)

    def examples(self, features=6):
        return [[((i * 7 + k * 3) % 11) / 5 - 1 for k in range(features)] for i in range(EXAMPLES)]

    def predict(self, config, features=6):
        lines = "".join(json.dumps(row) + "\n" for row in self.examples(features))
        return [json.loads(line) for line in
                self.use("predict", config, "--input", "-", stdin=lines).splitlines()]

    def check_classifier(self, model, features=6, **more):
        config = self.train(model, classes=4, **more)
        ours = self.predict(config, features)
        self.assertEqual(len(ours), EXAMPLES)
        self.assertGreater(len({line["class"] for line in ours}), 1)
        self.use("export", config, "--format", "savedmodel", "--to", self.saved_model)
        theirs = self.load(self.examples(features))
        for loader in ("new", "old"):
            self.assertEqual(sorted(theirs[loader]), ["classes", "logits", "probabilities"])
            self.assertEqual(theirs[loader]["classes"], [line["class"] for line in ours])
            self.assert_near(theirs[loader]["probabilities"],
                             [line["probabilities"] for line in ours], loader)
        return config

    def test_softmax(self):
        config = self.check_classifier({"name": "softmax"})
        evaluation = json.loads(self.use("eval", config, "-o", "json"))
        self.assertEqual(evaluation["step"], 60)
        self.assertEqual(evaluation["examples"], 100)
        tested = self.use("predict", config).splitlines()
        self.assertEqual(len(tested), 100)

    def test_mlp_with_moving_averages(self):
        config = self.check_classifier({"name": "mlp", "hidden": [9, 5]},
                                       movingAverage={"decay": 0.9},
                                       regularization={"l2": 0.001})
        self.assertEqual(self.load(self.examples())["variables"],
                         sorted(f"{layer}/{part}:0" for part in ("weights", "biases")
                                for layer in ("hidden1", "hidden2", "softmax_linear")))
        # Without the averages it is another model.
        plain = {key: value for key, value in config.items() if key != "movingAverage"}
        self.assertNotEqual(self.predict(plain), self.predict(config))

    def test_lenet(self):
        config = self.check_classifier({"name": "lenet", "hidden": [32], "dropout": 0.5},
                                       features=12 * 12, data=self.digits(), maxSteps=12,
                                       optimizer={"name": "adam", "learningRate": 0.001})
        # It is one that has learned, and not only what a training begins with.
        evaluated = json.loads(self.use("eval", {**config, "data": {
            **config["data"], "test": config["data"]["train"]}}, "-o", "json"))
        self.assertEqual(evaluated["step"], 12)
        self.assertGreater(evaluated["accuracy"], 0.5)

    def test_linear(self):
        config = self.train({"name": "linear"}, classes=0)
        said = self.use("export", config, "--format", "savedModel", "--to", self.saved_model)
        # Bytes of images were given as they are, and the answers were nonsense.
        self.assertIn("bytes / 255", said)
        theirs = self.load(self.examples())
        values = [line["value"] for line in self.predict(config)]
        for loader in ("new", "old"):
            self.assertEqual(list(theirs[loader]), ["predictions"])
            self.assert_near(theirs[loader]["predictions"], values, loader)
        self.assertIn("loss", self.use("eval", config))

    def test_numbers_of_columns_are_fed_as_the_data_has_them(self):
        """Symptom: the SavedModel of a table wanted them normalised, which no page said."""
        table = os.path.join(self.dir, "table.csv")
        rows = [[20 + i % 40, 1000.0 * (i * 7 % 90)] for i in range(200)]
        with open(table, "w", encoding="utf-8") as file:
            file.write("age,income,y\n")
            file.writelines(f"{age},{income},{int(income > 45_000)}\n" for age, income in rows)
        names = ("age", "income")
        columns = [{"name": "age", "type": "numeric", "normalise": {"scale": 0.1, "offset": -4}},
                   {"name": "income", "type": "numeric",
                    "normalise": {"scale": 4e-5, "offset": -2}}]
        data = {"format": "csv", "train": {"files": [table]}, "csv": {"labelColumn": "y"},
                "columns": columns}
        at_the_end = os.path.join(self.dir, "at_the_end")
        config = self.train({"name": "mlp", "hidden": [8]}, classes=2, data=data,
                            export={"format": "savedModel", "dir": at_the_end})
        self.use("export", config, "--format", "savedModel", "--to", self.saved_model)
        rows = rows[:EXAMPLES]
        lines = "".join(json.dumps(dict(zip(names, row))) + "\n" for row in rows)
        ours = [json.loads(line)["probabilities"] for line in
                self.use("predict", config, "--input", "-", stdin=lines).splitlines()]
        self.assertGreater(max(flat(ours)) - min(flat(ours)), 0.5)
        for self.saved_model in (self.saved_model, at_the_end):
            theirs = self.load(rows)
            for loader in ("new", "old"):
                self.assert_near(theirs[loader]["probabilities"], ours, loader)

    def test_the_end_of_a_training_exports(self):
        self.train({"name": "softmax"}, classes=4,
                   export={"format": "savedModel", "dir": self.saved_model})
        ends = self.load(self.examples())
        self.assertEqual(sorted(ends["new"]), ["classes", "logits", "probabilities"])

    def test_a_checkpoint_in_several_files_loads(self):
        out = os.path.join(self.dir, "out")
        self.train({"name": "mlp", "hidden": [300]}, classes=4, maxSteps=3,
                   checkpoint={"dir": out, "maxShardBytes": 1 << 20},
                   data={"format": "generated",
                         "generated": {"examples": 50, "features": 700, "classes": 4}})
        files = [name for name in os.listdir(out) if ".data-" in name]
        self.assertEqual(sorted(files), [f"model.ckpt-3.data-0000{i}-of-00003" for i in range(3)])
        prefix = os.path.join(out, "model.ckpt-3")
        want = json.loads(self.python.run(CHECKPOINT, prefix))
        path = os.path.join(self.dir, "a.safetensors")
        self.run_program([TRAINER, "export", "--checkpoint", prefix, "--format", "safetensors",
                          "--to", path])
        tensors, _ = read_safetensors(path)
        self.assertEqual(len(want["hidden1/weights/Adam"]), 700 * 300)
        self.assertEqual({name: tensors[name] for name in want}, want)

    def test_safetensors_hold_what_the_checkpoint_holds(self):
        config = self.train({"name": "mlp", "hidden": [5]}, classes=4)
        want = json.loads(self.python.run(
            CHECKPOINT, os.path.join(self.dir, "out", "model.ckpt-60")))
        path = os.path.join(self.dir, "a.safetensors")
        self.run_program([TRAINER, "export", "--checkpoint", os.path.join(self.dir, "out"),
                          "--format", "safetensors", "--to", path])
        tensors, metadata = read_safetensors(path)
        self.assertEqual(metadata["global_step"], "60")
        self.assertEqual({name: tensors[name] for name in want}, want)
        self.use("export", config, "--format", "safetensors", "--to", self.dir)
        tensors, _ = read_safetensors(os.path.join(self.dir, "model.safetensors"))
        self.assertEqual(sorted(tensors), sorted(name for name in want if "Adam" not in name and
                                                 "power" not in name))
        # And it is a model again.
        before = self.predict(config)
        after = self.run_program(
            [TRAINER, "predict", "--checkpoint", os.path.join(self.dir, "model.safetensors"),
             "--model", "mlp", "--hidden_units", "5", "--input", "-"],
            "".join(json.dumps(row) + "\n" for row in self.examples()))
        self.assertEqual([json.loads(line) for line in after.splitlines()], before)

    def check_graph(self, name):
        ours = json.loads(self.run_program([ALL_OPS, name, self.saved_model]))
        theirs = self.load(ours["features"])
        for loader in ("new", "old"):
            for output, values in ours["outputs"].items():
                self.assert_near(theirs[loader][output], values, f"{loader} {output}")
            for row in theirs[loader]["probabilities"]:
                self.assertAlmostEqual(sum(row), 1, places=5)

    def test_a_saved_model_of_tensorflow_is_shown(self):
        self.python.run(MODULE, self.saved_model)
        shown = json.loads(self.run_program([TRAINER, "inspect", self.saved_model, "--values",
                                             "-o", "json"]))
        self.assertEqual(shown["format"], "savedModel")
        self.assertEqual(shown["signatures"]["serving_default"],
                         {"inputs": "rows float32[-1,3]", "outputs": "scaled float32[-1,3]"})
        variable, = (tensor for tensor in shown["tensors"] if tensor["dtype"] == "float32")
        self.assertEqual((variable["shape"], variable["min"], variable["mean"], variable["max"]),
                         ([1, 3], 2, 3, 4))

    def test_a_convolutional_network(self):
        self.check_graph("lenet")

    def test_every_op_that_is_translated(self):
        self.check_graph("all")


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
