"""Training by PyTorch's DistributedDataParallel over Gloo, timed: one line of JSON.

    ddp_peer.py RANKS STEPS CONFIG      CONFIG as bench/trainer/torch_peer.py has it

The ranks are processes of this machine with one thread each; seconds are rank 0's, the median of
its steps. As ring_step.cc: a batch of each rank's own in each step.
"""

import json
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

TRAINER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "trainer")
sys.path.insert(0, TRAINER)
# pylint: disable=wrong-import-position
from torch_peer import batches_of, optimizer_of, torch_models

WARM_STEPS = 10


def run(rank, ranks, steps, config, meeting, out):
    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    module = torch_models.build(config["model"], config["features"], config["classes"])
    if "channels last" in config["variant"]:
        module = module.to(memory_format=torch.channels_last)
    # Its gradients lie where they are exchanged, which saves it a copy.
    module = torch.nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
    optimizer = optimizer_of(config["optimizer"], module.parameters())
    batches = batches_of(config, module.module, config["variant"])
    seconds = []
    for step in range(WARM_STEPS + steps):
        features, labels = batches[step % len(batches)]
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(module(features), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        if step >= WARM_STEPS:
            seconds.append(time.perf_counter() - began)
    dist.destroy_process_group()
    if rank == 0:
        with open(out, "w", encoding="ascii") as file:
            json.dump({"step_us": statistics.median(seconds) * 1e6}, file)


def main():
    ranks, steps, config = (json.loads(text) for text in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        multiprocessing.spawn(run, (ranks, steps, config, os.path.join(folder, "meeting"), out),
                              nprocs=ranks)
        with open(out, encoding="ascii") as file:
            print(file.read())


if __name__ == "__main__":
    main()
