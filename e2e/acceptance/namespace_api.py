"""The objects of one namespace over one HTTPS connection: tests here look and write much.

    api = NamespaceApi(cluster.kubeconfig, "my-namespace")
    api.create("tfjobs", {…})
    api.list("pods")["mnist-worker-0"]["status"]["phase"]
    since = api.mark_pods()
    api.changes_of_pods(since)      every ADDED, MODIFIED and DELETED after that

Ownership: the connection. Threads: one. Errors: a Refused with the API server's answer.
"""

import collections
import copy
import http.client
import json
import uuid

import kubeconfig

GROUPS = {
    "pods": "/api/v1",
    "services": "/api/v1",
    "events": "/api/v1",
    "nodes": "/api/v1",
    "configmaps": "/api/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
    "trainingjobs": "/apis/taas.dev/v1",
    "tfjobs": "/apis/kubeflow.org/v1",
}
CLUSTER_WIDE = {"nodes"}
# Longer than the API server takes to delete some hundred pods on a machine that does much else.
LIMIT_S = 180

Change = collections.namedtuple("Change", "kind object")


class Refused(AssertionError):

    def __init__(self, request, code, answer):
        super().__init__(f"{request}: {code} {answer.get('message', answer)}")
        self.code = code
        self.message = answer.get("message", "")


class NamespaceApi:

    def __init__(self, path, namespace):
        self.namespace = namespace
        self.netloc, self.context = kubeconfig.access(path)
        self.connection = self._connect()

    def _connect(self):
        return http.client.HTTPSConnection(self.netloc, context=self.context, timeout=LIMIT_S)

    def close(self):
        self.connection.close()

    def path(self, resource, name="", subresource=""):
        parts = [GROUPS[resource]]
        if resource not in CLUSTER_WIDE:
            parts += ["namespaces", self.namespace]
        return "/".join([*parts, resource, *filter(None, (name, subresource))])

    def send(self, method, path, body=None, kind="application/json"):
        """(code, answer), the answer as an object."""
        text = json.dumps(body) if body is not None else None
        self.connection.request(method, path, body=text, headers={"Content-Type": kind})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def call(self, method, path, body=None, kind="application/json"):
        code, answer = self.send(method, path, body, kind)
        if code not in (200, 201, 202):
            raise Refused(f"{method} {path}", code, answer)
        return answer

    def list(self, resource):
        """By name."""
        items = self.call("GET", self.path(resource))["items"]
        return {item["metadata"]["name"]: item for item in items}

    def get(self, resource, name):
        """None: there is none."""
        code, answer = self.send("GET", self.path(resource, name))
        if code == 404:
            return None
        if code != 200:
            raise Refused(f"GET {resource}/{name}", code, answer)
        return answer

    def create(self, resource, item):
        """A field that the schema does not have is refused."""
        return self.call("POST", self.path(resource) + "?fieldValidation=Strict", item)

    def patch(self, resource, name, change, subresource=""):
        """A merge patch; a `metadata.uid` in it is a precondition."""
        return self.call("PATCH", self.path(resource, name, subresource), change,
                         "application/merge-patch+json")

    def delete(self, resource, name, **options):
        """Without a name: all of them."""
        return self.call("DELETE", self.path(resource, name), options)

    def evict(self, pod):
        """As a drain does it."""
        return self.call("POST", self.path("pods", pod, "eviction"), {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": self.namespace},
        })

    def version(self, resource):
        return self.call("GET", self.path(resource) + "?limit=1")["metadata"]["resourceVersion"]

    def mark_pods(self):
        """A version for changes_of_pods."""
        # Of a pod of our own: an API server that has forgotten all changes before a version does
        # not know whether there were more between it and the next one that it remembers.
        mark = self._create_mark()
        self.delete("pods", mark["name"])
        return mark["resourceVersion"]

    def _create_mark(self):
        """Its metadata."""
        return self.create("pods", {"metadata": {"name": "mark-" + uuid.uuid4().hex}, "spec": {
            "schedulingGates": [{"name": "e2e.taas.dev/never"}],
            "containers": [{"name": "none", "image": "none"}]}})["metadata"]

    def changes_of_pods(self, since):
        """All that there have been after the version `since`, in their order."""
        # A watch does not say when it has told all that has been; this one's pod is the last.
        mark = self._create_mark()["name"]
        try:
            found = []
            for change in self.watch("pods", since, LIMIT_S):
                name = change.object["metadata"]["name"]
                if name == mark:
                    return found
                if not name.startswith("mark-"):
                    found.append(change)
        finally:
            self.delete("pods", mark)
        raise AssertionError(f"watch pods since {since}: {mark} was not told of in {LIMIT_S} s")

    def watch(self, resource, since, limit_s):
        """Changes as they happen, for so long."""
        connection = self._connect()
        try:
            connection.request("GET", f"{self.path(resource)}?watch=1&resourceVersion={since}"
                               f"&timeoutSeconds={limit_s}")
            for line in connection.getresponse():
                change = json.loads(line)
                if change["type"] == "ERROR":
                    raise Refused(f"watch {resource} since {since}", 410, change["object"])
                yield Change(change["type"], change["object"])
        finally:
            connection.close()

    def another(self):
        """The same over another connection, for another thread."""
        other = copy.copy(self)
        other.connection = self._connect()
        return other
