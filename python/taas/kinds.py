"""The two kinds of jobs: where they are in the API, and what each calls its parts.

    kind = kind_of({"apiVersion": "taas.dev/v1", "kind": "TrainingJob", …})
    kind.path("default", "mnist")
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from taas.fields import Object, member, text, whole

JOB_LABEL = "taas.dev/job-name"
ROLE_LABEL = "taas.dev/role"
INDEX_LABEL = "taas.dev/index"
GPU_RESOURCE = "nvidia.com/gpu"


@dataclass(frozen=True)
class Kind:
    name: str
    api_version: str
    plural: str
    short: str
    container: str  # The one that trains.
    roles: tuple[str, ...]  # Where the roles stand.
    policies: tuple[str, ...]  # Where `suspend` stands.

    def path(self, namespace: str, name: str = "") -> str:
        """Of the collection in a namespace, or in all (""), or of one job."""
        base = f"/apis/{self.api_version}"
        if namespace:
            base += "/namespaces/" + quote(namespace, safe="")
        return base + "/" + self.plural + ("/" + quote(name, safe="") if name else "")


TRAINING_JOB = Kind("TrainingJob", "taas.dev/v1", "trainingjobs", "tj", "trainer",
                    ("spec", "roles"), ("spec",))
TF_JOB = Kind("TFJob", "kubeflow.org/v1", "tfjobs", "tfjob", "tensorflow",
              ("spec", "tfReplicaSpecs"), ("spec", "runPolicy"))
KINDS = (TRAINING_JOB, TF_JOB)


def kind_of(job: Object) -> Kind | None:
    for kind in KINDS:
        if text(job, "apiVersion") == kind.api_version and text(job, "kind") == kind.name:
            return kind
    return None


def kind_named(name: str) -> Kind:
    """Of "TrainingJob", "tj", "tfjobs" and so on."""
    for kind in KINDS:
        if name.lower() in (kind.name.lower(), kind.plural, kind.short):
            return kind
    raise ValueError(f"kind {name!r}: it is TrainingJob (tj) or TFJob")


def role_of(key: str) -> str:
    """The role of a key of a manifest: TFJobs write them in any case, and Master for chief."""
    return "chief" if key.lower() == "master" else key.lower()


def roles_of(kind: Kind, job: Object) -> dict[str, tuple[str, int]]:
    """By role: the key that the manifest has for it, and how many are wanted."""
    found = member(job, *kind.roles)
    return {role_of(key): (key, 1 if (count := whole(member(found, key), "replicas")) is None
                           else count) for key in found}
