// `taas local` at work: the local cluster, the operator that runs on it and the dashboard that
// shows it, in one process.
//
// Ownership: owns all three. Destroying it stops them; pods go on unless EndPods was called.
// Threads: one. Errors: as LocalCluster, OperatorProcess and DashboardProcess.
//
//   ASSIGN_OR_RETURN(auto session, LocalSession::Start({.dir = dir}, {}));
//   session->EndPods(2s);

#ifndef CLI_LOCAL_LOCAL_SESSION_H_
#define CLI_LOCAL_LOCAL_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dashboard/server/dashboard_process.h"
#include "localkube/cluster/local_cluster.h"
#include "operator/controller/operator_process.h"

namespace taas {

class LocalSession {
 public:
  struct Dashboard {
    bool enabled = false;
    uint16_t port = 0;  // 0: the one of last time if it is free, else any.
  };

  static absl::StatusOr<std::unique_ptr<LocalSession>> Start(
      localkube::LocalCluster::Options options, Dashboard dashboard);
  ~LocalSession();

  localkube::LocalCluster& cluster() { return *cluster_; }
  // Null: it was not asked for.
  dashboard::DashboardProcess* dashboard() { return dashboard_.get(); }
  // Stops dashboard and operator first, so that nobody makes new pods for those that end.
  absl::Status EndPods(std::chrono::milliseconds grace);
  // After EndPods: removes the cluster's directory.
  absl::Status Remove() { return cluster_->Remove(); }

 private:
  LocalSession() = default;
  absl::Status StartDashboard(uint16_t port);

  std::unique_ptr<localkube::LocalCluster> cluster_;
  std::unique_ptr<OperatorProcess> operator_;
  std::unique_ptr<dashboard::DashboardProcess> dashboard_;
};

// Where a cluster's directory says at which port its dashboard is.
std::string DashboardPortPath(const std::string& dir);

// This program, and the trainer that is installed beside it.
std::string SelfPath();
std::string DefaultTrainerPath();

}  // namespace taas

#endif  // CLI_LOCAL_LOCAL_SESSION_H_
