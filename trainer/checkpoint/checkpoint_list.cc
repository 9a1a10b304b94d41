#include "trainer/checkpoint/checkpoint_list.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "operator/base/status.h"

namespace taas {
namespace {

constexpr char kName[] = "model.ckpt-";
constexpr char kIndexSuffix[] = ".index";

}  // namespace

std::string CheckpointPrefix(const std::string& dir, int64_t step) {
  return dir + "/" + kName + std::to_string(step);
}

int64_t StepOfCheckpointFile(const std::string& name) {
  const std::string_view prefix = kName;
  if (name.rfind(prefix, 0) != 0) return -1;
  const char* const begin = name.data() + prefix.size();
  const char* const end = name.data() + name.size();
  int64_t step = -1;
  const auto [rest, error] = std::from_chars(begin, end, step);
  return error == std::errc() && rest != begin && rest != end && *rest == '.' ? step : -1;
}

bool IsCheckpointIndex(const std::string& name) {
  const std::string_view suffix = kIndexSuffix;
  return name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
}

std::vector<int64_t> CheckpointsAmong(const std::vector<std::string>& names) {
  std::vector<int64_t> steps;
  for (const std::string& name : names) {
    const int64_t step = StepOfCheckpointFile(name);
    if (step >= 0 && IsCheckpointIndex(name)) steps.push_back(step);
  }
  std::ranges::sort(steps);
  return steps;
}

absl::StatusOr<std::vector<int64_t>> ListCheckpoints(FileSystem& files, const std::string& dir) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(dir));
  return CheckpointsAmong(names);
}

}  // namespace taas
