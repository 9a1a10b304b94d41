"""Parts of manifests as types, with the manifest's own names; docs/manifest.md explains each.

    optimizer: taas.OptimizerSpec = {"name": "momentum", "learningRate": 0.1}

A test holds them against the schemas of the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

RestartPolicy = Literal["Always", "OnFailure", "Never", "ExitCode"]
CleanPodPolicy = Literal["Running", "All", "None"]


class LayerSpec(TypedDict, total=False):
    type: str
    name: str
    units: int
    filters: int
    kernel: int | str
    size: int | str
    strides: int | str
    padding: Literal["same", "valid"]
    activation: Literal["none", "relu", "sigmoid", "tanh", "gelu"]
    bias: bool
    rate: float
    decay: float
    epsilon: float
    sequences: bool
    rows: int


class DeepColumnSpec(TypedDict, total=False):
    column: str
    type: Literal["embedding", "indicator"]
    units: int


class ModelSpec(TypedDict, total=False):
    name: str
    hidden: Sequence[int]
    dropout: float
    wide: Sequence[str]
    deep: Sequence[DeepColumnSpec]
    blocks: int
    heads: int
    width: int
    layers: Sequence[LayerSpec]


class FilesSpec(TypedDict, total=False):
    images: str
    labels: str
    files: Sequence[str]


class GeneratedSpec(TypedDict, total=False):
    examples: int
    testExamples: int
    features: int
    classes: int
    pattern: Literal["centres", "waves", "clicks"]
    image: Sequence[int]


class TextSpec(TypedDict, total=False):
    context: int


class CropSpec(TypedDict, total=False):
    padding: int


class AugmentSpec(TypedDict, total=False):
    crop: CropSpec
    flip: bool


class StreamingSpec(TypedDict, total=False):
    shuffleBuffer: int
    readers: int
    prefetch: int


class Cifar100Spec(TypedDict, total=False):
    labels: Literal["fine", "coarse"]


class NormaliseSpec(TypedDict, total=False):
    scale: float
    offset: float


class RecordFeatureSpec(TypedDict, total=False):
    name: str
    kind: Literal["FixedLen", "VarLen"]
    dtype: Literal["float", "int64", "bytes"]
    shape: Sequence[int]
    default: float
    decode: Literal["raw", "text"]
    rawDtype: Literal["uint8", "float32"]
    normalise: NormaliseSpec


class TFRecordSpec(TypedDict, total=False):
    compression: Literal["auto", "none", "gzip", "zlib"]
    badRecords: Literal["fail", "skip"]
    label: str
    features: Sequence[RecordFeatureSpec]


class CsvSpec(TypedDict, total=False):
    header: bool
    delimiter: str
    labelColumn: str
    columns: Sequence[str]


class RawSpec(TypedDict, total=False):
    dtype: Literal["uint8", "float32"]
    shape: Sequence[int]
    labelDtype: Literal["uint8", "int32", "int64", "float32"]


class ColumnSpec(TypedDict, total=False):
    name: str
    type: Literal["numeric", "bucketized", "identity", "vocabulary", "hashed", "crossed"]
    source: str
    sources: Sequence[str]
    default: int | str
    normalise: NormaliseSpec
    boundaries: Sequence[float]
    buckets: int
    values: Sequence[int | str]
    oovBuckets: int


class DataSpec(TypedDict, total=False):
    format: Literal["idx", "generated", "cifar10", "cifar100", "tfrecord", "csv", "raw", "text"]
    train: FilesSpec
    test: FilesSpec
    augment: AugmentSpec
    streaming: StreamingSpec
    classes: int
    columns: Sequence[ColumnSpec]
    generated: GeneratedSpec
    cifar100: Cifar100Spec
    tfrecord: TFRecordSpec
    csv: CsvSpec
    raw: RawSpec
    text: TextSpec


class StrategySpec(TypedDict, total=False):
    type: Literal["ParameterServer", "AllReduce", "Local", "Towers"]
    mode: Literal["Async", "Sync"]
    replicasToAggregate: int
    backupWorkers: int | str
    maxStaleness: int
    towers: int
    heartbeatSeconds: int
    gradientPrecision: Literal["float32", "bfloat16"]


class DecaySpec(TypedDict, total=False):
    type: Literal["exponential", "step", "cosine"]
    steps: int
    rate: float
    staircase: bool
    boundaries: list[int]
    rates: list[float]
    alpha: float


class WarmupSpec(TypedDict, total=False):
    steps: int


class ClipSpec(TypedDict, total=False):
    value: float
    globalNorm: float


class OptimizerSpec(TypedDict, total=False):
    name: str
    learningRate: float
    momentum: float
    nesterov: bool
    beta1: float
    beta2: float
    epsilon: float
    weightDecay: float
    initialAccumulator: float
    rho: float
    centered: bool
    learningRatePower: float
    l1: float
    l2: float
    decay: DecaySpec
    warmup: WarmupSpec
    scaleByWorkers: bool
    clip: ClipSpec
    lossScale: float


class RegularizationSpec(TypedDict, total=False):
    l1: float
    l2: float


class MovingAverageSpec(TypedDict, total=False):
    decay: float


class CheckpointSpec(TypedDict, total=False):
    dir: str
    everySeconds: int
    everySteps: int
    keep: int
    maxShardBytes: int
    saveDeadlineSeconds: int


class ExportSpec(TypedDict, total=False):
    format: Literal["safetensors", "savedModel"]
    dir: str


class SummariesSpec(TypedDict, total=False):
    dir: str
    everySteps: int
    histograms: bool


class EvaluationSpec(TypedDict, total=False):
    everySeconds: int


class TraceSpec(TypedDict, total=False):
    file: str
    fromStep: int
    steps: int


class EngineSpec(TypedDict, total=False):
    logDevicePlacement: bool
    softPlacement: bool
    interOpThreads: int
    intraOpThreads: int
    deterministic: bool
    precision: Literal["float32", "tf32", "bfloat16"]
    trace: TraceSpec


class ResourcesSpec(TypedDict, total=False):
    requests: Mapping[str, str | int]
    limits: Mapping[str, str | int]


class ElasticSpec(TypedDict, total=False):
    """Of the worker, with strategy AllReduce."""

    minReplicas: int
    maxReplicas: int


class RoleSpec(TypedDict, total=False):
    replicas: int
    elastic: ElasticSpec
    restartPolicy: RestartPolicy
    gpus: int
    gpuType: str
    resources: ResourcesSpec
    env: Sequence[Mapping[str, Any]]
    envFrom: Sequence[Mapping[str, Any]]
    template: Mapping[str, Any]


class ReplicaSpec(TypedDict, total=False):
    """Of a TFJob."""

    replicas: int
    restartPolicy: RestartPolicy
    template: Mapping[str, Any]


class VolumeSpec(TypedDict, total=False):
    name: str
    mountPath: str
    readOnly: bool
    roles: Sequence[Literal["chief", "ps", "worker", "evaluator"]]
    source: Mapping[str, Any]


class ExitCodesSpec(TypedDict, total=False):
    preset: Literal["Signals", "AtLeast128"]
    retryable: Sequence[int]
    permanent: Sequence[int]


class SchedulingPolicySpec(TypedDict, total=False):
    gang: Literal["Auto", "Required"]
    queue: str
    priorityClassName: str
    minAvailable: int


class NetworkSpec(TypedDict, total=False):
    port: int
    evaluatorInCluster: Literal["Own", "All", "None"]


class TFSchedulingPolicySpec(TypedDict, total=False):
    minAvailable: int
    queue: str
    minResources: Mapping[str, str | int]
    priorityClass: str
    scheduleTimeoutSeconds: int


def claim(name: str, path: str, *, read_only: bool = False) -> VolumeSpec:
    """A volume: the claim of this name, at this path."""
    volume: VolumeSpec = {"name": name, "mountPath": path,
                          "source": {"persistentVolumeClaim": {"claimName": name}}}
    if read_only:
        volume["readOnly"] = True
    return volume
