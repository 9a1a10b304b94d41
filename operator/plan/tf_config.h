// The environment of a replica: TF_CONFIG and the TAAS_* variables of docs/contract.md.
//
// Ownership: values. Threads: any. Errors: InvalidArgument if TF_CONFIG would not fit.
//
//   ASSIGN_OR_RETURN(auto env, ReplicaEnvironment(job, ledger, addresses, Role::kWorker, 0, ""));

#ifndef OPERATOR_PLAN_TF_CONFIG_H_
#define OPERATOR_PLAN_TF_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/plan/address_scheme.h"

namespace taas {

// Linux gives a single environment string 128 KiB (MAX_ARG_STRLEN); the rest is for the name and
// for what a shell in between may add.
inline constexpr size_t kTfConfigBytesMax = 120'000;

// What stands under "cluster" in the TF_CONFIG of a worker and of all who are told as much as one;
// empty: each replica has its own, or none.
std::string CommonCluster(const Job& job, const AddressBook& addresses);

// InvalidArgument if the text is longer than kTfConfigBytesMax. `common_cluster` is CommonCluster,
// which whoever writes many need not have found anew for each, or empty.
absl::StatusOr<std::string> TfConfig(const Job& job, const AddressBook& addresses, Role role,
                                     int32_t index, const std::string& common_cluster = "");

// True where the text is certainly short enough, found without writing it; false: write it and see.
bool SurelyHoldsTfConfig(const Job& job, const AddressBook& addresses);

// False for a TFJob of one replica in all, whose program is none of a cluster.
bool HasTfConfig(const Job& job);

// Every replica is named to every replica, so the pods of a job grow with the square of its size:
// of 1,000 with 50 KB each, 50 MB in the cluster's store. A list that may be longer than this (some
// 160 replicas) is kept once, in a ConfigMap beside the pods; see cluster_map.h.
inline constexpr size_t kInlineClusterBytesMax = 8'192;
inline constexpr std::string_view kClusterVariable = "TAAS_CLUSTER";
inline constexpr std::string_view kTokenVariable = "TAAS_JOB_TOKEN";
// The bundled trainer's configuration.
inline constexpr std::string_view kTrainerVariable = "TAAS_TRAINER";
// How many GPUs a replica of the bundled trainer is to compute on; without it, on the processor.
inline constexpr std::string_view kGpusVariable = "TAAS_GPUS";

// The same where it is kept once; empty: each pod has its own, since it is short, or differs from
// pod to pod, or is not there.
std::string SharedCluster(const Job& job, const AddressBook& addresses);

struct EnvVariable {
  std::string name;
  std::string value;
  std::string config_map;  // Not empty: `value` is a key of that one, and the value stands there.
  bool yields = false;     // To one of the user's of this name.

  bool operator==(const EnvVariable&) const = default;
};

// Of the key under which a ConfigMap has SharedCluster.
inline constexpr std::string_view kClusterKey = "cluster";

// The list of replicas, as far as it need not be found for each; both empty: it has to be.
struct ClusterText {
  std::string config_map;  // Name of the ConfigMap that has it under kClusterKey.
  std::string common;      // CommonCluster, where no ConfigMap has it.
};
absl::StatusOr<std::vector<EnvVariable>> ReplicaEnvironment(const Job& job, const Ledger& ledger,
                                                            const AddressBook& addresses,
                                                            Role role, int32_t index,
                                                            const ClusterText& cluster);

}  // namespace taas

#endif  // OPERATOR_PLAN_TF_CONFIG_H_
