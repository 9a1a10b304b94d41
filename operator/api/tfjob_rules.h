// The CEL rules of crds/tfjobs.yaml, twinned.
//
// Ownership: a constant of the process. Threads: any. Errors: none.
//
//   errors = BrokenTwins(TfJobRules(), object, nullptr);

#ifndef OPERATOR_API_TFJOB_RULES_H_
#define OPERATOR_API_TFJOB_RULES_H_

#include <vector>

#include "operator/api/rule_twin.h"

namespace taas {

const std::vector<RuleTwin>& TfJobRules();

}  // namespace taas

#endif  // OPERATOR_API_TFJOB_RULES_H_
