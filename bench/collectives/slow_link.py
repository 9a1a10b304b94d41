#!/usr/bin/python3
"""A step of two ranks where the link between them is what limits it; takes root.

    bench/collectives/slow_link.py [--rounds 5] [--bits 1gbit]

The ranks are in network namespaces of this machine, whose cable is held to a rate by tbf. Prints
one markdown table: what a step's computation takes alone (one process beside another that computes
the same), what its exchange takes alone (all gradients after the backward pass, without the wait
for the other rank), and what a step takes with buckets; the share is how much of the exchange a
step waits for: (step - computation) / exchange. What it is at least: the share of the computation
that bytes cost which two other processes send each other over the same link, both ways and as fast
as it takes them, and do nothing with. Medians of the rounds. Take figures on a machine that nobody
else uses.
"""

import argparse
import contextlib
import multiprocessing
import socket
import statistics
import tempfile
import threading

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
# What is handed to the kernel at once: as much as there is.
PIECE = 1 << 20


def send_and_drop(end):
    """Until the process is ended."""
    threading.Thread(target=send_all, args=(end,), daemon=True).start()
    into = bytearray(PIECE)
    while True:
        end.recv_into(into)


def send_all(end):
    out = bytes(PIECE)
    while True:
        end.sendall(out)


@contextlib.contextmanager
def plain_bytes(net):
    """Between the two ends, as many as their link takes."""
    one, other = net.ends
    with one.inside():
        server = socket.create_server((one.host, 0))
    with other.inside():
        ends = [socket.create_connection(server.getsockname()), server.accept()[0]]
    processes = [multiprocessing.Process(target=send_and_drop, args=(end,)) for end in ends]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()
        for it in (server, *ends):
            it.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is asked")
    parser.add_argument("--bits", default="1gbit", help="the rate of the link, as tc has it")
    asked = parser.parse_args()
    print("| model, batch | computation, ms | beside plain bytes, ms | exchange alone, ms | "
          "step, ms | share | at least |")
    print("|---|---|---|---|---|---|---|")
    ring_program()
    with tempfile.TemporaryDirectory(prefix="taas-bench-") as folder, BadNet(2) as net:
        for end in net.ends:
            end.limit(asked.bits, burst=BURST)
        data = made_data("mnist", folder)
        for title, batch, spec, steps in ROWS:
            config = config_of(spec, data, batch, models.SGD)
            two = ring_step(config, steps, 2, net)
            found = {"apart": [], "beside": [], "exchange": [], "step": []}
            for _ in range(asked.rounds):
                # As many cores are busy as with two ranks.
                apart = [ring_step(config, steps, 1)] * 2
                found["apart"].append(max(it["step_us"] for it in answers(apart)))
                with plain_bytes(net):
                    found["beside"].append(max(it["step_us"] for it in answers(apart)))
                (late,) = answers([[*two, "--one-bucket"]])
                found["exchange"].append(late["exchange_us"])
                found["step"].append(answers([two])[0]["step_us"])
            apart, beside, exchange, step = (statistics.median(it) / 1e3 for it in found.values())
            print(f"| {title}, {batch} | {apart:.1f} | {beside:.1f} | {exchange:.1f} | "
                  f"{step:.1f} | {(step - apart) / exchange:.0%} | {1 - apart / beside:.0%} |",
                  flush=True)


if __name__ == "__main__":
    main()
