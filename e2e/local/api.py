"""The API server of a local cluster over one HTTPS connection, for tests that write much.

    api = Api(cluster.kubeconfig)
    pods = api.call("GET", "/api/v1/namespaces/default/pods")["items"]
"""

import base64
import http.client
import json
import re
import ssl
import urllib.parse


class Api:

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        # The file is ours: one cluster, one user, one value per line.
        field = {name: re.search(name + r": (\S+)", text)[1]
                 for name in ("certificate-authority-data", "server", "token")}
        context = ssl.create_default_context(
            cadata=base64.b64decode(field["certificate-authority-data"]).decode())
        self.connection = http.client.HTTPSConnection(
            urllib.parse.urlparse(field["server"]).netloc, context=context, timeout=60)
        self.headers = {"Authorization": "Bearer " + field["token"]}

    def send(self, method, path, body=None):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        self.connection.request(method, path, body=json.dumps(body) if body is not None else None,
                                headers={**self.headers, "Content-Type": kind})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def code(self, method, path, body=None):
        return self.send(method, path, body)[0]

    def call(self, method, path, body=None, ok=(200, 201)):
        code, text = self.send(method, path, body)
        if code not in ok:
            raise AssertionError(f"{method} {path}: {code} {text.decode()}")
        return json.loads(text)
