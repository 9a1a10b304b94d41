"""Manifests of jobs whose pods run on kwok's nodes.

    api("POST", jobs("mine", "tj"), training_job("a", workers=2, backoffLimit=0))
"""

from fake_nodes import TOLERATION

KINDS = ("tj", "tfjob")


def template(container, **spec):
    """Of pods that are gone a second after their deletion. `spec` is of the pod but for
    `container_spec`, which is of its container."""
    more = spec.pop("container_spec", {})
    tolerations = [TOLERATION, *spec.pop("tolerations", [])]
    return {"spec": {"terminationGracePeriodSeconds": 1, "tolerations": tolerations,
                     "containers": [{"name": container, "image": "own/program:1", **more}],
                     **spec}}


def training_job(name, workers=1, pod=None, **spec):
    role = {"replicas": workers, "template": template("trainer", **(pod or {}))}
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"roles": {"worker": role}, **spec}}


def tf_job(name, workers=1, pod=None, **policy):
    worker = {"replicas": workers, "restartPolicy": "ExitCode",
              "template": template("tensorflow", **(pod or {}))}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"runPolicy": policy, "tfReplicaSpecs": {"Worker": worker}}}


def job_of(kind, name, workers=1, pod=None, **policy):
    """Of either kind, with policies that both have."""
    make = training_job if kind == "tj" else tf_job
    return make(name, workers, pod, **policy)


def replicas_patch(kind, workers):
    if kind == "tj":
        return {"spec": {"roles": {"worker": {"replicas": workers}}}}
    return {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": workers}}}}


def suspend_patch(kind, suspend):
    if kind == "tj":
        return {"spec": {"suspend": suspend}}
    return {"spec": {"runPolicy": {"suspend": suspend}}}


def running(container):
    """The status of a pod whose containers run, as a kubelet writes it."""
    conditions = [{"type": kind, "status": "True"}
                  for kind in ("Initialized", "ContainersReady", "Ready")]
    return {"status": {"phase": "Running", "conditions": conditions, "containerStatuses": [{
        "name": container, "image": "own/program:1", "imageID": "", "restartCount": 0,
        "ready": True, "state": {"running": {"startedAt": "2030-01-01T00:00:00Z"}}}]}}


def ended(container, code, message=""):
    state = {"exitCode": code, "reason": "Error" if code else "Completed", "message": message}
    return {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [{
        "name": container, "image": "own/program:1", "imageID": "", "restartCount": 0,
        "ready": False, "state": {"terminated": state}}]}}


def foreign_pod(name, **metadata):
    """Somebody's own, which nobody runs."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata},
            "spec": {"nodeSelector": {"nobody": "has-it"},
                     "containers": [{"name": "own", "image": "own/program:1"}]}}


def foreign_service(name, **metadata):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, **metadata},
            "spec": {"ports": [{"port": 80}]}}


def owner(kind, name, uid):
    return {"apiVersion": "taas.dev/v1" if kind == "tj" else "kubeflow.org/v1",
            "kind": "TrainingJob" if kind == "tj" else "TFJob", "name": name, "uid": uid,
            "controller": True, "blockOwnerDeletion": True}
