#include "localkube/node/memory_use.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace taas::localkube {
namespace {

// A tree that is deeper or wider than any program's: a look never takes for ever.
constexpr size_t kProcessesMax = 10'000;

std::string ProcPath(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// The kB behind `field` at the beginning of a line; -1 if there is none.
int64_t KilobytesOf(const std::string& text, const std::string& field) {
  const size_t at = ("\n" + text).find("\n" + field + ":");
  if (at == std::string::npos) return -1;
  return std::strtoll(text.c_str() + at + field.size() + 1, nullptr, 10);
}

void AddChildren(FileSystem& disk, pid_t pid, std::vector<pid_t>* out) {
  const auto threads = disk.List(ProcPath(pid, "task"));
  if (!threads.ok()) return;
  for (const std::string& thread : *threads) {
    const std::string text =
        disk.ReadAll(ProcPath(pid, "task/" + thread + "/children")).value_or("");
    const char* at = text.c_str();
    char* end = nullptr;
    for (long child = std::strtol(at, &end, 10); end != at; child = std::strtol(at, &end, 10)) {
      out->push_back(static_cast<pid_t>(child));
      at = end;
    }
  }
}

int64_t Bytes(FileSystem& disk, const std::vector<pid_t>& pids, const char* file,
              const char* field) {
  int64_t sum = 0;
  for (const pid_t pid : pids) {
    const int64_t kilobytes = KilobytesOf(disk.ReadAll(ProcPath(pid, file)).value_or(""), field);
    if (kilobytes > 0) sum += kilobytes * 1024;
  }
  return sum;
}

}  // namespace

std::vector<pid_t> ProcessTree(FileSystem& disk, pid_t pid) {
  std::vector<pid_t> out = {pid};
  for (size_t i = 0; i < out.size() && out.size() < kProcessesMax; ++i) {
    AddChildren(disk, out[i], &out);
  }
  return out;
}

int64_t MemoryUse(FileSystem& disk, pid_t pid, int64_t limit) {
  return MemoryUse(disk, ProcessTree(disk, pid), limit);
}

int64_t MemoryUse(FileSystem& disk, const std::vector<pid_t>& pids, int64_t limit) {
  const int64_t resident = Bytes(disk, pids, "status", "RssAnon");
  if (resident <= limit || pids.size() == 1) return resident;
  int64_t proportional = Bytes(disk, pids, "smaps_rollup", "Pss_Anon");
  if (proportional > limit) {
    // One that ended between two reads left its shares to those read after it.
    proportional = std::min(proportional, Bytes(disk, pids, "smaps_rollup", "Pss_Anon"));
  }
  return proportional > 0 ? proportional : resident;
}

}  // namespace taas::localkube
