#!/usr/bin/python3
"""A step of two ranks where the link between them is what limits it; takes root.

    bench/collectives/slow_link.py [--rounds 5] [--bits 1gbit]

The ranks are in network namespaces of this machine, whose cable is held to a rate by tbf. Prints
one markdown table: what a step's computation takes alone (one process beside another that computes
the same), what its exchange takes alone (all gradients after the backward pass, without the wait
for the other rank), and what a step takes with buckets; the share is how much of the exchange a
step waits for: (step - computation) / exchange. Medians of the rounds. Take figures on a machine
that nobody else uses.
"""

import argparse
import statistics
import tempfile

from training import BadNet, answers, config_of, made_data, models, ring_program, ring_step

# All move 7 MB in a step, which takes about 57 ms at 1 Gbit/s. LeNet computes most of its backward
# pass after its large gradients are there: of 200 examples for longer than that, of 100 for less.
# The MLP has nothing to compute behind its last 3 MB, so it cannot hide half of them.
ROWS = [("LeNet", 200, {"name": "lenet"}, 30),
        ("LeNet", 100, {"name": "lenet"}, 40),
        ("MLP 784-1024-1024-10", 500, {"name": "mlp", "hidden": [1024, 1024]}, 60)]
# Of the token bucket: four of the frames of 64 KiB that a kernel hands over. Where not even one
# fits tbf cuts each into packets of 1,500 bytes, which takes four times as much of the processor.
BURST = "256kb"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is asked")
    parser.add_argument("--bits", default="1gbit", help="the rate of the link, as tc has it")
    asked = parser.parse_args()
    print("| model, batch | computation, ms | exchange alone, ms | step, ms | share |")
    print("|---|---|---|---|---|")
    ring_program()
    with tempfile.TemporaryDirectory(prefix="taas-bench-") as folder, BadNet(2) as net:
        for end in net.ends:
            end.limit(asked.bits, burst=BURST)
        data = made_data("mnist", folder)
        for title, batch, spec, steps in ROWS:
            config = config_of(spec, data, batch, models.SGD)
            two = ring_step(config, steps, 2, net)
            found = {"apart": [], "exchange": [], "step": []}
            for _ in range(asked.rounds):
                # As many cores are busy as with two ranks.
                apart = answers([ring_step(config, steps, 1)] * 2)
                found["apart"].append(max(it["step_us"] for it in apart))
                (late,) = answers([[*two, "--one-bucket"]])
                found["exchange"].append(late["exchange_us"])
                found["step"].append(answers([two])[0]["step_us"])
            apart, exchange, step = (statistics.median(it) / 1e3 for it in found.values())
            print(f"| {title}, {batch} | {apart:.1f} | {exchange:.1f} | {step:.1f} | "
                  f"{(step - apart) / exchange:.0%} |", flush=True)


if __name__ == "__main__":
    main()
