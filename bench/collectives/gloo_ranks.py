"""Ranks of PyTorch over Gloo, as processes of this machine with one thread each.

    run_ranks(run, ranks, *arguments)   # run(rank, ranks, *arguments) in each

Prints what rank 0's returns, as one line of JSON.
"""

import json
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing


def run_ranks(run, ranks, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(be_rank, (run, ranks, arguments, folder), nprocs=ranks)
        with open(os.path.join(folder, "out"), encoding="ascii") as file:
            print(file.read())


def be_rank(rank, run, ranks, arguments, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=ranks)
    found = run(rank, ranks, *arguments)
    dist.destroy_process_group()
    if rank == 0:
        with open(os.path.join(folder, "out"), "w", encoding="ascii") as file:
            json.dump(found, file)
