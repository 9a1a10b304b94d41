"""TaaS on a cluster, as users install it: our images, our chart.

    taas.load_images(cluster.node)
    taas.install(kubectl)
"""

import glob
import os

import programs

CHART = os.path.join(programs.TREE, "charts", "taas")
IMAGES = os.path.join(programs.TREE, "dist", "taas-*.tar")
CLI = os.path.join(programs.TREE, "bin", "taas")
RELEASE = "taas"
NAMESPACE = "taas-system"
OPERATOR = "app.kubernetes.io/name=taas-operator"
DEPLOYMENT = "deployment/taas-operator"
ACCOUNT = "taas-operator"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
LEASE = "taas-operator"
INSTALL_LIMIT = "3m"
# `helm test` is there only when asked for.
VALUES = ("test.enabled=true",)
# The annotation in which the operator remembers what became of a job.
LEDGER = "taas.dev/ledger"


def archives():
    return sorted(glob.glob(IMAGES))


def load_images(node):
    if not archives():
        raise RuntimeError(f"there is no image {IMAGES}: `make images` makes them")
    for archive in archives():
        node.import_image(archive)


def install(kubectl, *settings):
    """Into a namespace that takes pods of the strictest kind only."""
    kubectl.apply(namespace(NAMESPACE, "restricted"))
    kubectl.run(programs.path("helm"), "install", RELEASE, CHART, "--namespace", NAMESPACE,
                *(f"--set={value}" for value in VALUES), *settings, "--wait", "--timeout",
                INSTALL_LIMIT)


def upgrade(kubectl, *values):
    """The release with these values beside those of install(), which it has without any."""
    kubectl.run(programs.path("helm"), "upgrade", RELEASE, CHART, "--namespace", NAMESPACE,
                "--reset-values", *(f"--set={value}" for value in (*VALUES, *values)),
                "--wait", "--timeout", INSTALL_LIMIT)
    # Until the pods with the earlier values are gone, so that none of them leads.
    kubectl("rollout", "status", DEPLOYMENT, "-n", NAMESPACE)


def leads(kubectl):
    """Whether one of the pods that run leads."""
    pods = kubectl("get", "pods", "-l", OPERATOR, "-n", NAMESPACE,
                   "--field-selector=status.phase=Running", "-o",
                   "jsonpath={.items[*].metadata.name}").split()
    return leader(kubectl) in pods


def operators(kubectl):
    """Names of the operator's pods that stay: of one that is going nothing may be left."""
    pods = kubectl.json("get", "pods", "-n", NAMESPACE, "-l", OPERATOR)["items"]
    return sorted(pod["metadata"]["name"] for pod in pods
                  if "deletionTimestamp" not in pod["metadata"])


def holder(kubectl):
    """The operator's process that leads, by a name that no other ever has; or none."""
    lease = kubectl.json("get", "lease", LEASE, "-n", NAMESPACE)
    return lease["spec"].get("holderIdentity", "")


def leader(kubectl):
    """The name of the operator's pod that leads, which begins the holder's name; or none."""
    return holder(kubectl).rpartition("_")[0]


def uninstall(kubectl):
    kubectl.run(programs.path("helm"), "uninstall", RELEASE, "--namespace", NAMESPACE, "--wait")
    kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")


def namespace(name, pod_security):
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {"pod-security.kubernetes.io/enforce": pod_security},
        },
    }
