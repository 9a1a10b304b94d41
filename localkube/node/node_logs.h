// The logs of the node's containers, read from the files that their shims write.
//
// Ownership: disk outlives it and its readers. Threads: as LogSource. Errors: as LogSource.
//
//   NodeLogs logs(disk, PodDirs(dir + "/pods"));
//   ASSIGN_OR_RETURN(auto server, ApiServer::Start(options, clock, random, &logs));

#ifndef LOCALKUBE_NODE_NODE_LOGS_H_
#define LOCALKUBE_NODE_NODE_LOGS_H_

#include <memory>

#include "localkube/api/log_source.h"
#include "localkube/node/pod_dirs.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

class NodeLogs : public LogSource {
 public:
  NodeLogs(FileSystem& disk, PodDirs dirs) : disk_(disk), dirs_(std::move(dirs)) {}
  absl::StatusOr<std::unique_ptr<LogReader>> Open(const LogRequest& request) override;

 private:
  FileSystem& disk_;
  const PodDirs dirs_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_NODE_LOGS_H_
