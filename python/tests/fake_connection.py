"""An API server of answers that a test wrote down.

    connection = FakeConnection({"GET /apis/…/mnist": [job, Unreachable(…)]}, streams={…})

Answers to one request are taken one after the other; the last one stays. A list of bytes is a
stream's lines; an exception is raised.
"""

import json

from taas.errors import Attempt, NotFound


class FakeStream:

    def __init__(self, lines):
        self._lines, self.closed = lines, False

    def lines(self):
        for line in self._lines:
            if isinstance(line, Exception):
                raise line
            yield line

    def close(self):
        self.closed = True


class FakeConnection:
    host, namespace = "https://fake", "default"

    def __init__(self, answers=None, streams=None):
        self.answers, self.streams = answers or {}, streams or {}
        self.asked, self.bodies = [], []

    def _next(self, answers):
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def call(self, method, path, attempt, *, body=None, query=None, content_type=""):
        self.asked.append((method, path, dict(query or {})))
        self.bodies.append(body)
        if f"{method} {path}" not in self.answers:
            raise NotFound(attempt, "not found", code=404)
        return json.loads(json.dumps(self._next(self.answers[f"{method} {path}"])))

    def stream(self, path, attempt, *, query=None, read_s=0):
        self.asked.append(("STREAM", path, dict(query or {})))
        if path not in self.streams:
            raise NotFound(attempt, "not found", code=404)
        return FakeStream(self._next(self.streams[path]))


JOBS = "/apis/taas.dev/v1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
ATTEMPT = Attempt("read", "x")


def job_object(state="Running", uid="u1", **status):
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
            "metadata": {"name": "mnist", "namespace": "default", "uid": uid,
                         "resourceVersion": "7"},
            "spec": {"roles": {"worker": {"replicas": 2}}},
            "status": {**({"state": state} if state else {}), **status}}


def pod_object(role="worker", index=0, phase="Running", uid=None, **status):
    name = f"mnist-{role}-{index}"
    return {"metadata": {"name": name, "namespace": "default", "uid": uid or "pod-" + name,
                         "labels": {"taas.dev/role": role, "taas.dev/index": str(index)},
                         "ownerReferences": [{"uid": "u1", "controller": True}]},
            "spec": {"restartPolicy": "Never", "nodeName": "n1", "containers": [
                {"name": "sidecar"},
                {"name": "trainer", "env": [{"name": "TAAS_STATUS_PORT", "value": "2223"}]}]},
            "status": {"phase": phase, "podIP": "127.0.0.1", **status}}


def listed(*items, version="5"):
    return {"metadata": {"resourceVersion": version}, "items": list(items)}


def event(kind, found, version="6"):
    found = json.loads(json.dumps(found))
    found.setdefault("metadata", {})["resourceVersion"] = version
    return json.dumps({"type": kind, "object": found}).encode()
