#include "localkube/node/run_use.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "localkube/node/memory_use.h"

namespace taas::localkube {
namespace {

// A process that ends between two reads takes its time to a parent that was read before; then all
// are read again. Of a container that starts and ends processes all the time the last read is
// taken as it is: what it misses is in the next sample.
constexpr int kReadsMax = 3;

struct ProcessStat {
  pid_t parent = 0;
  int64_t own_ticks = 0;
  int64_t ended_ticks = 0;  // Of children that were waited for.
};

std::string ProcFile(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// The fields of /proc/PID/stat behind the command, which may have blanks and parentheses in it:
// state, parent and, eleven further on, utime, stime, cutime, cstime.
std::optional<ProcessStat> ReadStat(FileSystem& disk, pid_t pid) {
  const std::string text = disk.ReadAll(ProcFile(pid, "stat")).value_or("");
  const size_t command_end = text.rfind(')');
  if (command_end == std::string::npos || command_end + 4 > text.size()) return std::nullopt;
  ProcessStat stat;
  // strtol wants a char*; nothing is written through it.
  char* at = const_cast<char*>(text.c_str()) + command_end + 4;
  stat.parent = static_cast<pid_t>(std::strtol(at, &at, 10));
  for (int skipped = 0; skipped < 9; ++skipped) std::strtoll(at, &at, 10);
  stat.own_ticks = std::strtoll(at, &at, 10);
  stat.own_ticks += std::strtoll(at, &at, 10);
  stat.ended_ticks = std::strtoll(at, &at, 10);
  stat.ended_ticks += std::strtoll(at, &at, 10);
  return stat;
}

// `taas shim DIR`.
bool IsShimOf(FileSystem& disk, pid_t pid, const std::string& run_dir) {
  using namespace std::string_literals;
  const std::string arguments = disk.ReadAll(ProcFile(pid, "cmdline")).value_or("");
  return arguments.ends_with("\0shim\0"s + run_dir + "\0"s);
}

struct Ticks {
  int64_t sum = 0;
  bool complete = true;
};

// Parents first, so that time which moves up while we read is missed rather than counted twice; a
// process that we then cannot read says so. The first is the shim.
Ticks TicksBelow(FileSystem& disk, const std::vector<pid_t>& tree) {
  Ticks ticks;
  for (const pid_t pid : tree) {
    const auto stat = ReadStat(disk, pid);
    if (!stat.has_value()) {
      ticks.complete = false;
      continue;
    }
    if (pid != tree.front()) ticks.sum += stat->own_ticks;
    ticks.sum += stat->ended_ticks;
  }
  return ticks;
}

}  // namespace

std::optional<RunUse> MeasureRun(FileSystem& disk, pid_t pid, const std::string& run_dir) {
  const auto main_stat = ReadStat(disk, pid);
  if (!main_stat.has_value() || !IsShimOf(disk, main_stat->parent, run_dir)) return std::nullopt;
  const pid_t shim = main_stat->parent;
  std::vector<pid_t> tree = ProcessTree(disk, shim);
  Ticks ticks = TicksBelow(disk, tree);
  for (int reads = 1; reads < kReadsMax && !ticks.complete; ++reads) {
    tree = ProcessTree(disk, shim);
    ticks = TicksBelow(disk, tree);
  }
  // Without the shim and all that it has waited for, this would be the figure of nothing.
  if (!ReadStat(disk, pid).has_value()) return std::nullopt;
  tree.erase(tree.begin());
  static const int64_t kTickNanoseconds = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return RunUse{.cpu = Clock::Duration(ticks.sum * kTickNanoseconds),
                .memory_bytes = MemoryUse(disk, tree, /*limit=*/0)};
}

}  // namespace taas::localkube
