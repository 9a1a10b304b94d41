#include "trainer/data/empty_files.h"

#include "operator/base/log.h"

namespace taas {

void EmptyFiles::Add(const std::string& path) {
  if (count_++ == 0) first_ = path;
}

absl::Status EmptyFiles::Tell(size_t files) const {
  if (count_ == 0) return absl::OkStatus();
  if (count_ == files) {
    return absl::InvalidArgumentError(
        "read " + first_ + ": it has no examples" +
        (files == 1 ? "" : ", nor has any of the " + std::to_string(files - 1) + " other files"));
  }
  Log(LogLevel::kWarning, "files without examples count for nothing",
      {{"files", std::to_string(count_) + " of " + std::to_string(files)}, {"first", first_}});
  return absl::OkStatus();
}

}  // namespace taas
