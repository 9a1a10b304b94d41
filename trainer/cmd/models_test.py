#!/usr/bin/python3
"""Each model learns: taas-trainer trains it, alone, to the quality that docs/models.md says.

    trainer/cmd/models_test.py --table [MODEL…]    prints the table of docs/models.md from a run

MNIST is real where $TAAS_DATA holds it (9,000 of its test images to learn from, the other 1,000 to
look at); else digits are drawn, which have limits of their own.
"""

import dataclasses
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

from processes import TRAINER

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/ci"))
import shards  # pylint: disable=wrong-import-position

PAGE = "docs/models.md"  # From the root of the tree, where a test runs.
PATIENCE_S = 300
SEED = 1
PARAGRAPH = (
    "It was the year in which the machines learned to wait for each other. A worker that came late "
    "was told so in one sentence, and went on; a server that fell was given its numbers back, from "
    "the last cut on which all had agreed. Nobody had to be called at night. The chief wrote down "
    "every step, and when the last one had been made, all of them left, and the light at the end "
    "of the hall was switched off by the one who had come first. ")


@dataclasses.dataclass(frozen=True)
class Row:
    model: dict
    data: str  # A method of Data.
    optimizer: dict
    steps: int
    batch: int
    measure: str  # accuracy, loss, r2, or over: the loss, over the least that is possible.
    wanted: float
    drawn: float = None  # Of drawn digits.
    engine: dict = dataclasses.field(default_factory=dict)

    def reaches(self, value, real):
        wanted = self.wanted if real or self.drawn is None else self.drawn
        return value <= wanted if self.measure in ("loss", "over") else value >= wanted


def sgd(rate):
    return {"name": "sgd", "learningRate": rate}


def momentum(rate):
    return {"name": "momentum", "learningRate": rate}


def cosine(rate, steps):
    return {**momentum(rate), "decay": {"type": "cosine", "steps": steps}}


CONV = {"type": "conv", "filters": 16, "bias": False}
NORM = {"type": "batchNorm", "activation": "relu", "decay": 0.9}
CHAIN = [CONV, NORM, {"type": "maxPool"}, CONV, NORM, {"type": "globalAvgPool"},
         {"type": "dropout", "rate": 0.1}]

WIDE_DEEP = {"name": "wideDeep", "hidden": [64, 32],
             "wide": ["ad", "site", "ageGroup", "hour", "site_ad"],
             "deep": [{"column": "age"}, {"column": "income"}, {"column": "hour"},
                      {"column": "ageGroup", "type": "indicator"}, {"column": "ad", "units": 8},
                      {"column": "site", "units": 8}]}

ROWS = {
    "linear": Row({"name": "linear"}, "table", sgd(0.1), 300, 50, "r2", 0.99),
    "softmax": Row({"name": "softmax"}, "mnist", sgd(0.5), 300, 100, "accuracy", 0.89, 0.83),
    "mlp": Row({"name": "mlp", "hidden": [500]}, "mnist", momentum(0.05), 900, 100, "accuracy",
               0.93, 0.93),
    "lenet": Row({"name": "lenet"}, "mnist", cosine(0.05, 350), 350, 64, "accuracy", 0.975,
                 0.97),
    "resnet20": Row({"name": "resnet20"}, "images", cosine(0.05, 60), 60, 32, "accuracy", 0.95),
    "layers": Row({"name": "layers", "layers": CHAIN}, "images", momentum(0.1), 120, 64,
                  "accuracy", 0.95),
    "lstm": Row({"name": "lstm", "hidden": [64, 64]}, "sequences",
                {"name": "adam", "learningRate": 0.005}, 200, 64, "accuracy", 0.95),
    "wideDeep": Row(WIDE_DEEP, "clicks", {"name": "adam", "learningRate": 0.001}, 8000, 100,
                    "over", 1.03),
    "gpt2": Row({"name": "gpt2", "blocks": 2, "heads": 4, "width": 64}, "paragraph",
                {"name": "adamw", "learningRate": 0.003}, 700, 6, "loss", 0.1),
}
# As good, with products of rounded factors.
ROWS |= {f"{name}-bfloat16": dataclasses.replace(ROWS[name], engine={"precision": "bfloat16"})
         for name in ("mlp", "lenet", "resnet20", "lstm", "gpt2")}
# At the rate of float32 it stays where all positions have one answer, as in PyTorch: what Adam
# divides by its own size there is little more than rounding.
ROWS["gpt2-bfloat16"] = dataclasses.replace(
    ROWS["gpt2-bfloat16"], optimizer={"name": "adamw", "learningRate": 0.001})


class Data:
    """Makes spec.trainer.data of a row, with its files in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.real = False
        self.variance = None

    def mnist(self):
        made = os.path.join(self.folder, "mnist")
        self.real = "TAAS_DATA" in os.environ
        subprocess.run([TRAINER, "data", "fetch", "mnist", made,
                        *([] if self.real else ["--generate"])],
                       check=True, stdout=subprocess.DEVNULL)
        files = {name: {part: f"{made}/{name}-{part}.gz" for part in ("images", "labels")}
                 for name in ("train", "test")}
        return {"format": "idx", **files}

    def table(self):
        values = random.Random(SEED)
        truth = [values.gauss(0, 1) for _ in range(8)]
        paths = {}
        for name, count in (("train", 1000), ("test", 500)):
            rows = [[values.gauss(0, 1) for _ in truth] for _ in range(count)]
            targets = [sum(map(float.__mul__, truth, row)) + values.gauss(0, 0.05) for row in rows]
            paths[name] = os.path.join(self.folder, name + ".csv")
            with open(paths[name], "w", encoding="utf-8") as file:
                print("y", *(f"x{i}" for i in range(len(truth))), sep=",", file=file)
                for target, row in zip(targets, rows):
                    print(target, *row, sep=",", file=file)
            mean = sum(targets) / count
            self.variance = sum((target - mean) ** 2 for target in targets) / count
        return {"format": "csv", "classes": 0, "csv": {"labelColumn": "y"},
                **{name: {"files": [path]} for name, path in paths.items()}}

    def images(self):
        return self.waves([32, 32, 3], 10)

    def sequences(self):
        return self.waves([28, 4, 1], 6)

    @staticmethod
    def waves(image, classes):
        return {"format": "generated",
                "generated": {"pattern": "waves", "image": image, "classes": classes,
                              "examples": 4000, "testExamples": 500}}

    @staticmethod
    def clicks():
        columns = [
            {"name": "age", "type": "numeric", "normalise": {"scale": 0.05, "offset": -2.5}},
            {"name": "income", "type": "numeric"},
            {"name": "ageGroup", "type": "bucketized", "source": "age",
             "boundaries": [25, 35, 50, 65]},
            {"name": "hour", "type": "identity", "buckets": 24},
            {"name": "site", "type": "vocabulary", "values": [f"site-{i}" for i in range(25)]},
            {"name": "ad", "type": "hashed", "buckets": 1000},
            {"name": "site_ad", "type": "crossed", "sources": ["site", "ad"], "buckets": 20000}]
        return {"format": "generated", "columns": columns,
                "generated": {"pattern": "clicks", "examples": 200000, "testExamples": 20000}}

    def paragraph(self):
        path = os.path.join(self.folder, "paragraph.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PARAGRAPH)
        return {"format": "text", "train": {"files": [path]}, "test": {"files": [path]},
                "text": {"context": 64}}


@dataclasses.dataclass(frozen=True)
class Result:
    value: float
    real: bool
    seconds: float
    log: str


def train(row):
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        data = Data(folder)
        config = {"model": row.model, "data": getattr(data, row.data)(), "seed": SEED,
                  "optimizer": row.optimizer, "maxSteps": row.steps, "batchSize": row.batch,
                  "strategy": {"type": "Local"}, "engine": row.engine}
        began = time.monotonic()
        done = subprocess.run([TRAINER], env={"TAAS_TRAINER": json.dumps(config)}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=PATIENCE_S)
        seconds = time.monotonic() - began
    found = re.search(r"^evaluation at step \d+: (?:accuracy = (\S+), )?(?:perplexity = \S+, )?"
                      r"loss = (\S+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise AssertionError(f"exit {done.returncode}: {done.stdout[-2000:]}")
    accuracy, loss = (float(number or "nan") for number in found.groups())
    least = re.search(r"no model's loss on the test set is below (\d\.\d+)", done.stdout)
    value = {"accuracy": accuracy, "loss": loss, "over": loss / float(least[1]) if least else None,
             "r2": 1 - loss / data.variance if data.variance else None}[row.measure]
    return Result(value, data.real, seconds, done.stdout)


class ModelsTest(unittest.TestCase):
    """One test per row, made below."""

    def test_the_page_has_the_rows_of_the_table(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        for name, row in ROWS.items():
            self.assertIn(begin_of_line(name, row), page)


def make_test(row):
    def test(self):
        result = train(row)
        self.assertTrue(row.reaches(result.value, result.real),
                        f"{row.measure} {result.value}\n{result.log[-2000:]}")
    return test


for _name, _row in ROWS.items():
    setattr(ModelsTest, f"test_{_name}", make_test(_row))

load_tests = shards.load_tests

WORDS = {"mnist": "MNIST", "table": "table of 8 numbers", "images": "waves, 32 × 32 × 3",
         "sequences": "waves, 28 steps of 4", "paragraph": "a paragraph, context 64",
         "clicks": "clicks, feature columns"}
SIGNS = {"accuracy": "accuracy ≥", "loss": "loss ≤", "r2": "R² ≥",
         "over": "loss, of the least possible, ≤"}


# What the table adds to a row's name.
SIZES = {"mlp": "500", "lstm": "64 and 64", "wideDeep": "64 and 32", "gpt2": "2 blocks of 64"}


def model_in_words(name):
    if name.endswith("-bfloat16"):
        return name.removesuffix("-bfloat16") + " in bfloat16"
    return f"{name}, {SIZES[name]}" if name in SIZES else name


def optimizer_in_words(optimizer):
    decay = optimizer.get("decay", {}).get("type")
    return f"{optimizer['name']} {optimizer['learningRate']}" + (f", {decay}" if decay else "")


def begin_of_line(name, row, drawn=False):
    """Up to what a run reached."""
    return (f"| {model_in_words(name)} | {WORDS[row.data]}{', drawn' if drawn else ''} | "
            f"{optimizer_in_words(row.optimizer)} | {row.steps} × {row.batch} | "
            f"{SIGNS[row.measure]} {row.wanted} |")


def print_table(names):
    print("| model | data | optimizer | steps × batch | wanted | reached | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in names or ROWS:
        row = ROWS[name]
        result = train(row)
        drawn = row.data == "mnist" and not result.real
        print(f"{begin_of_line(name, row, drawn)} {result.value:.4f} | {result.seconds:.0f} |",
              flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        print_table(sys.argv[2:])
    else:
        unittest.main(verbosity=2)
