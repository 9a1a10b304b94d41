// Which field of the manifest bounds the memory of a role's replicas, for whoever reads that one of
// them was killed for want of it.
//
// Ownership: values. Threads: any. Errors: none; text that is no JSON bounds nothing.
//
//   why += HowToRaiseMemory(job, Role::kWorker);

#ifndef OPERATOR_PLAN_MEMORY_LIMIT_H_
#define OPERATOR_PLAN_MEMORY_LIMIT_H_

#include <string>

#include "operator/api/job.h"

namespace taas {

// "40Mi", as it was written; empty: none is set. That of the template wins, as in the pod.
std::string MemoryLimitOf(const Job& job, Role role);

// ": limit 40Mi: raise spec.roles.worker.resources.limits.memory"; empty: the manifest sets none.
// The limit is that of the manifest now, which may be another than the pod's.
std::string HowToRaiseMemory(const Job& job, Role role);

}  // namespace taas

#endif  // OPERATOR_PLAN_MEMORY_LIMIT_H_
