"""Runs the tests that need a cluster, on one of our own or on an existing one.

    sys.exit(suite.run(kubeconfig="", node="real", names=[]))

Test modules are the files *_test.py in FOLDERS. Several run at once, since they wait most of the
time; those that others would feel have a second cluster, where one runs at a time. On an existing
one they come when the others have ended (schedule.py). Counts are of tests; one that is skipped by
itself has failed, and one that failed beside others and passed alone is listed. What an existing
cluster cannot offer is listed as not run there.
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
import schedule
import taas
from cluster import Cluster
from existing import ExistingCluster
from result import Result
from scenario import Scenario
from second import LANE, Second

# e2e/chart tests what is rendered, and needs no cluster for most of it.
FOLDERS = ("e2e/acceptance", "e2e/browser", "e2e/chart", "e2e/cluster", "e2e/faults",
           "e2e/migration", "e2e/operations")
# Beside the real node, with room for some hundred pods that run nothing; or instead of it.
FAKE_NODES = 4
# Most of the time each waits. With so many of them two cores are busy nearly until the end.
TESTS_AT_ONCE = 6


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
    # Nobody knows which tests are in a file that cannot be read.
    return [test for test in found if not names or isinstance(test, UnreadableModule) or
            any(name in test.id() for name in names)]


def make_data(folder):
    """Generated data of MNIST's form: what is tested is the cluster, not the learning."""
    subprocess.run([programs.ours("taas"), "data", "fetch", "mnist", folder, "--generate"],
                   check=True, stdout=subprocess.DEVNULL)
    return folder


def cluster_for(kubeconfig, node):
    if kubeconfig:
        return ExistingCluster(kubeconfig)
    return Cluster(real_node=node == "real", fake_nodes=FAKE_NODES)


def prepare(cluster, existing):
    """TaaS on it; on an existing cluster the images must be where its nodes find them."""
    if cluster.node is not None:
        taas.load_images(cluster.node)
    if cluster.node is not None or existing:
        began = time.monotonic()
        taas.install(cluster.kubectl)
        print(f"TaaS installed after {time.monotonic() - began:.1f} s", flush=True)


def start_second(node, stack):
    cluster = stack.enter_context(cluster_for("", node))
    prepare(cluster, existing=False)
    print(f"second cluster up after {cluster.seconds_to_start:.1f} s", flush=True)
    return cluster


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
        # An existing one is all that there is.
        Scenario.second = None if kubeconfig else Second(lambda: start_second(node, stack))
        Scenario.until_end = stack
        Scenario.data_folder = make_data(os.path.join(folder, "mnist"))
        installed = bool(kubeconfig) or node == "real"
        runnable, elsewhere = sorted_out(tests, cluster, installed)
        result = run_all(runnable, cluster)
        if result.failed:
            for each in Scenario.clusters():
                each.keep_logs()
    for test in elsewhere:
        print(f"not run here: {test.id()} needs {', '.join(test.needs) or 'containers'}")
    if not kubeconfig and node == "real":
        # A cluster of our own has all that tests need.
        result.failed += [test.id() for test in elsewhere]
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


def where(test):
    """A test that is no scenario starts what it needs by itself."""
    if not getattr(test, "shared", False) or has_second(test):
        return schedule.OWN
    return schedule.ALONE if test.alone else schedule.SHARED


def has_second(test):
    return getattr(test, "alone", False) and test.second is not None


def lane(test):
    # One at a time has the second cluster to itself.
    return LANE if has_second(test) else getattr(test, "lane", "")


def units(tests):
    """Tests that must run in one thread: those of a lane, and of a class with a set-up. A lane of
    tests on the shared cluster and of others is two, of which one runs at a time."""
    found = {}
    for test in tests:
        shares = type(test).setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__
        key = where(test), lane(test) or (type(test) if shares else test.id())
        found.setdefault(key, schedule.Unit([], where(test), lane(test))).tests.append(test)
    return list(found.values())


def run_all(tests, cluster):
    # Those that look at what all others did.
    last = [test for test in tests if getattr(test, "last", False)]
    first = [test for test in tests if test not in last]

    def result_of(found):
        result = Result(cluster)
        unittest.TestSuite(found).run(result)
        return result

    total = Result(cluster)
    for result in schedule.run(units(first), lambda unit: result_of(unit.tests), TESTS_AT_ONCE):
        total.add(result)
    for unit in schedule.ordered(units(last)):
        total.add(result_of(unit.tests))
    return total
