#!/usr/bin/python3
"""Keeps a folder of files that can be made again below a size: prune.py FOLDER GIGABYTES [ROOM]

What was used longest ago goes first, until a quarter of the room is free. Bazel's disk cache has no
bound of its own, and compiles again what is not there.

A file's use is known to a day only (relatime). So of what was used within a day nothing goes, as
long as the disk has room: on a day on which many branches are built it would be as likely what the
next clone needs as what nobody does, and that clone compiled half of the tree anew.

Precompiled headers stay for two weeks, used or not: GCC makes another one each time, and with that
every file of the tree would be compiled again in the next clone.
"""

import os
import shutil
import sys
import time

GIGABYTE = 10 ** 9
DAY_S = 24 * 3600
# Of the disk, for what else is built and run there meanwhile: trees of three clones.
ROOM_BYTES = 15 * GIGABYTE
# So that not every build has something to remove.
LEFT = 0.75
PRECOMPILED = b"gpch"  # What GCC begins such a file with.
PRECOMPILED_S = 14 * DAY_S


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


def prune(folder, size_max, room=ROOM_BYTES):
    """How many bytes went; those used within a day only where the disk has less than `room`."""
    found = sorted(files(folder), key=lambda file: file[1])
    size = sum(file[0] for file in found)
    if size <= size_max:
        return 0
    gone, now = 0, time.time()
    free = shutil.disk_usage(folder).free
    for bytes_of_file, used, path in found:
        if size - gone <= size_max * LEFT or (now - used < DAY_S and free + gone >= room):
            break
        if stays(path):
            continue
        try:
            os.remove(path)
        except FileNotFoundError:
            pass
        gone += bytes_of_file
    return gone


def run(folder, gigabytes, room=ROOM_BYTES):
    gone = prune(folder, gigabytes * GIGABYTE, room)
    if gone:
        print(f"removed {gone / GIGABYTE:.1f} GB that were used longest ago from {folder}",
              file=sys.stderr)


if __name__ == "__main__":
    run(sys.argv[1], float(sys.argv[2]), *(float(it) * GIGABYTE for it in sys.argv[3:]))
