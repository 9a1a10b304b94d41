// What all pods of one role have in common, whichever replica they are of.
//
// Ownership: values. Threads: any. Errors: none; the job has the role.
//
//   PodSpec pod = RolePod(job, Role::kWorker, "mnist-worker-0", {.image = "taas/trainer:1"});

#ifndef OPERATOR_PLAN_ROLE_POD_H_
#define OPERATOR_PLAN_ROLE_POD_H_

#include <string>

#include "operator/api/job.h"
#include "operator/plan/pod_spec.h"

namespace taas {

// What is decided outside of the job.
struct PodDefaults {
  std::string image;       // Of the bundled trainer, for a job that names none.
  std::string cuda_image;  // Instead of it where a container has GPUs; empty: there is none.
  std::string gpu_resource = "nvidia.com/gpu";  // What `gpus` asks a node for.
};

// Without what makes it a replica: labels of one, addresses, ports, environment, restart policy.
PodSpec RolePod(const Job& job, Role role, std::string name, const PodDefaults& defaults);

}  // namespace taas

#endif  // OPERATOR_PLAN_ROLE_POD_H_
