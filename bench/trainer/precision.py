#!/usr/bin/python3
"""Training steps in bfloat16 beside float32, ours and PyTorch's, in turn in one run.

    bench/trainer/precision.py [--rounds 5] [--seconds 1] [--threads 1 2] [--only lenet] [--passive]

Needs what run.py needs of PyTorch. Models, batches and rules are run.py's; PyTorch computes in
bfloat16 by torch.autocast, eagerly. Ratios are medians of the rounds' ratios. With --passive the
threads of all sides sleep while they wait for each other: for a machine that others use, too.
"""

import os
import statistics
import sys

from contestant import Contestant, Failed
from report import NONE, ratio, spread
from run import HERE, build_steps, chosen_models, flags_of_rounds, say, setup_path

HEAD = ("| model, batch | float32 | bfloat16 | gain | PyTorch in bfloat16 | ours / it |\n"
        "|---|---|---|---|---|---|")
PRECISIONS = ("float32", "bfloat16")


def start(commands_of, model, threads, flags):
    """The programs by side; a side that does not train the model this way is left out."""
    running = {}
    for side, command in commands_of.items():
        precision = side if side in PRECISIONS else "bfloat16"
        order = ["channels last"] if model.name in ("lenet", "resnet20") else []
        config = {**model.config(threads), "precision": precision, "variant": ["eager", *order]}
        try:
            running[side] = Contestant(command, threads, config,
                                       {"OMP_WAIT_POLICY": "passive"} if flags.passive else None)
        except Failed as error:
            say(f"{model.title}, {side}, is left out: {error}")
    return running


def measure(commands_of, model, threads, flags):
    rates = {side: [] for side in commands_of}
    running = start(commands_of, model, threads, flags)
    try:
        steps = {side: program.steps_in(flags.seconds) for side, program in running.items()}
        for _ in range(flags.rounds):
            for side, program in running.items():
                seconds = program.seconds(steps[side])
                rates[side].append(steps[side] * model.batch / seconds)
    finally:
        for program in running.values():
            program.close()
    ours = rates["bfloat16"]
    theirs = rates.get("PyTorch", [])
    cells = [f"{model.title}, {model.batch}", spread(rates["float32"]), spread(ours),
             ratio(ours, rates["float32"]), spread(theirs), ratio(ours, theirs) if theirs else NONE]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = flags_of_rounds(__doc__)
    parser.add_argument("--skip-torch", action="store_true")
    parser.add_argument("--passive", action="store_true", help="threads sleep while they wait")
    flags = parser.parse_args()
    models = chosen_models(flags.only)
    steps = build_steps()
    commands_of = {precision: [steps] for precision in PRECISIONS}
    if not flags.skip_torch:
        commands_of["PyTorch"] = [f"{setup_path('torch')}/python", f"{HERE}/torch_peer.py"]
    loads = []
    for threads in flags.threads:
        print(f"\n{threads} thread(s), examples per second, median and spread of {flags.rounds} "
              f"rounds of {flags.seconds:g} s:\n\n{HEAD}", flush=True)
        for model in models:
            print(measure(commands_of, model, threads, flags), flush=True)
            loads.append(os.getloadavg()[0])
    print(f"\nLoad of the machine: {statistics.median(loads):.1f} (median), at most "
          f"{max(loads):.1f}.")


if __name__ == "__main__":
    sys.exit(main())
