// What the API server asks operator/api before it stores a TrainingJob, a TFJob or a pod.
//
// As a kube-apiserver with our CRDs: unknown fields refused, warned about or dropped; defaults;
// schema and rules; what may not change. And what that one says only when it sees the pods: what is
// wrong with a template.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors 400 and 422.
//
//   RETURN_IF_ERROR(CheckJobText(kind, body, FieldValidation::kStrict, &warnings));
//   RETURN_IF_ERROR(AdmitNewJob(kind, &object));

#ifndef LOCALKUBE_API_JOB_ADMISSION_H_
#define LOCALKUBE_API_JOB_ADMISSION_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

// What a new job's user should know, one sentence each: warnings of an answer, never a refusal.
using JobAdvice =
    std::function<std::vector<std::string>(const std::string& ns, const nlohmann::json& job)>;

enum class FieldValidation { kIgnore, kWarn, kStrict };

// The text as it was sent: fields that are unknown or stand twice, those of templates as well.
absl::Status CheckJobText(const Kind& kind, std::string_view text, FieldValidation validation,
                          std::vector<std::string>* warnings);
// Of `wanted`, which is to take the place of `old`: what was wrong with the templates of that one
// is held against none but those who change it.
absl::Status CheckJobText(const Kind& kind, const nlohmann::json& old,
                          const nlohmann::json& wanted, FieldValidation validation,
                          std::vector<std::string>* warnings);
// A pod's unknown fields are refused, or warned about, and dropped; a field of the wrong type is
// refused, as what cannot be decoded (400).
absl::Status DropUnknownOfPod(FieldValidation validation, nlohmann::json* pod,
                              std::vector<std::string>* warnings);
// Prunes and applies defaults, so that a job that means the same also reads the same.
void CompleteJob(const Kind& kind, nlohmann::json* object);
// Completes and validates.
absl::Status AdmitNewJob(const Kind& kind, nlohmann::json* object);
absl::Status AdmitJobUpdate(const Kind& kind, const nlohmann::json& old, nlohmann::json* changed);

// The scale subresource: autoscaling/v1 Scale of a job.
nlohmann::json ScaleOf(const Kind& kind, const nlohmann::json& job);
// The job with the replicas that `scale` asks for.
absl::Status ApplyScale(const Kind& kind, const nlohmann::json& scale, nlohmann::json* job);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_JOB_ADMISSION_H_
