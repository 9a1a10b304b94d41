"""The file tree of an image while it is put together: what stands at each path.

Files stay on the machine until the archive is written; here is only where each comes from, so that
a tree of a hundred thousand files costs some tens of megabytes. Everything but a directory that
says otherwise belongs to root and nobody else may write it, whoever builds and under which umask.

Directories of Debian's merged layout (/bin, /lib …) are links into /usr, as on a Debian machine:
whatever is put below /lib stands below /usr/lib and is found under both names.

Ownership: the tree owns its entries, no open files. Threads: one. Errors: ImageError names the path
and both things that want to stand there.

    root = Root()
    root.add_file("/usr/bin/prog", "bin/prog")
    root.add_tree("/opt/python", "/home/me/venv")
    root.find("/bin/prog")     # ("/usr/bin/prog", File(…))
"""

import dataclasses
import os
import posixpath
import stat

from image_error import ImageError

# As the kernel: more links than this in one path are a loop.
LINKS_MAX = 40
MERGED = ("bin", "lib", "lib64", "sbin")


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """Its bytes are the `size` ones of `source`, a path of this machine, or `data`."""
    mode: int
    source: str | None = None
    size: int = 0
    data: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, as it is: nobody asks whether its target is there."""
    target: str


@dataclasses.dataclass(frozen=True, slots=True)
class Directory:
    mode: int = 0o755
    owner: int = 0


def image_path(path, what):
    """`path` without a slash at its end; it must be absolute and go straight to its place."""
    parts = path.split("/")[1:]
    if parts and parts[-1] == "":
        parts.pop()
    if not path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise ImageError(f"{what}: {path!r} is no path inside the image; write it from / on, "
                         "without `.` and `..`")
    _check_utf8(path, what)
    return "/" + "/".join(parts)


class Root:

    def __init__(self):
        self._entries = {"/": Directory()}

    def __iter__(self):
        """Paths and entries, each directory before what is in it."""
        return iter(sorted(self._entries.items()))

    def add(self, path, entry):
        """The path at which `entry` stands, which is another than `path` below a link."""
        path = self._make_parents(image_path(path, "put into the image"))
        if isinstance(entry, Link):
            _check_utf8(entry.target, f"put link {path} into the image")
        there = self._entries.get(path)
        if isinstance(there, Link) and isinstance(entry, Directory):
            # The directories of a tree may stand behind links that are there already.
            found = self.find(path)
            if found is not None and isinstance(found[1], Directory):
                path, there = found
        if isinstance(there, Directory) and isinstance(entry, Directory):
            # A directory that was made for what is in it has no wishes of its own.
            if entry != Directory():
                self._entries[path] = entry
        elif there is not None and not _same(there, entry):
            raise ImageError(f"put {_name(entry)} at {path} of the image: {_name(there)} is there")
        else:
            self._entries[path] = entry
        return path

    def add_host(self, path):
        """A file of this machine at its own path, with the links that lead to it."""
        if os.path.islink(path):
            folder = os.path.realpath(os.path.dirname(path))
            target = os.readlink(path)
            self.add(path, Link(target))
            return self.add_host(os.path.normpath(os.path.join(folder, target)))
        return self.add_file(path, path)

    def add_file(self, path, source, mode=None):
        """What `source` names at last is copied; executable for its owner is so for everybody."""
        try:
            found = os.stat(source)
        except OSError as error:
            raise ImageError(f"put {source} at {path} of the image: {error.strerror}") from error
        if not stat.S_ISREG(found.st_mode):
            raise ImageError(f"put {source} at {path} of the image: it is no file"
                             + ("; a folder goes into [trees]" if os.path.isdir(source) else ""))
        if mode is None:
            mode = 0o755 if found.st_mode & stat.S_IXUSR else 0o644
        return self.add(path, File(mode, source, found.st_size))

    def add_tree(self, path, source):
        """A folder with all that is in it; links stay links."""
        path = image_path(path, "put a folder into the image")
        try:
            entries = sorted(os.scandir(source), key=lambda entry: entry.name)
        except OSError as error:
            raise ImageError(f"put folder {source} at {path} of the image: "
                             f"{error.strerror}") from error
        path = self.add(path, Directory())
        for entry in entries:
            target = posixpath.join(path, entry.name)
            if entry.is_symlink():
                self.add(target, Link(os.readlink(entry.path)))
            elif entry.is_dir():
                self.add_tree(target, entry.path)
            elif entry.is_file():
                self.add_file(target, entry.path)
            else:
                raise ImageError(f"put {entry.path} at {target} of the image: it is neither file, "
                                 "folder nor link")

    def find(self, path):
        """(path without links, entry) of what a process in the image would see, or None."""
        rest, done = path.split("/")[::-1], "/"
        for _ in range(LINKS_MAX):
            while rest:
                part = rest.pop()
                if part in ("", "."):
                    continue
                done = posixpath.dirname(done) if part == ".." else posixpath.join(done, part)
                entry = self._entries.get(done)
                if isinstance(entry, Link):
                    break
                if entry is None or (rest and not isinstance(entry, Directory)):
                    return None
            else:
                return done, self._entries[done]
            rest.extend(entry.target.split("/")[::-1])
            done = "/" if entry.target.startswith("/") else posixpath.dirname(done)
        return None

    def below(self, path):
        """Paths and files of a directory and all its directories."""
        start = path.rstrip("/") + "/"
        return [(name, entry) for name, entry in self
                if name.startswith(start) and isinstance(entry, File)]

    def files(self):
        return [(path, entry) for path, entry in self._entries.items() if isinstance(entry, File)]

    def _make_parents(self, path):
        """Makes the directories above; the path without links in them."""
        if path == "/":
            return path
        parts = path.split("/")[1:]
        done = "/"
        for depth, part in enumerate(parts[:-1]):
            done = posixpath.join(done, part)
            if depth == 0 and part in MERGED:
                self._entries.setdefault(done, Link("usr/" + part))
                self._entries.setdefault("/usr", Directory())
                self._entries.setdefault("/usr/" + part, Directory())
            entry = self._entries.setdefault(done, Directory())
            if isinstance(entry, Link):
                found = self.find(done)
                if found is None:
                    raise ImageError(f"put something at {path} of the image: the link {done} to "
                                     f"{entry.target} leads nowhere")
                done, entry = found
            if not isinstance(entry, Directory):
                raise ImageError(f"put something at {path} of the image: {done} is "
                                 f"{_name(entry)}")
        return posixpath.join(done, parts[-1])


def _check_utf8(name, what):
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ImageError(f"{what}: the name {name!r} is not UTF-8; rename the file") from error


def _same(one, other):
    """The same bytes of the same file may come twice: a library that is in a tree, too."""
    if isinstance(one, File) and isinstance(other, File) and one.source and other.source:
        return one.mode == other.mode and os.path.samefile(one.source, other.source)
    return one == other


def _name(entry):
    if isinstance(entry, Link):
        return f"a link to {entry.target}"
    if isinstance(entry, Directory):
        return "a directory"
    return f"the file {entry.source}" if entry.source else "a file of the image itself"
