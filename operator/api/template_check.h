// What core/v1 says of the parts of a job that become parts of pods: its templates, and of a
// TrainingJob the sources of variables and volumes.
//
// The definitions of the kinds leave these to the API server, which sees them when a pod is made. A
// user wants to know before.
//
// Ownership: values. Threads: any. Errors: as a list. Unknown fields are decoding errors, values
// that no server takes are not; what the schema says already may be among them.
//
//   for (const FieldError& error : CheckTemplates(JobKind::kTfJob, object)) …

#ifndef OPERATOR_API_TEMPLATE_CHECK_H_
#define OPERATOR_API_TEMPLATE_CHECK_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas {

// `object`: as a user wrote it, of any shape.
std::vector<FieldError> CheckTemplates(JobKind kind, const nlohmann::json& object);

// Of the template of a role alone, which stands at `path`.
std::vector<FieldError> CheckTemplate(const Job& job, Role role, const std::string& path);

// Takes the unknown fields out of a pod. They are what its text could not be decoded for, with
// values of a wrong type (kMalformed).
std::vector<FieldError> TakeUnknownOfPod(nlohmann::json* pod);

// Without those that stand in `told` with the same path.
std::vector<FieldError> NotToldYet(std::vector<FieldError> errors,
                                   const std::vector<FieldError>& told);

}  // namespace taas

#endif  // OPERATOR_API_TEMPLATE_CHECK_H_
