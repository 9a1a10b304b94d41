#include "localkube/api/training_job_admission.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "localkube/api/json_path.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/object_rules.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/api/validation.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// spec.versions[0].subresources.scale of the CRD.
const json& ScalePaths() {
  static const json* const kPaths = std::make_unique<json>([] {
    const json crd = json::parse(TrainingJobCrdJson());
    return crd["spec"]["versions"][0]["subresources"]["scale"];
  }()).release();
  return *kPaths;
}

json ValueAt(const json& job, const char* path_name, const json& otherwise) {
  const json* value = FindJsonPath(job, ScalePaths().value(path_name, ""));
  return value != nullptr ? *value : otherwise;
}

absl::Status Refuse(const Kind& kind, const json& object, std::vector<FieldError> errors) {
  return errors.empty() ? absl::OkStatus() : Invalid(kind, NameOf(object), errors);
}

}  // namespace

absl::Status CheckJobText(std::string_view text, FieldValidation validation,
                          std::vector<std::string>* warnings) {
  std::string refused;
  for (const FieldError& error : ValidateTrainingJob(text)) {
    if (!IsDecodingError(error)) continue;
    const std::string words = FormatFieldError(error);
    if (error.reason == kMalformed || validation == FieldValidation::kStrict) {
      refused += (refused.empty() ? "" : ", ") + words;
    } else if (validation == FieldValidation::kWarn) {
      warnings->push_back(words);
    }
  }
  if (refused.empty()) return absl::OkStatus();
  return BadRequest(
      "TrainingJob in version \"v1\" cannot be handled as a TrainingJob: strict decoding error: " +
      refused);
}

void CompleteJob(json* object) {
  TrainingJobSchema().Prune(object);
  TrainingJobSchema().ApplyDefaults(object);
}

absl::Status AdmitNewJob(const Kind& kind, json* object) {
  CompleteJob(object);
  return Refuse(kind, *object, ValidateTrainingJob(object->dump()));
}

absl::Status AdmitJobUpdate(const Kind& kind, const json& old, json* changed) {
  CompleteJob(changed);
  return Refuse(kind, *changed, ValidateUpdate(old.dump(), changed->dump()));
}

json ScaleOf(const json& job) {
  json metadata = json::object();
  for (const char* field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (job["metadata"].contains(field)) metadata[field] = job["metadata"][field];
  }
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata", metadata},
          {"spec", {{"replicas", ValueAt(job, "specReplicasPath", 0)}}},
          {"status",
           {{"replicas", ValueAt(job, "statusReplicasPath", 0)},
            {"selector", ValueAt(job, "labelSelectorPath", "")}}}};
}

absl::Status ApplyScale(const json& scale, json* job) {
  const json* replicas = FindJsonPath(scale, ".spec.replicas");
  if (replicas == nullptr || !replicas->is_number_integer()) {
    return BadRequest("scale " + NameOf(*job) + ": spec.replicas is not a whole number");
  }
  std::string pointer = ScalePaths().value("specReplicasPath", "");
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  (*job)[json::json_pointer(pointer)] = *replicas;
  return absl::OkStatus();
}

}  // namespace taas::localkube
