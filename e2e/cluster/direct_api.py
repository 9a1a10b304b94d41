"""The API server as a program sees it: codes and objects, over connections that are kept.

kubectl takes 50 ms of a core for each request and hides codes; tests that write hundreds of
objects, or want a 422 to be one, use this.

    api = Api(cluster.kubeconfig)
    api("POST", core("mine", "pods"), pod).code                  # 201
    api.get(jobs("mine", "tj", "mnist"))["status"]
    api.all([("PATCH", path, {"status": …}), …])                 # eight at a time

Threads: any. Errors: an answer with its code; a connection that fails is an OSError.
"""

import concurrent.futures
import http.client
import json
import threading

import kubeconfig

# As many as keep a server of two cores busy.
CONNECTIONS = 8
# A server that is starting takes its time; one that is away answers at once.
TIMEOUT_S = 30
PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
GROUPS = {"tj": "/apis/taas.dev/v1", "tfjob": "/apis/kubeflow.org/v1"}
PLURALS = {"tj": "trainingjobs", "tfjob": "tfjobs"}


def jobs(namespace, kind, name="", part=""):
    """The path of all jobs of a kind, of one, or of a part of one."""
    path = f"{GROUPS[kind]}/namespaces/{namespace}/{PLURALS[kind]}"
    return "/".join([path, *filter(None, (name, part))])


def core(namespace, resource, name="", part=""):
    return "/".join([f"/api/v1/namespaces/{namespace}/{resource}", *filter(None, (name, part))])


class Answer:

    def __init__(self, code, text, warnings):
        self.code = code
        self.text = text
        self.warnings = warnings

    @property
    def object(self):
        return json.loads(self.text)

    @property
    def message(self):
        """What the server says is wrong."""
        return self.object.get("message", "")


class Api:

    def __init__(self, path):
        self.address, self.context = kubeconfig.access(path)
        self.local = threading.local()

    def _send(self, verb, path, body, headers):
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPSConnection(
                self.address, context=self.context, timeout=TIMEOUT_S)
        try:
            self.local.connection.request(verb, path, body, headers)
            reply = self.local.connection.getresponse()
            return Answer(reply.status, reply.read().decode(), reply.headers.get_all("Warning"))
        except (OSError, http.client.HTTPException):
            self.local.connection.close()
            self.local.connection = None
            raise

    def __call__(self, verb, path, body=None, content_type=None):
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type or (
                PATCH if verb == "PATCH" else "application/json")
            body = body if isinstance(body, str) else json.dumps(body)
        try:
            return self._send(verb, path, body, headers)
        except (OSError, http.client.HTTPException):
            # The server was started anew; a second failure says that it is away.
            return self._send(verb, path, body, headers)

    def look(self, path):
        """The text; None: there is nothing."""
        answer = self("GET", path)
        if answer.code == 404:
            return None
        assert answer.code == 200, f"GET {path}: {answer.code} {answer.text}"
        return answer.text

    def get(self, path):
        """The object; None: there is none."""
        text = self.look(path)
        return None if text is None else json.loads(text)

    def done(self, verb, path, body=None, content_type=None):
        """What a request that must be taken gives."""
        answer = self(verb, path, body, content_type)
        assert answer.code < 300, f"{verb} {path}: {answer.code} {answer.text}"
        return answer.object

    def all(self, requests):
        """Answers of requests that are sent several at a time, in their order."""
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            return list(pool.map(lambda request: self(*request), requests))
