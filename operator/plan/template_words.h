// What an API server says of a pod, in terms of the manifest that the pod was made of.
//
// A server names fields of the pod; who wrote the job knows those of its templates, which may stand
// at other indices there.
//
// Ownership: values. Threads: any. Errors: none; words that fit no template are repeated.
//
//   const TemplateWarning warning = TellWarnings(job, Role::kWorker, ReadWarnings(reply.warning));

#ifndef OPERATOR_PLAN_TEMPLATE_WORDS_H_
#define OPERATOR_PLAN_TEMPLATE_WORDS_H_

#include <string>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// "spec.roles.worker.template", "spec.tfReplicaSpecs.Worker.template".
std::string TemplatePathOf(const Job& job, Role role);

struct TemplateWarning {
  std::string text;  // A sentence; empty: no warning.
  // It tells of fields without effect, so that the job may not be what its user asked for.
  bool of_fields = false;

  bool operator==(const TemplateWarning&) const = default;
};

// `warnings`: of the server that made a pod of the role.
TemplateWarning TellWarnings(const Job& job, Role role, const std::vector<std::string>& warnings);

// `refusal`: of a server that would make no pod of the role. With the fields of the template that
// may be meant, and what they take.
std::string TellRefusal(const Job& job, Role role, const std::string& refusal);

}  // namespace taas

#endif  // OPERATOR_PLAN_TEMPLATE_WORDS_H_
