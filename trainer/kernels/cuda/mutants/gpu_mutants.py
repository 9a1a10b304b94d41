#!/usr/bin/python3
"""`make gpu-mutants`: a hundred small mistakes in the kernels' sources, one at a time. Does a test
find each?

Bazel says by which commands it has compiled the emulated kernels and linked the program of all twin
tests (:twins); a mutant is compiled and linked by the same commands in a folder of its own, since
Bazel would take a minute for each. Its tests are those of the file, then all others.

Ends with "N of 100 died", and the code 1 if one lived that equivalent.txt does not name.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mutate

PACKAGE = "trainer/kernels/cuda"
HERE = os.path.dirname(os.path.abspath(__file__))
TREE = HERE.removesuffix(f"/{PACKAGE}/mutants")
TWINS = f"//{PACKAGE}/mutants:twins"
COUNT = 100
SEED = 1
# A mutant may go round for ever. All tests take half a minute of a processor when they pass; how
# long that is by the clock is a matter of what else the machine does.
PROCESSOR_S = 120

# By whose tests a kernel is found wrong soonest, where that is not its own name's.
TESTED_BY = {
    "gradient_work.cu": ["update"],
    "norm_sums.cu": ["batch_norm", "layer_norm"],
    "patches.cu": ["conv"],
    "report.cu": ["update", "softmax_loss"],
    "updates.cu": ["update"],
}


class Commands:
    """What Bazel does, in `root`: a folder as that in which Bazel does it, which may be another one
    at the next build."""

    def __init__(self, bazel, flags, root):
        self.bazel, self.flags, self.root = bazel, flags, root
        of_bazel = self._run("info", "execution_root").strip()
        os.makedirs(root)
        for name in os.listdir(TREE):
            os.symlink(os.path.join(TREE, name), os.path.join(root, name))
        os.symlink(os.path.join(of_bazel, "bazel-out"), os.path.join(root, "bazel-out"))
        self.compile = {}
        for action in self._actions("CppCompile", f"//{PACKAGE}:emulated"):
            source = action[action.index("-c") + 1]
            if source.endswith(".cu"):
                self.compile[os.path.basename(source)] = action
        # The program itself; its libraries are archives.
        (self.link,) = [it for it in self._actions("CppLink", TWINS)
                        if it[it.index("-o") + 1].endswith("/twins")]

    def _run(self, *arguments):
        return subprocess.run([*self.bazel, arguments[0], *self.flags, *arguments[1:]], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def _actions(self, mnemonic, target):
        text = self._run("aquery", "--output=jsonproto", f'mnemonic("{mnemonic}", {target})')
        for action in json.loads(text)["actions"]:
            # What a file of parameters has stands before it, too.
            yield [argument for argument in action["arguments"] if not argument.startswith("@")]

    @staticmethod
    def _with(command, replaced):
        out = list(command)
        for flag, value in replaced.items():
            out[out.index(flag) + 1] = value
        return out

    def object_of(self, name):
        command = self.compile[name]
        return command[command.index("-o") + 1]

    def compile_into(self, folder, name):
        """The object of this kernel, or None: it does not compile. Files in `folder` come first."""
        own = os.path.join(folder, PACKAGE, name)
        source = own if os.path.exists(own) else os.path.join(PACKAGE, name)
        made = os.path.join(folder, name + ".o")
        command = self._with(self.compile[name], {"-c": source, "-o": made})
        if "-MF" in command:
            command = self._with(command, {"-MF": made + ".d"})
        # A mistake may leave something unused, which is no find of ours.
        command[1:1] = ["-iquote", folder]
        done = subprocess.run([*command, "-w"], cwd=self.root, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return made if done.returncode == 0 else None

    def link_into(self, folder, objects):
        """The program with these objects, by their kernels' names, in the place of Bazel's."""
        made = os.path.join(folder, "twins")
        command = self._with(self.link, {"-o": made})
        for name, own in objects.items():
            command[command.index(self.object_of(name))] = own
        done = subprocess.run(command, cwd=self.root, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"cannot link {list(objects)}: {done.stdout}")
        return made


class Tests:
    """Of the program of all twin tests: which are whose."""

    def __init__(self, sources_dir, kernels):
        self.suites = {}
        for name in os.listdir(sources_dir):
            if name.endswith("_test.cc"):
                with open(os.path.join(sources_dir, name), encoding="utf-8") as file:
                    self.suites[name.removesuffix("_test.cc")] = sorted(
                        set(re.findall(r"^TEST(?:_F|_P)?\((\w+)", file.read(), re.MULTILINE)))
        self.includes = {name: set(re.findall(rf'#include "{PACKAGE}/([\w.]+)"', text))
                         for name, text in kernels.items()}

    def users_of(self, header):
        """Kernels (.cu) that include it, also by another header."""
        found, new = set(), {header}
        while new:
            found |= new
            new = {name for name, of in self.includes.items() if of & found} - found
        return sorted(name for name in found if name.endswith(".cu"))

    def filter_of(self, file):
        kernels = [file] if file.endswith(".cu") else self.users_of(file)
        names = {name for kernel in kernels
                 for name in TESTED_BY.get(kernel, [kernel.removesuffix(".cu")])}
        suites = [suite for name in sorted(names) for suite in self.suites.get(name, [])]
        return [pattern for suite in suites for pattern in (f"{suite}.*", f"*/{suite}.*")]


def passes(program, patterns):
    """Whether these tests pass; `patterns` as of gtest's filter."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["prlimit", f"--cpu={PROCESSOR_S}", program, "--gtest_brief=1", "--gtest_fail_fast",
             f"--gtest_filter={patterns}"], cwd=folder, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "TEST_TMPDIR": folder})
        return done.returncode == 0


class Judge:
    def __init__(self, commands, tests, sources, scratch):
        self.commands, self.tests, self.sources = commands, tests, sources
        self.scratch = scratch

    def judge(self, mutant):
        """"died", "lived", or "" if it does not compile."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        try:
            return self._judge(mutant, folder)
        finally:
            shutil.rmtree(folder)

    def sane(self, jobs):
        """That the tests pass with the kernels as they are."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            kernels = list(self.commands.compile)
            objects = dict(zip(kernels, pool.map(
                lambda name: self.commands.compile_into(self.scratch, name), kernels)))
        return None not in objects.values() and passes(
            self.commands.link_into(self.scratch, objects), "*")

    def _judge(self, mutant, folder):
        path = os.path.join(folder, PACKAGE, mutant.file)
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(mutant.apply(self.sources[mutant.file]))
        kernels = ([mutant.file] if mutant.file.endswith(".cu")
                   else self.tests.users_of(mutant.file))
        objects = {}
        for kernel in kernels:
            objects[kernel] = self.commands.compile_into(folder, kernel)
            if objects[kernel] is None:
                return ""
        program = self.commands.link_into(folder, objects)
        first = ":".join(self.tests.filter_of(mutant.file))
        if first and not passes(program, first):
            return "died"
        # Somebody else's test may find it.
        return "lived" if passes(program, f"*-{first}") else "died"


def diff(mutant):
    return f"    - {mutant.before.strip()}\n    + {mutant.after.strip()}"


class Report:
    def __init__(self, known):
        self.known = known
        self.lock = threading.Lock()
        self.counts = {"died": 0, "lived": 0, "equivalent": 0}

    def add(self, mutant, outcome):
        if outcome == "lived" and mutant.key() in self.known:
            outcome = "equivalent"
        with self.lock:
            self.counts[outcome] += 1
            print(f"{outcome:10}  {mutant.file}:{mutant.line}  {mutant.kind}\n{diff(mutant)}",
                  flush=True)
            if outcome == "equivalent":
                print(f"    = {self.known[mutant.key()]}", flush=True)


def of_file(judge, report, share, found):
    """Judges `share` of those in `found` that compile; how many there were."""
    judged = 0
    for mutant in found:
        if judged == share:
            break
        outcome = judge.judge(mutant)
        if outcome:
            report.add(mutant, outcome)
            judged += 1
    if judged < share:
        raise RuntimeError(f"of {len(found)} mutants no {share} compile")
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bazel", default="bazel", help="the command, with its start-up options")
    parser.add_argument("--flags", default="", help="with which :twins has been built")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", help="of these files only, such as sums.cu")
    options = parser.parse_args()
    began = time.monotonic()
    sources = {}
    kernels_dir = os.path.dirname(HERE)
    for name in sorted(os.listdir(kernels_dir)):
        if name.endswith((".cu", ".h")):
            with open(os.path.join(kernels_dir, name), encoding="utf-8") as file:
                sources[name] = file.read()
    with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as file:
        report = Report(mutate.read_equivalents(file.read()))
    tests = Tests(kernels_dir, sources)
    chosen = [one for one in mutate.choose(sources, options.count, options.seed)
              if not options.only or one[0] in options.only]
    with tempfile.TemporaryDirectory(prefix="gpu-mutants-") as scratch:
        commands = Commands(options.bazel.split(), options.flags.split(),
                            os.path.join(scratch, "root"))
        judge = Judge(commands, tests, sources, scratch)
        if not judge.sane(options.jobs):
            sys.exit("the tests do not pass as the kernels are: make test first")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            judged = list(pool.map(lambda one: of_file(judge, report, one[1], one[2]), chosen))
    counts = report.counts
    print(f"{counts['lived']} lived, {counts['equivalent']} change nothing, "
          f"in {time.monotonic() - began:.0f} s")
    print(f"{counts['died']} of {sum(judged)} died")
    sys.exit(1 if counts["lived"] else 0)


if __name__ == "__main__":
    main()
