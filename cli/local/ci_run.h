// `taas local ci`: one job on a cluster that exists for it alone.
//
// Brings a private cluster up in a temporary directory, applies the manifest, tells on stderr how
// it goes, prints one JSON object to stdout and takes everything down, also after a signal and at
// the deadline.
//
// Ownership: owns all that it starts. Threads: one, the program's first. Errors: in the JSON
// object's `message` and on stderr.
//
//   return RunCi({.file = "mnist.yaml", .timeout = 600s}, cluster_options, signals);

#ifndef CLI_LOCAL_CI_RUN_H_
#define CLI_LOCAL_CI_RUN_H_

#include <chrono>
#include <string>

#include "cli/local/stop_signals.h"
#include "localkube/cluster/local_cluster.h"

namespace taas {

struct CiOptions {
  std::string file;  // "-": standard input.
  std::chrono::seconds timeout{3600};
  bool keep = false;  // Leaves the cluster's directory, its logs and its volumes.
};

// Exit codes of the command line.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitNotFound = 3;

int RunCi(const CiOptions& options, localkube::LocalCluster::Options cluster, StopSignals& signals);

}  // namespace taas

#endif  // CLI_LOCAL_CI_RUN_H_
