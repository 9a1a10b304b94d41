"""Jobs of both kinds from one description, on nodes of kwok.

    job = TFJOB.job("mnist", {"ps": 1, "worker": 2}, policy="Never", backoffLimit=2)
    job.manifest                   what a user would write
    job.pod("worker", 1)           "mnist-worker-1"

Names of roles are those of a TrainingJob; a TFJob has its own keys for them.
"""

import collections
import itertools

import fake_nodes

IMAGE = "example.org/own-image:1"
# What a TFJob calls its roles.
ROLE_KEYS = {"chief": "Chief", "master": "Master", "ps": "PS", "worker": "Worker",
             "evaluator": "Evaluator"}


def pod_template(container, **fields):
    """Of a pod that goes to a node of kwok, where the test plays its kubelet."""
    return {
        "metadata": {"annotations": {fake_nodes.PLAYED: "yes"}},
        "spec": {
            **fake_nodes.ON_FAKE_NODES,
            "containers": [{"name": container, "image": IMAGE}],
            **fields,
        },
    }


class Job:

    def __init__(self, kind, name, roles, manifest):
        self.kind = kind
        self.name = name
        self.roles = roles
        self.manifest = manifest

    def pod(self, role, index=0):
        return f"{self.name}-{role}-{index}"

    def pods(self):
        return [self.pod(role, index) for role, count in self.roles.items()
                for index in range(count)]


class Kind(collections.namedtuple("Kind", "resource api_version name container short")):

    __slots__ = ()

    def job(self, name, roles, policy="Never", template=None, extra=None, **policies):
        """`roles`: replicas by role. `policy`: of all, or by role where it is not Never.
        `template` goes into each pod's spec, `extra` into the job's; `policies` are
        cleanPodPolicy, backoffLimit and so on."""
        template = pod_template(self.container, **(template or {}))
        written = {self.role_key(role): {
            "replicas": count,
            "restartPolicy": policy if isinstance(policy, str) else policy.get(role, "Never"),
            "template": template,
        } for role, count in roles.items()}
        spec = {**self.with_policies(policies), self.roles_field(): written, **(extra or {})}
        manifest = {"apiVersion": self.api_version, "kind": self.name,
                    "metadata": {"name": name}, "spec": spec}
        return Job(self, name, roles, manifest)

    def role_key(self, role):
        return ROLE_KEYS[role] if self is TFJOB else role

    def roles_field(self):
        return "tfReplicaSpecs" if self is TFJOB else "roles"

    def with_policies(self, policies):
        """A part of a spec; also as a change of a stored job."""
        return {"runPolicy": policies} if self is TFJOB else policies


TRAINING_JOB = Kind("trainingjobs", "taas.dev/v1", "TrainingJob", "trainer", "tj")
TFJOB = Kind("tfjobs", "kubeflow.org/v1", "TFJob", "tensorflow", "tf")
KINDS = (TRAINING_JOB, TFJOB)


def of_both_kinds(*cases):
    """(kind, case) for each kind and each case."""
    return itertools.product(KINDS, cases)


def trainer_job(name, roles, template=None, **policies):
    """A TrainingJob of the bundled trainer: its image is the operator's to name."""
    pod = pod_template("trainer", **(template or {}))
    # The operator adds the container.
    del pod["spec"]["containers"]
    written = {key: {"replicas": count, "template": pod} for key, count in roles.items()}
    manifest = {
        "apiVersion": TRAINING_JOB.api_version,
        "kind": TRAINING_JOB.name,
        "metadata": {"name": name},
        "spec": {
            "trainer": {"model": {"name": "softmax"}, "data": {"format": "generated"},
                        "maxSteps": 10, "checkpoint": {"dir": "/out"}},
            "roles": written,
            **policies,
        },
    }
    return Job(TRAINING_JOB, name, roles, manifest)
