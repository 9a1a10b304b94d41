"""The shared libraries that programs of an image need, found as the loader in the image will.

The loader there has no cache of folders (/etc/ld.so.cache): it looks into the paths that the files
themselves name (DT_RPATH, DT_RUNPATH, with $ORIGIN) and into Debian's folders. The same is done
here, first in the image, then at the same path of this machine, from where the library is copied
with the links that lead to it. So a closure that is complete here is complete there, and one that
is not fails the build with the library's name instead of the first start of a pod.

What a program opens by name while it runs (dlopen) nobody can read from the file: such a library is
listed in the recipe like a program. Of a folder every program and library is judged by itself, but
a library that finds its own libraries only beside another that has loaded them (so are wheels of
Python put together) is judged with that one.

Errors: ImageError names the library, who needs it and where it was looked for.

    add_libraries(root, ["/usr/bin/taas-operator"], provided=())
"""

import collections
import os
import posixpath

from elf import read_elf
from image_error import ImageError
from root import Directory, File

# Where Debian's loader looks on x86-64 without a cache.
SYSTEM_FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib")


def add_libraries(root, starts, provided):
    """Puts into the image what the files at `starts` (or in directories there) need. `provided`
    names libraries that the node puts into its containers, as drivers of devices are."""
    loader = _Loader(root, provided)
    # Files of folders that cannot be loaded by themselves, and all that others have loaded.
    failed, loaded = {}, set()
    for start in starts:
        found = root.find(start)
        if found is None:
            raise ImageError(f"find the libraries of {start}: nothing in the image is there")
        path, entry = found
        if not isinstance(entry, Directory):
            if loader.elf(path) is None:
                raise ImageError(f"find the libraries of {start}: it is no program or library "
                                 "for x86-64")
            loaded |= loader.load(path)
            continue
        for name, _ in root.below(path):
            if loader.elf(name) is None:
                continue
            try:
                loaded |= loader.load(name)
            except ImageError as error:
                failed[name] = error
    for name, error in failed.items():
        if name not in loaded:
            raise error


class _Loader:
    """Does in the image what the loader will do there, and adds what it would miss."""

    def __init__(self, root, provided):
        self._root = root
        self._provided = set(provided)
        self._elfs = {}

    def elf(self, path):
        """What the file at a path without links asks for; None for a file of another kind."""
        if path not in self._elfs:
            found = self._root.find(path)
            file = found[1] if found is not None else None
            is_file = isinstance(file, File) and file.source is not None
            self._elfs[path] = read_elf(file.source) if is_file else None
        return self._elfs[path]

    def load(self, start):
        """Paths of the libraries that the start of one program loads, without itself."""
        # Those that a program names come before those that its libraries name.
        work = collections.deque([(start, ())])
        by_name = {}
        while work:
            path, inherited = work.popleft()
            elf = self.elf(path)
            origin = posixpath.dirname(path)
            # An rpath counts for the libraries of libraries, too, but for those with a runpath.
            inherited = _expand(elf.rpath, origin) + inherited
            folders = (_expand(elf.runpath, origin) or inherited) + SYSTEM_FOLDERS
            for name in elf.needed + ((elf.interpreter,) if elf.interpreter else ()):
                # What has been loaded under a name is not looked for again.
                if name not in by_name and name not in self._provided:
                    by_name[name] = self._find(path, name, folders)
                    work.append((by_name[name], inherited))
        return set(by_name.values()) - {start}

    def _find(self, path, name, folders):
        """The path of a library that `path` names."""
        candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in folders]
        for candidate in candidates:
            found = self._root.find(candidate)
            if found is None:
                host = posixpath.normpath(candidate)
                # One for another machine is passed over, as the loader does.
                if not os.path.isfile(host) or read_elf(host) is None:
                    continue
                self._root.add_host(host)
                found = self._root.find(candidate)
            if found is not None and self.elf(found[0]) is not None:
                return found[0]
        where = ", ".join(dict.fromkeys(posixpath.dirname(place) for place in candidates))
        raise ImageError(f"find the libraries of {path}: there is no {name} in {where}; install "
                         "its package, put it into the image, or name it in `provided` if the "
                         "node brings it along")


def _expand(folders, origin):
    return tuple(folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
                 for folder in folders)
