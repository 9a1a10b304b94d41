#!/usr/bin/python3
"""Synchronous training with one backup worker while one worker is slow.

    bench/slow_worker.py [--runs 5] [--steps 3000] [--data DIR]

Two workers alone, beside the same two and a third that a signal stops nine tenths of the time;
each step takes the first two gradients. Prints one markdown table. Needs `make build`.
"""

import argparse
import signal
import statistics

from mnist_data import mnist
from ps_training import Shape, run_ours, spread


class Slow:
    """Lets the last worker run in every tenth look at the job."""

    def __init__(self, index):
        self.index, self.looks = index, 0

    def __call__(self, run):
        worker = run.processes["worker", self.index]
        if worker.poll() is not None:
            return
        self.looks += 1
        worker.send_signal(signal.SIGCONT if self.looks % 10 == 0 else signal.SIGSTOP)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--data", default=None, help="a folder made by `taas data fetch mnist`")
    flags = parser.parse_args()
    print(f"{flags.runs} runs of {flags.steps} steps, sync, 1 ps\n")
    print("| network | 2 workers, examples/s | and a slow third, 1 backup | of it |")
    print("|---|---|---|---|")
    with mnist(flags.data) as data:
        for hidden in (100, 500):
            alone, beside = [], []
            for _ in range(flags.runs):
                alone.append(run_ours(Shape(1, 2, hidden, "sync"), data, flags.steps)["rate"])
                shape = Shape(1, 2, hidden, "sync + 1 backup")
                beside.append(run_ours(shape, data, flags.steps, Slow(2))["rate"])
            ratio = statistics.median(beside) / statistics.median(alone)
            row = f"| 784-{hidden}-10 | {spread(alone)} | {spread(beside)} | {ratio:.0%} |"
            print(row, flush=True)


main()
