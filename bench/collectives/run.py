#!/usr/bin/python3
"""All-reduce of ours beside PyTorch's with Gloo, each row by both in turn.

    bench/collectives/run.py [--rounds 5] [--only 4KiB]

Prints one markdown table: the medians of the runs, and Gloo's median through ours; of large vectors
also what limits.py says that this machine allows. Processes are of this machine, by shared memory
and by TCP over the loopback; Gloo connects by TCP. Take figures on a machine that nobody else uses.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import built  # noqa: E402  pylint: disable=wrong-import-position

# No run takes longer on two cores.
LIMIT_S = 300
KIB, MIB = 1 << 10, 1 << 20
# Parts that are read where they lie (trainer/collective/memory_link.h).
LENT_MIN = 16 * KIB
# Vectors beside which stands what the machine allows (limits.py): for smaller ones it is its
# barriers that count.
LIMITS_FROM = 64 * MIB
# Bytes, ranks, exchanges a run, ways of ours.
ROWS = [
    ("4KiB", 4 * KIB, 2, 2_000, ("star", "direct", "ring")),
    ("4KiB", 4 * KIB, 4, 500, ("star", "direct", "ring")),
    ("4KiB", 4 * KIB, 9, 200, ("star", "direct", "ring")),
    ("256KiB", 256 * KIB, 2, 500, ("star", "direct", "ring")),
    ("256KiB", 256 * KIB, 4, 200, ("star", "direct", "ring")),
    ("256MiB", 256 * MIB, 2, 3, ("ring",)),
    ("256MiB", 256 * MIB, 4, 3, ("ring",)),
]


def answer(command, environment=None):
    done = subprocess.run(command, check=False, text=True, timeout=LIMIT_S,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(environment or {})})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def contestants(program, python, size, ranks, exchanges, ways):
    """Who is asked in a row, by name."""
    elements = str(size // 4)
    # One that spins keeps from running whom it waits for, where there are more ranks than cores.
    spin = ["--spin"] if ranks <= os.cpu_count() else []
    found = {"Gloo": [python, os.path.join(HERE, "gloo_peer.py"), str(ranks), elements,
                      str(exchanges)]}
    if size >= LIMITS_FROM:
        limits = [python, os.path.join(HERE, "limits.py")]
        found["least by memory"] = [*limits, "memory", str(ranks), elements, str(exchanges)]
        if ranks == 2:
            found["its bytes by TCP alone"] = [*limits, "tcp", "2", elements, str(exchanges)]
    for by in ("memory", "tcp"):
        for way in ways:
            ours = [program, "--ranks", str(ranks), "--by", by, "--way", way, "--elements",
                    elements, "--rounds", str(exchanges)]
            found[f"{way}, {by}, asleep"] = ours
            if spin:
                found[f"{way}, {by}, spinning"] = ours + spin
            # As gradients of a training are, where that is worth it.
            if by == "memory" and way == "ring" and size // ranks >= LENT_MIN:
                found[f"{way}, lent, asleep"] = ours + ["--lend"]
                if spin:
                    found[f"{way}, lent, spinning"] = ours + ["--lend"] + spin
    return found


def line(name, ranks, who, runs, gloo):
    fifty, ninety, rate = (statistics.median(run[field] for run in runs)
                           for field in ("p50us", "p90us", "gigabytesPerSecond"))
    times = gloo / fifty
    return (f"| {name} | {ranks} | {who} | {fifty:,.1f} | {ninety:,.1f} | {rate:.2f} | "
            f"{times:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is asked")
    parser.add_argument("--only", default="", help="rows whose size is this")
    asked = parser.parse_args()
    program, python = built.program("//bench/collectives:all_reduce"), built.python_of("torch")
    print("| vector | processes | way | p50 us | p90 us | GB/s | Gloo's time through ours |")
    print("|---|---|---|---|---|---|---|")
    for name, size, ranks, exchanges, ways in ROWS:
        if asked.only not in ("", name):
            continue
        everybody = contestants(program, python, size, ranks, exchanges, ways)
        runs = {who: [] for who in everybody}
        for number in range(asked.rounds):
            # Who is first changes from round to round.
            order = list(everybody)
            order = order[number % len(order):] + order[:number % len(order)]
            for who in order:
                runs[who].append(answer(everybody[who]))
        gloo = statistics.median(run["p50us"] for run in runs["Gloo"])
        for who in everybody:
            print(line(name, ranks, who, runs[who], gloo), flush=True)


if __name__ == "__main__":
    main()
