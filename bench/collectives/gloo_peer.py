"""All-reduce by PyTorch with Gloo between processes of this machine, timed: one line of JSON.

    gloo_peer.py RANKS ELEMENTS ROUNDS

As all_reduce.cc: each round is checked, seconds are rank 0's. PyTorch's threads are one a rank.
"""

import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

WARM_ROUNDS = 3


def run(rank, ranks, elements, rounds, meeting, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
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
    dist.destroy_process_group()
    if rank == 0:
        seconds.sort()
        at = lambda share: seconds[int(share * (len(seconds) - 1))]
        with open(out, "w", encoding="ascii") as file:
            json.dump({"p50us": at(0.5) * 1e6, "p90us": at(0.9) * 1e6,
                       "gigabytesPerSecond": elements * 4 / at(0.5) / 1e9}, file)


def main():
    ranks, elements, rounds = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        multiprocessing.spawn(run, (ranks, elements, rounds, os.path.join(folder, "meeting"), out),
                              nprocs=ranks)
        with open(out, encoding="ascii") as file:
            print(file.read())


if __name__ == "__main__":
    main()
