"""The pods of a job: who each is, and how it fares.

    for pod in pods_of(connection, kind, "default", "mnist", uid):
        print(pod.replica, pod.phase, pod.node)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from taas.connection import Connection
from taas.errors import Attempt
from taas.fields import Object, items, member, text, whole
from taas.kinds import INDEX_LABEL, JOB_LABEL, ROLE_LABEL, Kind
from taas.watching import Collection

STATUS_PORT_VARIABLE = "TAAS_STATUS_PORT"


@dataclass(frozen=True)
class Pod:
    name: str
    namespace: str
    uid: str
    owner_uid: str
    role: str
    index: int
    phase: str
    node: str
    ip: str
    container: str  # The one that trains.
    status_port: int  # Where /series is served; 0: nobody says.
    starts: int  # Of the container, beyond the first.
    exit_code: int | None  # None: it runs, or has not run.
    reason: str
    message: str
    leaving: bool  # It is being deleted.
    stays_ended: bool  # Its node starts an ended container no more.

    @property
    def replica(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def stopped(self) -> bool:
        return self.phase in ("Succeeded", "Failed") or (
            self.exit_code is not None and self.stays_ended)

    @property
    def failed(self) -> bool:
        return self.phase == "Failed" or (self.exit_code or 0) != 0


def read_pod(kind: Kind, found: Object) -> Pod | None:
    """None: it is no replica's."""
    meta, spec, status = member(found, "metadata"), member(found, "spec"), member(found, "status")
    labels = member(meta, "labels")
    role, index = text(labels, ROLE_LABEL), text(labels, INDEX_LABEL)
    if not role or not index.isdecimal() or len(index) > 9:
        return None
    containers = items(spec, "containers")
    names = [text(container, "name") for container in containers]
    name = kind.container if kind.container in names else names[0] if names else ""
    main = next((c for c in items(status, "containerStatuses") if text(c, "name") == name), {})
    ended = member(main, "state", "terminated")
    waits = member(main, "state", "waiting")
    owners = [owner for owner in items(meta, "ownerReferences") if owner.get("controller")]
    return Pod(
        name=text(meta, "name"), namespace=text(meta, "namespace"), uid=text(meta, "uid"),
        owner_uid=text(owners[0], "uid") if owners else "", role=role, index=int(index),
        phase=text(status, "phase"), node=text(spec, "nodeName"), ip=text(status, "podIP"),
        container=name, status_port=_status_port(containers),
        starts=whole(main, "restartCount") or 0, exit_code=whole(ended, "exitCode"),
        reason=text(ended, "reason") or text(waits, "reason") or text(status, "reason"),
        message=_words(text(ended, "message")) or text(waits, "message")
        or text(status, "message"),
        leaving="deletionTimestamp" in meta, stays_ended=text(spec, "restartPolicy") == "Never")


def _words(message: str) -> str:
    """Of a termination message, which the bundled trainer writes as JSON (docs/contract.md)."""
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        return message
    return text(found, "message") if isinstance(found, dict) else message


def _status_port(containers: list[Object]) -> int:
    for container in containers:
        for variable in items(container, "env"):
            value = text(variable, "value")
            if text(variable, "name") == STATUS_PORT_VARIABLE and value.isdecimal() \
                    and len(value) <= 5 and 0 < int(value) < 65536:
                return int(value)
    return 0


def pod_path(namespace: str, name: str = "", part: str = "") -> str:
    return "/".join([f"/api/v1/namespaces/{quote(namespace, safe='')}/pods",
                     *(quote(word, safe="") for word in (name, part) if word)])


def pod_collection(connection: Connection, namespace: str, job: str) -> Collection:
    return Collection(connection, pod_path(namespace),
                      Attempt("list pods of job", f"{namespace}/{job}"),
                      {"labelSelector": f"{JOB_LABEL}={job}"})


def own_pod(kind: Kind, uid: str, found: dict[str, Any]) -> Pod | None:
    """None: it belongs to another job, of the other kind or an earlier one of this name."""
    pod = read_pod(kind, found)
    return pod if pod is not None and (not pod.owner_uid or pod.owner_uid == uid) else None


def pods_of(connection: Connection, kind: Kind, namespace: str, job: str, uid: str) -> list[Pod]:
    """In the order of their replicas' names."""
    found, _ = pod_collection(connection, namespace, job).list()
    pods = [pod for item in found if (pod := own_pod(kind, uid, item)) is not None]
    return sorted(pods, key=lambda pod: (pod.role, pod.index))
