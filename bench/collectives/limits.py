"""What this machine allows an all-reduce at best: one line of JSON.

    limits.py memory RANKS ELEMENTS ROUNDS     passes over memory that every all-reduce makes
    limits.py tcp 2 ELEMENTS ROUNDS            its bytes by two processes, both ways at once

By memory each process reads its own part of the others' vectors, adds it, and then copies their
parts, with two barriers and nothing else: no copy into a queue, no messages, no checks. By TCP two
processes send each other as many bytes as an all-reduce of the vector does, over the loopback, and
use none of them. Seconds are rank 0's.
"""

import json
import multiprocessing
import socket
import sys
import tempfile
import threading
import time

import torch

WARM_ROUNDS = 1
# What is handed to a socket at once, as much as a thread can copy between two calls of the kernel.
PIECE = 1 << 20


def memory_rank(rank, ranks, elements, rounds, folder, barrier, seconds):
    torch.set_num_threads(1)
    vectors = [torch.from_file(f"{folder}/{other}", shared=True, size=elements)
               for other in range(ranks)]
    parts = [[vector[elements * part // ranks:elements * (part + 1) // ranks]
              for part in range(ranks)] for vector in vectors]
    mine = parts[rank]
    for _ in range(rounds + WARM_ROUNDS):
        vectors[rank].fill_(rank + 1)
        barrier.wait()
        began = time.perf_counter()
        for step in range(1, ranks):
            mine[rank].add_(parts[(rank + step) % ranks][rank])
        barrier.wait()
        for step in range(1, ranks):
            other = (rank + step) % ranks
            mine[other].copy_(parts[other][other])
        barrier.wait()
        if rank == 0:
            seconds.put(time.perf_counter() - began)
        assert bool((vectors[rank] == ranks * (ranks + 1) // 2).all())
        barrier.wait()


def by_memory(ranks, elements, rounds):
    seconds, barrier = multiprocessing.Queue(), multiprocessing.Barrier(ranks)
    # As the gradients that ranks lend each other.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for rank in range(ranks):
            with open(f"{folder}/{rank}", "wb") as file:
                file.truncate(elements * 4)
        run_all([multiprocessing.Process(target=memory_rank, args=(
            rank, ranks, elements, rounds, folder, barrier, seconds)) for rank in range(ranks)])
    return [seconds.get() for _ in range(rounds + WARM_ROUNDS)]


def tcp_rank(rank, end, count, rounds, barrier, seconds):
    out, into = bytearray(PIECE), bytearray(PIECE)
    torch.set_num_threads(1)

    def send():
        left = count
        while left:
            left -= end.send(memoryview(out)[:left])

    for _ in range(rounds + WARM_ROUNDS):
        barrier.wait()
        began = time.perf_counter()
        sender = threading.Thread(target=send)
        sender.start()
        left = count
        while left:
            left -= end.recv_into(into, min(left, PIECE))
        sender.join()
        barrier.wait()
        if rank == 0:
            seconds.put(time.perf_counter() - began)


def by_tcp(ranks, elements, rounds):
    assert ranks == 2
    seconds, barrier = multiprocessing.Queue(), multiprocessing.Barrier(ranks)
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = [socket.create_connection(server.getsockname()), server.accept()[0]]
    # Two ranks: half of the vector to be added, and half of the sums.
    run_all([multiprocessing.Process(target=tcp_rank, args=(
        rank, ends[rank], elements * 4, rounds, barrier, seconds)) for rank in range(ranks)])
    return [seconds.get() for _ in range(rounds + WARM_ROUNDS)]


def run_all(processes):
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0, f"a process ended with {process.exitcode}"


def main():
    way, ranks, elements, rounds = sys.argv[1], *map(int, sys.argv[2:])
    seconds = {"memory": by_memory, "tcp": by_tcp}[way](ranks, elements, rounds)
    seconds = sorted(seconds[WARM_ROUNDS:])
    at = lambda share: seconds[int(share * (len(seconds) - 1))]
    print(json.dumps({"p50us": at(0.5) * 1e6, "p90us": at(0.9) * 1e6,
                      "gigabytesPerSecond": elements * 4 / at(0.5) / 1e9}))


if __name__ == "__main__":
    main()
