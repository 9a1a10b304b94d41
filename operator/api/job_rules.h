// The rules that relate several fields of a job to one another: CEL in the CRDs, twinned here.
//
// Each rule of crds/trainingjobs.yaml and of crds/tfjobs.yaml stands here with the same place and
// message; a test compares the lists, and another asks a real kube-apiserver about manifests that
// break each of them.
//
// Ownership: none. Threads: any. Errors: FieldErrors.
//
//   errors = BrokenRules(JobKind::kTfJob, object, nullptr);

#ifndef OPERATOR_API_JOB_RULES_H_
#define OPERATOR_API_JOB_RULES_H_

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "operator/api/field_error.h"
#include "operator/api/job.h"

namespace taas {

// `object` is complete: defaults applied and valid by the schema. `old` is what it replaces; null
// for a new one.
std::vector<FieldError> BrokenRules(JobKind kind, const nlohmann::json& object,
                                    const nlohmann::json* old);

struct RuleName {
  std::string at;          // "spec.roles"
  std::string field_path;  // ".ps"
  std::string message;     // As in the CRD.
  bool has_expression = false;  // It is told with values, by a messageExpression.

  auto operator<=>(const RuleName&) const = default;
};
// All that BrokenRules knows of a kind, in order.
std::vector<RuleName> KnownRules(JobKind kind);

}  // namespace taas

#endif  // OPERATOR_API_JOB_RULES_H_
