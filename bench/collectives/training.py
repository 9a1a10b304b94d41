#!/usr/bin/python3
"""Training by all-reduce between two processes: ours, PyTorch's and TensorFlow's, in turn.

    bench/collectives/training.py [--rounds 7] [--only LeNet]

Each trains the same model with the same batch a process and optimizer, one thread a process: ours
over shared memory and over TCP (in network namespaces of their own, which takes root), PyTorch by
DistributedDataParallel over Gloo, TensorFlow by MultiWorkerMirroredStrategy over its ring of gRPC.
Prints one markdown table: medians of the runs, and of the ratios of each round's. Our one process
is beside it: twice its speed is the most that two can have. Take figures on a machine that nobody
else uses.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
sys.path[:0] = [BENCH, os.path.join(BENCH, "trainer"),
                os.path.join(os.path.dirname(BENCH), "trainer/testing/links")]

import built  # noqa: E402  pylint: disable=wrong-import-position
import models  # noqa: E402  pylint: disable=wrong-import-position
from bad_net import BadNet  # noqa: E402  pylint: disable=wrong-import-position

RANKS = 2
LIMIT_S = 400
# Steps of a run, and which made data set ours reads: a batch costs it a gather, as in a training.
ROWS = {"MLP 784-500-10": (400, "mnist"), "LeNet": (60, "mnist"), "ResNet-20": (15, "cifar10")}
DATA = {
    "mnist": {"format": "idx",
              "train": {"images": "FOLDER/train-images.gz", "labels": "FOLDER/train-labels.gz"},
              "test": {"images": "FOLDER/test-images.gz", "labels": "FOLDER/test-labels.gz"}},
    "cifar10": {"format": "cifar10", "train": {"files": ["FOLDER/data_batch_*.bin"]},
                "test": {"files": ["FOLDER/test_batch.bin"]}},
}


def answers(commands):
    """What each says on its last line; they run at the same time."""
    started = [subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for command in commands]
    said = [process.communicate(timeout=LIMIT_S) for process in started]
    for command, process, (_, errors) in zip(commands, started, said):
        if process.returncode:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{errors[-3000:]}")
    return [json.loads(out.strip().splitlines()[-1]) for out, _ in said]


def config_of(spec, data, batch, optimizer):
    return json.dumps({"model": spec, "data": data, "strategy": {"type": "AllReduce"},
                       "batchSize": batch, "maxSteps": 10**8, "optimizer": optimizer})


@functools.cache
def ring_program():
    """Asked for first before there is a network: who is in one of its own does not reach Bazel."""
    return built.program("//bench/collectives:ring_step")


def ring_step(config, steps, ranks, net=None):
    """The command of ours; without a network over shared memory."""
    command = [ring_program(), "--steps", str(steps), "--ranks", str(ranks), "--config", config]
    if net is None:
        return command
    return [*command, "--namespaces", ",".join(end.path for end in net.ends),
            "--hosts", ",".join(end.host for end in net.ends)]


def made_data(name, folder):
    """The trainer's words for a data set that is made here."""
    trainer = os.path.join(built.ROOT, "bin", "taas-trainer")
    subprocess.run([trainer, "data", "fetch", name, folder, "--generate"], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(json.dumps(DATA[name]).replace("FOLDER", folder))


def contestants(model, steps, data, net):
    config = config_of(model.spec, data, model.batch, model.optimizer)
    peer = {**model.config(1), "examples": 10 * model.batch}
    image = model.name in ("lenet", "resnet20")
    found = {
        "ours, one process": ring_step(config, steps, 1),
        "ours, memory": ring_step(config, steps, RANKS),
        "ours, TCP": ring_step(config, steps, RANKS, net),
    }
    for order in ("channels last", "channels first") if image else ("",):
        variant = json.dumps({**peer, "variant": ["eager", order]})
        found["PyTorch DDP, Gloo" + (f", {order}" if order else "")] = [
            built.python_of("torch"), os.path.join(HERE, "ddp_peer.py"), str(RANKS), str(steps),
            variant]
    found["TensorFlow MultiWorkerMirrored"] = [
        built.python_of("tensorflow"), os.path.join(HERE, "multi_worker_peer.py"), str(RANKS),
        str(steps), json.dumps({**peer, "variant": ["graph"]})]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="how often each is asked")
    parser.add_argument("--only", default="", help="the model with this in its name")
    asked = parser.parse_args()
    print("| model | who | ms a step | its time through ours by memory (of each round) |")
    print("|---|---|---|---|")
    ring_program()
    with tempfile.TemporaryDirectory(prefix="taas-bench-") as folder, BadNet(RANKS) as net:
        for title, (steps, data) in ROWS.items():
            if asked.only not in title:
                continue
            where = made_data(data, os.path.join(folder, data))
            everybody = contestants(models.find(title), steps, where, net)
            runs = {who: [] for who in everybody}
            for number in range(asked.rounds):
                # Who is first changes from round to round.
                order = list(everybody)
                for who in order[number % len(order):] + order[:number % len(order)]:
                    runs[who].append(answers([everybody[who]])[0]["step_us"])
            for who, took in runs.items():
                ratios = sorted(a / b for a, b in zip(took, runs["ours, memory"]))
                print(f"| {title} | {who} | {statistics.median(took) / 1e3:.3f} | "
                      f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |",
                      flush=True)


if __name__ == "__main__":
    main()
