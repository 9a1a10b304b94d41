"""A job that trains on data of its own making until it is deleted.

    kubectl.apply(long_job.of("my-namespace"))
    self.await_training(long_job.NAME)
"""

NAME = "long"
PODS = ["long-chief-0", "long-ps-0", "long-worker-0"]
# More than it will do before it is deleted.
STEPS = 10**9
# Whoever trains until the end of a test leaves the machine to the tests beside it.
SHARE = {"requests": {"cpu": "10m"}, "limits": {"cpu": "50m"}}


def of(namespace):
    return {
        "apiVersion": "taas.dev/v1",
        "kind": "TrainingJob",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "trainer": {"model": {"name": "softmax"}, "data": {"format": "generated"},
                        "maxSteps": STEPS},
            "roles": {role: {"replicas": 1, "resources": SHARE}
                      for role in ("chief", "ps", "worker")},
        },
    }
