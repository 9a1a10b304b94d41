// What the bundled trainer of this release would refuse in a `spec.trainer`, as far as no schema
// and no rule says it: which models and optimizers there are, whose a field is, which feature
// columns fit their features and their model.
//
// Ownership: values. Threads: any. Errors: the list; empty means accepted.
//
//   const std::vector<FieldError> errors = CheckTrainer(job["spec"]["trainer"]);

#ifndef OPERATOR_API_TRAINER_CHECKS_H_
#define OPERATOR_API_TRAINER_CHECKS_H_

#include <vector>

#include "operator/api/field_error.h"
#include "third_party/json.h"

namespace taas {

// `trainer`: of a TrainingJob that Validate accepts.
std::vector<FieldError> CheckTrainer(const nlohmann::json& trainer);

// What of it can be told beside whatever else is wrong with the job: names of models and optimizers
// that there are not.
std::vector<FieldError> CheckTrainerNames(const nlohmann::json& trainer);

}  // namespace taas

#endif  // OPERATOR_API_TRAINER_CHECKS_H_
