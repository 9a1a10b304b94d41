"""An API server as the tests of the chart have it, with users, and with objects put into its etcd.

    with Plane(users=20) as plane:
        client = plane.client()
        client.call("GET", "/api/v1/namespaces")
"""

import http.client
import json
import ssl

from api_server import TOKEN, ApiServer

# A request to a busy API server that takes longer hangs.
REPLY_LIMIT_S = 60
# Of one transaction; etcd takes no more by default.
ETCD_OPERATIONS = 128


def user_token(number):
    return f"bench-user-{number}"


class Refused(RuntimeError):
    pass


class Client:
    """One kept connection to the API server; not for several threads."""

    def __init__(self, port, context):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context,
                                                      timeout=REPLY_LIMIT_S)

    def call(self, verb, path, body=None, content_type="application/json"):
        headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        self.connection.request(verb, path, data, headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise Refused(f"{verb} {path}: {reply.status} {text.decode(errors='replace')[:1000]}")
        return json.loads(text)

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")


class Plane(ApiServer):

    def __init__(self, users):
        self.tokens = [f'{user_token(n)},user-{n},u{n},"bench-users"' for n in range(users)]
        super().__init__()

    def client(self):
        return Client(self.port, ssl.create_default_context(cafile=self.ca))

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
