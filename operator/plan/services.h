// The headless services of a job, and what becomes of them.
//
// One per job, under its name; for a TFJob one per replica under the pod's name, because its
// addresses (J-worker-0.NS.svc) exist only so. None on the local cluster: addresses are ports.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const Reach reach = LookForService(snapshot, replica.name);

#ifndef OPERATOR_PLAN_SERVICES_H_
#define OPERATOR_PLAN_SERVICES_H_

#include <optional>
#include <string>

#include "operator/plan/plan.h"
#include "operator/plan/replicas.h"

namespace taas {

CreateService JobService(const Snapshot& snapshot);
CreateService ReplicaService(const Snapshot& snapshot, const ReplicaView& replica);

// Nothing for a service that is not ours, is not there, or goes already.
std::optional<DeleteService> DropService(const Snapshot& snapshot, const std::string& name,
                                         std::string why);

}  // namespace taas

#endif  // OPERATOR_PLAN_SERVICES_H_
