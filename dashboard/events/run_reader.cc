#include "dashboard/events/run_reader.h"

#include <algorithm>

namespace taas::dashboard {

void RunReader::StartAfresh() {
  files_.clear();
  run_ = std::make_unique<Run>(&memory_);
}

bool RunReader::IsObsolete(const Directory& directory,
                           const std::vector<std::string>& names) const {
  return std::ranges::any_of(files_, [&](const auto& file) {
    return !std::ranges::binary_search(names, file.first) || file.second.IsReplaced(directory);
  });
}

bool RunReader::Refresh(const Directory& directory, const std::vector<std::string>& names,
                        uint64_t* bytes_left, ReadBuffer* buffer) {
  if (IsObsolete(directory, names)) StartAfresh();
  Outcome outcome = ReadFiles(directory, names, bytes_left, buffer);
  if (outcome == Outcome::kReplaced) {
    // Between the look and the reading. A file that is replaced faster than it can be read is read
    // further by the next refresh.
    StartAfresh();
    outcome = ReadFiles(directory, names, bytes_left, buffer);
  }
  return outcome == Outcome::kDone;
}

RunReader::Outcome RunReader::ReadFiles(const Directory& directory,
                                        const std::vector<std::string>& names,
                                        uint64_t* bytes_left, ReadBuffer* buffer) {
  unreachable_.clear();
  for (const std::string& name : names) {
    EventFile& file = files_.try_emplace(name, name).first->second;
    const absl::StatusOr<uint64_t> read =
        file.Read(directory, *bytes_left, buffer,
                  [this](std::string_view data) { return run_->Add(data); });
    if (absl::IsAborted(read.status())) return Outcome::kReplaced;
    if (!read.ok()) {
      unreachable_.push_back({.file = name, .what = std::string(read.status().message())});
      continue;
    }
    *bytes_left -= std::min(*bytes_left, *read);
    // Order matters: a later file may begin with a mark of a restart.
    if (file.has_more()) return Outcome::kMore;
  }
  return Outcome::kDone;
}

std::vector<Problem> RunReader::Problems() const {
  std::vector<Problem> all = unreachable_;
  for (const auto& [name, file] : files_) {
    std::vector<Problem> more = file.Problems();
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  return all;
}

}  // namespace taas::dashboard
