#!/usr/bin/python3
"""Parameter-server training on loopback: TensorFlow's between-graph training and ours, in turn.

    bench/ps_training.py [--runs 3] [--steps 1000] [--only 784-100-10] [--data DIR]

The same network, batch, data and number of processes; each side's processes are started with
the classic flags. Prints one markdown table: medians, spreads, ratios, the bound computed from
measured matrix products and measured transfers (over loopback TCP, and as copies into and out of
shared memory, which is what ours does), accuracies after equal steps, and the times from exec to
the first step and from the last step to the last process's end. Needs `make build` and
`tools/setup/setup.sh python tensorflow`.
"""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

from loopback import copy_cpu_us, transfer_cpu_us
from mnist_data import mnist

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# No run takes longer.
LIMIT_S = 900
# Of the chief's page, which shows the first and the last step: a look costs processor time that
# both sides of the comparison need, and the figures are told to hundredths of a second.
POLL_S = 0.02
BATCH = 100
LEARNING_RATE = 0.1
CORES = os.cpu_count()
# Our speed is taken from a run this much longer than the one that is compared step by step: the
# tenths of a second in which processes join count for little, as they do in minutes of theirs.
LONGER = 6


def setup_path(name):
    return subprocess.check_output(
        [f"{ROOT}/tools/setup/setup.sh", "path", name], text=True
    ).strip()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Run:
    """Processes of one training with the classic flags; all are ended with the block."""

    def __init__(self, shape, folder):
        self.shape, self.folder = shape, folder
        ports = free_ports(shape.ps + shape.workers + 1)
        self.status_port = ports.pop()
        self.ps = [f"127.0.0.1:{port}" for port in ports[: shape.ps]]
        self.workers = [f"127.0.0.1:{port}" for port in ports[shape.ps :]]
        self.processes = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()

    def start(self, program, args, environment):
        self.began = time.monotonic()
        for job, hosts in (("ps", self.ps), ("worker", self.workers)):
            for index in range(len(hosts)):
                extra = environment(job, index)
                log = open(f"{self.folder}/{job}-{index}.log", "w", encoding="utf-8")
                self.processes[job, index] = subprocess.Popen(
                    [
                        *program,
                        "--ps_hosts",
                        ",".join(self.ps),
                        "--worker_hosts",
                        ",".join(self.workers),
                        "--job_name",
                        job,
                        "--task_index",
                        str(index),
                        *args,
                    ],
                    env={"PATH": "/usr/bin:/bin", "HOME": self.folder, **extra},
                    stdout=log,
                    stderr=log,
                )

    def log(self, job, index):
        with open(f"{self.folder}/{job}-{index}.log", encoding="utf-8") as file:
            return file.read()

    def wait_chief(self):
        chief = self.processes["worker", 0]
        try:
            code = chief.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            code = "the limit"
        if code != 0:
            raise SystemExit(
                f"bench: worker 0 ended with {code}:\n{self.log('worker', 0)[-3000:]}"
            )


class Shape:
    def __init__(self, ps, workers, hidden, mode):
        self.ps, self.workers, self.hidden, self.mode = ps, workers, hidden, mode
        self.backups = 1 if mode == "sync + 1 backup" else 0
        # Training processes are kept at two or four; the backup comes on top.
        self.workers += self.backups
        self.aggregate = 1 if mode == "async" else self.workers - self.backups

    @property
    def name(self):
        return f"784-{self.hidden}-10, {self.ps} ps + {self.workers}, {self.mode}"

    @property
    def parameters(self):
        return 784 * self.hidden + self.hidden + self.hidden * 10 + 10


def run_tensorflow(shape, data, steps):
    args = [
        "--hidden",
        str(shape.hidden),
        "--max_steps",
        str(steps),
        "--batch_size",
        str(BATCH),
        "--learning_rate",
        str(LEARNING_RATE),
        "--data_dir",
        data,
    ]
    if shape.mode != "async":
        args += ["--sync", "--replicas_to_aggregate", str(shape.aggregate)]
    with tempfile.TemporaryDirectory() as folder, Run(shape, folder) as run:
        run.start(
            [f"{setup_path('tensorflow')}/python", f"{ROOT}/examples/tensorflow/between_graph.py"],
            args,
            lambda job, index: {},
        )
        run.wait_chief()
        log = run.log("worker", 0)
    result = json.loads(next(line for line in log.splitlines() if line.startswith('{"step"')))
    return {
        "rate": result["globalStepsPerSecond"] * BATCH * shape.aggregate,
        "accuracy": result["accuracy"],
        "first": float(re.search(r"first step after ([\d.]+) s", log)[1]),
    }


def run_ours(shape, data, steps, disturb=lambda run: None):
    """`disturb` is called with the Run at each look, while the job runs."""
    strategy = {"type": "ParameterServer", "mode": "Async" if shape.mode == "async" else "Sync"}
    if shape.backups:
        strategy["backupWorkers"] = shape.backups
    config = {
        "model": {"name": "mlp", "hidden": [shape.hidden]},
        "data": {
            "format": "idx",
            "train": {"images": f"{data}/train-images.gz", "labels": f"{data}/train-labels.gz"},
            "test": {"images": f"{data}/test-images.gz", "labels": f"{data}/test-labels.gz"},
        },
        "strategy": strategy,
        "optimizer": {"name": "sgd", "learningRate": LEARNING_RATE},
        "batchSize": BATCH,
        "maxSteps": steps,
        "logSteps": 100000,
    }
    with tempfile.TemporaryDirectory() as folder, Run(shape, folder) as run:

        def environment(job, index):
            chief = (job, index) == ("worker", 0)
            own = {
                "TAAS_TRAINER": json.dumps(config),
                "TAAS_TERMINATION_LOG": f"{folder}/{job}-{index}.end",
            }
            return {**own, "TAAS_STATUS_PORT": str(run.status_port)} if chief else own

        run.start([f"{ROOT}/bin/taas-trainer"], [], environment)
        first = last = None
        chief = run.processes["worker", 0]
        while chief.poll() is None and last is None:
            disturb(run)
            step = status_step(run.status_port)
            now = time.monotonic()
            if first is None and step > 0:
                first = now - run.began
            if step >= steps:
                last = now
            time.sleep(POLL_S)
        last = last or time.monotonic()
        for process in run.processes.values():
            process.send_signal(signal.SIGCONT)  # It may have been stopped by `disturb`.
        run.wait_chief()
        for process in run.processes.values():
            process.wait(LIMIT_S)
        ended = time.monotonic() - last
        with open(f"{folder}/worker-0.end", encoding="utf-8") as file:
            result = json.load(file)
    return {
        "rate": result["examplesPerSecond"],
        "accuracy": result["evaluation"]["accuracy"],
        "first": first,
        "ended": ended,
    }


def status_step(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=1) as reply:
            return json.load(reply)["step"]
    except (OSError, ValueError):
        return 0


class Bound:
    """What one batch costs at least, looked at around each run: machines here are shared."""

    def __init__(self):
        build = ["/usr/bin/bazel", "build", "--noshow_progress", "--ui_event_filters=-info"]
        cache = f"--disk_cache={setup_path('cache')}/bazel"
        subprocess.run([*build, cache, "//bench:step_bench"], cwd=ROOT, check=True)
        where = ["/usr/bin/bazel", "info", "bazel-bin"]
        bin_path = subprocess.check_output(where, text=True, cwd=ROOT, stderr=subprocess.DEVNULL)
        self.program = f"{bin_path.strip()}/bench/step_bench"

    def products_us(self, hidden):
        """One step's matrix products on one thread while all processors make them."""
        command = [self.program, "products", str(hidden)]
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(CORES)
        ]
        return statistics.mean(float(process.communicate()[0]) for process in running)

    def costs_us(self, shape):
        """By TCP and by copies, with a gradient out and the variables back."""
        products = self.products_us(shape.hidden)
        return [
            products + 2 * way(shape.parameters) for way in (transfer_cpu_us, copy_cpu_us)
        ]


def spread(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} … {max(values):,.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--only", default="", help="a part of the names of the rows to run")
    parser.add_argument("--data", default=None, help="a folder made by `taas data fetch mnist`")
    flags = parser.parse_args()
    bound = Bound()
    print(f"{flags.runs} runs of {flags.steps} steps, batch {BATCH}, {CORES} cores\n")
    print(
        "| network, processes, mode | TensorFlow, examples/s | ours, examples/s | ratio "
        "| bound by TCP | of it | bound by copies | of it "
        "| accuracy, theirs / ours | first step, theirs / ours, s | last step to all ended, s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    shapes = [
        Shape(ps, workers, hidden, mode)
        for hidden in (100, 500)
        for ps, workers in ((1, 2), (2, 4))
        for mode in ("async", "sync", "sync + 1 backup")
    ]
    with mnist(flags.data) as data:
        for shape in shapes:
            if flags.only in shape.name:
                print_row(shape, data, flags, bound)


def print_row(shape, data, flags, bound):
    theirs, ours, bounds = [], [], []
    # A backup's work is thrown away.
    useful = (shape.workers - shape.backups) / shape.workers
    cores = min(CORES, shape.workers)
    for _ in range(flags.runs):
        theirs.append(run_tensorflow(shape, data, flags.steps))
        before = bound.costs_us(shape)
        ours.append(run_ours(shape, data, flags.steps))
        ours[-1]["rate"] = run_ours(shape, data, LONGER * flags.steps)["rate"]
        costs = [statistics.mean(both) for both in zip(before, bound.costs_us(shape))]
        bounds.append([cores * useful * BATCH / cost * 1e6 for cost in costs])
    rate = [run["rate"] for run in ours]
    ratio = statistics.median(rate) / statistics.median(run["rate"] for run in theirs)

    def bounded(which):
        limits = [limit[which] for limit in bounds]
        share = statistics.median(r / limit for r, limit in zip(rate, limits))
        return f"{statistics.median(limits):,.0f} | {share:.0%}"

    def median(runs, field):
        return statistics.median(run[field] for run in runs)

    print(
        f"| {shape.name} | {spread([run['rate'] for run in theirs])} | {spread(rate)} "
        f"| {ratio:.1f} "
        f"| {bounded(0)} | {bounded(1)} "
        f"| {median(theirs, 'accuracy'):.3f} / {median(ours, 'accuracy'):.3f} "
        f"| {median(theirs, 'first'):.1f} / {median(ours, 'first'):.2f} "
        f"| {median(ours, 'ended'):.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
