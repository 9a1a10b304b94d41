// What a cluster was started with last time: `taas local up --dir D` again means the same cluster,
// with the same nodes, GPUs and volumes, or jobs that ran yesterday find no data and no room today.
//
// Ownership: value types. Threads: any. Errors: of Save those of the disk; what Load cannot read
// counts as nothing and is logged.
//
//   const ClusterShape last = LoadLastTime(disk, dir);
//   const ClusterShape shape = TakeOver(last, given);
//   std::printf("%s", TakenOverText(last, given).c_str());

#ifndef CLI_LOCAL_LAST_TIME_H_
#define CLI_LOCAL_LAST_TIME_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "localkube/cluster/local_cluster.h"
#include "operator/base/file_system.h"

namespace taas {

// Nodes cost nothing, but a list of more is a typing error.
inline constexpr int kNodesMax = 100;
// Of each node: more slots than any machine has would only be a typing error.
inline constexpr int kFakeGpusMax = 1024;

// As the flags have it; what was not given is empty.
struct ClusterShape {
  // Directories by claim. An empty one: no directory of the user's any more.
  std::map<std::string, std::string> volumes;
  std::optional<localkube::LocalCluster::FakeGpus> fake_gpus;
  std::optional<int> nodes;
};

ClusterShape LoadLastTime(FileSystem& disk, const std::string& dir);
absl::Status SaveForNextTime(FileSystem& disk, const std::string& dir, const ClusterShape& shape);

// What was given, and of the last time what was not given anew: volumes one by one.
ClusterShape TakeOver(const ClusterShape& last, const ClusterShape& given);
// A sentence on what of `last` goes on; empty: nothing does.
std::string TakenOverText(const ClusterShape& last, const ClusterShape& given);

void ApplyShape(const ClusterShape& shape, localkube::LocalCluster::Options* options);

}  // namespace taas

#endif  // CLI_LOCAL_LAST_TIME_H_
