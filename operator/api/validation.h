// What a kube-apiserver that decodes strictly would say to a TrainingJob, without one.
//
// Schema and defaults come from the CRD itself, the rules between fields from job_rules.h.
// ValidateTrainer is what a server cannot know: which models, optimizers and combinations this
// release's trainer has.
//
// Ownership: values. Threads: any. Errors: the lists; empty means accepted. If an entry is a
// decoding error (HasDecodingError) a server answers 400, else 422.
//
//   const std::vector<FieldError> errors = ValidateTrainingJob(text);
//   if (!errors.empty()) return absl::InvalidArgumentError(FormatFieldErrors(errors));

#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/field_error.h"

namespace taas {

// `json`: one object, as written by a user or as completed by a server.
std::vector<FieldError> ValidateTrainingJob(std::string_view json);

// Replacing `old_json`, a stored object, by `new_json`: all that ValidateTrainingJob checks, and
// what may not change while the job exists.
std::vector<FieldError> ValidateUpdate(std::string_view old_json, std::string_view new_json);

// What the bundled trainer of this release would refuse in spec.trainer, of an object that
// ValidateTrainingJob accepts. An API server accepts these: images of other releases may know more.
std::vector<FieldError> ValidateTrainer(std::string_view json);

// The object with the schema's defaults, as a server stores it. InvalidArgument if it is not a JSON
// object.
absl::StatusOr<std::string> ApplyDefaults(std::string_view json);

// The object without fields that the schema does not know, as a server that is not strict stores
// it.
absl::StatusOr<std::string> PruneUnknownFields(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_VALIDATION_H_
