#!/usr/bin/env python3
"""Training steps of one of our measured models by PyTorch on a GPU: what ours are compared with.

    peers.py --rows ROWS.json --row LeNet --way graph --out FILE

ROWS.json is what `gpu_bench rows` wrote. A way is "graph" (the whole step captured as one CUDA
graph, and launched) or "compiled" (torch.compile, mode "reduce-overhead", which makes CUDA graphs
of its own, and a fused optimizer); "eager" is for tests on a processor. Both sides have their data
on the host as bytes or ids, copy a batch in each step, keep batch normalization in training, and
compute in the precision that is named: float32 without TF32, TF32, or bfloat16 by torch.autocast.
In favour of PyTorch: its batches lie ready in pinned memory, and it reads a loss once a round.
"""

import argparse
import json
import os
import sys
import time

BEGAN = time.time()
HERE = os.path.dirname(os.path.abspath(__file__))
# In the tree, or unpacked beside this file.
sys.path[:0] = [HERE, f"{HERE}/../../trainer/testing"]
sys.dont_write_bytecode = True

import torch  # noqa: E402  pylint: disable=wrong-import-position
import peer_models  # noqa: E402  pylint: disable=wrong-import-position

WARM_UP = 3
BATCHES = 4


def optimizer_of(options, parameters, on_gpu):
    rate, name = options["learningRate"], options["name"]
    # Of a captured step rates and counts of steps are the GPU's.
    if name in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, rate, momentum=options.get("momentum", 0.0),
                               fused=True)
    kind = torch.optim.Adam if name == "adam" else torch.optim.AdamW
    more = {"weight_decay": options["weightDecay"]} if name == "adamw" else {}
    return kind(parameters, rate, fused=True, capturable=on_gpu, **more)


class Steps:
    """A model in training: next() makes one step, the loss is in .loss."""

    def __init__(self, row, way, device):
        torch.manual_seed(1)
        tf32 = row["precision"] == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        self.device, self.on_gpu = device, device != "cpu"
        self.bfloat16 = row["precision"] == "bfloat16"
        self.module = peer_models.build(row).to(device)
        if row["image"][2] > 1:
            self.module = self.module.to(memory_format=torch.channels_last)
        self.parameters = [p for p in self.module.parameters() if p.requires_grad]
        count = sum(p.numel() for p in self.parameters)
        if count != row["parameters"]:
            raise ValueError(f"{row['name']} has {count:,} parameters, ours {row['parameters']:,}")
        self.optimizer = optimizer_of(row["optimizer"], self.parameters, self.on_gpu)
        self.batches = [self.on_host(row) for _ in range(BATCHES)]
        inputs, labels = self.batches[0]
        self.inputs, self.labels = [x.to(device) for x in inputs], labels.to(device)
        self.loss_of = peer_models.loss_of
        if way == "compiled":
            self.loss_of = torch.compile(peer_models.loss_of, mode="reduce-overhead")
        self.count, self.loss, self.graph = 0, None, None
        if way == "graph":
            self.capture()

    def on_host(self, row):
        inputs, labels = peer_models.in_bytes_or_ids(row)
        if self.on_gpu:
            return [x.pin_memory() for x in inputs], labels.pin_memory()
        return inputs, labels

    def work(self):
        """On the inputs that are there."""
        kind = "cuda" if self.on_gpu else "cpu"
        with torch.autocast(kind, torch.bfloat16, enabled=self.bfloat16, cache_enabled=False):
            loss = self.loss_of(self.module, self.inputs, self.labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def capture(self):
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UP):
                self.optimizer.zero_grad(set_to_none=True)
                self.work()
        torch.cuda.current_stream().wait_stream(beside)
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.loss = self.work()

    def next(self):
        inputs, labels = self.batches[self.count % BATCHES]
        self.count += 1
        for to, value in zip(self.inputs, inputs):
            to.copy_(value, non_blocking=True)
        self.labels.copy_(labels, non_blocking=True)
        if self.graph is not None:
            self.graph.replay()
            return
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = self.work()

    def end(self):
        if self.on_gpu:
            torch.cuda.synchronize()
        return float(self.loss)


def milliseconds(steps, times):
    began = time.perf_counter()
    for _ in range(times):
        steps.next()
    steps.end()
    return 1e3 * (time.perf_counter() - began) / times


def measure(row, flags):
    made = time.time()
    steps = Steps(row, flags.way, flags.device)
    steps.next()
    steps.end()
    first = time.time()
    warm_up = min(WARM_UP, flags.rounds)
    milliseconds(steps, warm_up)
    one = milliseconds(steps, warm_up)
    times = max(1, min(10_000, int(1e3 * flags.seconds / flags.rounds / one)))
    rounds = [milliseconds(steps, times) for _ in range(flags.rounds)]
    middle = sorted(rounds)[flags.rounds // 2]
    return {"name": row["name"], "way": flags.way, "batch": row["batch"],
            "precision": row["precision"], "parameters": sum(p.numel() for p in steps.parameters),
            "ms": middle, "rounds": rounds, "stepsPerRound": times,
            "examplesPerSecond": 1e3 * row["batch"] / middle, "loss": steps.end(),
            "importingSeconds": made - BEGAN, "firstStepSeconds": first - made}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", required=True)
    parser.add_argument("--row", required=True, action="append", help="its name; repeatable")
    parser.add_argument("--way", choices=("graph", "compiled", "eager"), default="graph")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", required=True)
    flags = parser.parse_args()
    with open(flags.rows, encoding="utf-8") as file:
        rows = [row for row in json.load(file)["rows"] if row["name"] in flags.row]
    device = "a processor" if flags.device == "cpu" else torch.cuda.get_device_name()
    result = {"command": "peer", "torch": torch.__version__, "cuda": torch.version.cuda,
              "cudnn": None if flags.device == "cpu" else torch.backends.cudnn.version(),
              "device": device,
              "rows": [measure(row, flags) for row in rows], "complete": True}
    with open(flags.out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
