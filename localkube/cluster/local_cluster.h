// A cluster on this machine: everything between a kubeconfig and processes, in one directory.
//
//   D/lock D/pid      one cluster per directory, and who it is (cluster_directory.h)
//   D/kubeconfig      for kubectl, taas and the operator
//   D/api/            store, certificate, token
//   D/pods/UID/       runs of containers, their logs and records; outlive this process
//   D/volumes/NS/     persistent volume claims
//
// Ownership: owns server, scheduler and node. Destroying it stops them and leaves the pods running;
// EndPods ends those too. Threads: one. Errors: FailedPrecondition: another process runs this
// directory; otherwise what could not be made or bound, with its path or port.
//
//   ASSIGN_OR_RETURN(auto cluster, LocalCluster::Start({.dir = "/home/me/.taas"}));
//   setenv("KUBECONFIG", cluster->kubeconfig().c_str(), 1);

#ifndef LOCALKUBE_CLUSTER_LOCAL_CLUSTER_H_
#define LOCALKUBE_CLUSTER_LOCAL_CLUSTER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/api/api_server.h"
#include "localkube/node/node.h"
#include "localkube/node/node_logs.h"
#include "localkube/node/pod_dirs.h"
#include "localkube/node/scheduler.h"
#include "localkube/node/usage_sampler.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/nvml.h"
#include "operator/base/random.h"

namespace taas::localkube {

class LocalCluster {
 public:
  struct FakeGpus {
    int count = 0;
    int gibibytes = 0;  // Memory of each, as a label of the node.
  };
  struct Options {
    std::string dir;    // As MakeClusterDirectory has it.
    uint16_t port = 0;  // 0: the one of last time if it is free, else any.
    std::map<std::string, std::string> volume_bindings;  // Claim, or namespace/claim, to directory.
    FakeGpus fake_gpus;  // Of each node.
    // Of this machine, by their indices; without fake ones the first node has them.
    std::vector<GpuReading> gpus;
    int nodes = 1;       // Named local, local-2, …; all of them this machine.
    std::string trainer_path;
    std::string shim_path;   // A program whose verb `shim` is RunShim: usually this one.
    bool ephemeral = false;  // Pods end when this process does, however it ends.
  };

  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(Options options);
  ~LocalCluster();

  ApiServer& server() { return *server_; }
  NodeLogs& logs() { return logs_; }
  const PodDirs& pod_dirs() const { return dirs_; }
  const std::string& dir() const { return options_.dir; }
  std::string kubeconfig() const { return options_.dir + "/kubeconfig"; }
  bool sandbox() const { return sandbox_; }
  // Where a persistent volume claim is on this machine, whether it is there yet or not.
  std::string ClaimDir(const std::string& ns, const std::string& claim) const;
  // Of a cluster that need not run: of `options` its directory and bindings count.
  static std::string ClaimDirOf(const Options& options, const std::string& ns,
                                const std::string& claim);

  // Stops scheduler and node, then ends every pod: SIGTERM now, SIGKILL after `grace`.
  absl::Status EndPods(std::chrono::milliseconds grace);
  // After EndPods: stops the server and removes what the cluster has made, all while it still holds
  // the directory.
  absl::Status Remove();

 private:
  explicit LocalCluster(Options options);
  absl::Status TakeDirectory();
  absl::Status StartServer();
  std::vector<NodeCapacity> Nodes() const;
  static std::string VolumesDirOf(const Options& options) { return options.dir + "/volumes"; }

  const Options options_;
  RealClock clock_;
  SystemRandom random_;
  PosixFileSystem disk_;
  const PodDirs dirs_;
  NodeLogs logs_;
  UsageSampler usage_;
  int lock_ = -1;
  bool sandbox_ = false;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Node> node_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_CLUSTER_LOCAL_CLUSTER_H_
