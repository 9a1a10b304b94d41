"""Manifests out of arguments that an editor completes and a type checker checks.

    taas.TrainingJob(name="mlp", model={"name": "mlp", "hidden": [500]}, ps=2, workers=4, gpus=1,
                     data={"format": "generated", "generated": {…}}, max_steps=2000)
    taas.TFJob(name="old", image="me/tf:1", command=["python", "train.py"], ps=1, workers=2)

An argument is the manifest's field in Python's spelling: `max_steps` is maxSteps. What is left out
is the kind's default. For all else there are dicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from taas.kinds import GPU_RESOURCE, TF_JOB, TRAINING_JOB, Kind
from taas.specs import (CheckpointSpec, CleanPodPolicy, DataSpec, EngineSpec, EvaluationSpec,
                        ExitCodesSpec, ExportSpec, ModelSpec, MovingAverageSpec, NetworkSpec,
                        OptimizerSpec,
                        RegularizationSpec, ReplicaSpec, RestartPolicy, RoleSpec,
                        SchedulingPolicySpec, StrategySpec, SummariesSpec, TFSchedulingPolicySpec,
                        VolumeSpec)

# Roles that compute, and so get `gpus`.
WITH_GPUS = ("chief", "worker")


def manifest_name(argument: str) -> str:
    """maxSteps of max_steps."""
    first, *rest = argument.split("_")
    return first + "".join(word.capitalize() for word in rest)


@dataclass(frozen=True, kw_only=True)
class Program:
    """What both kinds have. `gpus` is of each chief and worker; `cpu`, `memory`, `env`,
    `command` and `args` are of each replica."""

    name: str
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    command: Sequence[str] = ()
    args: Sequence[str] = ()
    gpus: int = 0
    cpu: str | None = None
    memory: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: Sequence[VolumeSpec] = ()
    restart_policy: RestartPolicy | None = None

    def _object(self, kind: Kind, spec: dict[str, Any]) -> dict[str, Any]:
        meta: dict[str, Any] = {"name": self.name}
        for name in ("namespace", "labels", "annotations"):
            if value := getattr(self, name):
                meta[name] = value if isinstance(value, str) else dict(value)
        return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": meta, "spec": spec}

    def _container(self, name: str) -> dict[str, Any]:
        if self.image is None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: a program of one's own needs "
                             "an image")
        found: dict[str, Any] = {"name": name, "image": self.image}
        found.update({part: list(value) for part in ("command", "args")
                      if (value := getattr(self, part))})
        return found

    def _resources(self) -> dict[str, str | int]:
        return {name: value for name, value in (("cpu", self.cpu), ("memory", self.memory))
                if value is not None}

    def _env(self) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in self.env.items()]

    def _given(self, *names: str) -> dict[str, Any]:
        """Those arguments, by the manifest's names, that were given."""
        return {manifest_name(name): value for name in names
                if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, kw_only=True)
class TrainingJob(Program):
    """With `model` it trains with the bundled trainer, whose image `image` then is; else it runs
    `command` in `image`. A role is a number of replicas or a whole RoleSpec."""

    model: ModelSpec | str | None = None
    data: DataSpec | None = None
    strategy: StrategySpec | None = None
    optimizer: OptimizerSpec | None = None
    regularization: RegularizationSpec | None = None
    moving_average: MovingAverageSpec | None = None
    batch_size: int | None = None
    max_steps: int | None = None
    seed: int | None = None
    checkpoint: CheckpointSpec | None = None
    export: ExportSpec | None = None
    summaries: SummariesSpec | None = None
    evaluation: EvaluationSpec | None = None
    log_steps: int | None = None
    json_logs: bool | None = None
    engine: EngineSpec | None = None

    chief: int | RoleSpec = 0
    ps: int | RoleSpec = 0
    workers: int | RoleSpec = 1
    evaluator: int | RoleSpec = 0

    suspend: bool | None = None
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    pending_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    clean_pod_policy: CleanPodPolicy | None = None
    success_policy: Literal["Auto", "Worker0", "AllWorkers"] | None = None
    restart_scope: Literal["Replica", "Job"] | None = None
    exit_codes: ExitCodesSpec | None = None
    node_loss_seconds: int | None = None
    scheduling_policy: SchedulingPolicySpec | None = None
    network: NetworkSpec | None = None

    def to_manifest(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        if self.model is not None:
            spec["trainer"] = self._trainer()
        elif other := self._given(*(name for name in TRAINER if name != "image")):
            raise ValueError(f"TrainingJob {self.name!r}: {', '.join(other)} are of the bundled "
                             "trainer, which needs a model")
        spec["roles"] = {role: found for role, given in (
            ("chief", self.chief), ("ps", self.ps), ("worker", self.workers),
            ("evaluator", self.evaluator)) if (found := self._role(role, given)) is not None}
        if self.volumes:
            spec["volumes"] = [dict(volume) for volume in self.volumes]
        spec.update(self._given(*POLICIES))
        return self._object(TRAINING_JOB, spec)

    def _trainer(self) -> dict[str, Any]:
        if self.command or self.args:
            raise ValueError(f"TrainingJob {self.name!r}: the bundled trainer of `model` takes no "
                             "command and no args")
        model = {"name": self.model} if isinstance(self.model, str) else self.model
        return {**self._given(*TRAINER), "model": model}

    def _role(self, role: str, given: int | RoleSpec) -> dict[str, Any] | None:
        if given == 0:
            return None
        found: dict[str, Any] = {"replicas": given} if isinstance(given, int) else {}
        if self.restart_policy is not None:
            found["restartPolicy"] = self.restart_policy
        if self.gpus and role in WITH_GPUS:
            found["gpus"] = self.gpus
        if resources := self._resources():
            found["resources"] = {"requests": resources, "limits": resources}
        if self.env:
            found["env"] = self._env()
        own = {} if isinstance(given, int) else dict(given)
        if self.model is None and "template" not in own:
            found["template"] = {"spec": {"containers": [self._container(TRAINING_JOB.container)]}}
        return {**found, **own}


@dataclass(frozen=True, kw_only=True)
class TFJob(Program):
    """A role is a number of replicas or a whole ReplicaSpec."""

    chief: int | ReplicaSpec = 0
    ps: int | ReplicaSpec = 0
    workers: int | ReplicaSpec = 1
    evaluator: int | ReplicaSpec = 0

    clean_pod_policy: CleanPodPolicy | None = None
    ttl_seconds_after_finished: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    suspend: bool | None = None
    managed_by: str | None = None
    scheduling_policy: TFSchedulingPolicySpec | None = None
    success_policy: Literal["", "AllWorkers"] | None = None
    enable_dynamic_worker: bool | None = None

    def to_manifest(self) -> dict[str, Any]:
        spec = self._given("success_policy", "enable_dynamic_worker")
        if policy := self._given(*RUN_POLICY):
            spec["runPolicy"] = policy
        spec["tfReplicaSpecs"] = {key: self._replicas(key, given) for key, given in (
            ("Chief", self.chief), ("PS", self.ps), ("Worker", self.workers),
            ("Evaluator", self.evaluator)) if given != 0}
        return self._object(TF_JOB, spec)

    def _replicas(self, key: str, given: int | ReplicaSpec) -> dict[str, Any]:
        found: dict[str, Any] = {"replicas": given} if isinstance(given, int) else {}
        if self.restart_policy is not None:
            found["restartPolicy"] = self.restart_policy
        own = {} if isinstance(given, int) else dict(given)
        if "template" not in own:
            found["template"] = {"spec": self._pod(key)}
        return {**found, **own}

    def _pod(self, key: str) -> dict[str, Any]:
        container = self._container(TF_JOB.container)
        resources = self._resources()
        if self.gpus and key.lower() in WITH_GPUS:
            resources[GPU_RESOURCE] = self.gpus
        if resources:
            container["resources"] = {"requests": resources, "limits": resources}
        if self.env:
            container["env"] = self._env()
        pod: dict[str, Any] = {"containers": [container]}
        mounted = [volume for volume in self.volumes
                   if not volume.get("roles") or key.lower() in volume["roles"]]
        if mounted:
            pod["volumes"] = [{"name": volume["name"], **volume["source"]} for volume in mounted]
            container["volumeMounts"] = [
                {name: volume[name] for name in ("name", "mountPath", "readOnly")
                 if name in volume} for volume in mounted]
        return pod


def _between(kind: type[Program], first: str, last: str) -> tuple[str, ...]:
    """Arguments in the order in which they stand in the class."""
    names = [each.name for each in fields(kind)]
    return tuple(names[names.index(first):names.index(last) + 1])


# Arguments that are fields of spec.trainer, of the spec, and of a TFJob's runPolicy.
TRAINER = ("image", *_between(TrainingJob, "model", "engine"))
POLICIES = _between(TrainingJob, "suspend", "network")
RUN_POLICY = _between(TFJob, "clean_pod_policy", "scheduling_policy")
