#!/usr/bin/python3
"""Training steps by TensorFlow, for run.py, which says how on standard input (peer.py).

The variant is ["graph"] or ["XLA"]: a tf.function as it is, or compiled. Batches lie ready in
memory, images as height × width × channels, which is the only order of convolutions on a CPU.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf  # pylint: disable=wrong-import-position

import tensorflow_models  # pylint: disable=wrong-import-position
from peer import serve  # pylint: disable=wrong-import-position


def optimizer_of(options):
    rate, keras = options["learningRate"], tf.keras.optimizers
    if options["name"] in ("sgd", "momentum"):
        return keras.SGD(rate, momentum=options.get("momentum", 0.0))
    if options["name"] == "adam":
        return keras.Adam(rate)
    return keras.AdamW(rate, weight_decay=options["weightDecay"])


def batches_of(config, model):
    batch, width, classes = config["batch"], config["features"], config["classes"]
    random = tf.random.Generator.from_seed(2)
    made = []
    for _ in range(config["examples"] // batch):
        if config["model"]["name"] == "gpt2":
            text = random.uniform([batch, width + 1], 0, classes, tf.int32)
            made.append((text[:, :-1], text[:, 1:]))
        else:
            made.append((model.arrange(random.uniform([batch, width])),
                         random.uniform([batch], 0, classes, tf.int32)))
    return made


def make(config):
    tf.config.threading.set_intra_op_parallelism_threads(config["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(config["threads"])
    model = tensorflow_models.build(config["model"], config["features"], config["classes"])
    optimizer = optimizer_of(config["optimizer"])
    optimizer.build(model.variables)
    batches = batches_of(config, model)

    @tf.function(jit_compile="XLA" in config["variant"])
    def train(inputs, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, model.logits(inputs)))
        gradients = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(zip(gradients, model.variables))
        return loss

    count = 0

    def step():
        nonlocal count
        loss = train(*batches[count % len(batches)])
        count += 1
        return loss

    return step, sum(v.shape.num_elements() for v in model.variables)


if __name__ == "__main__":
    serve(make)
