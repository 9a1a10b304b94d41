"""etcd and kube-apiserver on free ports of this machine, and nothing else of a cluster.

    with Plane(programs, work, users=20) as plane:
        client = plane.client()
        client.call("GET", "/api/v1/namespaces")
"""

import http.client
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.request

# A start takes 5 s on an idle machine; a loaded one takes many times as long.
READY_LIMIT_S = 120
POLL_S = 0.05
# A program that does not end by itself within this is killed.
END_LIMIT_S = 20
# A request to a busy API server that takes longer hangs.
REPLY_LIMIT_S = 60
# Of one transaction; etcd takes no more by default.
ETCD_OPERATIONS = 128
ADMIN_TOKEN = "bench-admin"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def user_token(number):
    return f"bench-user-{number}"


def wait_for(what, check, process, log, limit_s=READY_LIMIT_S, poll_s=POLL_S):
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        if check():
            return
        time.sleep(poll_s)
    with open(log, encoding="utf-8", errors="replace") as file:
        tail = file.read()[-2000:]
    raise SystemExit(f"bench: {what}: not so within {limit_s} s, or its program ended:\n{tail}")


def answers(url, context=None, token=ADMIN_TOKEN):
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request, context=context, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


class Refused(RuntimeError):
    pass


class Client:
    """One kept connection to the API server; not for several threads."""

    def __init__(self, port, context):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context,
                                                      timeout=REPLY_LIMIT_S)

    def call(self, verb, path, body=None, content_type="application/json"):
        headers = {"Authorization": "Bearer " + ADMIN_TOKEN, "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        self.connection.request(verb, path, data, headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise Refused(f"{verb} {path}: {reply.status} {text.decode(errors='replace')[:1000]}")
        return json.loads(text)

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")


class Plane:
    """Ends both programs with the block."""

    def __init__(self, programs, work, users):
        self.programs = programs
        self.work = work
        self.etcd_port, self.peer_port, self.port = free_port(), free_port(), free_port()
        self.kubeconfig = os.path.join(work, "kubeconfig")
        self.ca = os.path.join(work, "certificates", "apiserver.crt")
        self.processes = []
        tokens = [f'{ADMIN_TOKEN},admin,1,"system:masters"']
        tokens += [f'{user_token(n)},user-{n},u{n},"bench-users"' for n in range(users)]
        self.tokens = self.write("tokens.csv", "\n".join(tokens) + "\n")

    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # The API server first: without its etcd it would wait for it.
        for process in reversed(self.processes):
            end(process)

    def run(self, name, flags):
        log = os.path.join(self.work, name + ".log")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([os.path.join(self.programs, name), *flags],
                                       stdout=file, stderr=file)
        self.processes.append(process)
        return process, log

    def start(self):
        etcd, peer = (f"http://127.0.0.1:{port}" for port in (self.etcd_port, self.peer_port))
        process, log = self.run("etcd", [
            "--data-dir=" + os.path.join(self.work, "etcd"),
            "--unsafe-no-fsync",  # Nobody needs it after a power cut.
            "--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
            "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=default=" + peer])
        wait_for("etcd is healthy", lambda: answers(etcd + "/health"), process, log)
        key = os.path.join(self.work, "service-account.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process, log = self.run("kube-apiserver", [
            "--etcd-servers=" + etcd, "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            # The server makes its own certificate there.
            "--cert-dir=" + os.path.dirname(self.ca),
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
            "--authorization-mode=RBAC", "--token-auth-file=" + self.tokens,
            # Nothing here makes service accounts for pods.
            "--disable-admission-plugins=ServiceAccount",
            # A loopback address may not be an endpoint.
            "--endpoint-reconciler-type=none"])
        ready = f"https://127.0.0.1:{self.port}/readyz"
        wait_for("the API server is ready", lambda: os.path.exists(self.ca) and answers(
            ready, self.context()), process, log)
        self.write("kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "bench",
            "clusters": [{"name": "bench", "cluster": {
                "server": f"https://127.0.0.1:{self.port}", "certificate-authority": self.ca}}],
            "users": [{"name": "admin", "user": {"token": ADMIN_TOKEN}}],
            "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "admin"}}]}))

    def context(self):
        return ssl.create_default_context(cafile=self.ca)

    def client(self):
        return Client(self.port, self.context())

    def put_in_etcd(self, items):
        """`items`: (key, value) of JSON; the API server reads what it has not written itself."""
        connection = http.client.HTTPConnection("127.0.0.1", self.etcd_port,
                                                timeout=REPLY_LIMIT_S)
        for at in range(0, len(items), ETCD_OPERATIONS):
            puts = [{"requestPut": put} for put in items[at:at + ETCD_OPERATIONS]]
            connection.request("POST", "/v3/kv/txn", json.dumps({"success": puts}))
            reply = connection.getresponse()
            text = reply.read()
            if reply.status != 200:
                raise Refused(f"put objects into etcd: {reply.status} {text.decode()[:1000]}")
        connection.close()


def end(process):
    process.terminate()
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
