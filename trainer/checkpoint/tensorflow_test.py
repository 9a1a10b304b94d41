#!/usr/bin/python3
"""The trainer reads checkpoints that real TensorFlow wrote, and TensorFlow finds and reads ours."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "tools/ci"))
import imported  # pylint: disable=wrong-import-position

TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
SNAPPY_BUNDLE = os.path.join(RUNFILES, "trainer/checkpoint/snappy_bundle")
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Saves a perceptron into the directory argv[1], twice, the second time in a data file for each of
# its two devices, as a training of TensorFlow 1 does. Prints what it says of the rows on standard
# input after each.
SAVER = """
import json, sys
import numpy as np
import tensorflow as tf
v1 = tf.compat.v1
rows = np.array(json.load(sys.stdin), np.float32)
out = []
with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as session:
    with tf.device("/cpu:0"):
        step = v1.get_variable("global_step", [], tf.int64, trainable=False)
    value = tf.constant(rows)
    for i, (layer, shape) in enumerate((("hidden1", [6, 5]), ("softmax_linear", [5, 4]))):
        with v1.variable_scope(layer), tf.device(f"/cpu:{i}"):
            weights = v1.get_variable("weights", shape,
                                      initializer=v1.random_normal_initializer(seed=i + 1))
            biases = v1.get_variable("biases", shape[1:],
                                     initializer=v1.random_normal_initializer(seed=i + 3))
            value = tf.matmul(value, weights) + biases
            value = value if i else tf.nn.relu(value)
    probabilities = tf.nn.softmax(value)
    session.run(v1.global_variables_initializer())
    for number, sharded in ((7, False), (8, True)):
        session.run([step.assign(number), biases.assign_add([0.5, 0, 0, -0.5])])
        v1.train.Saver(sharded=sharded).save(session, sys.argv[1] + "/model.ckpt", number)
        out.append(session.run(probabilities).tolist())
print(json.dumps(out))
"""

# Reads the checkpoint argv[1] of a training of ours and saves it as the prefix argv[2], as its
# model were after the step argv[3]: all weights are another number, which the list names.
TRAINED_ON = """
import json, sys
import numpy as np
import tensorflow as tf
reader = tf.train.load_checkpoint(sys.argv[1])
tensors = {name: np.asarray(reader.get_tensor(name)) for name in reader.get_variable_to_dtype_map()}
step = np.int64(sys.argv[3])
changed = {name: value + np.arange(value.size, dtype=np.float32).reshape(value.shape)
           for name, value in tensors.items() if value.dtype == np.float32}
tensors.update(changed, global_step=step)
tensors["taas/cursor/watermark"] = step
names = sorted(tensors)
tf.raw_ops.SaveV2(prefix=sys.argv[2], tensor_names=names, shape_and_slices=[""] * len(names),
                  tensors=[tf.constant(tensors[name]) for name in names])
print(json.dumps({name: value.ravel().tolist() for name, value in changed.items()}))
"""

# Prints which checkpoints TensorFlow finds in the directory argv[1], and the step and the weights
# of the newest.
FINDER = """
import json, sys
import tensorflow as tf
latest = tf.train.latest_checkpoint(sys.argv[1])
reader = tf.train.load_checkpoint(sys.argv[1])
state = tf.train.get_checkpoint_state(sys.argv[1])
print(json.dumps({"latest": latest, "all": list(state.all_model_checkpoint_paths),
                  "step": int(reader.get_tensor("global_step")),
                  "weights": reader.get_tensor("softmax_linear/weights").ravel().tolist()}))
"""

# Prints every tensor of the checkpoint argv[1], as TensorFlow 1 restores it: by name.
READER = """
import json, sys
import tensorflow as tf
out = {}
for name, shape in tf.train.list_variables(sys.argv[1]):
    value = tf.raw_ops.RestoreV2(prefix=sys.argv[1], tensor_names=[name], shape_and_slices=[""],
                                 dtypes=[tf.string if name == "words" else tf.float32])[0].numpy()
    assert list(value.shape) == shape, name
    out[name] = [x.decode() if isinstance(x, bytes) else x for x in value.ravel().tolist()]
print(json.dumps(out))
"""

EXAMPLES = 12
TOLERANCE = 1e-5


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
        self.out = os.path.join(self.dir, "out")

    def run_program(self, words, stdin="", env=None):
        done = subprocess.run(words, input=stdin, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def tensorflow(self, program, *words, stdin=""):
        return json.loads(self.python.run(program, *words, stdin=stdin))

    def config(self, **more):
        return {"model": {"name": "softmax"}, "strategy": {"type": "Local"}, "batchSize": 20,
                "maxSteps": 40, "logSteps": 1_000, "seed": 3,
                "checkpoint": {"dir": self.out, "everySteps": 20},
                "data": {"format": "generated",
                         "generated": {"examples": 400, "testExamples": 100, "features": 6,
                                       "classes": 4}},
                "optimizer": {"name": "momentum", "momentum": 0.9, "learningRate": 0.1}, **more}

    def train(self, **more):
        config = self.config(**more)
        self.run_program([TRAINER, "--config", json.dumps(config)], env={
            "TF_CONFIG": json.dumps({"task": {"type": "worker", "index": 0}})})

    def inspect(self, path):
        return json.loads(self.run_program([TRAINER, "inspect", path, "--values", "-o", "json"]))

    def test_what_tensorflow_saved_is_shown_evaluated_and_asked(self):
        rows = [[((i * 7 + k * 3) % 11) / 5 - 1 for k in range(6)] for i in range(EXAMPLES)]
        theirs = self.tensorflow(SAVER, self.dir, stdin=json.dumps(rows))
        config = json.dumps(self.config(model={"name": "mlp", "hidden": [5]}))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        for step, files, checkpoint in ((7, 1, self.dir + "/model.ckpt-7"), (8, 2, self.dir)):
            shown = self.inspect(f"{self.dir}/model.ckpt-{step}")
            self.assertEqual(shown["dataFiles"], files)
            self.assertEqual({tensor["name"]: (tensor["dtype"], tensor["shape"])
                              for tensor in shown["tensors"]},
                             {"global_step": ("int64", []), "hidden1/biases": ("float32", [5]),
                              "hidden1/weights": ("float32", [6, 5]),
                              "softmax_linear/biases": ("float32", [4]),
                              "softmax_linear/weights": ("float32", [5, 4])})
            use = ["--checkpoint", checkpoint, "--config", config]
            self.assertEqual(json.loads(self.run_program(
                [TRAINER, "eval", *use, "-o", "json"]))["step"], step)
            ours = [json.loads(line)["probabilities"] for line in self.run_program(
                [TRAINER, "predict", *use, "--input", "-"], lines).splitlines()]
            self.assertEqual(len(ours), EXAMPLES)
            for got, want in zip(ours, theirs[step - 7]):
                for a, b in zip(got, want, strict=True):
                    self.assertAlmostEqual(a, b, delta=TOLERANCE)
        # Two models, that is: each was asked itself.
        self.assertNotEqual(*theirs)

    def test_a_training_goes_on_from_what_tensorflow_saved(self):
        # Steps too small to be seen, so that what is there afterwards is what was read.
        still = {"optimizer": {"name": "momentum", "momentum": 0.9, "learningRate": 1e-12}}
        self.train(**still)
        want = self.tensorflow(TRAINED_ON, self.out + "/model.ckpt-40",
                               self.out + "/model.ckpt-50", "50")
        self.assertEqual(sorted(want), ["softmax_linear/biases", "softmax_linear/biases/Momentum",
                                        "softmax_linear/weights",
                                        "softmax_linear/weights/Momentum"])
        self.train(**still, maxSteps=51)
        shown = self.inspect(self.out)
        self.assertEqual([entry["step"] for entry in shown["checkpoints"]], [20, 40, 50, 51])
        tensors = {tensor["name"]: tensor for tensor in shown["newest"]["tensors"]}
        for name in ("softmax_linear/biases", "softmax_linear/weights"):
            numbers = want[name]
            for field, number in (("min", min(numbers)), ("max", max(numbers)),
                                  ("mean", sum(numbers) / len(numbers))):
                self.assertAlmostEqual(tensors[name][field], number, delta=1e-4, msg=name)

    def test_tensorflow_finds_the_newest_of_ours(self):
        self.train()
        found = self.tensorflow(FINDER, self.out)
        self.assertEqual(found["latest"], self.out + "/model.ckpt-40")
        self.assertEqual(found["all"], [f"{self.out}/model.ckpt-{step}" for step in (20, 40)])
        self.assertEqual(found["step"], 40)
        self.assertEqual(len(found["weights"]), 6 * 4)
        # By names relative to the directory, so that one that was moved is found as well.
        moved = os.path.join(self.dir, "moved")
        os.rename(self.out, moved)
        again = self.tensorflow(FINDER, moved)
        self.assertEqual(again["latest"], moved + "/model.ckpt-40")
        self.assertEqual(again["weights"], found["weights"])

    def test_tensorflow_reads_an_index_that_is_compressed(self):
        compressed, plain = (os.path.join(self.dir, name) for name in ("compressed", "plain"))
        self.run_program([SNAPPY_BUNDLE, compressed, plain])
        self.assertLess(2 * os.path.getsize(compressed + ".index"),
                        os.path.getsize(plain + ".index"))
        read = self.tensorflow(READER, compressed)
        self.assertEqual(read, {"words": ["", "zwei ü"], **{
            f"layer{i}/weights": [i, 0.5, -i] for i in range(200)}})


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
