// One object of ours as JSON: what a user applies, what a server stores, what replaces it.

#include <string>
#include <vector>

#include "operator/api/convert.h"
#include "operator/api/job_codec.h"
#include "operator/api/stored_job.h"
#include "operator/api/validation.h"
#include "tools/fuzz/target.h"

namespace taas {
namespace {

constexpr char kTfJobSeed[] = R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 3, "suspend": false,
      "ttlSecondsAfterFinished": 5, "activeDeadlineSeconds": 9},
      "successPolicy": "AllWorkers", "tfReplicaSpecs": {"Worker": {"replicas": 2,
      "restartPolicy": "ExitCode", "template": {"spec": {"containers": [{"name": "tensorflow",
      "image": "i:1", "command": ["python"], "resources": {"limits": {"cpu": "1500m",
      "memory": "1Gi", "nvidia.com/gpu": 1}}}]}}}}},
    "status": {"conditions": [{"type": "Running", "status": "True", "reason": "r", "message": "m",
      "lastTransitionTime": "2026-11-21T05:54:17Z"}], "replicaStatuses": {"Worker": {"active": 2}},
      "startTime": "2026-11-21T05:54:17Z"}})";

}  // namespace

std::vector<std::string> FuzzSeeds() { return {kStored, kTfJobSeed}; }

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  for (const taas::JobKind kind : {taas::JobKind::kTrainingJob, taas::JobKind::kTfJob}) {
    (void)taas::DecodeJob(kind, text);
    const bool good = taas::Validate(kind, text).empty();
    (void)taas::ValidateStored(kind, text);
    (void)taas::ApplyDefaults(kind, text);
    (void)taas::PruneUnknownFields(kind, text);
    if (good && kind == taas::JobKind::kTrainingJob) (void)taas::ValidateTrainer(text);
  }
  (void)taas::KindOfManifest(text);
  (void)taas::ValidateAll(taas::JobKind::kTfJob, text);
  (void)taas::ValidateUpdate(taas::JobKind::kTrainingJob, taas::kStored, text);
  (void)taas::ConvertTfJob(text);
  return 0;
}
