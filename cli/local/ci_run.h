// `taas local ci`: one job on a cluster that exists for it alone.
//
// Brings a private cluster up in a temporary directory, applies the manifest, tells on stderr how
// it goes, prints one JSON object to stdout and takes everything down, also after a signal and at
// the deadline.
//
// Ownership: owns all that it starts. Threads: one, the program's first. Errors: in the JSON
// object's `message`, on stderr and in the exit code (exit_code.h).
//
//   return RunCi({.file = "mnist.yaml", .timeout = 600s}, cluster_options, signals);

#ifndef CLI_LOCAL_CI_RUN_H_
#define CLI_LOCAL_CI_RUN_H_

#include <chrono>
#include <string>

#include "cli/stop_signals.h"
#include "localkube/cluster/local_cluster.h"

namespace taas {

struct CiOptions {
  std::string file;  // "-": standard input.
  std::chrono::seconds timeout{3600};
  bool keep = false;  // Leaves the cluster's directory, its logs and its volumes.
};

int RunCi(const CiOptions& options, localkube::LocalCluster::Options cluster, StopSignals& signals);

}  // namespace taas

#endif  // CLI_LOCAL_CI_RUN_H_
