"""The way into a cluster.

    client = taas.Client()                   # As kubectl would find it; or the pod's own account.
    job = client.submit("examples/mnist.yaml")
    client.job("mnist").wait(timeout=600)
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from taas.connection import Connection
from taas.errors import ApiError, Attempt, ManifestError, NotFound
from taas.fields import member, text
from taas.job import Job
from taas.kinds import KINDS, Kind, kind_named, kind_of
from taas.manifest import Manifest, read_manifest
from taas.watching import Collection

# Codes with which an API server says what is wrong with an object.
REFUSED_CODES = (400, 422)


class Client:
    """One cluster. `namespace` is that of jobs which name none: the context's, else `default`."""

    def __init__(self, kubeconfig: str | os.PathLike[str] | None = None,
                 context: str | None = None, namespace: str | None = None) -> None:
        self._connection = Connection.load(kubeconfig, context, namespace)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<taas.Client of {self._connection.host}, namespace {self.namespace}>"

    @property
    def namespace(self) -> str:
        return self._connection.namespace

    def close(self) -> None:
        """Its connections; jobs of it can be asked no more."""
        self._connection.close()

    def submit(self, manifest: Manifest, *, dry_run: bool = False) -> Job:
        """Creates a job out of a dict, a path, YAML, TrainingJob(…) or TFJob(…).

        ManifestError: it is no job, or the cluster refuses it. AlreadyExists: delete the other, or
        choose another name. With dry_run the cluster checks it and keeps nothing."""
        body = read_manifest(manifest)
        kind = kind_of(body)
        if kind is None:
            raise AssertionError("read_manifest gives jobs only")
        meta = member(body, "metadata")
        namespace = text(meta, "namespace") or self.namespace
        name = text(meta, "name") or text(meta, "generateName")
        attempt = Attempt("submit", f"{kind.name} {namespace}/{name}")
        # A misspelt field is an error, as with kubectl.
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        try:
            made = self._connection.call("POST", kind.path(namespace), attempt, body=body,
                                         query=query)
        except NotFound as error:
            raise NotFound(attempt, error.cause, f"is TaaS installed, and is there a namespace "
                           f"{namespace}?", code=error.code) from error
        except ApiError as error:
            if error.code in REFUSED_CODES:
                raise ManifestError(attempt, error.cause, "mend the manifest") from error
            raise
        return Job(self._connection, kind, made)

    def job(self, name: str, *, kind: str | None = None, namespace: str | None = None) -> Job:
        """The job of this name; `kind` ("TrainingJob", "tj", "TFJob") is needed only where there
        is one of each."""
        where = namespace or self.namespace
        kinds = KINDS if kind is None else (kind_named(kind),)
        attempt = Attempt("find job", f"{where}/{name}")
        if not name or "/" in name:
            raise ValueError(f"name {name!r}: it is that of one job, without its kind")
        found = [(each, job) for each in kinds
                 if (job := self._find(each, where, name, attempt)) is not None]
        if not found:
            raise NotFound(attempt, "there is none", "client.jobs() lists all", code=404)
        if len(found) > 1:
            raise ValueError(f"job {where}/{name}: there are a TrainingJob and a TFJob of this "
                             "name; say which by kind=…")
        return Job(self._connection, *found[0])

    def jobs(self, *, kind: str | None = None, namespace: str | None = None,
             all_namespaces: bool = False, selector: str = "") -> list[Job]:
        """Of both kinds; `selector` as kubectl has it: "team=ctr". Each has its status in
        `job.last`."""
        where = "" if all_namespaces else namespace or self.namespace
        attempt = Attempt("list jobs", f"in {where or 'all namespaces'}")
        jobs, absent = [], 0
        for each in KINDS if kind is None else (kind_named(kind),):
            try:
                listed, _ = Collection(self._connection, each.path(where), attempt,
                                       {"labelSelector": selector} if selector else {}).list()
            except NotFound as error:
                absent += 1
                if absent == (len(KINDS) if kind is None else 1):
                    raise NotFound(attempt, error.cause, "is TaaS installed in this cluster?",
                                   code=error.code) from error
                continue
            jobs += [Job(self._connection, each, item) for item in listed]
        return sorted(jobs, key=lambda job: (job.namespace, job.name, job.kind.name))

    def _find(self, kind: Kind, namespace: str, name: str, attempt: Attempt,
              ) -> dict[str, Any] | None:
        try:
            return self._connection.call("GET", kind.path(namespace, name), attempt)
        except NotFound:
            return None
