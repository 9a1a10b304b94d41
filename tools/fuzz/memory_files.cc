#include "tools/fuzz/memory_files.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace taas {
namespace {

class MemoryFile : public RandomReadFile {
 public:
  explicit MemoryFile(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* out) const override {
    if (offset > uint64_t{INT64_MAX}) return absl::UnavailableError("read: Invalid argument");
    // Of no bytes `out` may be null, of which memcpy wants to know nothing.
    if (size == 0 || offset >= text_.size()) return 0;
    const size_t got = std::min<size_t>(size, text_.size() - offset);
    std::memcpy(out, text_.data() + offset, got);
    return got;
  }
  absl::StatusOr<uint64_t> Size() const override { return text_.size(); }

 private:
  const std::string text_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomReadFile>> MemoryFiles::OpenRead(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return absl::NotFoundError("open " + path + ": none");
  return std::make_unique<MemoryFile>(found->second);
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(const std::string&) {
  std::vector<std::string> names;
  for (const auto& [path, text] : files_) names.push_back(path.substr(path.rfind('/') + 1));
  return names;
}

}  // namespace taas
