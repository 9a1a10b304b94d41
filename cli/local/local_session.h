// `taas local` at work: the local cluster and the operator that runs on it, in one process.
//
// Ownership: owns both. Destroying it stops them; pods go on unless EndPods was called. Threads:
// one. Errors: as LocalCluster and OperatorProcess.
//
//   ASSIGN_OR_RETURN(auto session, LocalSession::Start({.dir = dir}));
//   session->EndPods(2s);

#ifndef CLI_LOCAL_LOCAL_SESSION_H_
#define CLI_LOCAL_LOCAL_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "localkube/cluster/local_cluster.h"
#include "operator/controller/operator_process.h"

namespace taas {

class LocalSession {
 public:
  static absl::StatusOr<std::unique_ptr<LocalSession>> Start(
      localkube::LocalCluster::Options options);
  ~LocalSession();

  localkube::LocalCluster& cluster() { return *cluster_; }
  // Stops the operator first, so that nobody makes new pods for those that end.
  absl::Status EndPods(std::chrono::milliseconds grace);
  // After EndPods: removes the cluster's directory.
  absl::Status Remove() { return cluster_->Remove(); }

 private:
  LocalSession() = default;

  std::unique_ptr<localkube::LocalCluster> cluster_;
  std::unique_ptr<OperatorProcess> operator_;
};

// This program, and the trainer that is installed beside it.
std::string SelfPath();
std::string DefaultTrainerPath();

}  // namespace taas

#endif  // CLI_LOCAL_LOCAL_SESSION_H_
