// The rules about a TrainingJob's `spec.trainer.data`, as code; a part of training_job_rules.h.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::vector<RuleTwin> twins = TrainingDataRules();

#ifndef OPERATOR_API_TRAINING_DATA_RULES_H_
#define OPERATOR_API_TRAINING_DATA_RULES_H_

#include <vector>

#include "operator/api/rule_twin.h"

namespace taas {

std::vector<RuleTwin> TrainingDataRules();

}  // namespace taas

#endif  // OPERATOR_API_TRAINING_DATA_RULES_H_
