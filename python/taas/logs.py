"""Lines of the logs of a job's replicas, as they are now, merged by their times.

    for line in merged(connection, pods, LogQuery(tail=20)):
        print(line.time, line.replica, line.text)
"""

from __future__ import annotations

import heapq
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple

from taas.connection import Connection, Stream
from taas.errors import ApiError, Attempt, TaasError
from taas.pods import Pod, pod_path

log = logging.getLogger("taas")

# Each is a connection while the lines are read.
REPLICAS_MAX = 256
# A log that exists is sent without a pause.
READ_S = 60.0
# A container that has not started has no log (400), nor has a pod that is gone (404).
NO_LOG_CODES = (400, 404)
EPOCH = datetime.fromtimestamp(0, timezone.utc)
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?")


class LogLine(NamedTuple):
    replica: str  # "worker-0"
    time: datetime  # When the container wrote it, by its node's clock.
    text: str


@dataclass(frozen=True)
class LogQuery:
    tail: int | None = None
    previous: bool = False
    since: datetime | None = None

    def parameters(self, pod: Pod) -> dict[str, str]:
        query = {"container": pod.container, "timestamps": "true"}
        if self.previous:
            query["previous"] = "true"
        if self.tail is not None:
            query["tailLines"] = str(self.tail)
        if self.since is not None:
            query["sinceTime"] = rfc3339(self.since)
        return query


@dataclass(frozen=True)
class Stamped:
    """A line with its exact time: runtimes write nanoseconds, a datetime has none."""

    nanoseconds: int
    line: LogLine


def rfc3339(time: datetime) -> str:
    """In whole seconds; the lines of a second come all or not at all."""
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_line(replica: str, raw: bytes, before: Stamped | None) -> Stamped:
    """`before` gives its time to a line that has none, or an earlier one: a clock that jumped back
    must not turn the lines of a replica around."""
    content = raw.decode(errors="replace").removesuffix("\r")
    at, ns = (before.line.time, before.nanoseconds) if before else (EPOCH, 0)
    match = _TIME.match(content)
    if match is not None:
        second, fraction, zone = match.groups()
        try:
            moment = datetime.fromisoformat(second + zone).astimezone(timezone.utc)
        except (ValueError, OverflowError):  # Month 13, or the year 0.
            return Stamped(ns, LogLine(replica, at, content))
        content = content[match.end():]
        whole = int((fraction or "").ljust(9, "0"))
        written = int(moment.timestamp()) * 1_000_000_000 + whole
        if written >= ns:
            ns, at = written, moment.replace(microsecond=whole // 1000)
    return Stamped(ns, LogLine(replica, at, content))


def open_log(connection: Connection, pod: Pod, query: dict[str, str], read_s: float) -> Stream:
    return connection.stream(pod_path(pod.namespace, pod.name, "log"),
                             Attempt("read log of pod", f"{pod.namespace}/{pod.name}"),
                             query=query, read_s=read_s)


def merged(connection: Connection, pods: Sequence[Pod], query: LogQuery) -> Iterator[LogLine]:
    """A log that cannot be read is told to the logger `taas`; if none can, that is an error."""
    check_count(pods)
    with ExitStack() as opened:
        streams, failure = [], None
        for pod in pods:
            try:
                stream = open_log(connection, pod, query.parameters(pod), READ_S)
            except ApiError as error:
                if error.code not in NO_LOG_CODES:
                    failure = failure or error
                log.warning("%s", error)
                continue
            streams.append(_stamped(pod, opened.enter_context(closing(stream))))
        if failure is not None and not streams:
            raise failure
        for stamped in heapq.merge(*streams, key=lambda each: each.nanoseconds):
            yield stamped.line


def _stamped(pod: Pod, stream: Stream) -> Iterator[Stamped]:
    before = None
    for raw in stream.lines():
        before = read_line(pod.replica, raw, before)
        yield before


def check_count(pods: Sequence[Pod]) -> None:
    if len(pods) > REPLICAS_MAX:
        raise ValueError(f"logs of {len(pods)} replicas at once: at most {REPLICAS_MAX} are merged;"
                         " choose some by role and index")


def last_lines(connection: Connection, pod: Pod, count: int) -> tuple[str, ...]:
    """Of a pod that may be gone, or may never have started: then none, for a reason that the
    logger is told."""
    try:
        stream = open_log(connection, pod, LogQuery(tail=count).parameters(pod), READ_S)
        with closing(stream):
            return tuple(each.line.text for each in _stamped(pod, stream))
    except TaasError as error:
        log.warning("%s", error)
        return ()
