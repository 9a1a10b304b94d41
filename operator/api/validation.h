// What a kube-apiserver that decodes strictly would say to a job, without one.
//
// Schema and defaults come from the CRDs themselves, the rules between fields from job_rules.h.
// ValidateTrainer is what a server cannot know: which models, optimizers and combinations this
// release's trainer has.
//
// Ownership: values. Threads: any. Errors: the lists; empty means accepted. If an entry is a
// decoding error (HasDecodingError) a server answers 400, else 422.
//
//   const std::vector<FieldError> errors = Validate(JobKind::kTrainingJob, text);
//   if (!errors.empty()) return absl::InvalidArgumentError(FormatFieldErrors(errors));

#ifndef OPERATOR_API_VALIDATION_H_
#define OPERATOR_API_VALIDATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/field_error.h"
#include "operator/api/job.h"

namespace taas {

// By the field `kind`; nothing if it names neither, or if the text is no object.
std::optional<JobKind> KindOfManifest(std::string_view json);

// `json`: one object, as written by a user or as completed by a server.
std::vector<FieldError> Validate(JobKind kind, std::string_view json);

// The same, and in one list whatever else can be told in the first round: values beside unknown
// fields, what core/v1 says of the templates (template_check.h), and which name was meant. No API
// server says all of this, and it refuses nothing that would have run.
std::vector<FieldError> ValidateAll(JobKind kind, std::string_view json);

// Of an object that a server has stored, perhaps under a CRD without our rules: its status is not
// looked at, and fields that nobody knows are left out of it.
std::vector<FieldError> ValidateStored(JobKind kind, std::string_view json);

// Replacing `old_json`, a stored object, by `new_json`: all that Validate checks, and what may not
// change while the job exists.
std::vector<FieldError> ValidateUpdate(JobKind kind, std::string_view old_json,
                                       std::string_view new_json);

// What the bundled trainer of this release would refuse in spec.trainer, of a
// TrainingJob that Validate accepts. An API server accepts these: images of other releases may know
// more.
std::vector<FieldError> ValidateTrainer(std::string_view json);

// What of it can be told beside whatever else is wrong: names of models and optimizers that there
// are not.
std::vector<FieldError> ValidateTrainerNames(std::string_view json);

// The object with the schema's defaults, as a server stores it. InvalidArgument if it is not a JSON
// object.
absl::StatusOr<std::string> ApplyDefaults(JobKind kind, std::string_view json);

// The object without fields that the schema does not know, as a server that is not strict stores
// it: for tests that compare the two.
absl::StatusOr<std::string> PruneUnknownFields(JobKind kind, std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_VALIDATION_H_
