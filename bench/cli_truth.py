#!/usr/bin/python3
"""Counts how often `taas wait`, `submit` and `logs -f` say something that is not so.

    bench/cli_truth.py [--on local|kubernetes] [--runs 200] [--others 50] [--parallel 4]

Each verb is run so often on jobs of both kinds, half of which fail, beside other jobs that change
all the time. A run is wrong if its exit code is, if it ends before its job has ended (or, for
`wait --for Deleted`, is gone), if it ends later than two seconds after that, or if a line of the
log is missing. Prints a table, and what was wrong; exits 1 if anything was.

`local` is a whole local cluster: the operator ends the jobs and their pods write logs. On
`kubernetes`, which is kube-apiserver and etcd, the bench writes the status itself: there is no
node, and so no logs.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import ssl
import string
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Nothing here takes so long unless it hangs.
LIMIT_S = 60
LATE_S = 2.0
# The watch of the bench and that of the program are told by one server, one after the other.
SKEW_S = 0.25
POLL_S = 0.02
# Between two changes of other jobs.
NOISE_S = 0.05
KINDS = ("trainingjob", "tfjob")
PATHS = {
    "trainingjob": "/apis/taas.dev/v1/namespaces/default/trainingjobs",
    "tfjob": "/apis/kubeflow.org/v1/namespaces/default/tfjobs",
}
MERGE_PATCH = "application/merge-patch+json"


class Api:
    """JSON requests of one kubeconfig; a connection each, so from any thread."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        self.host = urlsplit(re.search(r"server\"?: *\"?([^\s\",]+)", text)[1]).netloc
        self.token = re.search(r"token\"?: *\"?([^\s\",]+)", text)[1]
        # Of this machine, and made by the server that we started.
        self.trust = ssl.create_default_context()
        self.trust.check_hostname, self.trust.verify_mode = False, ssl.CERT_NONE

    def open(self, verb, path, body=None, content_type="application/json", timeout=LIMIT_S):
        connection = http.client.HTTPSConnection(self.host, context=self.trust, timeout=timeout)
        connection.request(verb, path, None if body is None else json.dumps(body),
                           {"Authorization": "Bearer " + self.token, "Content-Type": content_type})
        return connection, connection.getresponse()

    def call(self, verb, path, body=None, content_type="application/json"):
        """The answer, or nothing where that is 404 or 409."""
        connection, reply = self.open(verb, path, body, content_type)
        with contextlib.closing(connection):
            text = reply.read().decode()
        if reply.status in (404, 409):
            return None
        if reply.status >= 300:
            raise RuntimeError(f"{verb} {path}: {reply.status} {text[:500]}")
        return json.loads(text)


def manifest(kind, name, script="", suspend=False):
    """Of one worker."""
    container = {"name": "trainer" if kind == "trainingjob" else "tensorflow", "image": "own",
                 "command": ["/bin/sh", "-c", script or "true"]}
    worker = {"replicas": 1, "template": {"spec": {"containers": [container]}}}
    meta = {"name": name, "namespace": "default"}
    if kind == "trainingjob":
        return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": meta,
                "spec": {"suspend": suspend, "roles": {"worker": worker}}}
    worker["restartPolicy"] = "Never"
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": meta,
            "spec": {"runPolicy": {"suspend": suspend}, "tfReplicaSpecs": {"Worker": worker}}}


def has_ended(job):
    status = job.get("status") or {}
    return status.get("state") in ("Succeeded", "Failed") or any(
        condition.get("type") in ("Succeeded", "Failed") and condition.get("status") == "True"
        for condition in status.get("conditions") or [])


class Observer:
    """When each job came, ended and went, as a watch of all jobs tells it."""

    def __init__(self, api):
        self.api = api
        self.changed = threading.Condition()
        self.seen = {}  # (name, "made" | "ended" | "gone") -> monotonic time
        self.stopping = threading.Event()
        for kind in KINDS:
            # Its watch ends with the server; nobody waits for that.
            threading.Thread(target=self._follow, args=(kind,), daemon=True).start()

    def stop(self):
        self.stopping.set()

    def _follow(self, kind):
        while not self.stopping.is_set():
            try:
                listed = self.api.call("GET", PATHS[kind])
                version = listed["metadata"]["resourceVersion"]
                connection, reply = self.api.open(
                    "GET", f"{PATHS[kind]}?watch=true&resourceVersion={version}", timeout=3600)
                with contextlib.closing(connection):
                    for line in reply:
                        self._note(json.loads(line))
            except (OSError, RuntimeError, ValueError, http.client.HTTPException):
                self.stopping.wait(POLL_S)

    def _note(self, event):
        now, job = time.monotonic(), event.get("object") or {}
        name = (job.get("metadata") or {}).get("name")
        whats = {"ADDED": ["made"], "DELETED": ["gone"]}.get(event.get("type"), [])
        if has_ended(job):
            whats.append("ended")
        with self.changed:
            for what in whats:
                self.seen.setdefault((name, what), now)
            self.changed.notify_all()

    def when(self, name, what, limit_s):
        """Nothing: it was not seen within the limit."""
        with self.changed:
            self.changed.wait_for(lambda: (name, what) in self.seen, limit_s)
            return self.seen.get((name, what))


class Local:
    """`taas local up`: whatever happens to jobs is real."""

    has_logs = True

    def __init__(self, taas):
        self.dir = tempfile.mkdtemp(prefix="taas-truth-")
        self.taas = taas
        self.log = open(os.path.join(self.dir, "log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [taas, "local", "up", "--dir", self.dir + "/c", "--no-dashboard"],
            stdout=self.log, stderr=self.log)
        self.kubeconfig = self.dir + "/c/kubeconfig"
        deadline = time.monotonic() + LIMIT_S
        while not self._answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("the local cluster does not come up")
            time.sleep(POLL_S)

    def _answers(self):
        try:
            return Api(self.kubeconfig).call("GET", PATHS["tfjob"]) is not None
        except (OSError, TypeError):
            return False

    def play(self, observer, run):
        """The operator does it."""

    def stop(self):
        subprocess.run([self.taas, "local", "down", "--dir", self.dir + "/c"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process.wait(LIMIT_S)
        self.log.close()
        shutil.rmtree(self.dir)


class Kubernetes:
    """etcd and kube-apiserver; the bench is the operator."""

    has_logs = False

    def __init__(self, _):
        setup = os.path.join(ROOT, "tools", "setup", "setup.sh")
        os.environ.setdefault("TAAS_KUBERNETES_BIN", subprocess.check_output(
            [setup, "path", "kubernetes"], text=True).strip())
        sys.path += [os.path.join(ROOT, "e2e", name) for name in ("chart", "cluster")]
        from api_server import ApiServer
        self.server = ApiServer()
        self.kubeconfig = self.server.kubeconfig
        for kind in KINDS:
            self.server.kubectl("create", "-f", os.path.join(ROOT, "crds", kind + "s.yaml"))
        for kind in KINDS:
            self.server.kubectl("wait", "--for=condition=Established", "crd",
                                PATHS[kind].split("/")[-1] + "." + PATHS[kind].split("/")[2])
        self.api = Api(self.kubeconfig)
        deadline = time.monotonic() + LIMIT_S
        while not all(map(self._serves, KINDS)):
            if time.monotonic() > deadline:
                raise RuntimeError("the API server does not serve the jobs")
            time.sleep(POLL_S)

    def _serves(self, kind):
        try:
            return self.api.call("GET", PATHS[kind]) is not None
        except RuntimeError:  # It makes room for a new kind.
            return False

    def play(self, observer, run):
        if observer.when(run.name, "made", LIMIT_S) is None:
            return
        time.sleep(run.delay_s)
        state = "Failed" if run.fails else "Succeeded"
        status = {"state": state, "message": "said by the bench"}
        if run.kind == "tfjob":
            status = {"conditions": [{"type": state, "status": "True", "reason": "TFJob" + state,
                                      "message": "said by the bench"}]}
        self.api.call("PATCH", f"{PATHS[run.kind]}/{run.name}/status", {"status": status},
                      MERGE_PATCH)

    def stop(self):
        self.server.stop()


@dataclass
class Run:
    verb: str
    kind: str
    name: str
    delay_s: float
    fails: bool

    @property
    def script(self):
        return f"sleep {self.delay_s:.2f}; echo the last line; exit {int(self.fails)}"

    @property
    def reference(self):
        return ("tj/" if self.kind == "trainingjob" else "tfjob/") + self.name


@dataclass
class Outcome:
    run: Run
    wrong: str  # Empty: it was right.
    late_s: float


class Bench:

    def __init__(self, cluster, options):
        self.cluster = cluster
        self.options = options
        self.api = Api(cluster.kubeconfig)
        self.observer = Observer(self.api)
        self.stopping = threading.Event()
        self.noise = threading.Thread(target=self._make_noise)

    def stop(self):
        self.stopping.set()
        if self.noise.is_alive():
            self.noise.join(LIMIT_S)
        self.observer.stop()

    def add_others(self):
        letters = string.ascii_lowercase
        self.others = [(KINDS[i % 2], f"{letters[i % len(letters)]}-other-{i}")
                       for i in range(self.options.others)]
        for kind, name in self.others:
            self.api.call("POST", PATHS[kind], manifest(kind, name, suspend=True))
        self.noise.start()

    def _make_noise(self):
        count = 0
        while self.others and not self.stopping.wait(NOISE_S):
            kind, name = self.others[count % len(self.others)]
            count += 1
            self.api.call("PATCH", f"{PATHS[kind]}/{name}",
                          {"metadata": {"annotations": {"example.com/n": str(count)}}},
                          MERGE_PATCH)

    def taas(self, *words):
        environ = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
                   "KUBECONFIG": self.cluster.kubeconfig}
        try:
            done = subprocess.run([self.options.taas, *words], env=environ, text=True,
                                  capture_output=True, check=False, timeout=LIMIT_S,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None, "", f"ran for more than {LIMIT_S} s"
        return done.returncode, done.stdout, done.stderr

    def command(self, run):
        if run.verb == "wait":
            return ["wait", run.reference]
        if run.verb == "wait --for Deleted":
            return ["wait", run.reference, "--for", "Deleted"]
        if run.verb == "logs -f":
            return ["logs", "-f", run.reference]
        restart = ["--restart", "Never"] if run.kind == "tfjob" else []
        return ["submit", "--kind", run.kind, "--name", run.name, "--image", "own", "--workers",
                "1", *restart, "--", "/bin/sh", "-c", run.script]

    def execute(self, run):
        deletes = run.verb == "wait --for Deleted"
        if run.verb != "submit":
            self.api.call("POST", PATHS[run.kind], manifest(run.kind, run.name, run.script))
        with concurrent.futures.ThreadPoolExecutor(1) as player:
            player.submit(self._delete if deletes else self._play, run)
            code, out, err = self.taas(*self.command(run))
            end = time.monotonic()
        outcome = self.judge(run, code, out, err, end)
        self.api.call("DELETE", f"{PATHS[run.kind]}/{run.name}")
        return outcome

    def _play(self, run):
        self.cluster.play(self.observer, run)

    def _delete(self, run):
        time.sleep(run.delay_s)
        self.api.call("DELETE", f"{PATHS[run.kind]}/{run.name}")

    def judge(self, run, code, out, err, end):
        what = "gone" if run.verb == "wait --for Deleted" else "ended"
        when = self.observer.when(run.name, what, SKEW_S)
        said = err.strip().splitlines()[-1:] or ["nothing"]
        has_result = run.verb in ("wait", "submit")
        wanted = 1 if has_result and run.fails else 0
        late_s = end - when if when is not None else 0.0
        if code != wanted:
            return Outcome(run, f"exit code {code}, not {wanted}: {said[0]}", late_s)
        if when is None:
            return Outcome(run, f"ended before its job was {what}", late_s)
        if late_s < -SKEW_S:
            return Outcome(run, f"ended {-late_s:.2f} s before its job was {what}", late_s)
        if late_s > self.options.late_s:
            return Outcome(run, f"ended {late_s:.2f} s after its job was {what}", late_s)
        prints = run.verb in ("submit", "logs -f") and self.cluster.has_logs
        if prints and "the last line" not in out:
            return Outcome(run, "the log's last line is missing", late_s)
        return Outcome(run, "", late_s)


VERBS = ("wait", "wait --for Deleted", "submit", "logs -f")


def make_runs(options):
    draw = random.Random(options.seed)
    return [
        Run(verb, KINDS[i % 2], f"{draw.choice(string.ascii_lowercase)}-{number}-{i}",
            draw.uniform(0.1, 1.0), i % 4 >= 2)
        for number, verb in enumerate(VERBS) for i in range(options.runs)
    ]


def report(outcomes):
    print("| verb | runs | wrong | after the condition, median | slowest |")
    print("|---|---|---|---|---|")
    for verb in VERBS:
        mine = [outcome for outcome in outcomes if outcome.run.verb == verb]
        late = sorted(outcome.late_s for outcome in mine) or [0.0]
        wrong = sum(bool(outcome.wrong) for outcome in mine)
        print(f"| `taas {verb}` | {len(mine)} | {wrong} | {late[len(late) // 2]:.2f} s "
              f"| {late[-1]:.2f} s |")
    for outcome in outcomes:
        if outcome.wrong:
            print(f"wrong: {outcome.run.verb} {outcome.run.reference}: {outcome.wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=("local", "kubernetes"), default="local")
    parser.add_argument("--runs", type=int, default=200, help="of each verb")
    parser.add_argument("--others", type=int, default=50, help="jobs beside them")
    parser.add_argument("--parallel", type=int, default=4, help="runs at a time")
    parser.add_argument("--late-s", type=float, default=LATE_S)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--taas", default=os.path.join(ROOT, "bin", "taas"))
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    with contextlib.ExitStack() as ends:
        cluster = (Local if options.on == "local" else Kubernetes)(options.taas)
        ends.callback(cluster.stop)
        bench = Bench(cluster, options)
        ends.callback(bench.stop)
        bench.add_others()
        with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
            outcomes = list(pool.map(bench.execute, make_runs(options)))
    report(outcomes)
    return int(any(outcome.wrong for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
