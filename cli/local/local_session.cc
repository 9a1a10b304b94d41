#include "cli/local/local_session.h"

#include <unistd.h>

#include <climits>
#include <utility>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {

absl::StatusOr<std::unique_ptr<LocalSession>> LocalSession::Start(
    localkube::LocalCluster::Options options) {
  std::unique_ptr<LocalSession> session(new LocalSession());
  ASSIGN_OR_RETURN(session->cluster_, localkube::LocalCluster::Start(std::move(options)));
  OperatorOptions operator_options;
  operator_options.kubeconfig = session->cluster_->kubeconfig();
  operator_options.address_scheme = AddressScheme::kLoopback;
  ASSIGN_OR_RETURN(session->operator_, OperatorProcess::Start(std::move(operator_options)));
  return session;
}

LocalSession::~LocalSession() {
  if (operator_ != nullptr) operator_->Stop();
  operator_.reset();
  cluster_.reset();
}

absl::Status LocalSession::EndPods(std::chrono::milliseconds grace) {
  if (operator_ != nullptr) operator_->Stop();
  operator_.reset();
  return cluster_->EndPods(grace);
}

std::string SelfPath() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "taas";
}

std::string DefaultTrainerPath() { return DirName(SelfPath()) + "/taas-trainer"; }

}  // namespace taas
