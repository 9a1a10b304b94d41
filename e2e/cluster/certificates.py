"""A certificate authority for one cluster, and the identities that it vouches for.

To Kubernetes a client is the common name of its certificate, in the groups of its organisations.

    authority = Authority(work + "/pki", address)
    crt, key = authority.issue("admin", "cluster-admin", organisation="system:masters")
"""

import os
import subprocess

import programs

# Longer than any run, and it ends all the same.
DAYS = 7
CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]
# OpenSSL's own file would add extensions that are given here.
CONFIG = "[req]\ndistinguished_name = name\n[name]\n"


class Authority:

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700)
        self.config = self.file("openssl.cnf")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        self.crt, self.key = self.file("ca.crt"), self.file("ca.key")
        self._request("ca", "/CN=taas-e2e", "basicConstraints=critical,CA:TRUE",
                      "keyUsage=critical,keyCertSign,cRLSign")

    def file(self, name):
        return os.path.join(self.folder, name)

    def issue(self, name, common_name, organisation=None, addresses=()):
        """Paths of a certificate and its key, for clients and, at `addresses`, for servers."""
        subject = (f"/O={organisation}" if organisation else "") + f"/CN={common_name}"
        extensions = ["basicConstraints=critical,CA:FALSE",
                      "extendedKeyUsage=clientAuth,serverAuth"]
        if addresses:
            extensions.append("subjectAltName=" + ",".join(
                ("IP:" if address[0].isdigit() else "DNS:") + address for address in addresses
            ))
        return self._request(name, subject, *extensions, issuer=True)

    def _request(self, name, subject, *extensions, issuer=False):
        crt, key = self.file(name + ".crt"), self.file(name + ".key")
        command = [programs.path("openssl"), "req", "-x509", "-config", self.config,
                   "-days", str(DAYS), *CURVE, "-subj", subject, "-out", crt, "-keyout", key]
        if issuer:
            command += ["-CA", self.crt, "-CAkey", self.key]
        for extension in extensions:
            command += ["-addext", extension]
        run_openssl(command)
        return crt, key

    def signing_key(self):
        """The key of service account tokens. RSA: the API server reads no other from PKCS 8."""
        key = self.file("service-account.key")
        run_openssl([programs.path("openssl"), "genrsa", "-out", key, "2048"])
        return key


def run_openssl(command):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout.strip()}")
