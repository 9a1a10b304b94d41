#include "localkube/node/pod_dirs.h"

#include <algorithm>
#include <cstdlib>

#include "localkube/node/container_run.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;

// Between two looks at runs that are to end.
constexpr auto kLookEvery = 10ms;
// After SIGKILL a process is gone as soon as the kernel gets to it.
constexpr auto kKillPatience = 5s;

absl::StatusOr<std::vector<std::string>> ListOrNothing(FileSystem& disk, const std::string& dir) {
  absl::StatusOr<std::vector<std::string>> names = disk.List(dir);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> PodDirs::Pods(FileSystem& disk) const {
  return ListOrNothing(disk, root_);
}

absl::StatusOr<std::vector<std::string>> PodDirs::Containers(FileSystem& disk,
                                                             const std::string& uid) const {
  return ListOrNothing(disk, Pod(uid) + "/containers");
}

absl::StatusOr<int> PodDirs::LatestRun(FileSystem& disk, const std::string& uid,
                                       const std::string& container) const {
  ASSIGN_OR_RETURN(const auto names, ListOrNothing(disk, ContainerDir(uid, container)));
  int latest = -1;
  for (const std::string& name : names) latest = std::max(latest, std::atoi(name.c_str()));
  return latest;
}

absl::StatusOr<int> EndAllRuns(FileSystem& disk, const Clock& clock, const PodDirs& dirs,
                               std::chrono::milliseconds grace) {
  std::vector<RunFiles> alive;
  ASSIGN_OR_RETURN(const auto uids, dirs.Pods(disk));
  for (const std::string& uid : uids) {
    ASSIGN_OR_RETURN(const auto containers, dirs.Containers(disk, uid));
    for (const std::string& container : containers) {
      ASSIGN_OR_RETURN(const int number, dirs.LatestRun(disk, uid, container));
      if (number < 0) continue;
      const RunFiles files = dirs.Run(uid, container, number);
      ASSIGN_OR_RETURN(const RunStatus run, ReadRun(disk, files));
      if (run.phase == RunPhase::kEnded) continue;
      RETURN_IF_ERROR(WriteStop(disk, files, {.grace = grace}));
      if (run.phase != RunPhase::kNew) alive.push_back(files);
    }
  }
  const int ended = static_cast<int>(alive.size());
  const Clock::Time deadline = clock.Now() + grace + kKillPatience;
  while (!alive.empty() && clock.Now() < deadline) {
    std::erase_if(alive,
                  [](const RunFiles& files) { return !IsLocked(files.lock).value_or(true); });
    if (!alive.empty()) clock.SleepUntil(clock.Now() + kLookEvery);
  }
  // Also what a shim could not see, such as children of one that was killed.
  KillLeftovers(disk, dirs.root());
  return ended;
}

}  // namespace taas::localkube
