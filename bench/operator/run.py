#!/usr/bin/python3
"""TaaS beside Kubeflow's training-operator and beside bare clients, on a real control plane.

  sudo bench/operator/run.py [--rows one,many,…] [--only NAME,…] [--runs 3] [--out FILE] [--small]
  bench/operator/run.py --report FILE…

Needs `make build bench-tools`; builds the peer and the programs of Kubernetes when they are
missing. Samples are kept in FILE after each trial, and a later run adds to them; --report prints
them as tables.
"""

import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e", "cluster")]
sys.dont_write_bytecode = True

# The folders of these must be known first.
import names
import report
import rows
import trials


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", default=",".join(rows.ALL), help="default: all")
    parser.add_argument("--only", default="", help="contestants: " + ", ".join(
        [*names.TITLES, "bare", "telling"]) + "; default: all")
    parser.add_argument("--runs", type=int, default=3, help="of each contestant, in turn")
    parser.add_argument("--out", default="operator-bench.json", help="where samples are kept")
    parser.add_argument("--small", action="store_true", help="sizes that take seconds: a rehearsal")
    parser.add_argument("--report", nargs="+", metavar="FILE", help="print what was kept")
    return parser.parse_args()


def load(paths):
    samples = []
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                samples += json.load(file)
    return samples


def store(path, samples):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(samples, file, indent=1)
    os.replace(path + ".new", path)


def main():
    args = arguments()
    if args.report:
        print(report.text(load(args.report)))
        return 0
    unknown = [row for row in args.rows.split(",") if row not in rows.ALL]
    if unknown:
        print(f"no such rows: {', '.join(unknown)}; there are {', '.join(rows.ALL)}",
              file=sys.stderr)
        return 2
    only = [name for name in args.only.split(",") if name]
    samples = load([args.out])
    failed = 0
    for row in args.rows.split(","):
        for number in range(args.runs):
            for name, sample in trials.trials(row, args.small, only):
                failed += "failed" in sample
                samples.append({"row": row, "contestant": name, "run": number,
                                "small": args.small, "at": time.strftime("%FT%TZ", time.gmtime()),
                                "load": os.getloadavg()[0], **sample})
                store(args.out, samples)
                print(f"{row} {name}: {report.brief(sample)}", file=sys.stderr, flush=True)
    print(report.text(samples))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
