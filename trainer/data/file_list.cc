#include "trainer/data/file_list.h"

#include <algorithm>

#include "operator/base/status.h"

namespace taas {

namespace {

constexpr std::string_view kChecksum = ".crc";

// Left beside the data by who wrote it, and not asked for.
bool IsBeside(std::string_view name, std::string_view pattern) {
  const bool hidden = (name.starts_with('.') && !pattern.starts_with('.')) ||
                      (name.starts_with('_') && !pattern.starts_with('_'));
  return hidden || (name.ends_with(kChecksum) && !pattern.ends_with(kChecksum));
}

// Goes back to the last star only: that finds a match if there is one, in time that grows with the
// product of the lengths at most.
bool Matches(std::string_view name, std::string_view pattern) {
  size_t at = 0, in_pattern = 0;
  size_t star = std::string_view::npos, from = 0;
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      from = at;
    } else if (in_pattern < pattern.size() &&
               (pattern[in_pattern] == '?' || pattern[in_pattern] == name[at])) {
      ++at;
      ++in_pattern;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace

bool NameMatches(std::string_view name, std::string_view pattern) {
  return !IsBeside(name, pattern) && Matches(name, pattern);
}

absl::StatusOr<std::vector<std::string>> ExpandFiles(FileSystem& files,
                                                     const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    const size_t slash = pattern.rfind('/');
    const size_t begin = slash == std::string::npos ? 0 : slash + 1;
    const std::string last = pattern.substr(begin);
    if (last.find_first_of("*?") == std::string::npos) {
      paths.push_back(pattern);
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<std::string> names, files.List(DirName(pattern)));
    std::erase_if(names, [&](const std::string& name) { return !Matches(name, last); });
    const size_t beside =
        std::erase_if(names, [&](const std::string& name) { return IsBeside(name, last); });
    if (names.empty()) {
      return absl::NotFoundError(
          "read " + pattern + ": no file matches" +
          (beside == 0 ? ""
                       : "; " + std::to_string(beside) +
                             " that begin with . or _ or end with .crc are passed over"));
    }
    for (const std::string& name : names) paths.push_back(pattern.substr(0, begin) + name);
  }
  return paths;
}

}  // namespace taas
