#!/usr/bin/python3
"""Times the main job on this machine: start of the cluster, apply to first step, memory, speed.

    bench/local_cluster.py [--runs 5] [--data DIR]

Prints one markdown table with the median and the spread of the runs. Needs `make build`, and
kubectl from `tools/setup/setup.sh kubernetes`.
"""

import argparse
import json
import os
import re
import shutil
import ssl
import statistics
import subprocess
import tempfile
import time
import urllib.request

from loopback import transfer_cpu_us

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAAS = os.path.join(ROOT, "bin", "taas")
# No wait here is for more than this many seconds.
LIMIT_S = 120
POLL_S = 0.002
# Of 784-500-10: a step moves a gradient out and the variables back.
PARAMETERS = 397_510


def setup_path(name):
    script = os.path.join(ROOT, "tools", "setup", "setup.sh")
    return subprocess.check_output([script, "path", name], text=True).strip()


def wait_for(what, check):
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        value = check()
        if value is not None:
            return value
        time.sleep(POLL_S)
    raise SystemExit(f"bench: {what} did not happen within {LIMIT_S} s")


class Cluster:
    """One `taas local up` in a directory of its own, ended with the block."""

    def __init__(self, data):
        self.dir = tempfile.mkdtemp(prefix="taas-bench-")
        self.out = os.path.join(self.dir, "out")
        os.mkdir(self.out)
        began = time.monotonic()
        self.process = subprocess.Popen(
            [TAAS, "local", "up", "--dir", f"{self.dir}/c", "--volume", f"mnist-data={data}",
             "--volume", f"mnist-out={self.out}"],
            stdout=subprocess.DEVNULL, stderr=open(f"{self.dir}/log", "w", encoding="utf-8"))
        self.kubeconfig = f"{self.dir}/c/kubeconfig"
        wait_for("an answer of the API server", self.answers)
        self.up_s = time.monotonic() - began

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([TAAS, "local", "down", "--dir", f"{self.dir}/c"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process.wait(LIMIT_S)
        shutil.rmtree(self.dir)

    def answers(self):
        if not os.path.exists(self.kubeconfig):
            return None
        with open(self.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        server = re.search(r"server\"?: *\"?([^\s\",]+)", text)
        token = re.search(r"token\"?: *\"?([^\s\",]+)", text)
        if not server or not token:
            return None
        # The certificate is checked by every test; here only the time counts.
        context = ssl._create_unverified_context()
        request = urllib.request.Request(server[1] + "/version",
                                         headers={"Authorization": "Bearer " + token[1]})
        try:
            with urllib.request.urlopen(request, context=context, timeout=1) as reply:
                return reply.status == 200 or None
        except OSError:
            return None

    def kubectl(self, *args, stdin=None):
        return subprocess.run([KUBECTL, "--kubeconfig", self.kubeconfig, *args], input=stdin,
                              text=True,
                              env={"HOME": self.dir, "PATH": "/usr/bin:/bin"}, check=True,
                              stdout=subprocess.PIPE).stdout

    def job(self, name):
        return json.loads(self.kubectl("get", "tj", name, "-o", "json"))


def memory_kb(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(re.search(field + r":\s+(\d+)", file.read())[1])


def trainer_pids(below):
    """Processes of the bundled trainer that work for the cluster in `below`."""
    pids = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                environ = file.read()
            with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                comm = file.read().strip()
        except OSError:
            continue
        if comm == "taas-trainer" and below.encode() in environ:
            pids.append(int(entry))
    return pids


def chief_status(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=1) as reply:
            return json.load(reply)
    except (OSError, ValueError):
        return None


def run_job(cluster, manifest, name, chief):
    """Applies and waits for the end: seconds to the first step, peak KB of a trainer, status."""
    began = time.monotonic()
    cluster.kubectl("apply", "-f", "-", stdin=manifest)

    def port():
        ledger = cluster.job(name)["metadata"].get("annotations", {}).get("taas.dev/ledger")
        if not ledger:
            return None
        return re.search(r'"statusPort":(\d+)', json.dumps(
            json.loads(ledger)["replicas"][chief]).replace(" ", ""))[1]

    status_port = wait_for("a recorded port", port)
    wait_for("the first step",
             lambda: (chief_status(status_port) or {}).get("step", 0) > 0 or None)
    first_step_s = time.monotonic() - began
    peak = 0

    def ended():
        nonlocal peak
        for pid in trainer_pids(cluster.dir):
            try:
                peak = max(peak, memory_kb(pid, "VmHWM"))
            except (OSError, TypeError):
                pass
        status = chief_status(status_port)
        if status is not None:
            return None
        state = cluster.job(name)["status"]["state"]
        return state if state in ("Succeeded", "Failed") else None

    state = wait_for("the end of the job", ended)
    if state != "Succeeded":
        raise SystemExit(f"bench: {name} ended {state}: {cluster.job(name)['status']['message']}")
    return first_step_s, peak, cluster.job(name)["status"]


def row(name, values, unit, target):
    print(f"| {name} | {statistics.median(values):.3g} {unit} "
          f"| {min(values):.3g} … {max(values):.3g} | {target} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--data", default=None, help="a directory made by `taas data fetch mnist`")
    args = parser.parse_args()
    data = args.data or tempfile.mkdtemp(prefix="taas-bench-data-")
    subprocess.run([TAAS, "data", "fetch", "mnist", data], check=True, stdout=subprocess.DEVNULL)

    with open(f"{ROOT}/examples/mnist.yaml", encoding="utf-8") as file:
        main_job = file.read()
    pair = re.sub(r"\n +chief: \{replicas: 1\}", "", main_job).replace("ps: {replicas: 2}",
                                                                     "ps: {replicas: 1}")
    pair = pair.replace("name: mnist\n", "name: pair\n", 1).replace("/out/checkpoints", "/out/pair")
    up, rest, first, trainer, speed, pair_speed = [], [], [], [], [], []
    for _ in range(args.runs):
        with Cluster(data) as cluster:
            up.append(cluster.up_s)
            # At rest: two seconds after the last thing that happened.
            time.sleep(2)
            rest.append(memory_kb(cluster.process.pid, "VmRSS") / 1024)
            first_step_s, peak, status = run_job(cluster, main_job, "mnist", "chief")
            first.append(first_step_s)
            trainer.append(peak / 1024)
            speed.append(status["progress"]["examplesPerSecond"])
            _, _, status = run_job(cluster, pair, "pair", "worker")
            pair_speed.append(status["progress"]["examplesPerSecond"])
    print(f"{args.runs} runs, {os.cpu_count()} cores\n")
    print("| measurement | median | spread | target |\n|---|---|---|---|")
    row("`taas local up` to the API answering", up, "s", "≤ 1 s")
    row("`kubectl apply` to the first training step", first, "s", "≤ 2 s")
    row("`taas local` with operator, at rest", rest, "MB", "≤ 60 MB")
    row("largest trainer process, peak", trainer, "MB", "≤ 150 MB")
    row("main job (1 chief, 2 ps, 2 workers)", speed, "examples/s", "")
    row("1 ps, 2 workers", pair_speed, "examples/s", "the bound")
    row("CPU time to move one step's bytes over loopback",
        [2 * transfer_cpu_us(PARAMETERS) for _ in range(args.runs)], "µs", "")
    if args.data is None:
        shutil.rmtree(data)


KUBECTL = os.path.join(setup_path("kubernetes"), "kubectl")
main()
