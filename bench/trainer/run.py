#!/usr/bin/python3
"""Training steps of one process: PyTorch, TensorFlow and ours, in turn in one run.

    bench/trainer/run.py [--rounds 5] [--seconds 1] [--threads 1 2] [--only lenet] [--quick]

Needs `make build` and `tools/setup/setup.sh python` of torch and tensorflow. All sides train the
same model with the same batch, optimizer and number of threads, pinned to as many cores, on data
that lies in memory; each round asks them one after the other for about as many seconds of steps,
after products of matrices by our own kernel, which say what the machine can do just then. The
bound is what a step's products (models.py) take at that speed. Of a peer's ways (compiled or not,
order of images in memory) the fastest in trials is taken. Take figures on a quiet machine.

Our side is steps.cc, taas-trainer's local loop with a number of threads; beside it the real
taas-trainer, which has one thread, is measured too. --quick leaves out what compiles for minutes.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import built  # noqa: E402  pylint: disable=wrong-import-position
import program
from contestant import Contestant, Failed, Unknown
from models import MODELS
from report import HEAD, SIDES, Row, memory_table, spread

TRIALS = 3  # Of a peer's way, of which the fastest counts.

HERE = os.path.dirname(os.path.abspath(__file__))


def commands(flags):
    made = {"ours": [built.program("//bench/trainer:steps")]}
    for side, name in (("PyTorch", "torch"), ("TensorFlow", "tensorflow")):
        if name not in flags.skip:
            made[side] = [built.python_of(name), f"{HERE}/{name}_peer.py"]
    return made


def variants(side, model, quick):
    if side == "TensorFlow":
        return [["graph"], ["XLA"]]
    kinds = ["eager"] if quick else ["eager", "compiled"]
    image = model.name in ("lenet", "resnet20")
    orders = [["channels last"], ["channels first"]] if image else [[]]
    return [[kind, *order] for kind in kinds for order in orders]


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def fastest(side, command, model, threads, flags):
    """(the program in its fastest way, steps for a round, that way's name)"""
    best = None
    for variant in variants(side, model, flags.quick):
        config = {**model.config(threads), "variant": variant}
        try:
            peer = Contestant(command, threads, config)
            steps = peer.steps_in(flags.seconds)
            rate = steps / min(peer.seconds(steps) for _ in range(TRIALS))
        except Failed as error:
            say(f"{side}, {', '.join(variant)}, is left out: {error}")
            continue
        say(f"{model.title}, {threads} thread(s), {side}, {', '.join(variant)}: "
            f"{rate * model.batch:,.0f} examples/s, ready after {peer.ready_after:.1f} s")
        if best is not None and best[3] >= rate:
            peer.close()
            continue
        if best is not None:
            best[0].close()
        best = (peer, steps, ", ".join(variant), rate)
    if best is None:
        raise SystemExit(f"bench: {side} does not train {model.title} in any way")
    return best[:3]


class Match:
    """One model with one number of threads: the sides' programs, all running, asked in turn."""

    def __init__(self, commands_of, model, threads, flags):
        self.model, self.flags = model, flags
        self.programs, self.ways, self.unknown = {}, {}, None
        self.gemm = Contestant([*commands_of["ours"], "gemm", str(threads)], threads)
        for side, command in commands_of.items():
            if side == "ours":
                self._start_ours(command, threads)
                continue
            peer, steps, way = fastest(side, command, model, threads, flags)
            self.programs[side], self.ways[side] = (peer, steps), way
        counts = {side: running.parameters for side, (running, _) in self.programs.items()}
        if len(set(counts.values())) > 1:
            raise SystemExit(f"bench: {model.title} is not the same on all sides: numbers of "
                             f"parameters are {counts}")

    def _start_ours(self, command, threads):
        try:
            ours = Contestant(command, threads, self.model.config(threads))
        except Unknown as why:
            self.unknown = str(why)
            return
        self.programs["ours"] = (ours, ours.steps_in(self.flags.seconds))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gemm.close()
        for running, _ in self.programs.values():
            running.close()

    def play(self):
        row = Row(self.model, [], {side: [] for side in self.programs}, self.ways)
        products = self.gemm.steps_in(self.flags.seconds / 2)
        for _ in range(self.flags.rounds):
            answer = self.gemm.ask(products)
            row.gflops.append(answer["flops"] * products / answer["seconds"] / 1e9)
            for side, (running, steps) in self.programs.items():
                row.rates[side].append(steps * self.model.batch / running.seconds(steps))
        return row

    def peaks(self):
        return {side: running.peak_mb() for side, (running, _) in self.programs.items()}


def measure_steps(commands_of, models, flags):
    """{title: the peak memory by side, with the first number of threads}, {title: our rate}"""
    peaks, ours = {}, {}
    for threads in flags.threads:
        print(f"\n{threads} thread(s), median and spread of {flags.rounds} rounds of "
              f"{flags.seconds:g} s:\n{HEAD}", flush=True)
        unknown = []
        for model in models:
            with Match(commands_of, model, threads, flags) as match:
                row = match.play()
                print(row.line(), flush=True)
                peaks.setdefault(model.title, match.peaks())
                if match.unknown:
                    unknown.append(f"* {model.title}, ours: not measured: {match.unknown}")
                elif threads == 1:
                    ours[model.title] = statistics.median(row.rates["ours"])
        print("\n" + "\n".join(unknown) if unknown else "", flush=True)
    return peaks, ours


def measure_program(models, ours, flags):
    """The real taas-trainer, of models that are known and have data in files."""
    print("\nThe same through taas-trainer, strategy Local, one thread, and its peak memory:\n\n"
          "| model | taas-trainer, examples/s | steps.cc, examples/s | MB |\n|---|---|---|---|")
    for model in models:
        if model.title not in ours or not model.shape:
            continue
        steps = max(1, round(flags.seconds * ours[model.title] / model.batch))
        with program.data_of(model) as data:
            rates, peak = program.rates(model, data, steps, flags.rounds)
        print(f"| {model.title} | {spread(rates)} | {ours[model.title]:,.0f} | {peak:.0f} |",
              flush=True)


def measure_start(commands_of, model, flags):
    """From exec to the first step, in turn; the peers' data is made in memory."""
    spent = {side: [] for side in SIDES if side in commands_of}
    plain = {"PyTorch": ["eager"], "TensorFlow": ["graph"]}
    with program.data_of(model) as data:
        for _ in range(flags.rounds):
            for side, times in spent.items():
                if side == "ours":
                    times.append(program.start_seconds(model, data))
                    continue
                config = {**model.config(1), "variant": plain[side], "start": True}
                with Contestant(commands_of[side], 1, config) as peer:
                    times.append(peer.ready_after)
    print(f"\nFrom exec to the first step, {model.title}, one process, one thread, s:\n")
    print("| " + " | ".join("taas-trainer" if s == "ours" else s for s in spent) + " |")
    print("|" + "---|" * len(spent))
    print("| " + " | ".join(spread(times) for times in spent.values()) + " |", flush=True)


def flags_of_rounds(description):
    """A parser of what all benches in rounds take."""
    parser = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a side's part of a round")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="a part of the names of the models to measure")
    return parser


def chosen_models(only):
    models = [model for model in MODELS if only.lower() in f"{model.name} {model.title}".lower()]
    if not models:
        raise SystemExit(f"bench: no model is called {only}; there are "
                         f"{', '.join(model.name for model in MODELS)}")
    return models


def main():
    parser = flags_of_rounds(__doc__)
    parser.add_argument("--skip", nargs="*", default=[], choices=["torch", "tensorflow"])
    parser.add_argument("--quick", action="store_true", help="without torch.compile")
    flags = parser.parse_args()
    if max(flags.threads) > os.cpu_count():
        raise SystemExit(f"bench: {max(flags.threads)} threads, but {os.cpu_count()} cores")
    models = chosen_models(flags.only)
    if not os.path.exists(program.PROGRAM):
        raise SystemExit(f"bench: {program.PROGRAM} is not there: `make build` makes it")
    commands_of = commands(flags)
    peaks, ours = measure_steps(commands_of, models, flags)
    print(f"\nPeak memory with {flags.threads[0]} thread(s), MB:\n\n{memory_table(peaks)}")
    if ours:
        measure_program(models, ours, flags)
    measure_start(commands_of, MODELS[0], flags)


if __name__ == "__main__":
    main()
