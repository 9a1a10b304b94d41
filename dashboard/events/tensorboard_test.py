#!/usr/bin/python3
"""Each route answers as real TensorBoard does, from files that real TensorFlow wrote."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                    os.environ.get("TEST_WORKSPACE", ""), "dashboard/events")
ANSWERS = os.path.join(HERE, "answers_main")
PEER = os.path.join(HERE, "tensorboard_peer.py")
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")
# A directory with tf2.21/events_v1 and others; they are compared as well if it is there.
FIXTURES = os.environ.get("TAAS_FIXTURES")


class Reader:
    """A program that reads a directory and answers requests about it, line by line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def get(self, path, **query):
        request = {"path": path, "query": list(query.items())}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended, asked for {path} {query}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def numbers(csv):
    """Header and rows; TensorBoard writes the values of integer tensors without a point."""
    header, *rows = csv.split("\r\n")
    return header, [[repr(float(cell)) for cell in row.split(",") if cell] for row in rows]


class TensorBoardTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorBoard and sets "
                               "TAAS_TENSORFLOW_BIN")
        cls.top = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.written = os.path.join(cls.top, "written")
        subprocess.run([PYTHON, PEER, "write", cls.written], check=True)
        # Two tests ask about these: to start TensorFlow takes long.
        cls.readers_of_written = (Reader(ANSWERS, cls.written),
                                  Reader(PYTHON, PEER, "serve", cls.written))

    @classmethod
    def tearDownClass(cls):
        for reader in cls.readers_of_written:
            reader.close()

    def readers(self, directory):
        ours, theirs = Reader(ANSWERS, directory), Reader(PYTHON, PEER, "serve", directory)
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        return ours, theirs

    def same(self, readers, path, **query):
        """The answer of TensorBoard, after ours was compared with it."""
        ours, theirs = (reader.get(path, **query) for reader in readers)
        what = f"{path} {query}"
        self.assertEqual(ours["status"], theirs["status"], what)
        self.assertEqual(ours["type"], theirs["type"], what)
        if ours["type"] == "application/json":
            body = json.loads(theirs["body"])
            self.assertEqual(json.loads(ours["body"]), body, what)
            return body
        if ours["type"].startswith("text/csv"):
            self.assertEqual(numbers(ours["body"]), numbers(theirs["body"]), what)
        else:
            self.assertEqual(ours["body"], theirs["body"], what)
        return theirs["body"]

    def same_everywhere(self, readers):
        """Compares all routes of all tags; returns the tags of the two plugins."""
        runs = self.same(readers, "/data/runs")
        self.assertEqual(len(set(runs)), len(runs))
        scalars = self.tags(readers, "scalars")
        for run, tag in scalars:
            self.same(readers, "/data/plugin/scalars/scalars", run=run, tag=tag)
            self.same(readers, "/data/plugin/scalars/scalars", run=run, tag=tag, format="csv")
        histograms = self.tags(readers, "histograms")
        self.same(readers, "/data/plugin/distributions/tags")
        for run, tag in histograms:
            self.same(readers, "/data/plugin/histograms/histograms", run=run, tag=tag)
            self.same(readers, "/data/plugin/distributions/distributions", run=run, tag=tag)
        return scalars, histograms

    def tags(self, readers, plugin):
        answer = self.same(readers, f"/data/plugin/{plugin}/tags")
        return [(run, tag) for run, tags in answer.items() for tag in tags]

    def test_files_of_tensorflow_and_of_none(self):
        readers = self.readers_of_written
        scalars, histograms = self.same_everywhere(readers)
        # That there is something to compare.
        self.assertEqual({run for run, _ in scalars},
                         {".", "v2/train", "restart", "first version", "first version/no version",
                          "odd", "half0", "half1"})
        self.assertGreaterEqual(len(scalars), 25)
        self.assertGreaterEqual(len(histograms), 12)
        for run, tag, count in ((".", "loss", 1000), ("restart", "loss", 1000),
                                ("half0", "loss", 19), ("first version", "b", 71)):
            points = self.same(readers, "/data/plugin/scalars/scalars", run=run, tag=tag)
            self.assertEqual(len(points), count, (run, tag))
        for run, tag, shown, kept in ((".", "weights", 51, 500), ("v2/train", "few", 30, 30),
                                      ("v2/train", "hidden/weights", 51, 500),
                                      ("restart", "h", 51, 440)):
            self.assertEqual(len(self.same(readers, "/data/plugin/histograms/histograms", run=run,
                                           tag=tag)), shown, (run, tag))
            self.assertEqual(len(self.same(readers, "/data/plugin/distributions/distributions",
                                           run=run, tag=tag)), kept, (run, tag))

    def test_errors(self):
        readers = self.readers_of_written
        path = "/data/plugin/scalars/scalars"
        self.same(readers, path)
        self.same(readers, path, run=".")
        self.same(readers, path, tag="it's")
        self.same(readers, path, run=".", tag="no such")
        self.same(readers, path, run="no such", tag="loss")
        self.same(readers, path, run="", tag="")
        self.same(readers, path, run=".", tag="weights")
        self.same(readers, path + "/", run=".", tag="loss")
        self.same(readers, "/data/plugin/histograms/histograms", run=".", tag="loss")
        self.same(readers, "/data/plugin/histograms/histograms", run="\"'", tag="a\\b\n")
        self.same(readers, "/data/plugin/distributions/distributions", run=".", tag="no such")
        self.same(readers, "/data/plugin/scalars")
        self.same(readers, "/data/plugin/scalars/nothing")
        self.same(readers, "/data/nothing")

    def test_files_that_grow_give_what_whole_files_give(self):
        source = os.path.join(self.written, "restart")
        growing = os.path.join(self.top, "growing")
        os.makedirs(os.path.join(growing, "restart"))
        readers = self.readers(growing)
        for name in sorted(os.listdir(source)):
            with open(os.path.join(source, name), "rb") as file:
                data = file.read()
            cuts = [0, 1, 30, len(data) // 3, len(data) // 2, len(data)]
            with open(os.path.join(growing, "restart", name), "wb") as file:
                for begin, end in zip(cuts, cuts[1:]):
                    file.write(data[begin:end])
                    file.flush()
                    self.same(readers, "refresh")
                    self.same_everywhere(readers)
        whole = Reader(ANSWERS, source)
        self.addCleanup(whole.close)
        for path, tag in (("/data/plugin/scalars/scalars", "loss"),
                          ("/data/plugin/distributions/distributions", "h")):
            self.assertEqual(readers[0].get(path, run="restart", tag=tag),
                             whole.get(path, run=".", tag=tag))

    def test_a_run_whose_directory_goes_is_gone(self):
        copy = os.path.join(self.top, "copy")
        for run in ("half0", "half1"):
            shutil.copytree(os.path.join(self.written, run), os.path.join(copy, run))
        readers = self.readers(copy)
        self.assertEqual(self.same(readers, "/data/runs"), ["half0", "half1"])
        shutil.rmtree(os.path.join(copy, "half0"))
        self.same(readers, "refresh")
        self.assertEqual(self.same(readers, "/data/runs"), ["half1"])
        self.same_everywhere(readers)

    # `make formats` sets it.
    @unittest.skipIf(FIXTURES is None, "needs: TAAS_FIXTURES")
    def test_fixtures(self):
        scalars, histograms = self.same_everywhere(self.readers(FIXTURES))
        self.assertGreater(len(scalars), 0)
        self.assertGreater(len(histograms), 0)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
