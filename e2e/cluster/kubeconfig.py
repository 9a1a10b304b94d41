"""Kubeconfig files: YAML, of which JSON is a part.

    write(path, server="https://10.213.0.2:6443", ca=…, crt=…, key=…)
"""

import base64
import json
import os


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
