#!/usr/bin/python3
"""The trainer reads files of records that real TensorFlow wrote, and TensorFlow reads its own."""

import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "tools/ci"))
import imported  # pylint: disable=wrong-import-position

TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")

# Writes the files of argv[1], plain and gzip, of one image set: 20 images of 3 × 2 bytes, and what
# else an Example may hold.
WRITER = """
import sys
import tensorflow as tf
def feature(**lists):
    return tf.train.Feature(**lists)
def example(i):
    return tf.train.Example(features=tf.train.Features(feature={
        "image_raw": feature(bytes_list=tf.train.BytesList(
            value=[bytes(255 if k == i % 4 else i for k in range(6))])),
        "label": feature(int64_list=tf.train.Int64List(value=[i % 4])),
        "height": feature(int64_list=tf.train.Int64List(value=[3])),
        "width": feature(int64_list=tf.train.Int64List(value=[2])),
        "depth": feature(int64_list=tf.train.Int64List(value=[1])),
        "weights": feature(float_list=tf.train.FloatList(value=[i + 0.5] * (i % 3))),
        "words": feature(bytes_list=tf.train.BytesList(value=[b"a", b"", "ü".encode()])),
        "odd": feature(int64_list=tf.train.Int64List(value=[-1, 2 ** 63 - 1, -2 ** 63])),
        "none": feature()})).SerializeToString()
for name, kind in (("plain", ""), ("packed", "GZIP")):
    with tf.io.TFRecordWriter(f"{sys.argv[1]}/{name}", kind) as writer:
        for i in range(20):
            writer.write(example(i))
"""

# Prints what is in a file of records that `data convert` wrote, by TensorFlow's own parser.
READER = """
import json, sys
import tensorflow as tf
spec = {"image_raw": tf.io.FixedLenFeature([], tf.string),
        **{name: tf.io.FixedLenFeature([], tf.int64)
           for name in ("label", "height", "width", "depth")}}
records = tf.data.TFRecordDataset(sys.argv[1], compression_type=sys.argv[2])
out = []
for record in records:
    parsed = tf.io.parse_single_example(record, spec)
    pixels = tf.io.decode_raw(parsed["image_raw"], tf.uint8)
    out.append([int(parsed[name]) for name in ("label", "height", "width", "depth")] +
               [pixels.numpy().tolist()])
print(json.dumps(out))
"""


def idx(shape, data):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(data)


def pixels_of(example):
    """The class is where the brightest is."""
    return [255 if k == example % 4 else example for k in range(6)]


class TensorFlowTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs TensorFlow and sets "
                               "TAAS_TENSORFLOW_BIN")
        cls.python = imported.Python(PYTHON, "tensorflow")
        cls.addClassCleanup(cls.python.close)

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def path(self, name):
        return os.path.join(self.dir, name)

    def data(self, *words, code=0):
        done = subprocess.run([TRAINER, "data", *words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_files_of_tensorflow_are_read(self):
        self.python.run(WRITER, self.dir)
        for name, kind in (("plain", "not compressed"), ("packed", "gzip")):
            path = self.path(name)
            text = self.data("inspect", path)
            self.assertIn(f"{path}: TFRecord, {kind}, 20 records, checksums right\n", text)
            self.assertIn("  weights: float, 0 to 2 values; the first: \n", text)
            self.assertIn('  words: bytes, 3 values of 0 to 2 bytes; the first: '
                          '"a", "", "\\xc3\\xbc"\n', text)
            self.assertIn("  odd: int64, 3 values; the first: -1, 9223372036854775807, "
                          "-9223372036854775808\n", text)
            self.assertIn("  none: nothing, 0 values; the first: \n", text)
            self.data("convert", "--from", "tfrecord", "--to", "idx", path, self.path("x"),
                      self.path("y.gz"))
            images = sum((pixels_of(i) for i in range(20)), [])
            with open(self.path("x"), "rb") as file:
                self.assertEqual(file.read(), idx([20, 3, 2], images))
            with gzip.open(self.path("y.gz")) as file:
                self.assertEqual(file.read(), idx([20], [i % 4 for i in range(20)]))

    def test_our_files_are_read_by_tensorflow(self):
        images = sum((pixels_of(i) for i in range(20)), [])
        with open(self.path("x"), "wb") as file:
            file.write(idx([20, 3, 2], images))
        with open(self.path("y"), "wb") as file:
            file.write(idx([20], [i % 4 for i in range(20)]))
        for name, kind in (("ours", ""), ("ours.gz", "GZIP")):
            self.data("convert", "--from", "idx", "--to", "tfrecord", self.path("x"),
                      self.path("y"), self.path(name))
            got = json.loads(self.python.run(READER, self.path(name), kind))
            self.assertEqual(got, [[i % 4, 3, 2, 1, pixels_of(i)] for i in range(20)])

    def test_a_job_trains_on_files_of_tensorflow(self):
        self.python.run(WRITER, self.dir)
        feature = {"name": "image_raw", "dtype": "bytes", "decode": "raw", "shape": [3, 2, 1]}
        config = {
            "model": {"name": "softmax"},
            "data": {"format": "tfrecord", "train": {"files": [self.path("p*")]},
                     "test": {"files": [self.path("packed")]},
                     "tfrecord": {"label": "label",
                                  "features": [feature, {"name": "label", "dtype": "int64"},
                                               {"name": "weights", "dtype": "float",
                                                "kind": "VarLen", "shape": [2]}]}},
            "optimizer": {"name": "adam", "learningRate": 0.1}, "strategy": {"type": "Local"},
            "batchSize": 20, "maxSteps": 300, "logSteps": 1_000}
        end = self.train(config)
        self.assertEqual(end["evaluation"]["examples"], 20)
        self.assertEqual(end["evaluation"]["accuracy"], 1)
        self.assertIn("packed and 1 more", end["data"]["source"])
        feature["shape"] = [3, 3, 1]
        text = self.train(config, code=1)
        self.assertIn("packed: record 0 at offset 0: feature \"image_raw\": want 9 bytes", text)

    def train(self, config, code=0):
        end = self.path("end")
        done = subprocess.run(
            [TRAINER, "--config", json.dumps(config)], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={"TF_CONFIG": json.dumps({"task": {"type": "worker", "index": 0}}),
                 "TAAS_TERMINATION_LOG": end})
        if code:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            return done.stdout
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(end, encoding="utf-8") as file:
            return json.load(file)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
