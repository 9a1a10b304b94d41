#include "operator/api/job_rules.h"

#include "operator/api/rule_twin.h"
#include "operator/api/tfjob_rules.h"
#include "operator/api/training_job_rules.h"
#include "third_party/json.h"

namespace taas {
namespace {

const std::vector<RuleTwin>& TwinsOf(JobKind kind) {
  return kind == JobKind::kTfJob ? TfJobRules() : TrainingJobRules();
}

}  // namespace

std::vector<FieldError> BrokenRules(JobKind kind, const nlohmann::json& object,
                                    const nlohmann::json* old) {
  return BrokenTwins(TwinsOf(kind), object, old);
}

std::vector<RuleName> KnownRules(JobKind kind) {
  std::vector<RuleName> names;
  for (const RuleTwin& rule : TwinsOf(kind)) {
    names.push_back({rule.at, rule.field, rule.message, rule.says != nullptr});
  }
  return names;
}

}  // namespace taas
