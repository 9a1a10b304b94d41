// What the planner reads in the PodTemplateSpec of a role, which is kept as the user wrote it.
//
// Ownership: values. Threads: any. Errors: a text that is not such an object has none of it; the
// codec has refused it before.
//
//   if (TemplateScheduler(role_spec.pod_template) == "volcano") JoinItsQueue();

#ifndef OPERATOR_PLAN_POD_TEMPLATE_H_
#define OPERATOR_PLAN_POD_TEMPLATE_H_

#include <cstdint>
#include <string>

namespace taas {

// The scheduler that the template names; empty: none.
std::string TemplateScheduler(const std::string& pod_template);

// The image that its container with this index names; empty: none.
std::string TemplateImage(const std::string& pod_template, int32_t container);

// True if the template says a restart policy of its own, which has no effect.
bool TemplateSaysRestartPolicy(const std::string& pod_template);

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_TEMPLATE_H_
