#!/usr/bin/python3
"""Compiles the kernels of one .cu, or joins what was said of several.

compile_kernels.py NVCC X.cu X.fatbin X.fatbin.inc X.resources
    X.fatbin is the image, X.fatbin.inc the same as words of 64 bits for C++, X.resources a line for
    each kernel and architecture: what it takes of a GPU.
compile_kernels.py --table X.resources…
    prints resources.txt.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile

# Machine code of sm_80 runs on every 8.x and that of sm_90 on 9.0. The driver of a later GPU
# compiles the PTX of 90. PTX of 80 would be for nobody: what could use it has one of these.
# Functions of the standard library that are constexpr, such as an array's, may be in kernels.
FLAGS = [
    "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-fatbin", "-ccbin", "/usr/bin/g++", "-I.",
    "-Werror", "all-warnings", "-Xptxas", "-v",
    "-gencode", "arch=compute_80,code=sm_80",
    "-gencode", "arch=compute_90,code=[sm_90,compute_90]",
]
COLUMNS = ("registers", "stack", "stores", "loads", "shared")
HEAD = """\
# What each kernel takes of a GPU, as ptxas says: registers of a thread; bytes of its stack and of
# the stores and loads of spilled registers; static shared bytes of a block. A function that is no
# kernel has "-". `make kernel-resources` writes this file.
"""
KERNEL = re.compile(r"Compiling entry function '(\S+)' for '(sm_\d+)'")
FUNCTION = re.compile(r"Function properties for (\S+)")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


def resources(said):
    """Of what `ptxas -v` said: (function, architecture, value of each column), sorted."""
    stacks, used = {}, {}
    kernel = function = None
    for line in said.splitlines():
        if match := KERNEL.search(line):
            kernel = match.groups()
        elif match := FUNCTION.search(line):
            function = match[1]
        elif match := STACK.search(line):
            stacks[function, kernel[1]] = match.groups()
        elif match := USED.search(line):
            shared = SHARED.search(line)
            used[kernel] = match[1], shared[1] if shared else "0"
    if not used or used.keys() - stacks.keys():
        raise ValueError(f"ptxas did not say what kernels take, or not as it did:\n{said}")
    return sorted((name, sm, used.get((name, sm), "-")[0], *stack, used.get((name, sm), "--")[1])
                  for (name, sm), stack in stacks.items())


def table(rows):
    """The text of resources.txt."""
    lines = [("# kernel", "sm", *COLUMNS), *sorted(rows)]
    return HEAD + "".join(
        f"{name:<36} {sm:<5}" + "".join(f" {value:>9}" for value in values) + "\n"
        for name, sm, *values in lines)


def spilling(text):
    """The lines of a table whose function stores or loads spilled registers."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [line for line in lines if line.split()[4:6] != ["0", "0"]]


def compile_kernels(nvcc, source, fatbin, words, taken):
    # nvcc names files of its own after its process, whose number another sandbox has too.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([nvcc, *FLAGS, source, "-o", fatbin], text=True, check=False,
                              stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": folder})
    if done.returncode != 0:
        sys.exit(done.stderr)
    with open(taken, "w", encoding="utf-8") as file:
        file.writelines(" ".join(row) + "\n" for row in resources(done.stderr))
    with open(fatbin, "rb") as file:
        image = file.read()
    image += bytes(-len(image) % 8)
    with open(words, "w", encoding="utf-8") as file:
        file.writelines(f"{word:#x},\n" for (word,) in struct.iter_unpack("<Q", image))


def main(words):
    if words[0] != "--table":
        compile_kernels(*words)
        return
    rows = []
    for path in words[1:]:
        with open(path, encoding="utf-8") as file:
            rows += [line.split() for line in file]
    print(table(rows), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
