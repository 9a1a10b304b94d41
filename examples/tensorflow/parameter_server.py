#!/usr/bin/env python3
"""A program for ParameterServerStrategy of TensorFlow 2: the chief says what is to be done, workers
compute it, parameter servers hold the variables.

It knows nothing of TaaS: TF_CONFIG says who is who. Workers and parameter servers serve until they
are stopped; the job has succeeded when the chief has.
"""

import argparse
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# A call to a process that is not there yet waits for it.
os.environ.setdefault("GRPC_FAIL_FAST", "use_caller")

import numpy as np
import tensorflow as tf


def generated_digits():
    random = np.random.RandomState(1)
    centers = random.rand(10, 784)
    labels = random.randint(0, 10, 4000)
    images = np.clip(centers[labels] + 0.3 * random.randn(4000, 784), 0, 1)
    return images.astype(np.float32), labels


def serve(resolver):
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
    )
    server.join()


class Mlp(tf.Module):

    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(1)
        initial = [random.normal([784, 100], stddev=784**-0.5), tf.zeros([100]),
                   random.normal([100, 10], stddev=0.1), tf.zeros([10])]
        # Each worker's update is added to what the others have done meanwhile.
        self.parameters = [
            tf.Variable(value, aggregation=tf.VariableAggregation.SUM) for value in initial
        ]

    def __call__(self, images):
        hidden, hidden_bias, output, output_bias = self.parameters
        return tf.nn.relu(images @ hidden + hidden_bias) @ output + output_bias


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--steps", type=int, default=300, help="of all workers together")
    flags.add_argument("--batch_size", type=int, default=100)
    flags.add_argument("--learning_rate", type=float, default=0.1)
    flags = flags.parse_args()

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")
    if resolver.task_type in ("ps", "worker"):
        serve(resolver)
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        model = Mlp()

    def batches():
        digits = tf.data.Dataset.from_tensor_slices(generated_digits())
        return digits.shuffle(4000).repeat().batch(flags.batch_size)

    def train(images, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images))
            loss = tf.reduce_mean(losses)
        variables = model.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(flags.learning_rate * gradient)
        return loss

    @tf.function
    def step(iterator):
        return strategy.run(train, args=next(iterator))

    iterator = iter(coordinator.create_per_worker_dataset(batches))
    for _ in range(flags.steps):
        loss = coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    print(f"step {flags.steps} loss {loss.fetch():.4f}", flush=True)
    images, labels = generated_digits()
    correct = tf.equal(tf.argmax(model(tf.constant(images)), 1), labels)
    accuracy = float(tf.reduce_mean(tf.cast(correct, tf.float32)))
    print(json.dumps({"step": flags.steps, "accuracy": accuracy}), flush=True)


if __name__ == "__main__":
    main()
