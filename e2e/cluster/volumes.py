"""Volumes for claims of tests: a default storage class and a pool of folders of the node.

Test code only makes claims, so that it runs on an existing cluster with its own class as well.

    volumes.make_pool(kubectl, folder)
    kubectl.create(volumes.claim("mnist-out", "my-namespace"))
"""

import os

STORAGE_CLASS = "taas-e2e"
# Claims of one run; a volume that was claimed is not given out again.
POOL = 60
SIZE = "1Gi"


def claim(name, namespace):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        # Pods on several nodes write to one volume where the class can do that.
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": SIZE}}},
    }


def make_pool(kubectl, folder):
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": STORAGE_CLASS,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "kubernetes.io/no-provisioner",
    }
    kubectl.create(storage_class, *(volume(folder, index) for index in range(POOL)))


def volume(folder, index):
    path = os.path.join(folder, f"volume-{index}")
    os.makedirs(path)
    # As a network file system: whoever has the claim may write, whatever its user.
    os.chmod(path, 0o777)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"taas-e2e-{index}"},
        "spec": {
            "storageClassName": STORAGE_CLASS,
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": path},
        },
    }
