"""The jobs that are measured: one size, as a TFJob and as a TrainingJob.

Their pods take nothing of a node and tolerate kwok's, where they run until somebody says that
they have ended.

    tfjob("big", "bench", {"Chief": 1, "PS": 99, "Worker": 900})
"""

import fake_nodes

IMAGE = "localhost/bench/program:1"


def roles(replicas):
    """A chief, one parameter server to ten replicas, and workers; one replica is a worker."""
    if replicas == 1:
        return {"Worker": 1}
    servers = max(1, replicas // 10)
    return {"Chief": 1, "PS": servers, "Worker": replicas - 1 - servers}


def template(container):
    return {"spec": {
        "containers": [{"name": container, "image": IMAGE, "command": ["train"]}],
        "tolerations": [fake_nodes.TOLERATION],
    }}


def tfjob(name, namespace, counts):
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"tfReplicaSpecs": {
            role: {"replicas": count, "restartPolicy": "ExitCode",
                   "template": template("tensorflow")}
            for role, count in counts.items()
        }},
    }


def training_job(name, namespace, counts):
    return {
        "apiVersion": "taas.dev/v1",
        "kind": "TrainingJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"roles": {
            role.lower(): {"replicas": count, "template": template("trainer")}
            for role, count in counts.items()
        }},
    }


def succeeded(container):
    """The status of a pod whose program ended with 0, to patch it with."""
    return {"status": {"phase": "Succeeded", "containerStatuses": [{
        "name": container, "image": IMAGE, "imageID": "", "ready": False, "restartCount": 0,
        "state": {"terminated": {"exitCode": 0, "reason": "Completed"}},
    }]}}
