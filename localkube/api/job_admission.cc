#include "localkube/api/job_admission.h"

#include <algorithm>
#include <utility>

#include "localkube/api/custom_kinds.h"
#include "localkube/api/json_path.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/object_rules.h"
#include "operator/api/template_check.h"
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

std::string Dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json& SpecOf(const json& job) {
  static const json none;
  const auto spec = job.find("spec");
  return spec == job.end() ? none : *spec;
}

// What is wrong with the templates of `job` and was not with those of `old`.
std::vector<FieldError> NewInTemplates(const Kind& kind, const json* old, const json& job) {
  if (old != nullptr && SpecOf(*old) == SpecOf(job)) return {};
  const JobKind job_kind = CustomKindOf(kind).job_kind;
  std::vector<FieldError> errors = CheckTemplates(job_kind, job);
  if (errors.empty() || old == nullptr) return errors;
  const std::vector<FieldError> before = CheckTemplates(job_kind, *old);
  std::erase_if(errors, [&before](const FieldError& error) {
    return std::find(before.begin(), before.end(), error) != before.end();
  });
  return errors;
}

// What makes a text one that cannot be decoded. Who is refused is told the rest at once, too.
absl::Status Decoded(const Kind& kind, const std::vector<FieldError>& errors,
                     FieldValidation validation, std::vector<std::string>* warnings) {
  std::string refused;
  std::string rest;
  for (const FieldError& error : errors) {
    const std::string words = FormatFieldError(error);
    if (!IsDecodingError(error)) {
      rest += ", " + words;
    } else if (error.reason == kMalformed || validation == FieldValidation::kStrict) {
      refused += (refused.empty() ? "" : ", ") + words;
    } else if (validation == FieldValidation::kWarn) {
      warnings->push_back(words);
    }
  }
  if (refused.empty()) return absl::OkStatus();
  return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                    kind.kind + ": strict decoding error: " + refused + rest);
}

// Of templates, without the unknown fields, which the level of validation was for.
absl::Status Refuse(const Kind& kind, const json* old, const json& object,
                    std::vector<FieldError> errors) {
  for (FieldError& error : NotToldYet(NewInTemplates(kind, old, object), errors)) {
    if (!IsDecodingError(error)) errors.push_back(std::move(error));
  }
  return errors.empty() ? absl::OkStatus() : Invalid(kind, NameOf(object), errors);
}

}  // namespace

absl::Status CheckJobText(const Kind& kind, std::string_view text, FieldValidation validation,
                          std::vector<std::string>* warnings) {
  return Decoded(kind, ValidateAll(CustomKindOf(kind).job_kind, text), validation, warnings);
}

absl::Status CheckJobText(const Kind& kind, const json& old, const json& wanted,
                          FieldValidation validation, std::vector<std::string>* warnings) {
  std::vector<FieldError> errors = Validate(CustomKindOf(kind).job_kind, Dump(wanted));
  for (FieldError& error : NotToldYet(NewInTemplates(kind, &old, wanted), errors)) {
    errors.push_back(std::move(error));
  }
  return Decoded(kind, errors, validation, warnings);
}

absl::Status DropUnknownOfPod(FieldValidation validation, json* pod,
                              std::vector<std::string>* warnings) {
  std::vector<FieldError> errors = TakeUnknownOfPod(pod);
  std::erase_if(errors, [&](const FieldError& error) {
    if (error.reason == kMalformed || validation == FieldValidation::kStrict) return false;
    if (validation == FieldValidation::kWarn) warnings->push_back(FormatFieldError(error));
    return true;
  });
  if (errors.empty()) return absl::OkStatus();
  const bool strict = std::none_of(errors.begin(), errors.end(), [](const FieldError& error) {
    return error.reason == kMalformed;
  });
  return BadRequest("Pod in version \"v1\" cannot be handled as a Pod: " +
                    std::string(strict ? "strict decoding error: " : "") +
                    FormatFieldErrors(errors));
}

void CompleteJob(const Kind& kind, json* object) {
  const CrdSchema& schema = *CustomKindOf(kind).schema;
  schema.Prune(object);
  schema.ApplyDefaults(object);
}

absl::Status AdmitNewJob(const Kind& kind, json* object) {
  CompleteJob(kind, object);
  return Refuse(kind, nullptr, *object,
                Validate(CustomKindOf(kind).job_kind, Dump(*object)));
}

absl::Status AdmitJobUpdate(const Kind& kind, const json& old, json* changed) {
  CompleteJob(kind, changed);
  return Refuse(kind, &old, *changed,
                ValidateUpdate(CustomKindOf(kind).job_kind, Dump(old), Dump(*changed)));
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
