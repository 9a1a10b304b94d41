"""Writes an image as one archive that containerd, Docker, podman, skopeo and crane all read.

The archive is an OCI image layout in a tar (oci-layout, index.json, blobs/sha256/…) with one
uncompressed layer, and beside it the manifest.json that `docker load` looks for; both name the same
blobs. No daemon takes part.

Reproducible: entries are sorted, times are the moment given, owners are numbers, JSON has sorted
keys; nothing of the machine, the caller or the clock gets in. The digest is that of the manifest,
which is what a registry calls the image when it is pushed as it is (docs/images.md).

A layer's digest is part of its name in the archive, in front of its bytes. Its header is therefore
left empty and filled in when the bytes are there, so that each file is read once, in pieces.

Python checks a compiled module (.pyc) against the time of its source. Times of sources are not
kept; a .pyc that fits its source gets the image's moment instead, so that it still does.

Ownership: the archive appears under its name when it is whole. Errors: ImageError for a file that
changes while it is read; OSError of the disk.

    image = Image(name="docker.io/taas/operator", tag="0.1.0", config={"User": "65532:65532"})
    written = write_archive("dist/taas-operator.tar", image, root, moment=0)
    written.digest             # sha256:…
"""

import dataclasses
import datetime
import hashlib
import json
import os
import struct
import tarfile

from image_error import ImageError
from root import Directory, File, Link

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"

BLOCK = tarfile.BLOCKSIZE
# Large enough that the calls cost nothing beside hashing, small beside everything else.
PIECE = 1 << 20
# Magic number, flags, time and size of the source: PEP 552.
PYC_HEADER = struct.Struct("<2s2sIII")


@dataclasses.dataclass(frozen=True)
class Image:
    """`name` is the full one, with the registry; `config` as OCI's image configuration has it."""
    name: str
    tag: str
    config: dict
    created_by: str = ""


@dataclasses.dataclass(frozen=True)
class Written:
    digest: str
    size: int


class _Sink:
    """Counts and hashes what goes through to a file."""

    def __init__(self, out):
        self._out = out
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data):
        self._out.write(data)
        self._hash.update(data)
        self.size += len(data)

    def pad(self):
        self.write(bytes(-self.size % BLOCK))

    def digest(self):
        return self._hash.hexdigest()


class Layout:
    """The tar around the image: blobs under their digests, and a few files at the top."""

    def __init__(self, out, moment):
        self._out = out
        self._moment = moment

    def add(self, name, data):
        self._out.write(self.header(name, len(data)))
        self._out.write(data)
        self._out.write(bytes(-len(data) % BLOCK))

    def add_json_blob(self, value, media_type):
        data = _json(value)
        digest = hashlib.sha256(data).hexdigest()
        self.add(f"blobs/sha256/{digest}", data)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add_layer(self, root):
        start = self._out.tell()
        self._out.write(bytes(BLOCK))
        sink = _Sink(self._out)
        for path, entry in root:
            if path != "/":
                _write_entry(sink, path, entry, self._moment)
        sink.write(bytes(2 * BLOCK))
        end = self._out.tell()
        self._out.seek(start)
        # Every piece of the layer is whole blocks, so nothing stands between it and the next.
        self._out.write(self.header(f"blobs/sha256/{sink.digest()}", sink.size))
        self._out.seek(end)
        return {"mediaType": LAYER_TYPE, "digest": f"sha256:{sink.digest()}", "size": sink.size}

    def finish(self):
        self._out.write(bytes(2 * BLOCK))

    def header(self, name, size):
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, self._moment, 0o644
        # One block also above 8 GiB, where other formats need two more.
        return info.tobuf(tarfile.GNU_FORMAT)


def write_archive(path, image, root, moment):
    """Writes the image; an archive that was at `path` is replaced when the new one is whole."""
    unfinished = f"{path}.{os.getpid()}.new"
    try:
        with open(unfinished, "wb") as out:
            digest = _write(out, image, root, moment)
            size = out.tell()
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)
    return Written(digest, size)


def _write(out, image, root, moment):
    layout = Layout(out, moment)
    layout.add("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
    layer = layout.add_layer(root)
    created = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc)
    created = created.strftime("%Y-%m-%dT%H:%M:%SZ")
    config = layout.add_json_blob({
        "architecture": "amd64", "os": "linux", "created": created, "config": image.config,
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        "history": [{"created": created, "created_by": image.created_by}]}, CONFIG_TYPE)
    manifest = layout.add_json_blob({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": config, "layers": [layer]},
        MANIFEST_TYPE)
    layout.add("index.json", _json({
        "schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [{
            **manifest, "platform": {"architecture": "amd64", "os": "linux"},
            "annotations": {"io.containerd.image.name": f"{image.name}:{image.tag}",
                            "org.opencontainers.image.ref.name": image.tag}}]}))
    layout.add("manifest.json", _json([{
        "Config": _blob(config), "Layers": [_blob(layer)],
        "RepoTags": [f"{image.name.removeprefix('docker.io/')}:{image.tag}"]}]))
    layout.finish()
    return manifest["digest"]


def _write_entry(sink, path, entry, moment):
    info = tarfile.TarInfo(path[1:])
    info.mtime = moment
    if isinstance(entry, Directory):
        info.type, info.mode = tarfile.DIRTYPE, entry.mode
        info.uid = info.gid = entry.owner
        sink.write(_header(info))
    elif isinstance(entry, Link):
        info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, entry.target
        sink.write(_header(info))
    elif isinstance(entry, File):
        info.mode = entry.mode
        _write_file(sink, info, entry, moment)


def _write_file(sink, info, entry, moment):
    if entry.source is None:
        info.size = len(entry.data)
        sink.write(_header(info))
        sink.write(entry.data)
    else:
        info.size = entry.size
        sink.write(_header(info))
        with open(entry.source, "rb") as file:
            head = file.read(PYC_HEADER.size) if entry.source.endswith(".pyc") else b""
            sink.write(_fitting(head, entry.source, moment))
            size = len(head)
            while size <= entry.size and (piece := file.read(PIECE)):
                sink.write(piece)
                size += len(piece)
        if size != entry.size:
            raise ImageError(f"read {entry.source}: it is written to meanwhile; its size was "
                             f"{entry.size} bytes")
    sink.pad()


def _fitting(head, path, moment):
    """The header of a compiled module with the image's moment, if it fits its source now."""
    if len(head) < PYC_HEADER.size:
        return head
    version, line_end, flags, time, size = PYC_HEADER.unpack(head)
    folder, name = os.path.split(path)
    source = os.path.join(os.path.dirname(folder), name.split(".")[0] + ".py")
    try:
        found = os.stat(source)
    except OSError:
        return head
    # With flags the header holds a digest of the source, no time.
    if (line_end, flags) != (b"\r\n", 0):
        return head
    if (time, size) != (int(found.st_mtime) & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF):
        return head
    return PYC_HEADER.pack(version, line_end, flags, moment & 0xFFFFFFFF, size)


def _header(info):
    # Plain ustar as long as names are short and ASCII.
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def _blob(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
