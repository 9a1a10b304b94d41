// The CEL rules of crds/trainingjobs.yaml, twinned.
//
// Ownership: a constant of the process. Threads: any. Errors: none.
//
//   errors = BrokenTwins(TrainingJobRules(), object, nullptr);

#ifndef OPERATOR_API_TRAINING_JOB_RULES_H_
#define OPERATOR_API_TRAINING_JOB_RULES_H_

#include <vector>

#include "operator/api/rule_twin.h"

namespace taas {

const std::vector<RuleTwin>& TrainingJobRules();

}  // namespace taas

#endif  // OPERATOR_API_TRAINING_JOB_RULES_H_
