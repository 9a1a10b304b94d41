"""Kubeflow's training-operator on a cluster, as its users install it: its own manifests, with the
definitions of its kinds and its webhooks, and its program in an image of ours.

    peer.install(cluster)
    peer.await_ready(cluster.kubectl)
"""

import json
import os
import re

import node_images
import programs
from waiting import until

NAMESPACE = "kubeflow"
PODS = "control-plane=kubeflow-training-operator"
# The name that its program gives to what it writes.
FIELD_MANAGER = "manager"
IMAGE = re.compile(r"image: \S*kubeflow/training-operator:(\S+)")
PROBE = "/spec/template/spec/containers/0/readinessProbe/"
# Of the certificate that it makes for itself the kubelet puts the files into a running pod at its
# next look, once a minute. A change of the pod is a reason to look.
NUDGE = "taas-e2e/nudge"
TRIAL = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "TFJob",
    "metadata": {"name": "trial", "namespace": "default"},
    "spec": {"tfReplicaSpecs": {"Worker": {"template": {"spec": {
        "containers": [{"name": "tensorflow", "image": "trial:1"}]}}}}},
}


def folder():
    path = os.path.dirname(programs.folder("peer"))
    if not os.path.isdir(os.path.join(path, "manifests")):
        raise programs.ProgramMissing(
            f"training-operator is not in {path}: `tools/setup/setup.sh peer` builds it")
    return path


def write_overlay(work):
    """Its manifests, but that its readiness is asked for each second, not after 10 and 25."""
    path = os.path.join(work, "training-operator")
    os.makedirs(path)
    base = os.path.join(folder(), "manifests", "overlays", "standalone")
    often = [{"op": "replace", "path": PROBE + field, "value": 1}
             for field in ("initialDelaySeconds", "periodSeconds")]
    with open(os.path.join(path, "kustomization.yaml"), "w", encoding="utf-8") as file:
        json.dump({
            "resources": [os.path.relpath(base, path)],
            "patches": [{"target": {"kind": "Deployment"}, "patch": json.dumps(often)}],
        }, file)
    return path


def install(cluster):
    overlay = write_overlay(cluster.instance.work)
    tag = IMAGE.search(cluster.kubectl("kustomize", overlay)).group(1)
    node_images.load(cluster, "peer_image.toml", folder(), "--tag", tag)
    # Its definition of TFJob is too long for the annotation of a client-side apply.
    cluster.kubectl("apply", "--server-side", "-k", overlay)


def await_ready(kubectl):
    """It runs, and its webhook answers: that way is longer."""
    looks = iter(range(10**6))

    def ready():
        kubectl("annotate", "pod", "-l", PODS, "-n", NAMESPACE, "--overwrite",
                f"{NUDGE}={next(looks)}", check=False)
        return kubectl.succeeds("create", "--dry-run=server", "-f", "-", stdin=json.dumps(TRIAL))

    until("training-operator to answer", ready, poll_s=1)
