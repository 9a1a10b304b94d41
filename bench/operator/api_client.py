"""HTTP to the API server with as little of our own processor time as Python allows.

    client = ApiClient(server, ca, crt, key)
    client.call("POST", "/api/v1/namespaces", body)
    Fleet(client, 8).post([(path, body), …])            8 connections, each one request at a time
    for event in client.watch("/api/v1/namespaces/bench/pods"): …
"""

import collections
import http.client
import json
import ssl
import threading
import urllib.parse

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MERGE_PATCH = "application/merge-patch+json"
# A request that takes longer hangs: the slowest of these runs take a second.
REPLY_LIMIT_S = 120
# A watch that is asked for no limit ends after some minutes; no measurement takes an hour.
WATCH_S = 3600
CHUNK_BYTES = 1 << 18

# `version`: the newest that the server has told; 0 where it has forgotten what came then.
Event = collections.namedtuple("Event", "kind rows version")


class Refused(RuntimeError):

    def __init__(self, verb, path, code, text):
        super().__init__(f"{verb} {path}: {code} {text[:500]}")
        self.code = code


def lines_of(reply):
    """Those of a stream, in parts as large as have arrived: a slow reader's watch is ended."""
    rest = b""
    while part := reply.read1(CHUNK_BYTES):
        *whole, rest = (rest + part).split(b"\n")
        yield from whole


class ApiClient:

    def __init__(self, server, ca, crt, key):
        url = urllib.parse.urlsplit(server)
        self.host, self.port = url.hostname, url.port
        self.context = ssl.create_default_context(cafile=ca)
        if crt:
            self.context.load_cert_chain(crt, key)
        self.headers = {}  # Of each request, such as who asks where no certificate says so.
        self.local = threading.local()

    def connect(self, limit_s=REPLY_LIMIT_S):
        return http.client.HTTPSConnection(self.host, self.port, context=self.context,
                                           timeout=limit_s)

    def send(self, connection, verb, path, body=None, content_type="application/json"):
        headers = {**self.headers, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        connection.request(verb, path, body, headers)
        reply = connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise Refused(verb, path, reply.status, text.decode(errors="replace"))
        return text

    def call(self, verb, path, body=None, content_type="application/json"):
        """One request on this thread's own connection; what the server answered, as an object."""
        if not hasattr(self.local, "connection"):
            self.local.connection = self.connect()
        data = None if body is None else json.dumps(body).encode()
        return json.loads(self.send(self.local.connection, verb, path, data, content_type))

    def list(self, path, page=500):
        """All objects of a collection, page by page."""
        items, token = [], ""
        while True:
            query = urllib.parse.urlencode({"limit": page, "continue": token})
            answer = self.call("GET", f"{path}?{query}")
            items += answer["items"]
            token = answer["metadata"].get("continue", "")
            if not token:
                return items

    def watch(self, path, opened=lambda: None, version=0):
        """Events as rows of a table, which are short: [cell, …] in the columns' order. What came
        after `version`, or all that there is and what follows. Ends when the server ends it."""
        connection = self.connect(limit_s=WATCH_S)
        since = f"&resourceVersion={version}" if version else ""
        query = f"watch=1&timeoutSeconds={WATCH_S}&includeObject=None{since}"
        connection.request("GET", f"{path}?{query}", headers={**self.headers, "Accept": TABLE})
        reply = connection.getresponse()
        if reply.status != 200:
            raise Refused("GET", path, reply.status, reply.read().decode(errors="replace"))
        opened()
        try:
            for line in lines_of(reply):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    yield Event("ERROR", [], 0)
                    return
                table = event["object"]
                # The first events are of what there is, in any order.
                version = max(version, int(table["metadata"]["resourceVersion"]))
                yield Event(event["type"], [row["cells"] for row in table["rows"]], version)
        finally:
            connection.close()


class Fleet:
    """Connections side by side, each with the next request as soon as it has its reply."""

    def __init__(self, client, size):
        self.client = client
        self.connections = [client.connect() for _ in range(size)]
        for connection in self.connections:
            connection.connect()

    def run(self, requests):
        """`requests`: (verb, path, body as bytes, content type). Raises the first failure."""
        waiting = collections.deque(requests)
        failures = []

        def work(connection):
            while waiting and not failures:
                try:
                    request = waiting.popleft()
                except IndexError:
                    return
                try:
                    self.client.send(connection, *request)
                except Exception as error:  # Told by the caller's thread.
                    failures.append(error)

        threads = [threading.Thread(target=work, args=(connection,))
                   for connection in self.connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def post(self, objects):
        """`objects`: (path, body as bytes)."""
        self.run([("POST", path, body, "application/json") for path, body in objects])

    def close(self):
        for connection in self.connections:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
