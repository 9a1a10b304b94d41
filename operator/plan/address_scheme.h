// Where the replicas of a job reach each other.
//
// In a cluster a replica is a DNS name under the job's headless service (a TFJob's has a service of
// its own); on the local cluster it is
// two ports of 127.0.0.1, recorded in the ledger before the first pod.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const AddressBook book(job, ledger, {.scheme = AddressScheme::kDns});
//   book.Cluster(Role::kPs, 0);  // "mnist-ps-0.mnist.default.svc:2222"

#ifndef OPERATOR_PLAN_ADDRESS_SCHEME_H_
#define OPERATOR_PLAN_ADDRESS_SCHEME_H_

#include <cstdint>
#include <string>

#include "operator/api/job.h"

namespace taas {

enum class AddressScheme { kDns, kLoopback };

struct AddressOptions {
  AddressScheme scheme = AddressScheme::kDns;
  std::string cluster_domain;  // Empty: names end in ".svc", right in every cluster.
  // TFJobs: one service per job as TrainingJobs have it, instead of one per replica. It halves the
  // writes and gives up the names J-worker-0.NS.svc.
  bool service_per_job = false;
};

// True of a job whose replicas have a service each, in whose name they are found.
bool HasServicePerReplica(const Job& job, const AddressOptions& options);

class AddressBook {
 public:
  // `job` and `ledger` outlive this.
  AddressBook(const Job& job, const Ledger& ledger, const AddressOptions& options)
      : job_(job), ledger_(ledger), options_(options) {}

  // host:port that the other replicas call.
  std::string Cluster(Role role, int32_t index) const;
  int32_t ClusterPortOf(Role role, int32_t index) const;
  int32_t StatusPortOf(Role role, int32_t index) const;
  bool loopback() const { return options_.scheme == AddressScheme::kLoopback; }

 private:
  const LedgerReplica* Find(Role role, int32_t index) const;

  const Job& job_;
  const Ledger& ledger_;
  const AddressOptions& options_;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_ADDRESS_SCHEME_H_
