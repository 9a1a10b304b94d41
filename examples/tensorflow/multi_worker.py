#!/usr/bin/env python3
"""A Keras program for MultiWorkerMirroredStrategy: all-reduce between workers, no parameter servers.

It knows nothing of TaaS: TF_CONFIG says who the workers are. When a worker is lost the others end with an error;
after all have been started again, BackupAndRestore continues from the last epoch that ended.
"""

import argparse
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--backup_dir", required=True, help="a folder that all workers see and that outlives them")
    flags.add_argument("--epochs", type=int, default=5)
    flags.add_argument("--steps_per_epoch", type=int, default=20)
    flags.add_argument("--batch_size", type=int, default=100, help="of all workers together")
    flags = flags.parse_args()

    # Before anything else: the strategy starts this process's server.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    random = np.random.RandomState(1)
    centers = random.rand(10, 784)
    labels = random.randint(0, 10, 4000)
    images = np.clip(centers[labels] + 0.3 * random.randn(4000, 784), 0, 1).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(4000, seed=1).repeat().batch(flags.batch_size)

    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input([784]), tf.keras.layers.Dense(100, activation="relu"),
                                     tf.keras.layers.Dense(10)])
        model.compile(optimizer=tf.keras.optimizers.SGD(0.1), metrics=["accuracy"],
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

    class Report(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            print(f"epoch {epoch + 1} of {flags.epochs} accuracy {logs['accuracy']:.3f}", flush=True)

    history = model.fit(data, epochs=flags.epochs, steps_per_epoch=flags.steps_per_epoch, verbose=0,
                        callbacks=[tf.keras.callbacks.BackupAndRestore(flags.backup_dir), Report()])
    task = json.loads(os.environ.get("TF_CONFIG", '{"task": {"index": 0}}'))["task"]
    if task["index"] == 0:
        accuracy = history.history.get("accuracy", [None])[-1]
        print(json.dumps({"epochs": flags.epochs, "accuracy": accuracy}), flush=True)


if __name__ == "__main__":
    main()
