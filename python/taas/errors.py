"""What can go wrong, each as a class of its own below TaasError.

A message says what was attempted, on which object, the cause, and what to do; the parts are
attributes, too:

    try:
        client.job("mnist").status()
    except taas.NotFound as error:
        print(error.subject, error.cause)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taas.status import JobStatus


@dataclass(frozen=True)
class Attempt:
    """What was attempted, and on what: ("read job", "default/mnist")."""

    verb: str
    subject: str


class TaasError(Exception):
    """All errors of this package but those of arguments, which are ValueError and TypeError."""

    def __init__(self, attempt: Attempt, cause: str, advice: str = "") -> None:
        self.attempted, self.subject = attempt.verb, attempt.subject
        self.cause, self.advice = cause, advice
        super().__init__(f"{attempt.verb} {attempt.subject}: {cause}"
                         + (f"; {advice}" if advice else ""))


class ConfigError(TaasError):
    """No cluster can be found in the kubeconfig or in the pod that this runs in."""


class ManifestError(TaasError):
    """What was to be submitted is no job, or one that the cluster refuses."""


class Unreachable(TaasError):
    """There was no answer, or the connection broke."""


class ApiError(TaasError):
    """The API server refused; `code` is that of HTTP."""

    def __init__(self, attempt: Attempt, cause: str, advice: str = "", *, code: int = 0) -> None:
        super().__init__(attempt, cause, advice)
        self.code = code


class NotFound(ApiError, LookupError):
    """The job or the pod is not there, or not any more."""


class AlreadyExists(ApiError):
    """There is a job of this name."""


class Forbidden(ApiError, PermissionError):
    """This account may not do that, or the cluster does not know who it is."""


class SeriesUnavailable(TaasError):
    """No process of the job tells its curves now."""


@dataclass(frozen=True)
class ReplicaFailure:
    """A replica that failed, and the last that its log says."""

    replica: str
    pod: str
    exit_code: int | None
    message: str
    log: tuple[str, ...]

    def __str__(self) -> str:
        code = "" if self.exit_code is None else f" exited with code {self.exit_code}"
        # Of a program of one's own the message is the end of its log.
        is_said = self.message.strip() in "\n".join(self.log)
        head = f"{self.replica}{code}" + ("" if is_said else f": {self.message.strip()}")
        return "\n".join([head, *(f"  {line}" for line in self.log)])


class JobEnded(TaasError):
    """The job has ended, but not as it was waited for."""

    def __init__(self, attempt: Attempt, cause: str, status: JobStatus,
                 failures: Sequence[ReplicaFailure] = ()) -> None:
        super().__init__(attempt, cause)
        self.status = status
        self.failures = tuple(failures)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *map(str, self.failures)])


class JobFailed(JobEnded):
    """The job failed; `failures` has the replicas that did, with the ends of their logs."""


class WaitTimeout(TaasError, TimeoutError):
    """It took longer; the message says what the job waits for. `status` is the last one seen."""

    def __init__(self, attempt: Attempt, cause: str, advice: str,
                 status: JobStatus | None) -> None:
        super().__init__(attempt, cause, advice)
        self.status = status
