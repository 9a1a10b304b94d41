"""Runs the tests that need a cluster, on one of our own or on an existing one.

    sys.exit(suite.run(kubeconfig="", node="real", names=[]))

Test modules are the files *_test.py in FOLDERS. Counts are of tests; one that is skipped by itself
has failed. What an existing cluster cannot offer is listed as not run there.
"""

import contextlib
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import unittest

import programs
import taas
from cluster import Cluster
from existing import ExistingCluster
from scenario import Scenario

# Those outside e2e/cluster test what is rendered and need no cluster.
FOLDERS = ("e2e/chart", "e2e/cluster")


def modules():
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(programs.TREE, folder, "*_test.py"))):
            yield path


class UnreadableModule(unittest.TestCase):
    """Stands for the tests of a file that Python does not take: one that has failed."""

    def __init__(self, path, error):
        super().__init__("test_module_can_be_read")
        self.path, self.error = path, error

    def id(self):
        return self.path

    def test_module_can_be_read(self):
        raise self.error


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # A module's neighbours are its own.
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        return [UnreadableModule(path, error)]
    finally:
        sys.path.pop(0)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def selected(names):
    found = [test for path in modules() for test in flat(load(path))]
    return [test for test in found if not names or any(name in test.id() for name in names)]


class Result(unittest.TestResult):
    """Prints a line for each test, and keeps traces of a failed one while its objects are there."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster
        self.passed = 0
        self.failed = []

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.good = True

    def _fail(self, test, error):
        self.good = False
        print("".join(self._exc_info_to_string(error, test)), flush=True)
        if isinstance(test, Scenario) and hasattr(test, "namespace"):
            with contextlib.suppress(Exception):
                test.keep_traces()

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)
        if not isinstance(test, unittest.TestCase):
            # A class or a module that could not be set up has no stopTest.
            self.failed.append(str(test))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            print(f"in {subtest}", flush=True)
            self._fail(test, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.good = False
        print(f"skipped: {reason}", flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        word = "ok" if self.good else "FAILED"
        print(f"{word:6} {test.id()} ({time.monotonic() - self.began:.1f} s)", flush=True)
        if self.good:
            self.passed += 1
        else:
            self.failed.append(test.id())


def make_data(folder):
    """Generated data of MNIST's form: what is tested is the cluster, not the learning."""
    if not os.path.exists(taas.CLI):
        raise RuntimeError(f"there is no {taas.CLI}: `make build` makes it")
    subprocess.run([taas.CLI, "data", "fetch", "mnist", folder, "--generate"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder


def cluster_for(kubeconfig, node):
    if kubeconfig:
        return ExistingCluster(kubeconfig)
    return Cluster(real_node=node == "real", fake_nodes=0 if node == "real" else 3)


def prepare(cluster, existing):
    """TaaS on it; on an existing cluster the images must be where its nodes find them."""
    if cluster.node is not None:
        taas.load_images(cluster.node)
    if cluster.node is not None or existing:
        began = time.monotonic()
        taas.install(cluster.kubectl)
        print(f"TaaS installed after {time.monotonic() - began:.1f} s", flush=True)


def run(kubeconfig, node, names):
    began = time.monotonic()
    tests = selected(names)
    if not tests:
        print(f"no test's name has one of {names}", file=sys.stderr)
        return 2
    with contextlib.ExitStack() as stack:
        for built, variable in programs.BUILT.items():
            os.environ.setdefault(variable, programs.folder(built))
        cluster = stack.enter_context(cluster_for(kubeconfig, node))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="taas-e2e-data-"))
        print(cluster.description(), flush=True)
        if hasattr(cluster, "seconds_to_start"):
            print(f"cluster up after {cluster.seconds_to_start:.1f} s", flush=True)
        prepare(cluster, bool(kubeconfig))
        if kubeconfig:
            stack.callback(taas.uninstall, cluster.kubectl)
        Scenario.cluster = cluster
        Scenario.data_folder = make_data(os.path.join(folder, "mnist"))
        result = Result(cluster)
        installed = bool(kubeconfig) or node == "real"
        runnable, elsewhere = sorted_out(tests, cluster, installed)
        unittest.TestSuite(runnable).run(result)
        if result.failed:
            cluster.keep_logs()
    for test in elsewhere:
        print(f"not run here: {test.id()} needs {', '.join(test.needs) or 'containers'}")
    for name in result.failed:
        print(f"FAILED {name}")
    print(f"e2e took {time.monotonic() - began:.0f} s")
    print(f"{result.passed} passed, {len(result.failed)} failed", flush=True)
    return 0 if result.passed and not result.failed else 1


def sorted_out(tests, cluster, installed):
    """(those that can run on this cluster, those that cannot)."""
    runnable, elsewhere = [], []
    for test in tests:
        wants = isinstance(test, Scenario)
        able = not wants or (installed and set(test.needs) <= set(cluster.offers))
        (runnable if able else elsewhere).append(test)
    return runnable, elsewhere
