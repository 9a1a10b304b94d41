"""Images of Debian's static busybox: the sandbox of pods, and a shell for tests.

    write(path, ["docker.io/library/busybox:1.37"])      an OCI archive for Node.import_image
"""

import hashlib
import io
import json
import subprocess
import tarfile

import programs

LAYER = "application/vnd.oci.image.layer.v1.tar"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
# `sleep` without end; a sandbox has no children to reap.
FOREVER_S = "2147483647"


def add(tar, name, content=None, mode=0o644, link=None):
    member = tarfile.TarInfo(name)
    member.mode = mode
    if link is not None:
        member.type, member.linkname = tarfile.SYMTYPE, link
    elif content is None:
        member.type = tarfile.DIRTYPE
    else:
        member.size = len(content)
    tar.addfile(member, io.BytesIO(content) if content is not None else None)


def layer():
    busybox = programs.path("busybox")
    with open(busybox, "rb") as file:
        program = file.read()
    applets = subprocess.run([busybox, "--list"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for folder in ("bin", "etc", "proc", "sys", "dev"):
            add(tar, folder, mode=0o755)
        add(tar, "tmp", mode=0o1777)
        add(tar, "etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
        add(tar, "bin/busybox", program, mode=0o755)
        for applet in applets:
            if applet != "busybox":
                add(tar, "bin/" + applet, mode=0o777, link="busybox")
    return stream.getvalue()


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def described(kind, blob, **more):
    return {"mediaType": kind, "digest": digest(blob), "size": len(blob), **more}


def write(path, names):
    """One image under all of `names`, which are full: registry, repository and tag."""
    filesystem = layer()
    config = json.dumps({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Cmd": ["sleep", FOREVER_S], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [digest(filesystem)]},
    }).encode()
    manifest = json.dumps({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described(CONFIG, config),
        "layers": [described(LAYER, filesystem)],
    }).encode()
    index = json.dumps({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [
            described(MANIFEST, manifest, annotations={"io.containerd.image.name": name})
            for name in names
        ],
    }).encode()
    with tarfile.open(path, "w") as tar:
        add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        add(tar, "index.json", index)
        for blob in (filesystem, config, manifest):
            add(tar, "blobs/" + digest(blob).replace(":", "/"), blob)
    return path
