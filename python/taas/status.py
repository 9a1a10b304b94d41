"""What a job's status says, as values that do not change.

    status = job.status()
    print(status.state, status.message, status.progress.step if status.progress else 0)

`raw` is the object as the API server has it, for what has no field here.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from taas.fields import Object, counts, items, member, moment, number, text, whole
from taas.kinds import Kind, role_of, roles_of

SUCCEEDED, FAILED = "Succeeded", "Failed"
STATES = ("Pending", "Running", "Restarting", "Suspended", SUCCEEDED, FAILED)
# Of a TFJob whose definition drops `status.state`: what its last true condition says.
_STATE_OF_CONDITION = {"Created": "Pending", "Scheduled": "Pending",
                       **{state: state for state in STATES}}


@dataclass(frozen=True)
class Condition:
    type: str
    status: bool | None  # None: unknown.
    reason: str
    message: str
    last_transition_time: datetime | None


@dataclass(frozen=True)
class ReplicaStatus:
    desired: int
    active: int
    ready: int  # Of a TFJob 0: it tells of active ones only.
    succeeded: int
    failed: int


@dataclass(frozen=True)
class Evaluation:
    step: int | None
    accuracy: float | None
    loss: float | None
    examples: int | None


@dataclass(frozen=True)
class Progress:
    step: int
    max_steps: int | None
    percent: int | None
    examples_per_second: float | None
    loss: float | None
    eta_seconds: int | None
    data_source: str
    evaluation: Evaluation | None


@dataclass(frozen=True)
class End:
    """The end of a pod that was followed by another."""

    replica: str
    cause: str
    exit_code: int | None
    message: str
    node: str
    time: datetime | None


@dataclass(frozen=True)
class JobStatus:
    kind: str
    namespace: str
    name: str
    uid: str
    state: str  # One of STATES; "" until the operator has seen the job.
    ready: str  # "3/5"
    message: str  # Why it makes no progress; empty while it does.
    conditions: tuple[Condition, ...]
    replicas: Mapping[str, ReplicaStatus]  # By role.
    progress: Progress | None
    restarts: Mapping[str, int]  # By cause.
    restart_count: int
    history: tuple[End, ...]
    attempt: int | None
    start_time: datetime | None
    completion_time: datetime | None
    raw: Object = field(repr=False, compare=False)

    @property
    def ended(self) -> bool:
        return self.state in (SUCCEEDED, FAILED)

    @property
    def evaluation(self) -> Evaluation | None:
        return self.progress.evaluation if self.progress else None

    def __str__(self) -> str:
        return (f"{self.state or 'not seen by the operator yet'}"
                + (f", {self.ready} ready" if self.ready and not self.ended else "")
                + (f", step {_steps(self.progress)}" if self.progress else "")
                + (f": {self.message}" if self.message else ""))

    def _repr_html_(self) -> str:
        rows = [("job", f"{self.namespace}/{self.name} ({self.kind})"),
                ("state", self.state or "not seen by the operator yet"),
                ("ready", self.ready), ("message", self.message),
                ("step", _steps(self.progress) if self.progress else ""),
                ("loss", _shown(self.progress.loss) if self.progress else ""),
                ("accuracy", _shown(self.evaluation.accuracy) if self.evaluation else ""),
                ("restarts", ", ".join(f"{cause} {n}" for cause, n in self.restarts.items()))]
        rows += [(role, f"{found.active} active, {found.succeeded} succeeded, {found.failed} "
                        f"failed of {found.desired}") for role, found in self.replicas.items()]
        return "<table>" + "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in rows if value) + "</table>"


def _steps(progress: Progress) -> str:
    return str(progress.step) + (f"/{progress.max_steps}" if progress.max_steps else "")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def read_status(kind: Kind, job: Object) -> JobStatus:
    """Whatever the object holds: what is not as it should be is left out."""
    meta, status = member(job, "metadata"), member(job, "status")
    conditions = tuple(map(_condition, items(status, "conditions")))
    return JobStatus(
        kind=kind.name, namespace=text(meta, "namespace"), name=text(meta, "name"),
        uid=text(meta, "uid"), state=text(status, "state") or _state_of(conditions),
        ready=text(status, "ready"), message=text(status, "message"), conditions=conditions,
        replicas=_replicas(kind, job), progress=_progress(member(status, "progress")),
        restarts=counts(member(status, "restarts")),
        restart_count=whole(status, "restartCount") or 0,
        history=tuple(map(_end, items(status, "history"))), attempt=whole(status, "attempt"),
        start_time=moment(status, "startTime"),
        completion_time=moment(status, "completionTime"), raw=job)


def _state_of(conditions: tuple[Condition, ...]) -> str:
    for condition in reversed(conditions):
        if condition.status and condition.type in _STATE_OF_CONDITION:
            return _STATE_OF_CONDITION[condition.type]
    return ""


def _condition(found: Object) -> Condition:
    return Condition(text(found, "type"), {"True": True, "False": False}.get(text(found, "status")),
                     text(found, "reason"), text(found, "message"),
                     moment(found, "lastTransitionTime"))


def _replicas(kind: Kind, job: Object) -> dict[str, ReplicaStatus]:
    wanted = roles_of(kind, job)
    found = {role_of(key): counts(value) for key, value in
             member(job, "status", "replicaStatuses").items() if isinstance(value, Mapping)}
    return {role: ReplicaStatus(
        desired=wanted[role][1] if role in wanted else found[role].get("desired", 0),
        **{name: found.get(role, {}).get(name, 0)
           for name in ("active", "ready", "succeeded", "failed")}) for role in {**wanted, **found}}


def _progress(found: Object) -> Progress | None:
    if not found:
        return None
    evaluation = member(found, "evaluation")
    return Progress(
        step=whole(found, "step") or 0, max_steps=whole(found, "maxSteps"),
        percent=whole(found, "percent"), loss=number(found, "loss"),
        examples_per_second=number(found, "examplesPerSecond"),
        eta_seconds=whole(found, "etaSeconds"), data_source=text(found, "dataSource"),
        evaluation=Evaluation(whole(evaluation, "step"), number(evaluation, "accuracy"),
                              number(evaluation, "loss"), whole(evaluation, "examples"))
        if evaluation else None)


def _end(found: Object) -> End:
    index = whole(found, "index")
    return End(f"{text(found, 'role')}-{'?' if index is None else index}", text(found, "cause"),
               whole(found, "exitCode"), text(found, "message"), text(found, "node"),
               moment(found, "time"))
