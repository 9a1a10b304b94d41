"""An API server whose certificate is of an authority of the test's, and is replaced while it runs.

    with RotatingServer() as server:
        server.write_bundle("old", "new")     what server.bundle holds: authorities to trust
        server.serve_certificate_of("new")
"""

import os
import shutil
import socket
import ssl

import certificates
from api_server import ApiServer
from waiting import until

FIRST = "old"
HANDSHAKE_LIMIT_S = 5


def replace(source, target):
    """So that a reader sees the old file or the new one."""
    shutil.copy(source, target + ".new")
    os.replace(target + ".new", target)


class RotatingServer(ApiServer):

    def __init__(self):
        self.authorities = {}
        super().__init__()
        self.bundle = self.path("bundle.crt")
        self.write_bundle(FIRST)

    @property
    def ca(self):
        """The test trusts every authority that there has been."""
        return self.path("all.crt")

    def authority(self, name):
        if name not in self.authorities:
            self.authorities[name] = certificates.Authority(self.path("pki-" + name))
            with open(self.ca, "w", encoding="utf-8") as file:
                file.write(self.texts_of(self.authorities))
        return self.authorities[name]

    def texts_of(self, names):
        texts = []
        for name in names:
            with open(self.authority(name).crt, encoding="utf-8") as file:
                texts.append(file.read())
        return "".join(texts)

    def certificate_flags(self):
        self.serving = self.path("serving.crt"), self.path("serving.key")
        self._write_serving(FIRST)
        return ["--tls-cert-file=" + self.serving[0], "--tls-private-key-file=" + self.serving[1],
                "--client-ca-file=" + self.authority(FIRST).crt]

    def _write_serving(self, name):
        made = self.authority(name).issue("kube-apiserver", "kube-apiserver",
                                          addresses=("127.0.0.1",))
        for source, target in zip(made, self.serving):
            replace(source, target)
        self.shown = name

    def write_bundle(self, *names):
        """Whom the operator trusts."""
        made = self.path("bundle.made")
        with open(made, "w", encoding="utf-8") as file:
            file.write(self.texts_of(names))
        replace(made, self.bundle)

    def shows_certificate_of(self, name):
        trust = ssl.create_default_context(cafile=self.authority(name).crt)
        try:
            with socket.create_connection(("127.0.0.1", self.port), HANDSHAKE_LIMIT_S) as plain:
                with trust.wrap_socket(plain, server_hostname="127.0.0.1"):
                    return True
        except (OSError, ssl.SSLError):
            return False

    def serve_certificate_of(self, name):
        """The server itself notices the new files; connections that there are go on."""
        self._write_serving(name)
        until(f"a certificate of the authority {name}", lambda: self.shows_certificate_of(name))

    def restart_with_certificate_of(self, name):
        """All connections end, and the next ones meet the new certificate."""
        self.restart(lambda: self._write_serving(name))
