"""One job of a cluster: what a script or a notebook does with it.

    job = client.submit("examples/mnist.yaml")
    job.wait(timeout=600, on_change=print)
    for line in job.logs(role="chief", tail=5):
        print(line.replica, line.text)

A Job is that one object: once it is deleted, another job of its name is not it. Any thread may
call; what waits or follows ends with Ctrl-C.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from taas.connection import Connection
from taas.errors import (ApiError, Attempt, JobEnded, JobFailed, NotFound, ReplicaFailure,
                         TaasError, WaitTimeout)
from taas.fields import member, text
from taas.following import Following
from taas.kinds import Kind, roles_of
from taas.logs import LogLine, LogQuery, last_lines, merged
from taas.pods import Pod, pods_of
from taas.series import Series, fetch_series
from taas.status import FAILED, SUCCEEDED, JobStatus, read_status
from taas.waiting import DELETED, Until, arrived, checked
from taas.watching import Collection, Seen, Timing, changes

ROLES = ("chief", "ps", "worker", "evaluator")
# The operator writes annotations all the time; each refusal for that is worth another look.
CONFLICTS_MAX = 5
CONFLICT = 409
# Of the log of a replica that failed, in an exception; and of how many such replicas.
FAILED_LINES, FAILED_REPLICAS = 20, 5
MERGE_PATCH = "application/merge-patch+json"


class Job:

    def __init__(self, connection: Connection, kind: Kind, found: dict[str, Any]) -> None:
        self._connection = connection
        self.kind = kind
        meta = member(found, "metadata")
        self.namespace, self.name = text(meta, "namespace"), text(meta, "name")
        self.uid = text(meta, "uid")
        self._last = read_status(kind, found)

    def __repr__(self) -> str:
        return f"<taas.Job {self.kind.short}/{self.name} in {self.namespace}: {self._last}>"

    def _repr_html_(self) -> str:
        """The status now; where it cannot be read the last one, and why."""
        try:
            return self.status()._repr_html_()
        except TaasError as error:
            return self._last._repr_html_() + f"<p>{html.escape(str(error))}</p>"

    @property
    def last(self) -> JobStatus:
        """The status as it was last seen, without asking."""
        return self._last

    def status(self) -> JobStatus:
        self._read("read job")
        return self._last

    def pods(self) -> list[Pod]:
        return pods_of(self._connection, self.kind, self.namespace, self.name, self.uid)

    def collection(self) -> Collection:
        """This job alone, to be watched."""
        return Collection(self._connection, self.kind.path(self.namespace),
                          self._attempt("watch job"),
                          {"fieldSelector": f"metadata.name={self.name}"})

    # Waiting.

    def wait(self, until: Until = SUCCEEDED, *, timeout: float | None = None,
             on_change: Callable[[JobStatus], object] | None = None) -> JobStatus:
        """The status, once it is as wanted: a state, "Ended" (Succeeded or Failed), "Deleted", or
        whatever a function says of a status. `timeout` is in seconds; without it for ever.

        JobFailed or JobEnded: it ended otherwise. WaitTimeout: it took longer. NotFound: it was
        deleted."""
        what = checked(until)
        timing, source = Timing(), self.collection()
        deadline = None if timeout is None else timing.now() + timeout
        attempt = self._attempt(f"wait for {what} of job")
        before: dict[str, Any] | None = None
        for seen in changes(source, timing, deadline):
            found = self._own(seen)
            if found is None:
                if until == DELETED:
                    return self._last
                raise NotFound(attempt, "the job was deleted", code=404)
            self._last = read_status(self.kind, found)
            if on_change is not None and found.get("status") != before:
                on_change(self._last)
            before = found.get("status")
            if arrived(until, self._last):
                return self._last
            if self._last.ended and until != DELETED:
                raise self._ended(attempt)
        raise self._timeout(attempt, timeout or 0, source.trouble)

    def _own(self, seen: Seen) -> dict[str, Any] | None:
        found = seen.object or next(iter(seen.listed or ()), None)
        if found is None or seen.gone or text(member(found, "metadata"), "uid") != self.uid:
            return None
        return found

    def _ended(self, attempt: Attempt) -> JobEnded:
        cause = f"it ended as {self._last.state}" + (
            f": {self._last.message}" if self._last.message else "")
        if self._last.state != FAILED:
            return JobEnded(attempt, cause, self._last)
        return JobFailed(attempt, cause, self._last, self._failures())

    def _failures(self) -> list[ReplicaFailure]:
        """Of the pods that are still there; those of the clean-up are not."""
        try:
            failed = [pod for pod in self.pods() if pod.failed]
        except TaasError:
            return []  # Why the job failed is known without them.
        return [ReplicaFailure(pod.replica, pod.name, pod.exit_code, pod.message or pod.reason,
                               last_lines(self._connection, pod, FAILED_LINES))
                for pod in failed[:FAILED_REPLICAS]]

    def _timeout(self, attempt: Attempt, timeout: float, trouble: TaasError | None) -> WaitTimeout:
        seen = self._last
        cause, advice = f"not within {timeout:g} s. It is {seen}", ""
        if not seen.state:
            advice = "look whether taas-operator runs (`taas doctor`)"
        elif trouble is not None:
            advice = f"there was no news at last: {trouble}"
        return WaitTimeout(attempt, cause, advice, seen)

    # Logs and curves.

    def logs(self, role: str | None = None, index: int | None = None, *, follow: bool = False,
             tail: int | None = None, previous: bool = False, since: datetime | None = None,
             ) -> Iterator[LogLine]:
        """Lines as (replica, time, text): of what there is in the order of time, or with `follow`
        as they come, new pods of restarts included, until the job has ended.

        `tail`: only the last so many of each replica. `since`: none from before. `previous`: of the
        container before the last restart in its pod."""
        if role is not None and role not in ROLES:
            raise ValueError(f"role {role!r}: it is one of {', '.join(ROLES)}")
        for name, value in (("index", index), ("tail", tail)):
            if value is not None and value < 0:
                raise ValueError(f"{name} {value}: it is 0 or more")
        if follow and previous:
            raise ValueError("follow and previous: what has ended is not followed")
        query = LogQuery(tail, previous, since)

        def wants(pod: Pod) -> bool:
            return role in (None, pod.role) and index in (None, pod.index)

        if follow:
            return Following(self._connection, self, wants, query).lines()
        return merged(self._connection, [pod for pod in self.pods() if wants(pod)], query)

    def series(self, since: int | None = None) -> Series:
        """The curves by name, those of the evaluator as "evaluator/NAME"; `since`: only points
        after this step. They are in the processes, so ask while the job runs."""
        chief = roles_of(self.kind, self._last.raw).get("chief", ("", 0))[1] > 0
        return fetch_series(self._connection, self.pods(), "chief-0" if chief else "worker-0",
                            since, self._attempt("read series of job"))

    # Changes.

    def suspend(self) -> None:
        """Ends its pods and keeps the job. Trainers write a checkpoint first."""
        self._set_suspend("suspend job", True)

    def resume(self) -> None:
        """Lets it go on from its last checkpoint."""
        self._set_suspend("resume job", False)

    def _set_suspend(self, verb: str, wanted: bool) -> None:
        def change(found: dict[str, Any]) -> dict[str, Any] | None:
            if self._last.ended:
                raise JobEnded(self._attempt(verb), f"it has ended as {self._last.state}",
                               self._last)
            if bool(member(found, *self.kind.policies).get("suspend")) == wanted:
                return None
            return _at(self.kind.policies, {"suspend": wanted})

        self._change(verb, change)

    def scale(self, replicas: int, role: str = "worker") -> None:
        """Another number of a role's replicas: of the worker, or of the evaluator."""
        def change(found: dict[str, Any]) -> dict[str, Any] | None:
            key, now = roles_of(self.kind, found).get(role, ("", 0))
            if not key:
                raise NotFound(self._attempt("scale job"), f"the job has no {role}", code=404)
            return None if now == replicas else _at((*self.kind.roles, key),
                                                    {"replicas": replicas})

        self._change("scale job", change)

    def delete(self, *, cascade: str = "Background") -> None:
        """The job and its pods; with cascade="Orphan" the pods stay. It returns at once:
        job.wait(until="Deleted") waits."""
        self._connection.call(
            "DELETE", self.kind.path(self.namespace, self.name), self._attempt("delete job"),
            body={"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": cascade,
                  "preconditions": {"uid": self.uid}})

    def _change(self, verb: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        """Of the object that was looked at, or not at all."""
        for left in range(CONFLICTS_MAX, -1, -1):
            found = self._read(verb)
            patch = change(found)
            if patch is None:
                return
            patch["metadata"] = {"resourceVersion": text(member(found, "metadata"),
                                                         "resourceVersion")}
            try:
                self._last = read_status(self.kind, self._connection.call(
                    "PATCH", self.kind.path(self.namespace, self.name), self._attempt(verb),
                    body=patch, content_type=MERGE_PATCH))
                return
            except ApiError as error:
                if error.code != CONFLICT or left == 0:
                    raise

    def _read(self, verb: str) -> dict[str, Any]:
        found = self._connection.call("GET", self.kind.path(self.namespace, self.name),
                                      self._attempt(verb))
        if text(member(found, "metadata"), "uid") != self.uid:
            raise NotFound(self._attempt(verb), "it was deleted, and another one of its name made",
                           "client.job(NAME) is that one", code=404)
        self._last = read_status(self.kind, found)
        return found

    def _attempt(self, verb: str) -> Attempt:
        return Attempt(verb, f"{self.namespace}/{self.name}")


def _at(path: tuple[str, ...], value: dict[str, Any]) -> dict[str, Any]:
    for name in reversed(path):
        value = {name: value}
    return value
