#!/usr/bin/python3
"""Keeps a folder of files that can be made again below a size: prune.py FOLDER GIGABYTES

What was used longest ago goes first, until a quarter of the room is free. Bazel's disk cache has no
bound of its own, and compiles again what is not there. A file's use is known to a day (relatime).

Precompiled headers stay for two weeks, used or not: GCC makes another one each time, and with that
every file of the tree would be compiled again in the next clone.
"""

import os
import sys
import time

GIGABYTE = 10 ** 9
# So that not every build has something to remove.
LEFT = 0.75
PRECOMPILED = b"gpch"  # What GCC begins such a file with.
PRECOMPILED_S = 14 * 24 * 3600


def files(folder):
    """Size, last use and path of each; what goes meanwhile is another build's matter."""
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            try:
                found = os.lstat(file)
            except FileNotFoundError:
                continue
            yield found.st_size, max(found.st_atime, found.st_mtime), file


def stays(path):
    try:
        # To look into it is a use, to the disk.
        if time.time() - os.lstat(path).st_mtime > PRECOMPILED_S:
            return False
        with open(path, "rb") as file:
            return file.read(len(PRECOMPILED)) == PRECOMPILED
    except FileNotFoundError:
        return False


def prune(folder, size_max):
    """How many bytes went."""
    found = sorted(files(folder), key=lambda file: file[1])
    size = sum(file[0] for file in found)
    if size <= size_max:
        return 0
    gone = 0
    for bytes_of_file, _, path in found:
        if size - gone <= size_max * LEFT:
            break
        if stays(path):
            continue
        try:
            os.remove(path)
        except FileNotFoundError:
            pass
        gone += bytes_of_file
    return gone


def run(folder, gigabytes):
    gone = prune(folder, gigabytes * GIGABYTE)
    if gone:
        print(f"removed {gone / GIGABYTE:.1f} GB that were used longest ago from {folder}",
              file=sys.stderr)


if __name__ == "__main__":
    run(sys.argv[1], float(sys.argv[2]))
