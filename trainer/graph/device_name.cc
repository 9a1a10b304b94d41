#include "trainer/graph/device_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "absl/status/status.h"

namespace taas {
namespace {

bool ParseIndex(std::string_view text, int* index) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *index);
  return error == std::errc() && end == text.data() + text.size() && *index >= 0;
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// One part between slashes, as "task:1".
bool ParsePart(std::string_view part, DeviceName* device) {
  const std::vector<std::string_view> words = Split(part, ':');
  int ignored = 0;
  if (words.size() == 2 && words[0] == "job" && !words[1].empty()) {
    device->job = std::string(words[1]);
    return true;
  }
  if (words.size() == 2 && words[0] == "replica") return ParseIndex(words[1], &ignored);
  if (words.size() == 2 && words[0] == "task") return ParseIndex(words[1], &device->task);
  if (words.size() == 3 && words[0] == "device" && !words[1].empty()) {
    device->type = Upper(words[1]);
    return ParseIndex(words[2], &device->index);
  }
  if (words.size() == 2 && (words[0] == "cpu" || words[0] == "gpu")) {
    device->type = Upper(words[0]);
    return ParseIndex(words[1], &device->index);
  }
  return false;
}

}  // namespace

absl::StatusOr<DeviceName> DeviceName::Parse(std::string_view text) {
  DeviceName device;
  if (text.empty()) return device;
  bool good = text.front() == '/';
  if (good) {
    for (const std::string_view part : Split(text.substr(1), '/')) {
      good = good && ParsePart(part, &device);
    }
  }
  if (good) return device;
  return absl::InvalidArgumentError("device \"" + std::string(text) +
                                    "\": expected a name like /job:worker/task:0/device:CPU:0");
}

std::string DeviceName::ToString() const {
  std::string text;
  if (!job.empty()) text += "/job:" + job;
  if (task != kAnyTask) text += "/replica:0/task:" + std::to_string(task);
  if (!type.empty()) text += "/device:" + type + ":" + std::to_string(index);
  return text;
}

}  // namespace taas
