"""Jobs of real trainer processes on loopback, started by hand: no operator, no cluster."""

import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
# A job of these tests that has not ended by then hangs.
PATIENCE_S = 90
POLL_S = 0.01
# Steps that no job of these tests ends.
ENDLESS = 100_000_000
# Linux gives outgoing connections 32768 and up. Each is handed out once: one that a replica has
# not bound yet is free to whoever asks.
_PORTS = iter(random.sample(range(12_000, 20_000), 8_000))

CONFIG = {
    "model": {"name": "mlp", "hidden": [64]},
    "data": {"format": "generated",
             "generated": {"examples": 2000, "testExamples": 500, "features": 64, "classes": 10}},
    "batchSize": 32, "maxSteps": 600, "logSteps": 10,
}

# No step without a gradient of each: nobody is done before the others have come. The leader of an
# asynchronous job trains these few steps alone in the time that another process takes to start.
TOGETHER = {"mode": "Sync"}


def free_ports(count):
    """Ports that are free now. No program's outgoing connection gets one of these by chance."""
    ports = []
    while len(ports) < count:
        port = next(_PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        ports.append(port)
    return ports


def wait_until(what, done):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        value = done()
        if value:
            return value
        time.sleep(POLL_S)
    raise AssertionError(f"waited {PATIENCE_S} s for {what}")


class Process:
    """One trainer, and what it has said."""

    def __init__(self, directory, name, args, environment):
        self.name = name
        self.log_path = os.path.join(directory, name + ".log")
        self.end_path = os.path.join(directory, name + ".termination")
        self.status_port = free_ports(1)[0]
        self.started = time.monotonic()
        with open(self.log_path, "ab") as log:
            self.child = subprocess.Popen(
                [TRAINER, *args], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={"TAAS_TERMINATION_LOG": self.end_path,
                     "TAAS_STATUS_PORT": str(self.status_port), **environment})

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def end(self):
        with open(self.end_path, encoding="utf-8") as file:
            return json.load(file)

    def code(self):
        return self.child.poll()

    def wait(self):
        wait_until(f"the end of {self.name}", lambda: self.code() is not None)
        return self.code()

    def says(self, text):
        wait_until(f"{self.name} to say: {text}\n{self.log()}",
                   lambda: text in self.log() or self.code() is not None)
        assert text in self.log(), f"{self.name} ended with {self.code()}:\n{self.log()}"

    def get(self, page):
        """JSON of a page; None while nobody serves it."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}{page}",
                                        timeout=5) as reply:
                return json.load(reply)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def signal(self, number):
        self.child.send_signal(number)

    def kill(self):
        if self.code() is None:
            self.child.kill()
        self.child.wait()


class Job:
    """Processes that belong together; those that still run at the end are killed."""

    def __init__(self, ps=1, workers=2, chief=False, **config):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.config = {**json.loads(json.dumps(CONFIG)), **config}
        self.out = os.path.join(self.directory, "out")
        counts = {"chief": int(chief), "ps": ps, "worker": workers}
        ports = iter(free_ports(sum(counts.values())))
        self.cluster = {role: [f"127.0.0.1:{next(ports)}" for _ in range(count)]
                        for role, count in counts.items() if count}
        self.processes = {}
        self.pods = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()

    def checkpoints(self, every=200):
        self.config["checkpoint"] = {"dir": self.out, "everySteps": every}

    def start(self, name, args=(), environment=None):
        self.pods[name] = self.pods.get(name, 0) + 1
        process = Process(self.directory, name, args, environment or {})
        self.processes[name] = process
        return process

    def start_replica(self, role, index=0, cluster=None, args=(), environment=None):
        name = f"{role}-{index}"
        tf_config = {"cluster": self.cluster if cluster is None else cluster,
                     "task": {"type": role, "index": index}}
        return self.start(name, args, {
            "TF_CONFIG": json.dumps(tf_config), "TAAS_TRAINER": json.dumps(self.config),
            "TAAS_JOB": "default/test", "TAAS_JOB_UID": self.directory,
            "TAAS_POD_NUMBER": str(self.pods.get(name, 0) + 1), **(environment or {})})

    def start_all(self):
        for role, addresses in self.cluster.items():
            for index in range(len(addresses)):
                self.start_replica(role, index)

    def logs(self):
        return "\n".join(f"== {name}\n{process.log()}" for name, process in self.processes.items())

    def expect_all_done(self, test):
        """All exit with 0. Returns how long after the first each was gone, in the order of ends."""
        ends = {}

        def all_ended():
            for name, process in self.processes.items():
                if name not in ends and process.code() is not None:
                    ends[name] = time.monotonic()
            return len(ends) == len(self.processes)
        try:
            wait_until("the end of the job", all_ended)
        except AssertionError as error:
            test.fail(f"{error}\n{self.logs()}")
        codes = {name: process.code() for name, process in self.processes.items()}
        test.assertEqual(set(codes.values()), {0}, f"{codes}\n{self.logs()}")
        return ends
