"""Reads JSON that others wrote: what is not of the wanted type counts as not there.

    step = number(member(status, "progress"), "step")      # None: it has none
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

Object = Mapping[str, Any]


def member(value: Any, *path: str) -> Object:
    """The object at a path; an empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def items(value: Any, name: str) -> list[Object]:
    """The objects in a list."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(value: Object, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def whole(value: Object, name: str) -> int | None:
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number(value: Object, name: str) -> float | None:
    return as_number(value.get(name))


def as_number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:  # A whole number of hundreds of digits is valid JSON.
        return None


def counts(value: Object) -> dict[str, int]:
    found = ((name, whole(value, name)) for name in value)
    return {name: count for name, count in found if count is not None}


def moment(value: Object, name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text(value, name))
    except ValueError:
        return None
