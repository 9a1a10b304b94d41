// How large the ledger of a job can become, whatever happens to its replicas: an API server takes
// no more than so many bytes of annotations, and a job whose ledger is refused cannot go on.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (LedgerBytesMax({.replicas = …}) > LedgerRoom(job)) Refuse(job);

#ifndef OPERATOR_API_LEDGER_SIZE_H_
#define OPERATOR_API_LEDGER_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "operator/api/job.h"

namespace taas {

// Of all annotations of one object, names and values; Kubernetes' own limit.
inline constexpr size_t kAnnotationBytesMax = 256 * 1024;

struct LedgerShape {
  std::map<Role, int32_t> replicas;
  // Roles whose replicas draw on a budget of their own.
  std::map<Role, bool> dispensable;
  bool ports = false;  // Each replica has some: on the local cluster.
};

size_t LedgerBytesMax(const LedgerShape& shape);

// What the other annotations leave.
size_t LedgerRoom(const Job& job);

// The most replicas of `role` with which the ledger fits into `room`; 0: it does not even without.
int32_t ReplicasThatFit(const LedgerShape& shape, Role role, size_t room);

}  // namespace taas

#endif  // OPERATOR_API_LEDGER_SIZE_H_
