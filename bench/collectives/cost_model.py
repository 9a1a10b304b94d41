#!/usr/bin/python3
"""What the cost model says of an all-reduce beside what one takes over such links; takes root.

    bench/collectives/cost_model.py [--rounds 5] [--delays-ms 5 20] [--only ring]

The ranks are processes of this machine, each in a network namespace of its own, and what they send
each other goes over sockets through a relay that delays each packet and has wires of a rate
(trainer/testing/links). Prints one markdown table: what trainer/collective/cost.h says of that
delay and rate, with nothing fitted, the median of the rounds, and their ratio; and the relay's own
error, how much later than asked packets left it. Ends with 1 where a ratio is off by more than
15 %.
"""

import argparse
import statistics
import sys

from training import BadNet, answers, built

OFF_BY_MAX = 0.15
KIB = 1 << 10
RANKS = (2, 4, 8)
WAYS = ("ring", "star", "direct")
# Bytes of the vector, exchanges of a run, bytes a second of a rank's wires: latency counts, both
# count, bytes count. Where there is no rate bytes cost what a processor takes for them.
ROWS = [("4 KiB", 4 * KIB, 20, 0), ("256 KiB", 256 * KIB, 10, 16_000_000),
        ("1 MiB", 1024 * KIB, 5, 16_000_000)]
# Frames of so many bytes are a sixth of the packets, which the relay takes one by one.
FRAME_BYTES = 9_000


def prepare(net):
    for end in net.ends:
        end.run("ip", "link", "set", "dev", "link0", "mtu", str(FRAME_BYTES))
        with end.inside():
            # A connection that waits for the others of its ring is not idle.
            with open("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "w", encoding="ascii") as it:
                it.write("0")


def measured(programs, delay_ms, rate, ranks, exchanges, size, ways, rounds):
    """By way, what each round said; and what the relay says of itself."""
    all_reduce, relay = programs
    net = BadNet(ranks, relay=relay, delay_us=round(1000 * delay_ms), bytes_per_second=rate)
    found = {way: [] for way in ways}
    with net:
        prepare(net)
        for number in range(rounds):
            for way in ways[number % len(ways):] + ways[:number % len(ways)]:
                found[way] += answers([[
                    all_reduce, "--ranks", str(ranks), "--by", "tcp", "--way", way, "--elements",
                    str(size // 4), "--rounds", str(exchanges), "--latency-us",
                    str(1000 * delay_ms), "--bytes-per-second", str(rate), "--namespaces",
                    ",".join(end.path for end in net.ends), "--hosts",
                    ",".join(end.host for end in net.ends)]])
    return found, net.report


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is asked")
    parser.add_argument("--delays-ms", type=float, nargs="+", default=[5, 20])
    parser.add_argument("--only", choices=WAYS, help="this way")
    asked = parser.parse_args()
    ways = [asked.only] if asked.only else list(WAYS)
    # Whoever is in a network of its own does not reach Bazel.
    programs = [built.program(label) for label in
                ("//bench/collectives:all_reduce", "//trainer/testing/links:delay_relay")]
    print("| vector | MB/s of a wire | delay, ms | ranks | way | predicted, ms | measured, ms | "
          "measured / predicted | relay late, us: p50, p99 |")
    print("|---|---|---|---|---|---|---|---|---|")
    worst = 0
    for name, size, exchanges, rate in ROWS:
        for delay_ms in asked.delays_ms:
            for ranks in RANKS:
                found, relay = measured(programs, delay_ms, rate, ranks, exchanges, size, ways,
                                        asked.rounds)
                late = relay["late_us"]
                for way, runs in found.items():
                    predicted = runs[0]["predictedUs"]
                    took = statistics.median(run["p50us"] for run in runs)
                    worst = max(worst, abs(took / predicted - 1))
                    print(f"| {name} | {rate / 1e6:.0f} | {delay_ms:g} | {ranks} | {way} | "
                          f"{predicted / 1e3:.1f} | {took / 1e3:.1f} | {took / predicted:.2f} | "
                          f"{late['p50']:.0f}, {late['p99']:.0f} |", flush=True)
    print(f"\nnone is off by more than {worst:.1%}", flush=True)
    sys.exit(worst > OFF_BY_MAX)


if __name__ == "__main__":
    main()
