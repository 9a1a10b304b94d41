#include "localkube/node/run_use.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "localkube/node/memory_use.h"

namespace taas::localkube {
namespace {

// A process that ends between two reads takes its time to a parent that was read before; then all
// are read again. A container that starts and ends processes all the time gets no more than this.
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

// Parents first, so that time which moves up while we read is missed rather than counted twice; a
// process that we then cannot read says so. The first is the shim.
std::optional<int64_t> TicksBelow(FileSystem& disk, const std::vector<pid_t>& tree) {
  int64_t ticks = 0;
  for (const pid_t pid : tree) {
    const auto stat = ReadStat(disk, pid);
    if (!stat.has_value()) return std::nullopt;
    if (pid != tree.front()) ticks += stat->own_ticks;
    ticks += stat->ended_ticks;
  }
  return ticks;
}

}  // namespace

std::optional<RunUse> MeasureRun(FileSystem& disk, pid_t pid, const std::string& run_dir) {
  const auto main_stat = ReadStat(disk, pid);
  if (!main_stat.has_value() || !IsShimOf(disk, main_stat->parent, run_dir)) return std::nullopt;
  for (int reads = 0; reads < kReadsMax; ++reads) {
    std::vector<pid_t> tree = ProcessTree(disk, main_stat->parent);
    const auto ticks = TicksBelow(disk, tree);
    if (!ticks.has_value()) continue;
    tree.erase(tree.begin());
    static const int64_t kTickNanoseconds = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
    return RunUse{.cpu = Clock::Duration(*ticks * kTickNanoseconds),
                  .memory_bytes = MemoryUse(disk, tree, /*limit=*/0)};
  }
  return std::nullopt;
}

}  // namespace taas::localkube
