"""A registry of images in a cluster's sandbox, under a name that nobody outside knows.

    registry = Registry(cluster.plane, "registry.example.org")
    registry.empty()                                    and runs from now on
    registry.digest("team/taas/operator", "0.1.0")      "sha256:…"
    registry.pulled_from("team/taas/operator")          digests that a containerd has read there

It speaks TLS, with a certificate of the cluster's authority. Clients in the sandbox trust that with
`registry.trusted` in their environment, nodes when they are told to (Node.trust).

Ownership: the process is in the sandbox and ends with it. Threads: one. Errors: a RuntimeError
with the end of its log; an HTTPError for what was not pushed.
"""

import json
import os
import re
import shutil
import ssl
import urllib.request

import programs
from component import Component
from waiting import until

PROGRAM = "docker-registry"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
TIMEOUT_S = 60


class Registry:

    def __init__(self, plane, name):
        self.plane = plane
        self.name = name
        self.folder = os.path.join(plane.work, PROGRAM)
        os.mkdir(self.folder)
        self.authority = plane.authority.crt
        self.trusted = {"SSL_CERT_FILE": self.authority}
        self.component = Component(plane.sandbox, PROGRAM,
                                   [programs.path(PROGRAM), "serve", self._config()],
                                   os.path.join(plane.work, "logs"))
        self._tell_name()

    def _file(self, name):
        return os.path.join(self.folder, name)

    def _config(self):
        crt, key = self.plane.authority.issue(PROGRAM, PROGRAM,
                                              addresses=(self.name, self.plane.address))
        path = self._file("config.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "version": "0.1",
                "log": {"level": "warn"},
                "storage": {"filesystem": {"rootdirectory": self._file("storage")}},
                # The port that a name without one means.
                "http": {"addr": f"{self.plane.address}:443",
                         "tls": {"certificate": crt, "key": key}},
            }, file)
        return path

    def _tell_name(self):
        path = self._file("hosts")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"127.0.0.1 localhost\n{self.plane.address} {self.name}\n")
        self.plane.sandbox.run("mount", "-n", "--bind", path, "/etc/hosts")

    def empty(self):
        """Starts it, or starts it anew, without an image."""
        if self.component.running():
            self.component.stop()
        shutil.rmtree(self._file("storage"), ignore_errors=True)
        self.component.start()
        until("the registry to answer", lambda: self.component.check() and self._answers())

    def _answers(self):
        try:
            with self._get("") as reply:
                return reply.status == 200
        except OSError:
            return False

    def _get(self, path):
        request = urllib.request.Request(f"https://{self.plane.address}/v2/{path}",
                                         headers={"Accept": MANIFEST})
        trust = ssl.create_default_context(cafile=self.authority)
        return urllib.request.urlopen(request, context=trust, timeout=TIMEOUT_S)

    def digest(self, repository, tag):
        """What it says of the image of that tag."""
        with self._get(f"{repository}/manifests/{tag}") as reply:
            return reply.headers["Docker-Content-Digest"]

    def pulled_from(self, repository):
        """Digests of manifests and blobs that a containerd has got since the cluster began."""
        with open(self.component.log, encoding="utf-8") as file:
            return set(re.findall(rf'"GET /v2/{repository}/\w+/(sha256:\w+) HTTP/\S+" 200 .*'
                                  '"containerd/', file.read()))
