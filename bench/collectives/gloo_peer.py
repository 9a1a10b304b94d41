"""All-reduce by PyTorch with Gloo between processes of this machine, timed: one line of JSON.

    gloo_peer.py RANKS ELEMENTS ROUNDS

As all_reduce.cc: each round is checked, seconds are rank 0's. PyTorch's threads are one a rank.
"""

import sys
import time

import torch
import torch.distributed as dist
from gloo_ranks import run_ranks

WARM_ROUNDS = 3


def run(rank, ranks, elements, rounds):
    seconds = []
    total = ranks * (ranks + 1) // 2
    for number in range(rounds + WARM_ROUNDS):
        values = torch.full((elements,), float(rank + 1))
        began = time.perf_counter()
        dist.all_reduce(values)
        ended = time.perf_counter()
        assert bool((values == total).all())
        if number >= WARM_ROUNDS:
            seconds.append(ended - began)
    seconds.sort()
    at = lambda share: seconds[int(share * (len(seconds) - 1))]
    return {"p50us": at(0.5) * 1e6, "p90us": at(0.9) * 1e6,
            "gigabytesPerSecond": elements * 4 / at(0.5) / 1e9}


if __name__ == "__main__":
    run_ranks(run, *map(int, sys.argv[1:]))
