"""Training by TensorFlow's MultiWorkerMirroredStrategy, timed: one line of JSON.

    multi_worker_peer.py RANKS STEPS CONFIG     CONFIG as bench/trainer/tensorflow_peer.py has it

The workers are processes of this machine with one thread each, and gradients go around a ring of
gRPC; seconds are worker 0's, the median of its steps.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

TRAINER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "trainer")
WARM_STEPS = 10
LIMIT_S = 300


def work(steps, config):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    sys.path.insert(0, TRAINER)
    # pylint: disable=import-outside-toplevel
    import tensorflow as tf
    import tensorflow_models
    from tensorflow_peer import batches_of
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    distribute = tf.distribute.experimental
    strategy = tf.distribute.MultiWorkerMirroredStrategy(
        communication_options=distribute.CommunicationOptions(
            implementation=distribute.CommunicationImplementation.RING))
    old = tf.compat.v1.train
    options = config["optimizer"]
    with strategy.scope():
        model = tensorflow_models.build(config["model"], config["features"], config["classes"])
        optimizer = (old.MomentumOptimizer(options["learningRate"], options["momentum"])
                     if options["name"] == "momentum"
                     else old.GradientDescentOptimizer(options["learningRate"]))

    def replica(inputs, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, model.logits(inputs)))
            # It adds up what the replicas give.
            part = loss / strategy.num_replicas_in_sync
        gradients = tape.gradient(part, model.variables)
        optimizer.apply_gradients(zip(gradients, model.variables))
        return loss

    @tf.function
    def train(inputs, labels):
        return strategy.run(replica, args=(inputs, labels))

    batches = batches_of(config, model)
    seconds = []
    for step in range(WARM_STEPS + steps):
        began = time.perf_counter()
        float(train(*batches[step % len(batches)]))
        if step >= WARM_STEPS:
            seconds.append(time.perf_counter() - began)
    print(json.dumps({"step_us": statistics.median(seconds) * 1e6}))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


def main():
    ranks, steps = int(sys.argv[1]), int(sys.argv[2])
    if "TF_CONFIG" in os.environ:
        work(steps, json.loads(sys.argv[3]))
        return
    workers = [f"127.0.0.1:{port}" for port in free_ports(ranks)]
    started = []
    for index in range(ranks):
        task = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        started.append(subprocess.Popen([sys.executable, *sys.argv], stdout=subprocess.PIPE,
                                        env={**os.environ, "TF_CONFIG": json.dumps(task)}))
    said = [it.communicate(timeout=LIMIT_S)[0] for it in started]
    if any(it.returncode for it in started):
        sys.exit(f"workers ended with {[it.returncode for it in started]}")
    print(said[0].decode().strip().splitlines()[-1])


if __name__ == "__main__":
    main()
