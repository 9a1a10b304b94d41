"""A real API server with etcd and no node, for what the chart does to a cluster.

    with ApiServer() as server:
        helm.run("install", …, kubeconfig=server.kubeconfig)
        server.kubectl("get", "crds")

It listens on loopback and free ports only and needs no root. Its folder goes with it; when it does
not come up the error has the end of the log.
"""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import helm

# Also where a test of this folder runs by itself.
sys.path.append(os.path.join(helm.ROOT, "e2e", "cluster"))

import audit
import programs

TOKEN = "test-admin"
# 4 s on an idle machine; a loaded one takes many times as long.
READY_LIMIT_S = 120
POLL_S = 0.1
STOP_LIMIT_S = 30
# Definitions without objects go within a second, those with jobs after five.
DELETE_LIMIT_S = 60
# A port that was free may be taken before the program binds it.
ATTEMPTS = 3
LOG_TAIL = 2000
# Those of programs.
AUDITED_GROUPS = ["system:serviceaccounts"]


class ApiServer:

    # More of kube-apiserver.
    flags = ()
    # More who may log in: lines of --token-auth-file.
    tokens = ()

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="taas-api-")
        self.processes = []
        for attempt in range(ATTEMPTS):
            try:
                self._start()
                return
            except RuntimeError:
                self._end_processes()
                if attempt == ATTEMPTS - 1:
                    shutil.rmtree(self.folder)
                    raise
            except BaseException:
                self.stop()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def ca(self):
        """A file: whom clients trust."""
        return self.path("certificates/apiserver.crt")

    def certificate_flags(self):
        """The server makes its own certificate."""
        return ["--cert-dir=" + self.path("certificates")]

    def kubectl(self, *arguments, text=None, check=True):
        """What it printed; with check=False (exit code, output, errors)."""
        done = subprocess.run(
            [helm.program("kubectl", "TAAS_KUBERNETES_BIN"), *arguments],
            env={"PATH": "/usr/bin:/bin", "HOME": self.folder, "KUBECONFIG": self.kubeconfig,
                 **helm.UNCOLLECTED},
            input=text, capture_output=True, text=True, timeout=helm.LIMIT_S, check=False,
        )
        if not check:
            return done.returncode, done.stdout, done.stderr
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def names(self, *arguments):
        return sorted(self.kubectl("get", *arguments, "-o", "name").split())

    def delete_all(self, *arguments):
        """Deletes all of a kind; an error says in what state the last ones are if they stay."""
        deadline = time.monotonic() + DELETE_LIMIT_S
        while self.names(*arguments):
            if time.monotonic() > deadline:
                raise RuntimeError(f"these stay: {self.kubectl('get', *arguments, '-o', 'yaml')}")
            self.kubectl("delete", *arguments, "--all", "--wait=false")
            time.sleep(POLL_S)

    def _start(self):
        etcd, peer, self.port = free_ports(3)
        self.etcd_port = etcd
        url = "http://127.0.0.1:%d"
        shutil.rmtree(self.path("etcd"), ignore_errors=True)
        self._run("etcd", "--data-dir=" + self.path("etcd"), "--unsafe-no-fsync",
                  "--listen-client-urls=" + url % etcd, "--advertise-client-urls=" + url % etcd,
                  "--listen-peer-urls=" + url % peer,
                  "--initial-advertise-peer-urls=" + url % peer,
                  "--initial-cluster=default=" + url % peer)
        key = self.path("service-account.key")
        subprocess.run(["/usr/bin/openssl", "genrsa", "-out", key, "2048"], check=True,
                       capture_output=True)
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in
                            (f'{TOKEN},admin,1,"system:masters"', *self.tokens))
        self._run("kube-apiserver", "--etcd-servers=" + url % etcd, "--bind-address=127.0.0.1",
                  f"--secure-port={self.port}", *self.certificate_flags(), *self.flags,
                  "--service-account-issuer=https://kubernetes.default.svc",
                  "--service-account-key-file=" + key,
                  "--service-account-signing-key-file=" + key, "--authorization-mode=RBAC",
                  "--token-auth-file=" + self.path("tokens.csv"),
                  *audit.flags(
                      audit.write_policy(self.path("audit.json"),
                                         audit.policy(groups=AUDITED_GROUPS)),
                      self.path("audit.log")),
                  # Nobody makes the account `default` here.
                  "--disable-admission-plugins=ServiceAccount",
                  # A loopback address may not be an endpoint.
                  "--endpoint-reconciler-type=none")
        self._await_ready()
        self.kubeconfig = self.write_kubeconfig("admin", TOKEN)

    def _run(self, name, *arguments):
        with open(self.path(name + ".log"), "wb") as log:
            process = subprocess.Popen(
                [helm.program(name, "TAAS_KUBERNETES_BIN"), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**os.environ, **programs.OF_KUBERNETES},
            )
        self.processes.append((name, process))

    def _await_ready(self):
        deadline = time.monotonic() + READY_LIMIT_S
        last = "not tried"
        while time.monotonic() < deadline:
            for name, process in self.processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended: {self._log_tail(name)}")
            try:
                for target in ("/readyz", "/api/v1/namespaces/default"):
                    self._get(target)
                return
            except (OSError, urllib.error.URLError) as error:
                last = str(error)
            time.sleep(POLL_S)
        raise RuntimeError(f"kube-apiserver is not ready: {last}")

    def _get(self, target):
        # The server has just made its certificate.
        trust = ssl.create_default_context(cafile=self.ca)
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{target}",
                                         headers={"Authorization": "Bearer " + TOKEN})
        urllib.request.urlopen(request, timeout=POLL_S * 50, context=trust).close()

    def _log_tail(self, name):
        with open(self.path(name + ".log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-LOG_TAIL:]

    def write_kubeconfig(self, name, token):
        """The path of one with which its owner comes with `token`."""
        return self.write_json(name + ".kubeconfig", {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": f"https://127.0.0.1:{self.port}",
                "certificate-authority": self.ca}}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
        })

    def write_json(self, name, value):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def requests_of(self, user, since=0.0):
        return audit.requests(self.path("audit.log"), user, since)

    def restart(self, meanwhile=lambda: None):
        """The API server alone ends at once and, after `meanwhile`, starts as it was started."""
        (ended,) = [process for name, process in self.processes if name == "kube-apiserver"]
        self.processes = [entry for entry in self.processes if entry[1] is not ended]
        # Told to end, it would wait for its watches.
        ended.kill()
        ended.wait()
        meanwhile()
        self._run("kube-apiserver", *ended.args[1:])
        self._await_ready()

    def _end_processes(self):
        for _, process in reversed(self.processes):
            end(process)
        self.processes = []

    def stop(self):
        self._end_processes()
        shutil.rmtree(self.folder, ignore_errors=True)


def end(process):
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
