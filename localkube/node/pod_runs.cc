#include "localkube/node/pod_runs.h"

#include <optional>
#include <utility>

#include "localkube/node/pod_json.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

// How many runs in a row, up to the latest, were short.
absl::StatusOr<int> CountCrashes(FileSystem& disk, const PodDirs& dirs, const std::string& uid,
                                 const std::string& container, const ContainerRuns& runs) {
  int crashes = 0;
  std::optional<ExitRecord> exit = runs.run.exit;
  while (exit.has_value() && IsCrash(*exit) && ++crashes < kCrashesMax) {
    const int number = runs.number - crashes;
    if (number < 0) break;
    ASSIGN_OR_RETURN(exit, ReadExit(disk, dirs.Run(uid, container, number)));
  }
  return crashes;
}

}  // namespace

std::vector<std::string> ContainerNames(const Json& pod) {
  std::vector<std::string> out;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : Elements(Member(pod, "spec"), list)) {
      out.push_back(Text(container, "name"));
    }
  }
  return out;
}

absl::StatusOr<std::map<std::string, ContainerRuns>> ReadPodRuns(
    FileSystem& disk, const PodDirs& dirs, RunWatcher& watcher, const std::string& uid,
    const std::vector<std::string>& names) {
  std::map<std::string, ContainerRuns> out;
  for (const std::string& name : names) {
    ContainerRuns runs;
    ASSIGN_OR_RETURN(runs.number, dirs.LatestRun(disk, uid, name));
    if (runs.number >= 0) {
      const RunFiles files = dirs.Run(uid, name, runs.number);
      // Before reading, so that a record that comes after it wakes us.
      const absl::Status watching = watcher.Watch(files.dir);
      if (!watching.ok()) {
        Log(LogLevel::kDebug, "polling", {{"cause", std::string(watching.message())}});
      }
      ASSIGN_OR_RETURN(runs.run, ReadRun(disk, files));
    }
    if (runs.number > 0) {
      ASSIGN_OR_RETURN(runs.previous, ReadExit(disk, dirs.Run(uid, name, runs.number - 1)));
    }
    if (runs.run.exit.has_value()) {
      ASSIGN_OR_RETURN(runs.crashes, CountCrashes(disk, dirs, uid, name, runs));
    }
    out[name] = std::move(runs);
  }
  return out;
}

}  // namespace taas::localkube
