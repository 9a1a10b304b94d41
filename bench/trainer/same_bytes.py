#!/usr/bin/python3
"""Two taas-trainers that must learn the same: each loss, checkpoint and export, by the byte.

    bench/trainer/same_bytes.py [--only lenet] BEFORE AFTER

Each case trains a few steps: every model alone with one and with two threads, every optimizer, and
three in each strategy. A case whose order is the machine's, as of two workers that push when
they are ready, is no case: BEFORE runs twice, and must equal itself. Bits depend on the processor,
so both run here and nothing is kept. Exits with 1 if something differs, and names it.
"""

import argparse
import hashlib
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/trainer/cmd")
sys.dont_write_bytecode = True

import processes  # noqa: E402  pylint: disable=wrong-import-position
from before_after import TEXT, waves, write_text

# No case takes longer on two busy cores.
LIMIT_S = 300
STEPS = 12
# A checkpoint in the middle, too.
SAVE_EVERY = 8

DIGITS = waves([28, 28, 1], 10)
SMALL = {"name": "mlp", "hidden": [64, 32]}
CLICKS = {"format": "generated",
          "columns": [{"name": "age", "type": "numeric"},
                      {"name": "site", "type": "vocabulary",
                       "values": [f"site-{i}" for i in range(25)]},
                      {"name": "ad", "type": "hashed", "buckets": 1000}],
          "generated": {"pattern": "clicks", "examples": 4_000, "testExamples": 100}}
WIDE_DEEP = {"name": "wideDeep", "hidden": [16], "wide": ["site"],
             "deep": [{"column": "age"}, {"column": "ad", "units": 8}]}
CONV = {"type": "conv", "filters": 8, "bias": False}
NORM = {"type": "batchNorm", "activation": "relu"}
CHAIN = {"name": "layers",
         "layers": [CONV, NORM, {"type": "maxPool"}, CONV, NORM, {"type": "globalAvgPool"},
                    {"type": "dropout", "rate": 0.1}]}
MODELS = {
    "softmax": ({"name": "softmax"}, DIGITS, 32),
    "mlp": (SMALL, DIGITS, 32),
    "lenet": ({"name": "lenet"}, DIGITS, 16),
    "resnet20": ({"name": "resnet20"}, waves([32, 32, 3], 10), 8),
    "layers": (CHAIN, waves([32, 32, 3], 10), 16),
    "lstm": ({"name": "lstm", "hidden": [32, 32]}, DIGITS, 16),
    "gpt2": ({"name": "gpt2", "blocks": 2, "width": 32, "heads": 2}, TEXT, 4),
    "wideDeep": (WIDE_DEEP, CLICKS, 32),
}
OPTIMIZERS = {
    "momentum": {"momentum": 0.9, "nesterov": True},
    "adam": {"warmup": {"steps": 4}},
    "adamw": {"decay": {"type": "cosine", "steps": STEPS}},
    "adagrad": {"clip": {"globalNorm": 1}},
    "rmsprop": {"centered": True, "momentum": 0.5},
    "ftrl": {"l1": 0.001, "l2": 0.001},
    "sgd": {"clip": {"value": 0.01}, "lossScale": 8},
}


def cases():
    """{name: (replicas, fields)}; no replicas: alone."""
    local = {"strategy": {"type": "Local"}}
    found = {}
    for name, (model, data, batch) in MODELS.items():
        of = {**local, "model": model, "data": data, "batchSize": batch,
              "optimizer": {"name": "momentum", "learningRate": 0.02}}
        for threads in (1, 2):
            engine = {"intraOpThreads": threads, "interOpThreads": threads, "deterministic": True}
            found[f"{name}, {threads} threads"] = ({}, {**of, "engine": engine})
        found[f"{name}, bfloat16"] = ({}, {**of, "engine": {"precision": "bfloat16"}})
    for name, fields in OPTIMIZERS.items():
        optimizer = {"name": name, "learningRate": 0.01, **fields}
        for model in ("mlp", "wideDeep"):
            of = dict(zip(("model", "data", "batchSize"), MODELS[model]))
            found[f"{model} by {name}"] = ({}, {**local, **of, "optimizer": optimizer})
            found[f"{model} by {name}, parameter server"] = (
                {"ps": 1, "workers": 1},
                {**of, "optimizer": optimizer, "strategy": {"mode": "Async"}})
    for model in ("mlp", "layers", "wideDeep"):
        of = {**dict(zip(("model", "data", "batchSize"), MODELS[model])),
              "optimizer": {"name": "adam", "learningRate": 0.01}}
        found[f"{model}, towers"] = ({}, {**of, "strategy": {"type": "Towers", "towers": 2}})
        found[f"{model}, async"] = ({"ps": 2, "workers": 1}, {**of, "strategy": {"mode": "Async"}})
        found[f"{model}, sync"] = ({"ps": 2, "workers": 1}, {**of, "strategy": {"mode": "Sync"}})
        found[f"{model}, sync of two"] = (
            {"ps": 1, "workers": 2}, {**of, "strategy": {"mode": "Sync"}})
    return found


def two_train(replicas):
    return (replicas or {}).get("workers", 1) > 1


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def results(program, replicas, fields):
    """{what: its bytes or their digest} of one training."""
    processes.TRAINER = program
    with processes.Job(**(replicas or {"ps": 0, "workers": 1}), **fields) as job:
        job.config.update({"maxSteps": STEPS, "logSteps": 1, "seed": 7})
        job.checkpoints(every=SAVE_EVERY)
        exported = os.path.join(job.directory, "export")
        job.config["export"] = {"format": "safetensors", "dir": exported}
        if job.config["data"] is TEXT:
            texts = {"train": write_text(job.directory), "test": write_text(job.directory)}
            job.config["data"] = {**TEXT, **texts}
        if replicas:
            job.start_all()
            leader = job.processes["worker-0"]
        else:
            leader = job.start("local", environment={"TAAS_TRAINER": json.dumps(job.config)})
        if leader.child.wait(LIMIT_S) != 0:
            raise SystemExit(f"bench: {program} ended with {leader.code()}\n{job.logs()[-3000:]}")
        # Of two who train in step, which computes a batch and logs its loss is the machine's.
        lines = r"evaluation at step" if two_train(replicas) else r"(?:step|evaluation at step)"
        found = {"losses": "\n".join(re.findall(lines + r" \d+.*?loss = \S+", leader.log()))}
        # Parameter servers are cut in the middle when it suits them; other files hold times and who
        # wrote them.
        cut = f"model.ckpt-{STEPS}." if replicas else "model.ckpt-"
        for folder in (job.out, exported):
            for name in sorted(os.listdir(folder)):
                if name.startswith(cut) or name.endswith(".safetensors"):
                    found[name] = digest(os.path.join(folder, name))
    if not found["losses"] or len(found) < 4:
        raise SystemExit(f"bench: {program}: too little to compare: {sorted(found)}")
    return found


def differences(one, other):
    return sorted(what for what in {*one, *other} if one.get(what) != other.get(what))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="cases whose name has this word")
    parser.add_argument("before", metavar="BEFORE")
    parser.add_argument("after", metavar="AFTER")
    args = parser.parse_args()
    before, after = map(os.path.abspath, (args.before, args.after))
    wrong, own_order = [], []
    chosen = {name: case for name, case in cases().items() if args.only in name}
    if not chosen:
        parser.error(f"no case has {args.only!r} in its name; there are: {'; '.join(cases())}")
    for name, case in chosen.items():
        first = results(before, *case)
        if differences(first, results(before, *case)):
            own_order.append(name)
            continue
        found = differences(first, results(after, *case))
        print(f"{name}: " + (f"DIFFERS in {', '.join(found)}" if found else
                             f"{len(first)} the same"), flush=True)
        wrong += [name] if found else []
    for name in own_order:
        print(f"{name}: not compared, {args.before} does not repeat itself")
    print(f"{len(chosen) - len(wrong) - len(own_order)} the same, {len(wrong)} differ, "
          f"{len(own_order)} not compared")
    return 1 if wrong or len(own_order) == len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
