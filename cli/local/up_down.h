// A local cluster that stays: `taas local up`, `down` and `status`.
//
// Ownership: RunUp owns all that it starts. Threads: one, the program's first; RunUp may fork
// before any other exists. Errors: a sentence on stderr and the exit code of the command line.
//
//   return RunUp({.cluster = {.dir = dir}, .detach = true});

#ifndef CLI_LOCAL_UP_DOWN_H_
#define CLI_LOCAL_UP_DOWN_H_

#include <string>

#include "cli/local/last_time.h"
#include "cli/local/local_session.h"
#include "localkube/cluster/local_cluster.h"

namespace taas {

struct UpOptions {
  localkube::LocalCluster::Options cluster;  // Ephemeral: nothing is left when it ends.
  ClusterShape given;  // What of `cluster` the command line says; the rest is as last time.
  bool detach = false;
  LocalSession::Dashboard dashboard;
};

int RunUp(UpOptions options);
int RunDown(const std::string& dir);
int RunStatus(const std::string& dir, bool json);

}  // namespace taas

#endif  // CLI_LOCAL_UP_DOWN_H_
