// What the operator must know of a role's PodTemplateSpec before it makes a pod of it: which
// container gets TF_CONFIG, its ports, its GPUs.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field: no container or two
// that could be meant, a port that is none.
//
//   RETURN_IF_ERROR(ReadPodTemplate(spec["template"], dialect, /*may_add=*/true, &role));

#ifndef OPERATOR_API_POD_TEMPLATE_H_
#define OPERATOR_API_POD_TEMPLATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "operator/api/dialect.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"

namespace taas {

// What `limits` of a core/v1 ResourceRequirements say of nvidia.com/gpu, if they do.
absl::Status ReadGpuLimit(const JsonField& resources, int32_t* out);

// Sets pod_template, container, ports, port and, where the container has one, gpu_limit. With
// `may_add` a template without the dialect's container is complete: the operator adds it.
absl::Status ReadPodTemplate(const JsonField& pod_template, const Dialect& dialect, bool may_add,
                             RoleSpec* out);

}  // namespace taas

#endif  // OPERATOR_API_POD_TEMPLATE_H_
