"""The shared libraries that programs of an image need, found as the loader in the image will.

The loader there has no cache of folders (/etc/ld.so.cache): it looks into the paths that the files
themselves name (DT_RPATH, DT_RUNPATH, with $ORIGIN) and into Debian's folders. The same is done
here, first in the image, then at the same path of this machine, from where the library is copied
with the links that lead to it. So a closure that is complete here is complete there, and one that
is not fails the build with the library's name instead of the first start of a pod.

What a program opens by name while it runs (dlopen) nobody can read from the file: such a library is
listed in the recipe like a program.

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
    # As the loader: those that a program names come before those that its libraries name.
    work = collections.deque()
    for start in starts:
        found = root.find(start)
        if found is None:
            raise ImageError(f"find the libraries of {start}: nothing in the image is there")
        path, entry = found
        if isinstance(entry, Directory):
            work += [(name, ()) for name, file in root.below(path) if _elf(file) is not None]
        elif not isinstance(entry, File) or _elf(entry) is None:
            raise ImageError(f"find the libraries of {start}: it is no program or library "
                             "for x86-64")
        else:
            work.append((path, ()))
    seen = set()
    while work:
        reached = work.popleft()
        if reached not in seen:
            seen.add(reached)
            work += _add_needed(root, *reached, set(provided))


def _add_needed(root, path, inherited, provided):
    """Adds the libraries that one file names; (path, folders that it hands down) of each."""
    elf = _elf(root.find(path)[1])
    origin = posixpath.dirname(path)
    # An rpath counts for the libraries of libraries, too, but for those that have a runpath.
    inherited = _expand(elf.rpath, origin) + inherited
    folders = (_expand(elf.runpath, origin) or inherited) + SYSTEM_FOLDERS
    needed = []
    for name in elf.needed + ((elf.interpreter,) if elf.interpreter else ()):
        if name in provided:
            continue
        candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in folders]
        for candidate in candidates:
            library = _library(root, candidate)
            if library is not None:
                needed.append((library, inherited))
                break
        else:
            raise ImageError(
                f"find the libraries of {path}: there is no {name} in "
                f"{', '.join(dict.fromkeys(posixpath.dirname(c) for c in candidates))}; install "
                "its package, put it into the image, or name it in `provided` if the node brings "
                "it along")
    return needed


def _library(root, candidate):
    """The path in the image of a library that stands, or now stands, at `candidate`; or None."""
    found = root.find(candidate)
    if found is None:
        host = posixpath.normpath(candidate)
        # One of another architecture is passed over, as the loader does.
        if not os.path.isfile(host) or read_elf(host) is None:
            return None
        root.add_host(host)
        found = root.find(candidate)
    if found is None or not isinstance(found[1], File) or _elf(found[1]) is None:
        return None
    return found[0]


def _elf(file):
    return read_elf(file.source) if file.source is not None else None


def _expand(folders, origin):
    return tuple(folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
                 for folder in folders)
