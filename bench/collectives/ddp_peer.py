"""Training by PyTorch's DistributedDataParallel over Gloo, timed: one line of JSON.

    ddp_peer.py RANKS STEPS CONFIG      CONFIG as bench/trainer/torch_peer.py has it

The ranks are processes of this machine with one thread each; seconds are rank 0's, the median of
its steps. As ring_step.cc: a batch of each rank's own in each step.
"""

import json
import os
import statistics
import sys
import time

import torch
from gloo_ranks import run_ranks

TRAINER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "trainer")
sys.path.insert(0, TRAINER)
# pylint: disable=wrong-import-position
from torch_peer import batches_of, optimizer_of, torch_models

WARM_STEPS = 10


def run(rank, _, steps, config):
    torch.manual_seed(1 + rank)
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
    return {"step_us": statistics.median(seconds) * 1e6}


if __name__ == "__main__":
    run_ranks(run, *map(json.loads, sys.argv[1:]))
