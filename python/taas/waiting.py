"""What a job is waited for, as a pure question of its status.

    arrived("Running", status)    arrived(lambda status: status.restart_count > 3, status)
"""

from __future__ import annotations

from collections.abc import Callable

from taas.status import STATES, SUCCEEDED, JobStatus

ENDED, DELETED = "Ended", "Deleted"
Until = str | Callable[[JobStatus], bool]


def checked(until: Until) -> str:
    """In words."""
    if callable(until):
        return "what a function asks for"
    if until not in (*STATES, ENDED, DELETED):
        raise ValueError(f"until {until!r}: it is one of {', '.join((*STATES, ENDED, DELETED))}, "
                         "or a function of a JobStatus")
    return until


def arrived(until: Until, status: JobStatus) -> bool:
    if callable(until):
        return until(status)
    if until == ENDED:
        return status.ended
    # A short job may have run between two looks; one that has succeeded did run.
    return status.state == until or (until == "Running" and status.state == SUCCEEDED)
