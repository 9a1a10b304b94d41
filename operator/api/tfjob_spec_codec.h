// The spec of a kubeflow.org/v1 TFJob, as the struct that TrainingJobs decode into.
//
// Both manifest dialects are read: policies in spec.runPolicy, or flat in spec as until 2020; where
// a field stands in both, runPolicy's counts. Roles are found in any case of letters.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field.
//
//   RETURN_IF_ERROR(ReadTfJobSpec(root["spec"], &job.spec));

#ifndef OPERATOR_API_TFJOB_SPEC_CODEC_H_
#define OPERATOR_API_TFJOB_SPEC_CODEC_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"

namespace taas {

// The controller that a TFJob without managedBy belongs to; so we may touch it.
inline constexpr std::string_view kTrainingOperator = "kubeflow.org/training-operator";

// Of a key of tfReplicaSpecs in any case: "PS", "Ps", "master".
struct TfRole {
  Role role;
  bool master;
};
std::optional<TfRole> TfRoleFromKey(std::string_view key);

absl::Status ReadTfJobSpec(const JsonField& spec, JobSpec* out);

// Of the annotation kPendingDeadlineAnnotation, which no definition of the kind can check.
absl::Status ReadPendingDeadline(const JsonField& annotation, JobSpec* out);

}  // namespace taas

#endif  // OPERATOR_API_TFJOB_SPEC_CODEC_H_
