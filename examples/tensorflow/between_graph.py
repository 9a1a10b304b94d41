#!/usr/bin/env python3
"""A classic between-graph program: parameter servers and workers of tf.compat.v1.train.Server.

Trains an MLP on images of digits, asynchronously or with SyncReplicasOptimizer. It knows
nothing of TaaS: its place in the cluster comes from TF_CONFIG or from the flags of TensorFlow's
own examples.

  between_graph.py --max_steps 1000                                               (with TF_CONFIG)
  between_graph.py --ps_hosts a:2222 --worker_hosts b:2222,c:2222 --job_name worker --task_index 1
"""

import argparse
import gzip
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

# Between two looks at what another worker does.
POLL_S = 0.2


def parse_flags():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--ps_hosts", default="")
    flags.add_argument("--worker_hosts", default="")
    flags.add_argument("--job_name", default="")
    flags.add_argument("--task_index", type=int, default=0)
    flags.add_argument(
        "--sync", action="store_true", help="mean of the gradients of all training processes"
    )
    flags.add_argument(
        "--replicas_to_aggregate",
        type=int,
        default=0,
        help="with --sync: the first so many gradients of a step; default is all",
    )
    flags.add_argument(
        "--data_dir", default="", help="folder of IDX files; default is generated data"
    )
    flags.add_argument("--checkpoint_dir", default="")
    flags.add_argument("--hidden", type=int, default=100)
    flags.add_argument("--batch_size", type=int, default=100)
    flags.add_argument("--max_steps", type=int, default=1000)
    flags.add_argument("--learning_rate", type=float, default=0.1)
    return flags.parse_args()


def place_in_cluster(flags):
    """(cluster as a dict, task type, task index); the chief trains and comes first."""
    if flags.job_name:
        cluster = {"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")}
        return cluster, flags.job_name, flags.task_index
    config = json.loads(os.environ["TF_CONFIG"])
    cluster = {job: hosts for job, hosts in config["cluster"].items() if job != "evaluator"}
    return cluster, config["task"]["type"], config["task"]["index"]


def read_idx(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        head = file.read(4)
        shape = [int.from_bytes(file.read(4), "big") for _ in range(head[3])]
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def read_images(folder, stem):
    """Images in [0, 1] and labels of one pair of IDX files; None if the folder has no such."""
    found = {}
    for name in sorted(os.listdir(folder)):
        for part in ("images", "labels"):
            if name.startswith(f"{stem}-{part}"):
                found[part] = read_idx(os.path.join(folder, name))
    if len(found) < 2:
        return None
    return found["images"].reshape(-1, 784).astype(np.float32) / 255, found["labels"]


def load_data(folder):
    """Those to train on, those to test: two pairs of files, or nine tenths and a tenth of one."""
    if folder:
        test = read_images(folder, "t10k") or read_images(folder, "test")
        train = read_images(folder, "train")
        if train and test:
            return train, test
        images, labels = train or test
    else:
        random = np.random.RandomState(1)
        centers = random.rand(10, 784)
        labels = random.randint(0, 10, 6000)
        images = np.clip(centers[labels] + 0.3 * random.randn(6000, 784), 0, 1).astype(np.float32)
    border = len(images) * 9 // 10
    return (images[:border], labels[:border]), (images[border:], labels[border:])


def build(flags, training_replicas):
    images = tf.placeholder(tf.float32, [None, 784], "images")
    labels = tf.placeholder(tf.int64, [None], "labels")
    global_step = tf.train.get_or_create_global_step()

    def dense(name, inputs, width):
        fan_in = inputs.shape[1]
        weights = tf.get_variable(
            f"{name}/weights",
            [fan_in, width],
            initializer=tf.truncated_normal_initializer(stddev=float(fan_in) ** -0.5),
        )
        return tf.matmul(inputs, weights) + tf.get_variable(
            f"{name}/biases", [width], initializer=tf.zeros_initializer()
        )

    logits = dense("output", tf.nn.relu(dense("hidden", images, flags.hidden)), 10)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    optimizer = tf.train.GradientDescentOptimizer(flags.learning_rate)
    if flags.sync:
        optimizer = tf.train.SyncReplicasOptimizer(
            optimizer,
            replicas_to_aggregate=flags.replicas_to_aggregate or training_replicas,
            total_num_replicas=training_replicas,
        )
    train = optimizer.minimize(loss, global_step=global_step)
    return images, labels, loss, accuracy, global_step, train, optimizer


class EvaluateAtEnd(tf.train.SessionRunHook):
    """The accuracy with the variables as they are when training stops, and at which step."""

    def __init__(self, accuracy, global_step, feed):
        self._fetches, self._feed = (accuracy, global_step), feed
        self.result, self.step = None, None

    def end(self, session):
        accuracy, step = session.run(self._fetches, self._feed)
        self.result, self.step = float(accuracy), int(step)


def await_variables(server, config):
    """Until the first worker has made them. TensorFlow looks once and then only every 30 s."""
    missing = tf.report_uninitialized_variables(tf.global_variables())
    with tf.Session(server.target, config=config) as session:
        while session.run(missing).size > 0:
            time.sleep(POLL_S)


def main():
    began = time.time()
    flags = parse_flags()
    cluster, job, index = place_in_cluster(flags)
    # Each training process leaves the other cores to the others.
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    server = tf.train.Server(
        tf.train.ClusterSpec(cluster), job_name=job, task_index=index, config=config
    )
    if job == "ps":
        server.join()
    chiefs = cluster.get("chief", []) + cluster.get("master", [])
    is_chief = job in ("chief", "master") or (not chiefs and index == 0)
    training_replicas = len(chiefs) + len(cluster.get("worker", []))
    rank = 0 if job in ("chief", "master") else len(chiefs) + index

    (train_images, train_labels), (test_images, test_labels) = load_data(flags.data_dir)
    config.device_filters.extend(["/job:ps", f"/job:{job}/task:{index}"])
    setter = tf.train.replica_device_setter(
        cluster=tf.train.ClusterSpec(cluster), worker_device=f"/job:{job}/task:{index}"
    )
    with tf.Graph().as_default(), tf.device(setter):
        images, labels, loss, accuracy, global_step, train, optimizer = build(
            flags, training_replicas
        )
        evaluation = EvaluateAtEnd(
            accuracy, global_step, {images: test_images, labels: test_labels}
        )
        hooks = [tf.train.StopAtStepHook(last_step=flags.max_steps)] + (
            [evaluation] if is_chief else []
        )
        if flags.sync:
            hooks.append(optimizer.make_session_run_hook(is_chief, num_tokens=0))
        random = np.random.RandomState(rank)
        if not is_chief:
            await_variables(server, config)
        with tf.train.MonitoredTrainingSession(
            master=server.target,
            is_chief=is_chief,
            config=config,
            hooks=hooks,
            checkpoint_dir=flags.checkpoint_dir or None,
            save_checkpoint_secs=5,
            # A synchronous session's queue never empties; the default waits two minutes for it.
            stop_grace_period_secs=3,
            save_summaries_steps=None,
            log_step_count_steps=None,
        ) as session:
            step, steps, first, since = 0, 0, None, None
            while not session.should_stop():
                rows = random.randint(0, len(train_images), flags.batch_size)
                value, step, _ = session.run(
                    [loss, global_step, train],
                    {images: train_images[rows], labels: train_labels[rows]},
                )
                if first is None:
                    first, since = step, time.time()
                    print(f"first step after {since - began:.1f} s", flush=True)
                steps += 1
                if steps % 100 == 0:
                    rate = (step - first) * flags.batch_size / max(time.time() - since, 1e-9)
                    print(
                        f"step {step} loss {value:.4f} global steps x batch {rate:.0f} examples/s",
                        flush=True,
                    )
                ended = time.time()
        if is_chief:
            # Workers may have made all steps before this process came to its first.
            rate = 0.0 if first is None else (int(step) - int(first)) / (ended - since)
            print(
                json.dumps(
                    {
                        "step": evaluation.step,
                        "accuracy": evaluation.result,
                        "globalStepsPerSecond": round(rate, 1),
                    }
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
