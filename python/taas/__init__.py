"""TaaS from Python: training jobs on a cluster, or on the local one.

    import taas

    client = taas.Client()
    job = client.submit("examples/mnist.yaml")
    status = job.wait(timeout=600, on_change=print)
"""

from taas.builder import TFJob, TrainingJob
from taas.client import Client
from taas.errors import (AlreadyExists, ApiError, ConfigError, Forbidden, JobEnded, JobFailed,
                         ManifestError, NotFound, ReplicaFailure, SeriesUnavailable, TaasError,
                         Unreachable, WaitTimeout)
from taas.job import Job
from taas.logs import LogLine
from taas.pods import Pod
from taas.series import Point, Series, rows
from taas.specs import (CheckpointSpec, DataSpec, ElasticSpec, EngineSpec, EvaluationSpec,
                        ExitCodesSpec, ExportSpec, FilesSpec, GeneratedSpec, ModelSpec,
                        MovingAverageSpec, NetworkSpec, OptimizerSpec, RegularizationSpec,
                        ReplicaSpec, ResourcesSpec, RoleSpec, SchedulingPolicySpec, StrategySpec,
                        SummariesSpec, TFSchedulingPolicySpec, TraceSpec, VolumeSpec, claim)
from taas.status import Condition, End, Evaluation, JobStatus, Progress, ReplicaStatus

__version__ = "0.1.0"

__all__ = [
    "AlreadyExists", "ApiError", "CheckpointSpec", "Client", "Condition", "ConfigError", "DataSpec",
    "ElasticSpec", "End", "EngineSpec", "Evaluation", "EvaluationSpec", "ExitCodesSpec",
    "ExportSpec", "FilesSpec", "Forbidden", "GeneratedSpec", "Job", "JobEnded", "JobFailed",
    "JobStatus", "LogLine", "ManifestError", "ModelSpec", "MovingAverageSpec", "NetworkSpec",
    "NotFound", "OptimizerSpec", "Pod", "Point", "Progress", "RegularizationSpec", "ReplicaFailure",
    "ReplicaSpec", "ReplicaStatus", "ResourcesSpec", "RoleSpec", "SchedulingPolicySpec", "Series",
    "SeriesUnavailable", "StrategySpec", "SummariesSpec", "TFJob", "TFSchedulingPolicySpec",
    "TaasError", "TraceSpec", "TrainingJob", "Unreachable", "VolumeSpec", "WaitTimeout", "claim",
    "rows",
]
