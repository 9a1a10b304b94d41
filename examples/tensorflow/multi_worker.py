#!/usr/bin/env python3
"""A program for MultiWorkerMirroredStrategy: all-reduce between workers, no parameter servers.

It knows nothing of TaaS: TF_CONFIG says who the workers are. When a worker is lost the others
end with an error; after all have been started again they go on from the last checkpoint.
"""

import argparse
import json
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class Mlp(tf.Module):

    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(1)
        self.weights = [
            tf.Variable(random.normal([784, 100], stddev=784**-0.5)),
            tf.Variable(random.normal([100, 10], stddev=0.1)),
        ]
        self.biases = [tf.Variable(tf.zeros([100])), tf.Variable(tf.zeros([10]))]

    def __call__(self, images):
        hidden = tf.nn.relu(images @ self.weights[0] + self.biases[0])
        return hidden @ self.weights[1] + self.biases[1]


def generated_digits():
    random = np.random.RandomState(1)
    centers = random.rand(10, 784)
    labels = random.randint(0, 10, 4000)
    images = np.clip(centers[labels] + 0.3 * random.randn(4000, 784), 0, 1)
    return images.astype(np.float32), labels


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument(
        "--checkpoint_dir",
        required=True,
        help="a folder that all workers see and that outlives them",
    )
    flags.add_argument("--epochs", type=int, default=5)
    flags.add_argument("--steps_per_epoch", type=int, default=20)
    flags.add_argument("--batch_size", type=int, default=100, help="of all workers together")
    flags.add_argument("--learning_rate", type=float, default=0.1)
    flags = flags.parse_args()

    # Before anything else: the strategy starts this process's server.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    index = json.loads(os.environ.get("TF_CONFIG", '{"task": {"index": 0}}'))["task"]["index"]
    data = tf.data.Dataset.from_tensor_slices(generated_digits()).shuffle(4000, seed=1).repeat()
    batches = iter(strategy.experimental_distribute_dataset(data.batch(flags.batch_size)))
    with strategy.scope():
        model = Mlp()
        epoch = tf.Variable(0, dtype=tf.int64)
        correct = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def train_step(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_sum(losses) / flags.batch_size
        variables = model.trainable_variables
        gradients = tape.gradient(loss, variables)
        gradients = tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.SUM, gradients
        )
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(flags.learning_rate * gradient)
        correct.assign_add(
            tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        )

    @tf.function
    def train_epoch(iterator):
        correct.assign(0.0)
        for _ in tf.range(flags.steps_per_epoch):
            strategy.run(train_step, args=next(iterator))

    # Every worker takes part in a save; only the first one's is kept.
    folder = flags.checkpoint_dir if index == 0 else tempfile.mkdtemp()
    checkpoint = tf.train.Checkpoint(model=model, epoch=epoch)
    keeper = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    latest = tf.train.latest_checkpoint(flags.checkpoint_dir)
    if latest:
        checkpoint.restore(latest)
        print(f"restored {latest}", flush=True)
    accuracy = 0.0
    done = int(epoch.read_value())
    while done < flags.epochs:
        train_epoch(batches)
        accuracy = float(correct.read_value()) / (flags.steps_per_epoch * flags.batch_size)
        done += 1
        epoch.assign(done)
        keeper.save()
        print(f"epoch {done} of {flags.epochs} accuracy {accuracy:.3f}", flush=True)
    if index == 0:
        print(json.dumps({"epochs": done, "accuracy": accuracy}), flush=True)


if __name__ == "__main__":
    main()
