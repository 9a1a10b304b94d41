// The environment of a replica: TF_CONFIG and the TAAS_* variables of docs/contract.md.
//
// Ownership: values. Threads: any. Errors: InvalidArgument if TF_CONFIG would not fit.
//
//   ASSIGN_OR_RETURN(auto env, ReplicaEnvironment(job, ledger, addresses, Role::kWorker, 0));

#ifndef OPERATOR_PLAN_TF_CONFIG_H_
#define OPERATOR_PLAN_TF_CONFIG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/plan/address_scheme.h"

namespace taas {

// Linux gives a single environment string 128 KiB (MAX_ARG_STRLEN); the rest is for the name and
// for what a shell in between may add.
inline constexpr size_t kTfConfigBytesMax = 120'000;

// InvalidArgument if the text is longer than kTfConfigBytesMax.
absl::StatusOr<std::string> TfConfig(const Job& job, const AddressBook& addresses, Role role,
                                     int32_t index);

// True where the text is certainly short enough, found without writing it; false: write it and see.
bool SurelyHoldsTfConfig(const Job& job, const AddressBook& addresses);

// False for a TFJob of one replica in all, whose program is none of a cluster.
bool HasTfConfig(const Job& job);

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReplicaEnvironment(
    const Job& job, const Ledger& ledger, const AddressBook& addresses, Role role, int32_t index);

}  // namespace taas

#endif  // OPERATOR_PLAN_TF_CONFIG_H_
