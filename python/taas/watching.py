"""Follows objects of the API server: a list, then what changes, over lost connections and
versions that are too old, until a moment or for ever.

    for seen in changes(source, Timing(), deadline=None):
        if seen.listed is not None: …    # All that there is; what is not in it is gone.
        elif seen.gone: …                # seen.object was deleted.
        else: …                          # seen.object is new, or has changed.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from taas.connection import Connection, Stream, api_error
from taas.errors import ApiError, Attempt, TaasError, Unreachable
from taas.fields import member, text, whole

log = logging.getLogger("taas")

# Servers end watches after 5 to 10 minutes by themselves; asking anew costs one request.
WATCH_S = 240.0
# After that a server that should have ended a watch is away.
LATE_S = 15.0
RETRY_FIRST_S, RETRY_MAX_S = 0.5, 15.0
# What passes by itself: too many requests, an API server that starts or stops.
TRANSIENT_CODES = (408, 410, 429, 500, 502, 503, 504)
GONE = 410
PAGE_SIZE = 500


@dataclass(frozen=True)
class Seen:
    listed: Sequence[dict[str, Any]] | None = None
    object: dict[str, Any] | None = None
    gone: bool = False


class Timing:
    """The clock of a watch, and the word to end it."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        self.stopped.wait(seconds)


class Source(Protocol):
    """What is watched."""

    trouble: TaasError | None  # Why there is no news just now.

    def list(self) -> tuple[list[dict[str, Any]], str]:
        """The objects, and the version of the list."""

    def watch(self, version: str, seconds: float) -> Iterator[dict[str, Any]]:
        """Events since a version, for so long."""


class Collection:
    """Objects of one path that fit a selector, as a Source. `close` from another thread ends a
    watch."""

    def __init__(self, connection: Connection, path: str, attempt: Attempt,
                 selector: dict[str, str]) -> None:
        self._connection, self._path, self._attempt = connection, path, attempt
        self._selector = selector
        self._stream: Stream | None = None
        self.trouble: TaasError | None = None

    def list(self) -> tuple[list[dict[str, Any]], str]:
        found: list[dict[str, Any]] = []
        query = {**self._selector, "limit": str(PAGE_SIZE)}
        while True:
            page = self._connection.call("GET", self._path, self._attempt, query=query)
            found += [item for item in page.get("items") or [] if isinstance(item, dict)]
            meta = member(page, "metadata")
            if not text(meta, "continue"):
                return found, text(meta, "resourceVersion")
            query["continue"] = text(meta, "continue")

    def watch(self, version: str, seconds: float) -> Iterator[dict[str, Any]]:
        query = {**self._selector, "watch": "true", "resourceVersion": version,
                 "allowWatchBookmarks": "true", "timeoutSeconds": str(max(1, math.ceil(seconds)))}
        self._stream = self._connection.stream(self._path, self._attempt, query=query,
                                               read_s=seconds + LATE_S)
        try:
            for line in self._stream.lines():
                yield self._event(line)
        finally:
            self._stream.close()

    def _event(self, line: bytes) -> dict[str, Any]:
        try:
            event = json.loads(line)
        except ValueError as error:
            raise Unreachable(self._attempt, f"an event is no JSON: {error}") from error
        return event if isinstance(event, dict) else {}

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


def changes(source: Source, timing: Timing, deadline: float | None) -> Iterator[Seen]:
    """The first list raises what it meets, so that a wrong name is known at once; after it what
    may pass is waited for, and told by source.trouble."""
    version, delay, first = "", RETRY_FIRST_S, True
    while not timing.stopped.is_set() and (deadline is None or timing.now() < deadline):
        try:
            if not version:
                listed, version = source.list()
                first, source.trouble = False, None
                yield Seen(listed=listed)
            quiet = True
            for event in source.watch(version, _seconds(timing, deadline)):
                source.trouble, delay, quiet = None, RETRY_FIRST_S, False
                seen, version = _read(event, version)
                if seen is not None:
                    yield seen
                if timing.stopped.is_set() or (deadline and timing.now() >= deadline):
                    return
            if quiet:
                # A server that ends each watch at once is not asked without end.
                timing.pause(RETRY_FIRST_S)
        except TaasError as error:
            if first or not _passes(error):
                raise
            if timing.stopped.is_set():
                return
            if isinstance(error, ApiError) and error.code == GONE:
                version = ""  # Too much has happened since; a list tells what is left of it.
            else:
                log.warning("%s; trying again", error)
            source.trouble = error
            left = math.inf if deadline is None else max(0.0, deadline - timing.now())
            timing.pause(min(delay, left))
            delay = min(delay * 2, RETRY_MAX_S)


def _seconds(timing: Timing, deadline: float | None) -> float:
    return WATCH_S if deadline is None else max(0.0, min(WATCH_S, deadline - timing.now()))


def _passes(error: TaasError) -> bool:
    return isinstance(error, Unreachable) or (
        isinstance(error, ApiError) and error.code in TRANSIENT_CODES)


def _read(event: dict[str, Any], version: str) -> tuple[Seen | None, str]:
    """What an event says, and the version to go on from."""
    kind, found = text(event, "type"), member(event, "object")
    if kind == "ERROR":
        raise api_error(Attempt("watch", "jobs and pods"), whole(found, "code") or 500, found)
    version = text(member(found, "metadata"), "resourceVersion") or version
    if kind in ("ADDED", "MODIFIED", "DELETED"):
        return Seen(object=dict(found), gone=kind == "DELETED"), version
    return None, version
