"""A job that trains on data of its own making until it is deleted.

    kubectl.apply(long_job.of("my-namespace"))
    self.await_training(long_job.NAME)
"""

NAME = "long"
PODS = ["long-chief-0", "long-ps-0", "long-worker-0"]
# More than it will do before it is deleted.
STEPS = 10**9


def of(namespace):
    return {
        "apiVersion": "taas.dev/v1",
        "kind": "TrainingJob",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "trainer": {"model": {"name": "softmax"}, "data": {"format": "generated"},
                        "maxSteps": STEPS},
            "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 1}, "worker": {"replicas": 1}},
        },
    }
