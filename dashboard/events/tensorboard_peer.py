"""Runs where TensorFlow and TensorBoard are installed: writes event files, and answers requests.

    tensorboard_peer.py write DIR
    tensorboard_peer.py serve DIR < requests > answers     (as answers_main.cc, in its words)
"""

import json
import os
import struct
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf
from tensorboard.backend import application
from tensorboard.backend.event_processing import (data_ingester, data_provider,
                                                  plugin_event_multiplexer)
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2
from tensorboard.plugins import base_plugin
from tensorboard.plugins.core import core_plugin
from tensorboard.plugins.distribution import distributions_plugin
from tensorboard.plugins.histogram import histograms_plugin
from tensorboard.plugins.histogram import metadata as histogram_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.scalar import scalars_plugin
from tensorboard.util import tensor_util
from werkzeug.test import Client

STEPS = 3000
START = 1_700_000_000


def write_with_tf2(directory):
    """Curves, histograms and a text, of which the histograms are too many to be kept or shown."""
    generator = tf.random.Generator.from_seed(1)
    with tf.summary.create_file_writer(directory).as_default():
        for step in range(STEPS):
            tf.summary.scalar("loss", 1.0 / (step + 1), step)
            tf.summary.scalar("nested/accuracy", step / STEPS, step,
                              description="of the test set <b>&</b>\n\nevery step")
            if step % 3 == 0:
                values = generator.normal([200]) * (1 + step / 100) - 3
                tf.summary.histogram("hidden/weights", values, step)
            if step % 100 == 0:
                tf.summary.histogram("few", generator.normal([50]), step, buckets=7,
                                     description="few of them")
        tf.summary.histogram("constant", tf.fill([40], -2.5), 1)
        tf.summary.histogram("nothing", tf.zeros([0]), 1)
        tf.summary.histogram("no buckets", tf.zeros([10]), 1, buckets=0)
        tf.summary.text("a text", "words", 1)
        tf.summary.image("an image", tf.zeros([1, 2, 2, 1]), 1)


def write_with_tf1(directory):
    """The old values, from a session, with a graph."""
    generator = np.random.default_rng(2)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        values = tf.compat.v1.placeholder(tf.float32, [None])
        loss = tf.compat.v1.placeholder(tf.float32, [])
        merged = tf.compat.v1.summary.merge([
            tf.compat.v1.summary.histogram("weights", values),
            tf.compat.v1.summary.scalar("loss", loss)])
        writer = tf.compat.v1.summary.FileWriter(directory, session.graph)
        for step in range(STEPS):
            summary = session.run(merged, {
                values: generator.standard_normal(100) * 10.0 ** (step % 9 - 4) - step % 2,
                loss: np.sin(step / 50)})
            writer.add_summary(summary, step)
        for step, few in enumerate(([], [0.0], [-3.0, -3.0], [np.float32(3e38)], [1e-20, -1e20])):
            histogram = tf.compat.v1.summary.histogram("odd", tf.constant(few, tf.float32))
            writer.add_summary(session.run(histogram), step)
        writer.close()


class RawWriter:
    """A file of events that no TensorFlow would write today."""

    def __init__(self, directory, number, version="brain.Event:2"):
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, f"events.out.tfevents.{START + number}.raw")
        self.file = tf.io.TFRecordWriter(self.path)
        self.time = START + number
        if version is not None:
            self.add(0, file_version=version)

    def add(self, step, **what):
        self.time += 0.25
        event = event_pb2.Event(wall_time=self.time, step=step, **what)
        self.file.write(event.SerializeToString())

    def value(self, step, **value):
        self.add(step, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)]))

    def tensor(self, step, tag, array, metadata=None, dtype=None):
        tensor = tensor_util.make_tensor_proto(np.array(array, dtype))
        self.value(step, tag=tag, tensor=tensor, metadata=metadata)

    def start(self, step):
        self.add(step, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))

    def close(self):
        self.file.close()


def write_restarts(directory):
    """Steps go back with each restart, once within a file; the first mark drops nothing."""
    begins = [0, 900, 400, 1800]
    for number, begin in enumerate(begins):
        writer = RawWriter(directory, number)
        writer.start(begin)
        for step in range(begin, begin + 1200):
            writer.value(step, tag="loss", simple_value=number + step / 10_000)
            if step % 5 == 0:
                writer.value(step, tag="h", histo=summary_pb2.HistogramProto(
                    min=step, max=step + 2, num=3, sum=3 * step + 3, sum_squares=1,
                    bucket_limit=[step, step + 1, step + 3], bucket=[0, 1, 2]))
        if number == 2:
            writer.start(1000)
            writer.value(1000, tag="loss", simple_value=-1)
        writer.close()


def write_first_version(directory):
    """Without marks of a start: a step that goes back drops what its own tags have after it."""
    writer = RawWriter(directory, 0, version="brain.Event:1")
    for step in list(range(100)) + list(range(50, 80)):
        writer.value(step, tag="a", simple_value=step)
        if step < 60:
            writer.value(step, tag="b", simple_value=step)
    writer.add(0, graph_def=b"")
    writer.value(70, tag="b", simple_value=1)
    writer.close()
    other = RawWriter(os.path.join(directory, "no version"), 1, version=None)
    for step in (5, 6, 7, 6, 8, 2):
        other.value(step, tag="a", simple_value=step)
    other.close()


def write_odd_values(directory):
    """Each type of number, what is no number, and metadata of every kind."""
    writer = RawWriter(directory, 9)
    scalar = scalar_metadata.create_summary_metadata(display_name="Shown", description="x < y")
    for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
                  "uint16"):
        for step, value in enumerate((1, 100, 0)):
            writer.tensor(step, "type/" + dtype, value, scalar, dtype)
    writer.tensor(1, "type/list of one", [2.5], scalar, "float32")
    for step, value in enumerate((float("nan"), float("inf"), float("-inf"), 1e-45, 3.4e38, -0.0)):
        writer.value(step, tag="not/numbers", simple_value=value)
        writer.tensor(step, "not/numbers64", value, scalar, "float64")
    writer.value(-5, tag="negative/step", simple_value=1)
    writer.value(2 ** 62, tag="large/step", simple_value=1)
    named = summary_pb2.SummaryMetadata(display_name="An old name", summary_description="old")
    writer.value(1, tag="named", simple_value=1, metadata=named)
    writer.value(1, tag="quotes \"'\\ \t é 模型 </script>", simple_value=1)
    writer.value(1, node_name="node", simple_value=1)
    newer = scalar_metadata.create_summary_metadata(display_name="", description="")
    newer.plugin_data.content = b"\x08\x07"
    writer.tensor(1, "of a newer plugin", 1.0, newer, "float32")
    hidden = scalar_metadata.create_summary_metadata(display_name="", description="")
    hidden.data_class = summary_pb2.DATA_CLASS_TENSOR
    writer.tensor(1, "of another class", 1.0, hidden, "float32")
    unknown = summary_pb2.SummaryMetadata()
    unknown.plugin_data.plugin_name = "somebody's"
    writer.tensor(1, "of another plugin", 1.0, unknown, "float32")
    rows = histogram_metadata.create_summary_metadata(display_name="", description="")
    nan = float("nan")
    for step, buckets in enumerate(([[0, 1, 2], [1, 2, 0], [2, 3, 5]], [[-3, -2, 4]],
                                    [[1, 1, 0], [1, 1, 7]], [[0, 1, 0], [1, 2, 0]],
                                    [[0, nan, 2], [nan, float("inf"), 1]], [[5, 6, 0.5]],
                                    [[0, 1, 1e9], [1, 2, 1], [2, 3, 1], [3, 4, 1e9]])):
        writer.tensor(step, "rows", buckets, rows, "float64")
        writer.tensor(step, "rows32", buckets, rows, "float32")
    same = tensor_pb2.TensorProto(dtype=2, double_val=[2.0])
    for size in (4, 3):
        same.tensor_shape.dim.add().size = size
    writer.value(9, tag="rows", tensor=same)
    limits = [-sys.float_info.max, -1.0, 0.0, 1.0, sys.float_info.max]
    for step, counts in enumerate(([0, 0, 0, 0, 0], [0, 1, 0, 2, 0], [3, 0, 0, 0, 4],
                                   [0, 0, 7, 0, 0], [1, 1, 1, 1, 1])):
        writer.value(step, tag="limits", histo=summary_pb2.HistogramProto(
            min=-1.5, max=1.5, num=sum(counts), bucket_limit=limits, bucket=counts))
    writer.close()


def write_half(directory):
    """The last record is cut short; in the other run something that is no record follows."""
    for number, tail in enumerate((b"", struct.pack("<QI", 5, 7) + b"rubbish")):
        writer = RawWriter(os.path.join(directory, f"half{number}"), number)
        for step in range(20):
            writer.value(step, tag="loss", simple_value=step)
        writer.close()
        with open(writer.path, "r+b") as file:
            if tail:
                file.seek(0, os.SEEK_END)
                file.write(tail)
            else:
                file.truncate(os.path.getsize(writer.path) - 3)


def write(directory):
    write_with_tf2(os.path.join(directory, "v2", "train"))
    write_with_tf1(directory)
    write_restarts(os.path.join(directory, "restart"))
    write_first_version(os.path.join(directory, "first version"))
    write_odd_values(os.path.join(directory, "odd"))
    write_half(directory)
    os.makedirs(os.path.join(directory, "no run", "deeper"))
    os.makedirs(os.path.join(directory, "empty"))
    for name in ("events.out.tfevents.1.profile-empty", "x.tfevents"):
        with open(os.path.join(directory, "empty", name), "wb"):
            pass


def serve(directory):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(
        size_guidance=data_ingester.DEFAULT_SIZE_GUIDANCE,
        tensor_size_guidance=data_ingester.DEFAULT_TENSOR_SIZE_GUIDANCE)
    provider = data_provider.MultiplexerDataProvider(multiplexer, directory)
    context = base_plugin.TBContext(data_provider=provider, logdir=directory)
    client = Client(application.TensorBoardWSGI([
        plugin(context) for plugin in (core_plugin.CorePlugin, scalars_plugin.ScalarsPlugin,
                                       histograms_plugin.HistogramsPlugin,
                                       distributions_plugin.DistributionsPlugin)],
        data_provider=provider))

    def refresh():
        multiplexer.AddRunsFromDirectory(directory)
        multiplexer.Reload()

    refresh()
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"status": 200, "type": "application/json", "body": "null"}
        if request["path"] == "refresh":
            refresh()
        else:
            got = client.get(request["path"], query_string=dict(request["query"]))
            answer = {"status": got.status_code, "type": got.content_type,
                      "body": got.get_data(as_text=True)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    {"write": write, "serve": serve}[sys.argv[1]](sys.argv[2])
