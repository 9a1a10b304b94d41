// Errors that are the machine's and not the job's: its GPU is lost or broken, or what was promised
// is not there. A process that ends with one tells the operator to go elsewhere (exit code 3 of
// docs/contract.md).
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (lost) return MachineFault(absl::UnavailableError("…"));
//   if (IsMachineFault(status)) …

#ifndef TRAINER_GRAPH_MACHINE_FAULT_H_
#define TRAINER_GRAPH_MACHINE_FAULT_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace taas {

// Of a payload, which Annotate keeps.
inline constexpr char kMachineFault[] = "taas.dev/machine-fault";

inline absl::Status MachineFault(absl::Status status) {
  if (!status.ok()) status.SetPayload(kMachineFault, absl::Cord("1"));
  return status;
}

inline bool IsMachineFault(const absl::Status& status) {
  return status.GetPayload(kMachineFault).has_value();
}

}  // namespace taas

#endif  // TRAINER_GRAPH_MACHINE_FAULT_H_
