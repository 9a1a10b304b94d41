#!/usr/bin/python3
"""Ids of feature columns are those of the real TensorFlow: hashes, crosses, buckets, vocabularies.

A model that was trained there finds its rows here, and the other way round.
"""

import json
import os
import random
import string
import subprocess
import sys
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
ENCODE = os.path.join(RUNFILES, "trainer/data/columns/encode_main")
PYTHON = os.path.join(os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"),
                      "python")
# Some are no floats: both sides compare what is nearest.
BOUNDARIES = [-1.5, 0.0, 0.1, 0.7, 64.0]
VOCABULARY = ["HS", "BSc", "MSc", "PhD"]

# Runs where TensorFlow is installed: rows on standard input, the columns' numbers as output.
TWIN = """
import json, sys
import tensorflow as tf

task = json.load(sys.stdin)
rows = task["rows"]
of = lambda name: [row[name] for row in rows]
texts = tf.constant(of("job"))
wholes = tf.constant(of("plan"), tf.int64)
buckets = tf.raw_ops.Bucketize(input=tf.constant(of("age"), tf.float32),
                               boundaries=task["boundaries"])
table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(
    tf.constant(task["vocabulary"]), tf.range(len(task["vocabulary"]), dtype=tf.int64)), 3)

def cross(values, buckets):
    columns = [tf.sparse.from_dense(tf.reshape(value, [-1, 1]) if value.dtype == tf.string
                                    else tf.reshape(value, [-1, 1]) + 1) for value in values]
    # from_dense drops zeros, so that ids went in with one added.
    columns = [column if column.dtype == tf.string else column.with_values(column.values - 1)
               for column in columns]
    return tf.sparse.to_dense(tf.sparse.cross_hashed(columns, buckets))[:, 0]

columns = [
    tf.strings.to_hash_bucket_fast(texts, 1000),
    tf.strings.to_hash_bucket_fast(tf.strings.as_string(wholes), 77),
    tf.cast(buckets, tf.int64),
    table.lookup(tf.constant(of("school"))),
    cross([texts, tf.constant(of("school"))], 5000),
    cross([tf.cast(buckets, tf.int64), texts], 300),
]
print(json.dumps(tf.stack(columns, 1).numpy().tolist()))
"""

COLUMNS = [
    {"name": "job", "type": "hashed", "buckets": 1000},
    {"name": "plan", "type": "hashed", "buckets": 77},
    {"name": "ageGroup", "type": "bucketized", "source": "age", "boundaries": BOUNDARIES},
    {"name": "schoolId", "type": "vocabulary", "source": "school", "values": VOCABULARY,
     "oovBuckets": 3},
    {"name": "job_school", "type": "crossed", "sources": ["job", "school"], "buckets": 5000},
    {"name": "age_job", "type": "crossed", "sources": ["ageGroup", "job"], "buckets": 300},
]


def rows():
    drawn = random.Random(7)

    def word():
        # Of every length that the hash treats by itself, and beyond ASCII.
        return "".join(drawn.choices(string.printable + "äß漢", k=drawn.choice(range(1, 140))))

    made = [{"job": word(), "plan": drawn.randrange(-2**62, 2**62), "age": drawn.gauss(0, 30),
             "school": drawn.choice([*VOCABULARY, word()])} for _ in range(300)]
    # Exactly on the boundaries.
    return made + [{**made[0], "age": boundary} for boundary in BOUNDARIES]


def ask(command, task):
    done = subprocess.run(command, input=json.dumps(task), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


class ColumnsTest(unittest.TestCase):

    def test_ids_are_those_of_tensorflow(self):
        task = {"columns": COLUMNS, "rows": rows(), "boundaries": BOUNDARIES,
                "vocabulary": VOCABULARY}
        ours, theirs = ask([ENCODE], task), ask([PYTHON, "-c", TWIN], task)
        self.assertEqual(len(ours), len(task["rows"]))
        for row, mine, yours in zip(task["rows"], ours, theirs, strict=True):
            self.assertEqual(mine, yours, row)


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        sys.exit(f"there is no {PYTHON}: `tools/setup/setup.sh python tensorflow` installs it")
    unittest.main()
