"""Nodes of kwok: no containers, but pods on them become Running, thousands if need be.

They carry a taint, so that only pods which tolerate it are put there.

kwok confirms a deletion twice and by name, the second time perhaps that of a successor. Where this
matters the pods are played by the test itself.
"""

from waiting import until

# What kwok takes for its own.
ANNOTATION = "kwok.x-k8s.io/node"
# Of pods that kwok leaves alone: a test plays their kubelet.
PLAYED = "e2e.taas.dev/played"
TAINT = {"key": ANNOTATION, "value": "fake", "effect": "NoSchedule"}
TOLERATION = {"key": ANNOTATION, "operator": "Exists"}
# Fields of a pod's spec.
ON_FAKE_NODES = {"nodeSelector": {"type": "kwok"}, "tolerations": [TOLERATION]}
# Fake nodes have every image and end no program.
ON_A_REAL_NODE = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
    "nodeSelectorTerms": [{"matchExpressions": [
        {"key": "type", "operator": "NotIn", "values": ["kwok"]}]}]}}}}
POD_RANGE = "10.245.0.0/16"
# Nobody listens there.
NODE_ADDRESS = "10.246.0.1"
RESOURCES = {"cpu": "32", "memory": "256Gi", "pods": "110"}
LEASE_S = 40


def name(index):
    return f"fake-{index}"


def node(index):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name(index),
            "annotations": {ANNOTATION: "fake"},
            "labels": {"type": "kwok", "kubernetes.io/hostname": name(index)},
        },
        "spec": {"taints": [TAINT]},
        "status": {"capacity": RESOURCES, "allocatable": RESOURCES},
    }


def start(plane, count, lease_s=LEASE_S):
    """`lease_s`: a node that is silent for so long is away; it renews four times as often."""
    config = plane.identity("kwok", "kwok", "system:masters")
    # An address of a fake pod answers at once that it cannot be reached.
    plane.sandbox.run("ip", "route", "add", "unreachable", POD_RANGE)
    plane.add("kwok", [
        "--kubeconfig=" + config,
        "--disregard-status-with-annotation-selector=" + PLAYED,
        f"--manage-nodes-with-annotation-selector={ANNOTATION}=fake",
        "--cidr=" + POD_RANGE,
        "--node-ip=" + NODE_ADDRESS,
        f"--node-lease-duration-seconds={lease_s}",
    ]).start()
    plane.kubectl.create(*(node(index) for index in range(count)))
    until(f"{count} fake nodes to be Ready",
          lambda: plane.healthy() and ready(plane.kubectl) == count)


def ready(kubectl):
    lines = kubectl("get", "nodes", "-l", "type=kwok", "--no-headers").splitlines()
    return sum(line.split()[1] == "Ready" for line in lines)
