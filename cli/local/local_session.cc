#include "cli/local/local_session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {
namespace {

// As one types it into a terminal, wherever that is.
std::string InShell(const std::string& dir) {
  std::string path = std::filesystem::absolute(dir).lexically_normal().string();
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalSession>> LocalSession::Start(
    localkube::LocalCluster::Options options, Dashboard dashboard) {
  std::unique_ptr<LocalSession> session(new LocalSession());
  ASSIGN_OR_RETURN(session->cluster_, localkube::LocalCluster::Start(std::move(options)));
  OperatorOptions operator_options;
  operator_options.kubeconfig = session->cluster_->kubeconfig();
  operator_options.address_scheme = AddressScheme::kLoopback;
  ASSIGN_OR_RETURN(session->operator_, OperatorProcess::Start(std::move(operator_options)));
  if (dashboard.enabled) {
    RETURN_IF_ERROR(session->StartDashboard(dashboard.port));
  }
  return session;
}

// At the same address as last time, so that a page that is open, or a bookmark, goes on working.
absl::Status LocalSession::StartDashboard(uint16_t port) {
  PosixFileSystem disk;
  const std::string path = DashboardPortPath(cluster_->dir());
  RETURN_IF_ERROR(disk.MakeDirs(DirName(path)));
  if (::chmod(DirName(path).c_str(), 0700) != 0) {
    return ErrnoToStatus(errno, "chmod 0700", DirName(path));
  }
  const bool remembered = port == 0;
  if (remembered) {
    port = static_cast<uint16_t>(std::atoi(disk.ReadAll(path).value_or("0").c_str()));
  }
  const auto start = [&](uint16_t wanted) {
    return dashboard::DashboardProcess::Start(
        {.kubeconfig = cluster_->kubeconfig(),
         .address = "127.0.0.1:" + std::to_string(wanted),
         .address_flag = "--dashboard-port",
         .local_token = cluster_->server().token(),
         .link_command = "taas open --dir " + InShell(cluster_->dir()),
         .history_file = DirName(path) + "/history.db",
         .event_dir = DirName(path) + "/events",
         .claim_dir = [&cluster = *cluster_](const std::string& ns, const std::string& claim) {
           return cluster.ClaimDir(ns, claim);
         }});
  };
  auto started = start(port);
  if (!started.ok() && remembered && port != 0) started = start(0);
  RETURN_IF_ERROR(started.status());
  dashboard_ = *std::move(started);
  return disk.WriteAtomically(path, std::to_string(dashboard_->port()));
}

LocalSession::~LocalSession() {
  dashboard_.reset();
  if (operator_ != nullptr) operator_->Stop();
  operator_.reset();
  cluster_.reset();
}

absl::Status LocalSession::EndPods(std::chrono::milliseconds grace) {
  dashboard_.reset();
  if (operator_ != nullptr) operator_->Stop();
  operator_.reset();
  return cluster_->EndPods(grace);
}

std::string SelfPath() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "taas";
}

std::string DashboardPortPath(const std::string& dir) { return dir + "/dashboard/port"; }

std::string DefaultTrainerPath() { return DirName(SelfPath()) + "/taas-trainer"; }

}  // namespace taas
