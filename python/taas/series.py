"""The curves of a training, from the processes that keep them: the chief's (or worker 0's) page
/series, and the evaluator's.

On a cluster they are fetched through the API server's port-forward, which NetworkPolicies do not
stop; a pod of a local cluster is a process of this machine and is asked itself. The other end is a
program of the user's: what is no curve is left out.

    page = fetch_page(connection, pod, since=100)
    loss = page["loss"]
"""

from __future__ import annotations

import http.client
import ipaddress
import json
from contextlib import closing
from typing import Any, NamedTuple

from taas.connection import Connection
from taas.errors import Attempt, SeriesUnavailable, TaasError
from taas.fields import as_number, member
from taas.pods import Pod

# A trainer answers in milliseconds, the way through the API server takes a few more.
ANSWER_S = 10.0
# A curve of ours has 1,000 points, which are some 50 KB.
PAGE_BYTES_MAX = 16 << 20
CURVES_MAX = 100
POINTS_MAX = 5_000
# Before the names of the evaluator's curves.
EVALUATOR = "evaluator/"


class Point(NamedTuple):
    step: int
    wall: float  # Seconds since 1970.
    value: float


Series = dict[str, list[Point]]


def read_page(body: bytes) -> Series:
    """Raises ValueError with the cause where it is no page of curves."""
    try:
        page = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(page, dict) or not isinstance(page.get("series"), dict):
        raise ValueError("there is no object `series` in the answer")
    found: Series = {}
    for name, points in member(page, "series").items():
        if isinstance(points, list) and len(found) < CURVES_MAX:
            read = (_point(point) for point in points[:POINTS_MAX])
            found[name] = [point for point in read if point is not None]
    return found


def _point(found: Any) -> Point | None:
    if not isinstance(found, list) or len(found) != 3:
        return None
    step, wall, value = map(as_number, found)
    if step is None or wall is None or value is None:
        return None
    return Point(int(step), wall, value)


def keeps_curves(pod: Pod) -> bool:
    """Whether it can be asked now."""
    return pod.index == 0 and pod.phase == "Running" and bool(pod.ip) and pod.status_port > 0


def fetch_page(connection: Connection, pod: Pod, since: int | None) -> Series:
    attempt = Attempt("read series of", f"{pod.namespace}/{pod.name}")
    path = "/series" + ("" if since is None else f"?since={since}")
    advice = "look whether it still runs; a program of your own serves the page or has no curves"
    try:
        if ipaddress.ip_address(pod.ip).is_loopback:
            return read_page(_ask(http.client.HTTPConnection(pod.ip, pod.status_port,
                                                             timeout=ANSWER_S), path))
        forward = connection.forward(pod.namespace, pod.name, pod.status_port, attempt)
        with closing(forward):
            socket = forward.socket(pod.status_port)
            socket.settimeout(ANSWER_S)
            try:
                return read_page(_ask(_Connected(socket), path))
            except (OSError, http.client.HTTPException) as error:
                # What the node says: "connection refused".
                raise SeriesUnavailable(attempt, forward.error(pod.status_port) or _said(error),
                                        advice) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise SeriesUnavailable(attempt, _said(error), advice) from error


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Connected(http.client.HTTPConnection):
    """HTTP over a socket that is connected already."""

    def __init__(self, socket: Any) -> None:
        super().__init__("pod")
        self.sock = socket


def _ask(connection: http.client.HTTPConnection, path: str) -> bytes:
    with closing(connection):
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read(PAGE_BYTES_MAX + 1)
    if answer.status != 200:
        raise ValueError(f"it answers {answer.status} {answer.reason}")
    if len(body) > PAGE_BYTES_MAX:
        raise ValueError(f"it answers with more than {PAGE_BYTES_MAX} bytes")
    return body


def fetch_series(connection: Connection, pods: list[Pod], leader: str, since: int | None,
                 attempt: Attempt) -> Series:
    """Of the replica that leads ("chief-0") by their names, of the evaluator with EVALUATOR before
    them. An error only where neither answers."""
    found: Series = {}
    failure: TaasError | None = None
    asked = False
    for replica, prefix in ((leader, ""), ("evaluator-0", EVALUATOR)):
        pod = next((pod for pod in pods if pod.replica == replica and keeps_curves(pod)), None)
        if pod is None:
            continue
        try:
            page = fetch_page(connection, pod, since)
        except TaasError as error:
            failure = failure or error
            continue
        asked = True
        found.update({prefix + name: points for name, points in page.items()})
    if failure is not None and not asked:
        raise failure
    if not asked:
        raise SeriesUnavailable(
            attempt, f"no replica that keeps curves runs now ({leader} or an evaluator)",
            "ask while the job runs; afterwards they are in the event files of "
            "spec.trainer.summaries.dir")
    return found


def rows(series: Series) -> list[dict[str, Any]]:
    """One row for each point, as pandas.DataFrame takes them."""
    return [{"series": name, **point._asdict()} for name, points in series.items()
            for point in points]
