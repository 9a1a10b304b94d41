#!/usr/bin/python3
"""Two taas-trainer programs in turn: how fast the same jobs train before and after a change.

    bench/trainer/before_after.py [--rounds 9] [--only lenet] BEFORE AFTER

Each model trains alone with one thread, and as 1 parameter server and 2 workers of which the first
is the chief, asynchronously and in step. Who is asked first changes from round to round. Prints one
markdown table: medians and ranges of examples per second as the jobs' results have them, and the
median of the rounds' ratios. Exits with 1 if a ratio is below --least and the ranges do not
overlap. Take figures on a machine that nobody else uses.
"""

import argparse
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/trainer/cmd")
sys.dont_write_bytecode = True

import processes  # noqa: E402  pylint: disable=wrong-import-position
import report

# No run takes longer on two busy cores.
LIMIT_S = 300


def waves(image, classes):
    return {"format": "generated",
            "generated": {"pattern": "waves", "image": image, "classes": classes,
                          "examples": 4_000, "testExamples": 100}}


TEXT = {"format": "text", "text": {"context": 64}}
# Model, data, batch, steps alone, steps of the job: each run takes two to five seconds.
ROWS = {
    "mlp-100": ({"name": "mlp", "hidden": [100]}, waves([28, 28, 1], 10), 100, 20_000, 20_000),
    "mlp-500": ({"name": "mlp", "hidden": [500]}, waves([28, 28, 1], 10), 100, 4_000, 4_000),
    "lenet": ({"name": "lenet"}, waves([28, 28, 1], 10), 100, 120, 200),
    "resnet20": ({"name": "resnet20"}, waves([32, 32, 3], 10), 32, 40, 60),
    "lstm": ({"name": "lstm", "hidden": [64, 64]}, waves([28, 28, 1], 10), 64, 600, 800),
    "gpt-tiny": ({"name": "gpt2", "blocks": 2, "width": 64, "heads": 2}, TEXT, 8, 400, 500),
}
MODES = {"alone": None, "async": "Async", "sync": "Sync"}


def write_text(directory):
    """Words in an order that a model can learn."""
    words = "the worker sends what it has computed and the server adds it to what it has".split()
    text = " ".join(words[(i * i + 3 * i) % len(words)] for i in range(20_000))
    with open(f"{directory}/text.txt", "w", encoding="utf-8") as file:
        file.write(text)
    return {"files": [f"{directory}/text.txt"]}


def rate(program, row, mode):
    """Examples per second of the whole job."""
    model, data, batch, alone_steps, job_steps = ROWS[row]
    processes.TRAINER = program
    steps = alone_steps if mode == "alone" else job_steps
    config = {"model": model, "batchSize": batch, "maxSteps": steps, "logSteps": 10**6,
              "optimizer": {"name": "sgd", "learningRate": 0.01}, "data": data}
    with processes.Job(ps=1, workers=2, **config) as job:
        if data is TEXT:
            job.config["data"] = {**TEXT, "train": write_text(job.directory),
                                  "test": write_text(job.directory)}
        if mode == "alone":
            job.config["strategy"] = {"type": "Local"}
            job.start("local", environment={"TAAS_TRAINER": json.dumps(job.config)})
            leader = job.processes["local"]
        else:
            job.config["strategy"] = {"mode": MODES[mode]}
            job.start_all()
            leader = job.processes["worker-0"]
        if leader.child.wait(LIMIT_S) != 0:
            raise SystemExit(f"bench: {program}: {row}, {mode}\n{job.logs()[-3000:]}")
        return leader.end()["examplesPerSecond"]


def overlap(before, after):
    return max(after) >= min(before) and max(before) >= min(after)


def measure(programs, row, mode, rounds):
    """Of both programs, by round."""
    rates = ([], [])
    for number in range(rounds):
        for side in ((0, 1), (1, 0))[number % 2]:
            rates[side].append(rate(programs[side], row, mode))
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before", metavar="BEFORE", help="a taas-trainer")
    parser.add_argument("after", metavar="AFTER", help="another")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="rows, with commas between: " + ", ".join(ROWS))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--least", type=float, default=0.98, help="the ratio that is enough")
    flags = parser.parse_args()
    slower = 0
    print("| job | before, examples/s | after | ratio |\n|---|---|---|---|", flush=True)
    for row in flags.only.split(",") if flags.only else ROWS:
        for mode in flags.modes.split(","):
            before, after = measure((flags.before, flags.after), row, mode, flags.rounds)
            ratio = report.ratio(after, before)
            print(f"| {row}, {mode} | {report.spread(before)} | {report.spread(after)} | {ratio} |",
                  flush=True)
            slower += float(ratio) < flags.least and not overlap(before, after)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
