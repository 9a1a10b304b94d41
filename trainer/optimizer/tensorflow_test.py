#!/usr/bin/python3
"""The updates are those of the real TensorFlow: a hundred steps of every rule and schedule, with
moving averages and with clipping.

TensorFlow computes in double precision, so that what differs is the rounding of our floats and
nothing else. The gradients are random, of a fixed seed.
"""

import json
import os
import random
import subprocess
import sys
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
STEPS = os.environ.get("TAAS_OPTIMIZER_STEPS",
                       os.path.join(RUNFILES, "trainer/optimizer/optimizer_steps"))
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Runs where TensorFlow is installed: cases on standard input, results on standard output, as
# steps_main.cc has them; slots by the names that a checkpoint of TensorFlow gives them.
TWIN = """
import json, sys
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1.train

def number(value):
    return tf.constant(value, tf.float64)

def rate_of(options, step, workers):
    start = number(options["learningRate"])
    decay, t = options.get("decay"), step - 1
    warmup = options.get("warmup", {}).get("steps", 0)
    kind = decay.get("type", "exponential") if decay else None
    if kind == "cosine" and warmup:
        schedule = tf.keras.optimizers.schedules.CosineDecay(
            0.0, decay["steps"], decay.get("alpha", 0.0), warmup_target=options["learningRate"],
            warmup_steps=warmup)
        rate = schedule(t)
    elif t < warmup:
        rate = v1.polynomial_decay(number(0.0), number(t), warmup, options["learningRate"])
    elif kind is None:
        rate = start
    else:
        t = tf.constant(t - warmup, tf.int64)
        if kind == "exponential":
            rate = v1.exponential_decay(start, t, decay["steps"], decay["rate"],
                                        decay.get("staircase", False))
        elif kind == "step":
            rate = v1.piecewise_constant(t, [tf.constant(b, tf.int64) for b in decay["boundaries"]],
                                         [options["learningRate"], *decay["rates"]])
        else:
            # Whose pi is a float.
            rate = v1.cosine_decay(tf.cast(start, tf.float32), t, decay["steps"],
                                   decay.get("alpha", 0.0))
    rate = float(rate() if callable(rate) else rate)
    return rate * (workers if options.get("scaleByWorkers") else 1)

def make(options, rate):
    get = lambda name, default: number(options.get(name, default))
    name = options["name"]
    if name == "sgd":
        return v1.GradientDescentOptimizer(rate)
    if name == "momentum":
        return v1.MomentumOptimizer(rate, get("momentum", 0.9),
                                    use_nesterov=options.get("nesterov", False))
    if name == "adam":
        return v1.AdamOptimizer(rate, get("beta1", 0.9), get("beta2", 0.999), get("epsilon", 1e-8))
    if name == "adagrad":
        return v1.AdagradOptimizer(rate, options.get("initialAccumulator", 0.1))
    if name == "rmsprop":
        return v1.RMSPropOptimizer(rate, get("rho", 0.9), get("momentum", 0.0),
                                   get("epsilon", 1e-10), centered=options.get("centered", False))
    if name == "ftrl":
        return v1.FtrlOptimizer(rate, options.get("learningRatePower", -0.5),
                                options.get("initialAccumulator", 0.1), options.get("l1", 0.0),
                                options.get("l2", 0.0))
    assert name == "adamw", name
    return tf.keras.optimizers.AdamW(
        float(rate), weight_decay=options.get("weightDecay", 0.004),
        beta_1=options.get("beta1", 0.9), beta_2=options.get("beta2", 0.999),
        epsilon=options.get("epsilon", 1e-8))

# In the order in which they are made.
SLOTS = {"momentum": ["momentum"], "adam": ["m", "v"], "adagrad": ["accumulator"],
         "rmsprop": ["rms", "momentum"], "ftrl": ["accum", "linear"], "sgd": []}

def checkpoint_names(options):
    with tf.Graph().as_default():
        w = tf.compat.v1.get_variable("w", [1], tf.float64)
        make(options, number(0.1)).apply_gradients([(tf.constant([1.0], tf.float64), w)])
        names = [variable.op.name for variable in tf.compat.v1.global_variables()]
    return [name.removeprefix("w/") for name in names if name.startswith("w/")]

def slots_of(optimizer, options, w, names):
    name = options["name"]
    if name == "adamw":
        variables = {variable.name: variable for variable in optimizer.variables}
        return {"Adam": next(v for n, v in variables.items() if n.endswith("momentum")).numpy(),
                "Adam_1": next(v for n, v in variables.items() if n.endswith("velocity")).numpy()}
    slots = ["rms", "mg", "momentum"] if options.get("centered") else SLOTS[name]
    return dict(zip(names, [optimizer.get_slot(w, slot).numpy() for slot in slots], strict=True))

class Average:
    # ExponentialMovingAverage of one variable, which counts updates; nothing without a decay.

    def __init__(self, options, w):
        decay, self.w, self.step = options.get("movingAverage", {}).get("decay"), w, 0
        self.updates = tf.Variable(0.0)
        self.average = decay and tf.train.ExponentialMovingAverage(decay, self.updates)
        if self.average:
            self.average.apply([w])  # It starts from the values before the first update.

    def update(self):
        if not self.average:
            return {}
        self.step += 1
        self.updates.assign(self.step)
        self.average.apply([self.w])
        return {"ExponentialMovingAverage": self.average.average(self.w).numpy()}

def steps(test):
    options = test["optimizer"]
    w = tf.Variable(np.array(test["start"], np.float64))
    rate = tf.Variable(number(options["learningRate"]))
    optimizer = make(options, rate)
    average = Average(options, w)
    names = None if options["name"] == "adamw" else checkpoint_names(options)
    out = {"rates": [], "values": [], "slots": {}}
    for step, gradient in enumerate(test["gradients"], 1):
        now = rate_of(options, step, test.get("workers", 1))
        rate.assign(now)
        if options["name"] == "adamw":
            optimizer.learning_rate.assign(now)
        gradient = clipped([tf.constant(gradient, tf.float64)], test.get("clip"))[0]
        optimizer.apply_gradients([(gradient, w)])
        out["rates"].append(now)
        out["values"].append(w.numpy().tolist())
        slots = {**slots_of(optimizer, options, w, names), **average.update()}
        for name, value in slots.items():
            out["slots"].setdefault(name, []).append(value.tolist())
    return out

def clipped(gradients, limits):
    if not limits:
        return gradients
    if "value" in limits:
        return [tf.clip_by_value(g, -limits["value"], limits["value"]) for g in gradients]
    return tf.clip_by_global_norm(gradients, number(limits["globalNorm"]))[0]

def clip(test):
    gradients = [tf.constant(gradient, tf.float64) for gradient in test["gradients"]]
    return {"clipped": [g.numpy().tolist() for g in clipped(gradients, test["clip"])]}

print(json.dumps([steps(test) if "optimizer" in test else clip(test)
                  for test in json.load(sys.stdin)]))
"""

COUNT = 7
UPDATES = 100
TOLERANCE = 1e-6

RULES = {
    "sgd": {"name": "sgd"},
    "momentum": {"name": "momentum"},
    "nesterov": {"name": "momentum", "nesterov": True, "momentum": 0.8},
    "adam": {"name": "adam"},
    "adam, other numbers": {"name": "adam", "beta1": 0.5, "beta2": 0.99, "epsilon": 0.1},
    # Keras rounds the betas to floats in one place and not in another: these are floats.
    "adamw": {"name": "adamw", "beta1": 0.875, "beta2": 1 - 2**-10},
    "adamw, strong decay": {"name": "adamw", "beta1": 0.75, "beta2": 1 - 2**-7,
                            "weightDecay": 0.2},
    "adagrad": {"name": "adagrad"},
    "adagrad, other start": {"name": "adagrad", "initialAccumulator": 1.5},
    "rmsprop": {"name": "rmsprop"},
    "rmsprop, all fields": {"name": "rmsprop", "rho": 0.7, "momentum": 0.9, "epsilon": 0.01},
    "rmsprop, centered": {"name": "rmsprop", "centered": True, "momentum": 0.5},
    "ftrl": {"name": "ftrl"},
    "ftrl, penalties": {"name": "ftrl", "l1": 0.625, "l2": 0.25, "initialAccumulator": 0.5},
    "ftrl, other power": {"name": "ftrl", "learningRatePower": -0.7, "l1": 0.125},
}
SCHEDULES = {
    "exponential": {"decay": {"steps": 30, "rate": 0.5}},
    "staircase": {"decay": {"type": "exponential", "steps": 30, "rate": 0.5, "staircase": True}},
    "step": {"decay": {"type": "step", "boundaries": [10, 40], "rates": [0.02, 0.005]}},
    "cosine": {"decay": {"type": "cosine", "steps": 80}},
    "cosine to a share": {"decay": {"type": "cosine", "steps": 80, "alpha": 0.25}},
    "warm-up": {"warmup": {"steps": 13}},
    "warm-up, then exponential": {"warmup": {"steps": 13}, "decay": {"steps": 9, "rate": 0.7}},
    "warm-up, then step": {"warmup": {"steps": 13},
                           "decay": {"type": "step", "boundaries": [10], "rates": [0.02]}},
    "warm-up, then cosine": {"warmup": {"steps": 13},
                             "decay": {"type": "cosine", "steps": 70, "alpha": 0.1}},
    "of four workers": {"scaleByWorkers": True, "warmup": {"steps": 13}},
}

# Decays that are floats. The third is not reached in so few steps, in which an average is of fewer.
AVERAGES = {
    "average, sgd": {"name": "sgd", "movingAverage": {"decay": 0.875}},
    "average, momentum": {"name": "momentum", "movingAverage": {"decay": 0.5}},
    "average that gets longer, adam": {"name": "adam", "movingAverage": {"decay": 1 - 2**-10}},
    "average, ftrl": {"name": "ftrl", "movingAverage": {"decay": 0.9375}},
}
# Of gradients whose norm is between 0.8 and 2.2, in some steps above the second norm.
CLIPPED = {
    "clipped by value, momentum": ({"name": "momentum"}, {"value": 0.25}),
    "clipped by norm, sgd": ({"name": "sgd"}, {"globalNorm": 0.5}),
    "clipped by norm, adam": ({"name": "adam"}, {"globalNorm": 1.5}),
    "clipped by norm, average": ({"name": "momentum", "movingAverage": {"decay": 0.875}},
                                 {"globalNorm": 1.5}),
}


def cases():
    values = random.Random(7)

    def floats(scale=1.0):
        # Of few binary digits, so that a float holds them exactly.
        return [round(values.uniform(-1, 1) * scale * 2**20) / 2**20 for _ in range(COUNT)]

    tests = {}
    for name, rule in {**RULES, **AVERAGES}.items():
        tests[name] = {"optimizer": {"learningRate": 0.0625, **rule}, "start": floats(0.5),
                       "gradients": [floats() for _ in range(UPDATES)]}
    for name, schedule in SCHEDULES.items():
        tests[name] = {"optimizer": {"name": "sgd", "learningRate": 0.0625, **schedule},
                       "workers": 4, "start": floats(0.5),
                       "gradients": [floats() for _ in range(UPDATES)]}
    for name, (rule, limit) in CLIPPED.items():
        tests[name] = {"optimizer": {"learningRate": 0.0625, **rule}, "clip": limit,
                       "start": floats(0.5), "gradients": [floats() for _ in range(UPDATES)]}
    for name, limit in {"value": 0.25, "globalNorm": 0.5}.items():
        tests["clip by " + name] = {"clip": {name: limit}, "gradients": [floats(), floats(3)]}
    tests["clip by a norm that is larger"] = {"clip": {"globalNorm": 50},
                                              "gradients": [floats(), floats(3)]}
    return tests


class TensorFlowTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorFlow and sets "
                               "TAAS_TENSORFLOW_BIN")
        cls.cases = cases()
        text = json.dumps(list(cls.cases.values()))
        cls.ours, cls.theirs = (cls.results(command, text)
                                for command in ([STEPS], [PYTHON, "-c", TWIN]))

    @classmethod
    def results(cls, command, text):
        done = subprocess.run(command, input=text, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]}: {done.stderr[-4000:]}")
        return dict(zip(cls.cases, json.loads(done.stdout)))

    def assert_near(self, got, want, what):
        """Within the tolerance of the largest of `want`, which are lists of lists."""
        size = max(1, *(abs(value) for row in want for value in row))
        self.assertEqual([len(row) for row in got], [len(row) for row in want], what)
        for i, (ours, theirs) in enumerate(zip(got, want)):
            for our, their in zip(ours, theirs):
                self.assertLessEqual(abs(our - their), TOLERANCE * size,
                                     f"{what}[{i}]: {our}, TensorFlow has {their}")

    def test_each_update_is_tensorflows(self):
        for name in [*RULES, *SCHEDULES, *AVERAGES, *CLIPPED]:
            with self.subTest(name):
                ours, theirs = self.ours[name], self.theirs[name]
                self.assertEqual(set(ours.get("slots") or {}), set(theirs["slots"]))
                self.assert_near(ours["values"], theirs["values"], "value")
                for slot, values in theirs["slots"].items():
                    self.assert_near(ours["slots"][slot], values, slot)

    def test_each_learning_rate_is_tensorflows(self):
        for name in SCHEDULES:
            with self.subTest(name):
                for step, (ours, theirs) in enumerate(
                        zip(self.ours[name]["rates"], self.theirs[name]["rates"]), 1):
                    self.assertAlmostEqual(ours, theirs, delta=TOLERANCE * 0.0625,
                                           msg=f"step {step}")

    def test_clipping_is_tensorflows(self):
        for name, case in self.cases.items():
            if "optimizer" in case:
                continue
            with self.subTest(name):
                self.assert_near(self.ours[name]["clipped"], self.theirs[name]["clipped"], name)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
