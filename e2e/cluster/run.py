#!/usr/bin/python3
"""A whole Kubernetes on this machine: the tests on it, or one to look at.

  e2e/cluster/run.py test [--kubeconfig FILE] [--node real|kwok] [NAME…]
  e2e/cluster/run.py up [--name NAME] [--fake-nodes N] [--install]
  e2e/cluster/run.py down [--name NAME]

`make e2e` runs the first (docs/testing.md). Its last line is "N passed, N failed".
"""

import argparse
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# The folder of this file must be known before these.
import held
import processes
import suite


def main():
    parser = argparse.ArgumentParser(description="A whole Kubernetes on this machine, for tests.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    test = verbs.add_parser("test", help="the tests; an own cluster is started and ended")
    test.add_argument("--kubeconfig", default="", help="use this cluster instead")
    test.add_argument("--node", default="real", choices=("real", "kwok"),
                      help="kwok: without containers; only what needs none is run")
    test.add_argument("names", nargs="*", metavar="NAME",
                      help="tests whose full name has one of these; default: all")
    for verb, text in (("up", "starts a cluster and prints how to use it"),
                       ("down", "ends it"), ("hold", None)):
        # `hold` is for `up`: it has no line in the help.
        sub = verbs.add_parser(verb, **({"help": text} if text else {}))
        sub.add_argument("--name", default="default", help="there may be several")
        if verb != "down":
            sub.add_argument("--fake-nodes", type=int, default=0, metavar="N",
                             help="nodes of kwok beside the real one")
            sub.add_argument("--install", action="store_true", help="TaaS, by its chart")
    args = parser.parse_args()
    # Ended from outside, it takes the cluster down as at Ctrl-C, the one thing that unittest
    # lets through.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if args.verb == "test":
        return suite.run(args.kubeconfig, args.node, args.names)
    if args.verb == "down":
        return held.down(args.name)
    if args.verb == "hold":
        return held.hold(args.name, args.fake_nodes, args.install)
    return held.up(args.name, args.fake_nodes, args.install)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.stdout.flush()
        for owner in list(processes.OWNERS):
            owner.__exit__(None, None, None)
        # Not sys.exit, which waits for threads of tests, and they wait for what is gone.
        os._exit(128 + signal.SIGINT)
