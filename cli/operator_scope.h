// The namespaces that operators work in, by the arguments of their Deployments: a job in another
// one has no state for ever, and nothing about the job says why.
//
// Ownership: values. Threads: any. Errors: what is no Deployment says nothing.
//
//   const OperatorScope scope = ScopeOfOperators(api);
//   out << scope.WhyNotIn("default");  // "the operator works in team-a, not in default"

#ifndef CLI_OPERATOR_SCOPE_H_
#define CLI_OPERATOR_SCOPE_H_

#include <set>
#include <string>
#include <string_view>

#include "cli/api_client.h"

namespace taas {

// Of Deployments and pods of operators, as the chart sets it.
inline constexpr char kOperatorLabel[] = "app.kubernetes.io/name=taas-operator";

class OperatorScope {
 public:
  // `json`: an apps/v1 Deployment of an operator.
  void Add(std::string_view json);

  // Empty: some operator works there, or none is known.
  std::string WhyNotIn(const std::string& ns) const;

 private:
  bool known_ = false;
  bool everywhere_ = false;
  std::set<std::string> namespaces_;
};

// As far as this user may list Deployments; of operators that something else runs nothing.
OperatorScope ScopeOfOperators(ApiClient& api);

}  // namespace taas

#endif  // CLI_OPERATOR_SCOPE_H_
