// A TrainingJob as an API server has it, with fields of a later release among ours: what the tests
// of the codecs read.
//
// Ownership: constant. Threads: any. Errors: none.
//
//   const auto job = DecodeJob(JobKind::kTrainingJob, kStored);

#ifndef OPERATOR_API_STORED_JOB_H_
#define OPERATOR_API_STORED_JOB_H_

namespace taas {

inline constexpr char kStored[] = R"({
  "apiVersion": "taas.dev/v1", "kind": "TrainingJob",
  "metadata": {"name": "mnist", "namespace": "default", "uid": "u-1", "resourceVersion": "7",
               "generation": 3, "creationTimestamp": "2026-11-21T05:54:17Z", "unknown": {}},
  "spec": {
    "trainer": {"image": "i:1", "model": {"name": "mlp", "hidden": [500]},
                "data": {"format": "idx"},
                "strategy": {"type": "ParameterServer", "mode": "Async"}, "maxSteps": 2000,
                "checkpoint": {"dir": "/out/c"}, "later": [1]},
    "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 2},
              "worker": {"replicas": 3, "later": 1}},
    "volumes": [{"name": "data", "mountPath": "/data", "readOnly": true, "roles": ["ps", "worker"],
                 "source": {"persistentVolumeClaim": {"claimName": "c"}}}],
    "backoffLimit": 2, "cleanPodPolicy": "All", "later": {}}})";

}  // namespace taas

#endif  // OPERATOR_API_STORED_JOB_H_
