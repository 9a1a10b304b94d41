#include "localkube/api/job_admission.h"

#include <algorithm>

#include "localkube/api/custom_kinds.h"
#include "localkube/api/json_path.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/object_rules.h"
#include "operator/api/validation.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

json ValueAt(const Kind& kind, const json& job, const char* path_name, const json& otherwise) {
  const json* value =
      FindJsonPath(job, CustomKindOf(kind).scale_paths.value(path_name, ""));
  return value != nullptr ? *value : otherwise;
}

absl::Status Refuse(const Kind& kind, const json& object, std::vector<FieldError> errors) {
  return errors.empty() ? absl::OkStatus() : Invalid(kind, NameOf(object), errors);
}

}  // namespace

absl::Status CheckJobText(const Kind& kind, std::string_view text, FieldValidation validation,
                          std::vector<std::string>* warnings) {
  std::string refused;
  for (const FieldError& error : Validate(CustomKindOf(kind).job_kind, text)) {
    if (!IsDecodingError(error)) continue;
    const std::string words = FormatFieldError(error);
    if (error.reason == kMalformed || validation == FieldValidation::kStrict) {
      refused += (refused.empty() ? "" : ", ") + words;
    } else if (validation == FieldValidation::kWarn) {
      warnings->push_back(words);
    }
  }
  if (refused.empty()) return absl::OkStatus();
  return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                    kind.kind + ": strict decoding error: " + refused);
}

void CompleteJob(const Kind& kind, json* object) {
  const CrdSchema& schema = *CustomKindOf(kind).schema;
  schema.Prune(object);
  schema.ApplyDefaults(object);
}

absl::Status AdmitNewJob(const Kind& kind, json* object) {
  CompleteJob(kind, object);
  return Refuse(kind, *object, Validate(CustomKindOf(kind).job_kind, object->dump()));
}

absl::Status AdmitJobUpdate(const Kind& kind, const json& old, json* changed) {
  CompleteJob(kind, changed);
  return Refuse(kind, *changed,
                ValidateUpdate(CustomKindOf(kind).job_kind, old.dump(), changed->dump()));
}

json ScaleOf(const Kind& kind, const json& job) {
  json metadata = json::object();
  for (const char* field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (job["metadata"].contains(field)) metadata[field] = job["metadata"][field];
  }
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata", metadata},
          {"spec", {{"replicas", ValueAt(kind, job, "specReplicasPath", 0)}}},
          {"status",
           {{"replicas", ValueAt(kind, job, "statusReplicasPath", 0)},
            {"selector", ValueAt(kind, job, "labelSelectorPath", "")}}}};
}

absl::Status ApplyScale(const Kind& kind, const json& scale, json* job) {
  const json* replicas = FindJsonPath(scale, ".spec.replicas");
  if (replicas == nullptr || !replicas->is_number_integer()) {
    return BadRequest("scale " + NameOf(*job) + ": spec.replicas is not a whole number");
  }
  std::string pointer = CustomKindOf(kind).scale_paths.value("specReplicasPath", "");
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  (*job)[json::json_pointer(pointer)] = *replicas;
  return absl::OkStatus();
}

}  // namespace taas::localkube
