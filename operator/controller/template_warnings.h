// What an API server has warned of when it made a job's pods, role by role, as far as this operator
// has seen any being made.
//
// Ownership: value type. Threads: the executor's only. Errors: none.
//
//   if (warnings.Hear(job, role, reply_warning)) Tell(warnings.Of(role).text);
//   snapshot.template_warning = warnings.KnownOf(job);

#ifndef OPERATOR_CONTROLLER_TEMPLATE_WARNINGS_H_
#define OPERATOR_CONTROLLER_TEMPLATE_WARNINGS_H_

#include <map>
#include <optional>
#include <string>

#include "operator/api/job.h"
#include "operator/plan/template_words.h"

namespace taas {

class TemplateWarnings {
 public:
  // A pod of the role was made; `header`: what came with the answer. True: it is news to tell.
  bool Hear(const Job& job, Role role, const std::string& header);
  const TemplateWarning& Of(Role role) const { return roles_.at(role).warning; }
  // Of the first role that has one. Nothing: not all roles of the job have had a pod made.
  std::optional<TemplateWarning> KnownOf(const Job& job) const;

 private:
  struct Heard {
    std::string header;
    TemplateWarning warning;
  };
  std::map<Role, Heard> roles_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_TEMPLATE_WARNINGS_H_
