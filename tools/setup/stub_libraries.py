#!/usr/bin/python3
"""Makes libraries of stubs in the place of those that are not there: PyTorch without CUDA's.

    tools/setup/stub_libraries.py FOLDER

FOLDER holds shared libraries that need others, which neither it nor the system has (those of CUDA
have some gigabytes). Each of these is made there, by gcc, with the name, the symbols and the
versions of symbols that are wanted of it. Its functions return 100, which is CUDA's error "no
device", so that a program which looks for one finds none and goes on without. Prints what it made.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

# Of a function that is wanted. `library` is "" if any may have it.
Symbol = collections.namedtuple("Symbol", "name version library")


def readelf(*words):
    return subprocess.check_output(["readelf", "-W", *words], text=True,
                                   env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})


class Library:
    """What the dynamic linker reads of a library or a program."""

    def __init__(self, path):
        self.needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d", path))
        # Of a symbol's version: its number in this file → the library that has it, its name.
        self.versions = {}
        library = ""
        for line in readelf("-V", path).splitlines():
            if found := re.search(r"\bFile: (\S+)", line):
                library = found[1]
            elif found := re.search(r"Name: (\S+) .*Version: (\d+)$", line):
                self.versions[int(found[2])] = (library, found[1])
        self.wanted, self.defined = [], set()
        for line in readelf("--dyn-syms", path).splitlines():
            self._read(line.split())

    def _read(self, words):
        if len(words) < 8 or not words[0].rstrip(":").isdigit():
            return
        bind, section, name = words[4], words[6], words[7].split("@")[0]
        if section != "UND":
            self.defined.add(name)
        elif bind != "WEAK":
            number = int(words[8].strip("()")) if len(words) > 8 else 0
            library, version = self.versions.get(number, ("", ""))
            self.wanted.append(Symbol(name, version, library))


def system_libraries():
    """{name: path}"""
    listed = subprocess.check_output(["/sbin/ldconfig", "-p"], text=True)
    return dict(re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)$", listed, re.MULTILINE))


def missing_of(folder):
    """{name of a library that is not there: the symbols to make in it}"""
    here = {name: Library(f"{folder}/{name}") for name in sorted(os.listdir(folder))
            if ".so" in name}
    system = system_libraries()
    missing = {name: {} for library in here.values() for name in library.needed
               if name not in here and name not in system}
    # A symbol without a version may be of any library, or of the program: of Python.
    others = [Library(os.path.realpath(sys.executable)), *here.values()]
    needed = {name for library in others for name in library.needed}
    others += [Library(path) for name, path in system.items() if name in needed]
    taken = {name for library in others for name in library.defined}
    for library in here.values():
        lacking = [name for name in library.needed if name in missing]
        for symbol in library.wanted:
            owner = symbol.library or next(iter(lacking), "")
            if owner in missing and symbol.name not in taken:
                missing[owner][symbol.name] = symbol
                taken.add(symbol.name)
    return missing


def source_of(symbols):
    lines = []
    for name in symbols:
        if re.search("String$|ErrorName$", name):
            lines.append(f'const char *{name}(void) {{ return "there is no CUDA here: a stub"; }}')
        else:
            lines.append(f"long {name}(void) {{ return 100; }}")
    return "\n".join(lines) + "\n"


def version_script_of(symbols):
    names = collections.defaultdict(list)
    for symbol in symbols.values():
        if symbol.version:
            names[symbol.version].append(symbol.name)
    return "".join(f"{version} {{ global: {'; '.join(of_it)}; }};\n"
                   for version, of_it in names.items())


def make(path, symbols):
    with tempfile.TemporaryDirectory() as folder:
        code, script = f"{folder}/stub.c", f"{folder}/versions"
        with open(code, "w", encoding="utf-8") as file:
            file.write(source_of(symbols))
        with open(script, "w", encoding="utf-8") as file:
            file.write(version_script_of(symbols))
        command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", "-nostdlib", "-s",
                   f"-Wl,-soname,{os.path.basename(path)}", "-o", path, code]
        if os.path.getsize(script):
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    flags = parser.parse_args()
    for name, symbols in missing_of(flags.folder).items():
        make(f"{flags.folder}/{name}", symbols)
        print(f"{name}: {len(symbols)} functions")


if __name__ == "__main__":
    main()
