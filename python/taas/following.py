"""Follows the logs of all replicas of a job, over restarts, until the job has ended.

Each log is read by a thread, and so are the watches of the pods and of the job; they hand what they
see to the one that iterates. Who stops iterating ends them.

    for line in Following(connection, job, wants, LogQuery(tail=10)).lines():
        print(line.replica, line.text)
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from taas.connection import Connection, Stream
from taas.errors import ApiError, Attempt, NotFound, TaasError
from taas.fields import member, text
from taas.kinds import Kind
from taas.logs import REPLICAS_MAX, LogLine, LogQuery, Stamped, open_log, read_line, rfc3339
from taas.pods import Pod, own_pod, pod_collection, pod_path
from taas.status import read_status
from taas.watching import Collection, Seen, Timing, changes

log = logging.getLogger("taas")

# Lines that were read and not yet taken; then the readers wait, and the network behind them.
LINES_WAITING_MAX = 1_000
# A thread that waits for room looks so often whether it is still wanted.
ROOM_S = 1.0
# A trainer may be silent for long, and a connection dead without a sign; the log is asked for anew.
SILENCE_S = 300.0
# Before a log is asked for again: the container starts, or the connection was lost.
AGAIN_S = 1.0
# A pod that has ended and still cannot be read this often has lost its log.
FAILURES_MAX = 5
# A pod that nobody has deleted so long after the end of its job runs on without end.
RUNS_ON_S = 5.0


class Followed(Protocol):
    """The job: what of it is needed here."""

    kind: Kind
    namespace: str
    name: str
    uid: str

    def collection(self) -> Collection:
        """The job itself, to be watched."""


@dataclass(frozen=True)
class _Ended:
    """A log has no more lines."""

    uid: str


@dataclass(frozen=True)
class _Pods:
    seen: Seen


@dataclass(frozen=True)
class _Job:
    seen: Seen


class SeenLines:
    """Which lines are new, where a log is read again from the second of the last one."""

    def __init__(self) -> None:
        self.last: Stamped | None = None
        self._same, self._skip = 0, 0  # Lines at the time of the last one; of those still to come.

    def since(self) -> str:
        return rfc3339(self.last.line.time) if self.last else ""

    def restart(self) -> None:
        self._skip = self._same

    def is_new(self, stamped: Stamped) -> bool:
        last = self.last.nanoseconds if self.last else -1
        if stamped.nanoseconds < last:
            return False
        if stamped.nanoseconds == last and self._skip:
            self._skip -= 1
            return False
        self._same = self._same + 1 if stamped.nanoseconds == last else 1
        self._skip = 0
        self.last = stamped
        return True


class Following:

    def __init__(self, connection: Connection, job: Followed, wants: Callable[[Pod], bool],
                 query: LogQuery) -> None:
        self._connection, self._job, self._wants, self._query = connection, job, wants, query
        self._timing = Timing()
        self._items: queue.Queue[Stamped | _Ended | _Pods | _Job | Exception] = queue.Queue(
            LINES_WAITING_MAX)
        self._lock = threading.Lock()
        self._open: set[Stream] = set()
        self._sources = [pod_collection(connection, job.namespace, job.name), job.collection()]
        self._pods: dict[str, Pod] = {}  # By uid; those whose log is read.
        self._done: set[str] = set()  # Those whose log has been read.
        self._listed = False
        self._job_over = ""  # "ended", "deleted"

    def lines(self) -> Iterator[LogLine]:
        pods, jobs = self._sources
        self._start("pods", lambda: self._watch(pods, _Pods))
        self._start("job", lambda: self._watch(jobs, _Job))
        try:
            yield from self._taken()
        finally:
            self._timing.stopped.set()
            for source in self._sources:
                source.close()
            with self._lock:
                streams = list(self._open)
            for stream in streams:
                stream.close()
        if self._job_over == "deleted":
            raise NotFound(Attempt("follow logs of job", f"{self._job.namespace}/{self._job.name}"),
                           "the job was deleted before its end", code=404)

    # The thread that iterates.

    def _taken(self) -> Iterator[LogLine]:
        give_up: float | None = None
        while not (self._job_over and self._listed and self._all_read(give_up)):
            if self._job_over and give_up is None:
                # The operator's deletion of what runs on, or the last pods, may be on their way.
                give_up = self._timing.now() + RUNS_ON_S
            left = None if give_up is None else give_up - self._timing.now()
            if left is not None and left <= 0:
                left = AGAIN_S  # What is being deleted ends its log by itself.
            try:
                item = self._items.get(timeout=left)
            except queue.Empty:
                continue
            if isinstance(item, Stamped):
                yield item.line
            elif isinstance(item, _Pods):
                self._on_pods(item.seen)
            elif isinstance(item, _Job):
                self._on_job(item.seen)
            elif isinstance(item, _Ended):
                self._pods.pop(item.uid, None)
                self._done.add(item.uid)
            else:
                raise item

    def _all_read(self, give_up: float | None) -> bool:
        over = give_up is not None and self._timing.now() >= give_up
        if not self._pods:
            return bool(self._done) or over
        return over and self._items.empty() and not any(
            pod.stopped or pod.leaving for pod in self._pods.values())

    def _on_pods(self, seen: Seen) -> None:
        for found in seen.listed if seen.listed is not None else [seen.object or {}]:
            pod = own_pod(self._job.kind, self._job.uid, found)
            if pod is None or not self._wants(pod) or pod.uid in self._done or seen.gone:
                continue
            if pod.uid in self._pods:
                self._pods[pod.uid] = pod
            elif pod.phase != "Pending":  # One that has not started has no log yet.
                self._follow(pod)
        self._listed = True

    def _follow(self, pod: Pod) -> None:
        if len(self._pods) >= REPLICAS_MAX:
            raise ValueError(f"logs of more than {REPLICAS_MAX} replicas: choose some by role and "
                             "index")
        self._pods[pod.uid] = pod
        # Of pods that come later all lines are news.
        query = LogQuery() if self._listed else self._query
        self._start(pod.name, lambda: self._read(pod, query))

    def _on_job(self, seen: Seen) -> None:
        found = seen.object or next(iter(seen.listed or ()), {})
        is_own = text(member(found, "metadata"), "uid") == self._job.uid
        if seen.gone or not is_own:
            self._job_over = self._job_over or "deleted"
        elif read_status(self._job.kind, found).ended:
            self._job_over = "ended"

    # Their threads.

    def _start(self, name: str, run: Callable[[], None]) -> None:
        def guarded() -> None:
            # Whoever iterates would wait for ever for a thread that is no more.
            try:
                run()
            except Exception as error:  # pylint: disable=broad-exception-caught
                self._put(error)

        threading.Thread(target=guarded, name=f"taas {name}", daemon=True).start()

    def _put(self, item: Stamped | _Ended | _Pods | _Job | Exception) -> None:
        while not self._timing.stopped.is_set():
            try:
                return self._items.put(item, timeout=ROOM_S)
            except queue.Full:
                continue

    def _watch(self, source: Collection, wrap: type[_Pods] | type[_Job]) -> None:
        for seen in changes(source, self._timing, deadline=None):
            self._put(wrap(seen))

    def _read(self, pod: Pod, query: LogQuery) -> None:
        seen, failures = SeenLines(), 0
        while not self._timing.stopped.is_set():
            try:
                self._read_once(pod, query, seen)
                failures = 0
            except TaasError as error:
                failures += 1
                log.debug("%s", error)
            if self._is_over(pod, failures):
                break
            self._timing.pause(AGAIN_S)
        self._put(_Ended(pod.uid))

    def _read_once(self, pod: Pod, query: LogQuery, seen: SeenLines) -> None:
        parameters = {**query.parameters(pod), "follow": "true"}
        if seen.since():
            parameters.pop("tailLines", None)
            parameters["sinceTime"] = seen.since()
        seen.restart()
        stream = open_log(self._connection, pod, parameters, SILENCE_S)
        with self._lock:
            self._open.add(stream)
        try:
            with closing(stream):
                before = None
                for raw in stream.lines():
                    before = read_line(pod.replica, raw, before)
                    if seen.is_new(before):
                        self._put(before)
                    if self._timing.stopped.is_set():
                        return
        finally:
            with self._lock:
                self._open.discard(stream)

    def _is_over(self, pod: Pod, failures: int) -> bool:
        """Whether nothing will follow in this pod's log. A log that broke is read again."""
        path = pod_path(pod.namespace, pod.name)
        try:
            now = own_pod(self._job.kind, self._job.uid, self._connection.call(
                "GET", path, Attempt("read pod", f"{pod.namespace}/{pod.name}")))
        except ApiError as error:
            return error.code == 404
        except TaasError:
            return False
        if now is None or now.uid != pod.uid:
            return True
        return now.stopped and (failures == 0 or failures >= FAILURES_MAX)
