"""An archive as its readers see it, for tests: blobs, configuration, files; and its root, unpacked
and run.

    image = Archive("dist/taas-trainer.tar")
    image.config["config"]["User"]
    image.unpack(folder)
    run_in(folder, "/usr/bin/taas-trainer", "--help").stdout
"""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile

# What takes longer than this hangs: the slowest step of these tests takes a tenth of it.
LIMIT_S = 120
USER = 65532
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build.py")


class Archive:

    def __init__(self, path):
        self.path = path
        with tarfile.open(path) as tar:
            self.names = tar.getnames()
            self.blobs = {"sha256:" + name.rpartition("/")[2]: tar.extractfile(name).read()
                          for name in self.names if name.startswith("blobs/sha256/")}
            self.layout = json.load(tar.extractfile("oci-layout"))
            self.index = json.load(tar.extractfile("index.json"))
            self.docker = json.load(tar.extractfile("manifest.json"))
        self.digest = self.index["manifests"][0]["digest"]
        self.manifest = json.loads(self.blobs[self.digest])
        self.config = json.loads(self.blobs[self.manifest["config"]["digest"]])

    def layer(self):
        data = self.blobs[self.manifest["layers"][0]["digest"]]
        return tarfile.open(fileobj=io.BytesIO(data))

    def entries(self):
        """Path -> TarInfo."""
        with self.layer() as tar:
            return {"/" + info.name: info for info in tar}

    def read(self, path):
        with self.layer() as tar:
            return tar.extractfile(path[1:]).read()

    def unpack(self, folder):
        with self.layer() as tar:
            tar.extractall(folder)

    def broken_blobs(self):
        """Digests that are not those of their bytes."""
        return [digest for digest, data in self.blobs.items()
                if digest != "sha256:" + hashlib.sha256(data).hexdigest()]


def build(recipe, out, *flags, **environment):
    """Runs build.py as its users do."""
    return subprocess.run(
        [sys.executable, "-B", BUILD, recipe, "--out", out, *flags],
        env={"PATH": "/usr/bin:/bin", **environment}, text=True, check=False, timeout=LIMIT_S,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_in(folder, *argv, binds=(), env=None):
    """Runs a program in an unpacked image as the restricted pods of a cluster do: nobody's uid, no
    capabilities, no network, and no place that can be written but `binds` (path here, path there).
    """
    flags = ["--ro-bind", folder, "/", "--proc", "/proc", "--dev", "/dev"]
    for source, target in binds:
        flags += ["--bind", source, target]
    return subprocess.run(
        ["/usr/bin/bwrap", "--unshare-all", "--uid", str(USER), "--gid", str(USER), "--cap-drop",
         "ALL", "--die-with-parent", "--clearenv", *flags, "--remount-ro", "/dev",
         *[part for name, value in (env or {}).items() for part in ("--setenv", name, value)],
         *argv],
        text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
