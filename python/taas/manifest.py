"""One job out of what a caller has: an object, a file, a text, or a builder of this package.

    read_manifest("examples/mnist.yaml")    read_manifest({"kind": "TrainingJob", …})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import yaml

from taas.errors import Attempt, ManifestError
from taas.fields import member, text
from taas.kinds import KINDS, kind_of

# etcd takes objects of 1.5 MB; aliases of YAML could make more out of less.
TEXT_CHARS_MAX = 3_000_000
VALUES_MAX = 200_000


@runtime_checkable
class Buildable(Protocol):

    def to_manifest(self) -> dict[str, Any]:
        ...


Manifest = Mapping[str, Any] | str | os.PathLike[str] | Buildable


def read_manifest(manifest: Manifest) -> dict[str, Any]:
    """A text with a line break or a colon and a blank in it is YAML, another one a path."""
    if isinstance(manifest, Mapping):
        return _checked(dict(manifest), Attempt("read", "the manifest"))
    if isinstance(manifest, (str, os.PathLike)):
        return _from_text(os.fspath(manifest))
    if isinstance(manifest, Buildable):
        return _checked(manifest.to_manifest(), Attempt("build", type(manifest).__name__))
    raise TypeError(f"a manifest is a dict, a path, YAML, TrainingJob(…) or TFJob(…), not "
                    f"{type(manifest).__name__}")


def _from_text(given: str) -> dict[str, Any]:
    is_yaml = "\n" in given or ": " in given
    attempt = Attempt("read manifest", "given as text" if is_yaml else given)
    content = given
    if not is_yaml:
        try:
            with open(given, encoding="utf-8") as file:
                content = file.read(TEXT_CHARS_MAX + 1)
        except (OSError, ValueError) as error:
            raise ManifestError(attempt, str(error), "give a file, or the YAML itself") from error
    if len(content) > TEXT_CHARS_MAX:
        raise ManifestError(attempt, f"it has more than {TEXT_CHARS_MAX} characters")
    try:
        documents = [found for found in yaml.safe_load_all(content) if found is not None]
    # RecursionError: of a text that is nested thousands of times. ValueError: of a date of month
    # 13.
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ManifestError(attempt, f"it is no YAML: {error}") from error
    if len(documents) != 1:
        raise ManifestError(attempt, f"it holds {len(documents)} objects",
                            "submit jobs one by one, and other objects with kubectl")
    if not isinstance(documents[0], dict):
        raise ManifestError(attempt, f"it holds a {type(documents[0]).__name__}, no object")
    return _checked(documents[0], attempt)


def _checked(job: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    if kind_of(job) is None:
        raise ManifestError(
            attempt, f"its apiVersion is {job.get('apiVersion')!r} and its kind "
            f"{job.get('kind')!r}", "jobs are " + " or ".join(
                f"{kind.api_version} {kind.name}" for kind in KINDS))
    meta = member(job, "metadata")
    if not text(meta, "name") and not text(meta, "generateName"):
        raise ManifestError(attempt, "it has no metadata.name", "give the job a name")
    _check_values(job, attempt)
    return job


def _check_values(job: dict[str, Any], attempt: Attempt) -> None:
    """That JSON can say it, and in how many values: YAML has dates, sets, loops, and lists of
    lists that are written once and stand for billions."""
    count, left = 0, [("", job, 0)]
    while left:
        where, value, depth = left.pop()
        count += 1
        if count > VALUES_MAX or depth > 100:
            raise ManifestError(attempt, f"it has more than {VALUES_MAX} values, or more than "
                                "100 levels")
        if isinstance(value, Mapping):
            for key, found in value.items():
                if not isinstance(key, str):
                    raise ManifestError(attempt, f"the key {key!r} in {where or 'it'} is no text",
                                        "put quotation marks around it")
                left.append((f"{where}.{key}".lstrip("."), found, depth + 1))
        elif isinstance(value, (list, tuple)):
            left.extend((f"{where}[{i}]", found, depth + 1) for i, found in enumerate(value))
        elif value is not None and not isinstance(value, (str, int, float)):
            raise ManifestError(attempt, f"{where} is a {type(value).__name__}",
                                "put quotation marks around it")
