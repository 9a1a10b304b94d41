"""Kubeconfig files: YAML, of which JSON is a part.

    write(path, server="https://10.213.0.2:6443", ca=…, crt=…, key=…)
    address, context = access(path)     for HTTPS connections of our own
"""

import base64
import json
import os
import ssl
import tempfile
import urllib.parse


def data_of(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


def write(path, server, ca, crt, key):
    """A file that stands alone: it may be copied to where the certificates are not."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "taas-e2e",
                "cluster": {"server": server, "certificate-authority-data": data_of(ca)},
            }
        ],
        "users": [
            {
                "name": "user",
                "user": {
                    "client-certificate-data": data_of(crt),
                    "client-key-data": data_of(key),
                },
            }
        ],
        "contexts": [{"name": "taas-e2e", "context": {"cluster": "taas-e2e", "user": "user"}}],
        "current-context": "taas-e2e",
    }
    # It holds a key.
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
              encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    return path


def access(path):
    """(host and port, TLS context with the user's certificate) of a file that `write` made."""
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(
        cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    # Python takes a client's certificate from a file only. Nobody else may read this one.
    with tempfile.NamedTemporaryFile() as file:
        for part in ("client-certificate-data", "client-key-data"):
            file.write(base64.b64decode(user[part]) + b"\n")
        file.flush()
        context.load_cert_chain(file.name)
    return urllib.parse.urlsplit(cluster["server"]).netloc, context
