#include "dashboard/training/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "dashboard/training/volume_folder.h"
#include "operator/base/directory.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

// A directory of checkpoints has a few files for each that is kept.
constexpr size_t kFilesMax = 100'000;

// "1000" and "index" of "model.ckpt-1000.index".
struct FileName {
  int64_t step = 0;
  std::string_view rest;
};
std::optional<FileName> ReadName(std::string_view name) {
  constexpr std::string_view kPrefix = "model.ckpt-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  FileName read;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, read.step);
  if (error != std::errc() || read.step < 0 || rest == end || *rest != '.') return std::nullopt;
  // "007" and "-0" are other files than the checkpoints of steps 7 and 0.
  if (std::to_string(read.step) != std::string_view(name.data(), rest)) return std::nullopt;
  read.rest = name.substr(static_cast<size_t>(rest - name.data()) + 1);
  return read;
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}
bool TakeShardNumber(std::string_view* text) {
  constexpr size_t kDigits = 5;
  if (text->size() < kDigits) return false;
  for (const char c : text->substr(0, kDigits)) {
    if (c < '0' || c > '9') return false;
  }
  text->remove_prefix(kDigits);
  return true;
}

}  // namespace

bool IsCheckpointPart(std::string_view part) {
  if (part == "index") return true;
  return TakePrefix("data-", &part) && TakeShardNumber(&part) && TakePrefix("-of-", &part) &&
         TakeShardNumber(&part) && part.empty();
}

absl::StatusOr<std::vector<SavedCheckpoint>> ListCheckpointFolder(const std::string& top,
                                                                  const std::string& below) {
  ASSIGN_OR_RETURN(const Directory directory, OpenBelow(top, below));
  ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, directory.List(kFilesMax));
  std::map<int64_t, std::vector<std::string>, std::greater<>> files;
  std::map<int64_t, std::string> indexes;
  for (const Directory::Entry& entry : entries) {
    const std::optional<FileName> name = ReadName(entry.name);
    if (!name.has_value() || entry.kind != Directory::Entry::Kind::kFile) continue;
    files[name->step].push_back(entry.name);
    if (name->rest == "index") indexes[name->step] = entry.name;
  }
  std::vector<SavedCheckpoint> out;
  for (const auto& [step, names] : files) {
    if (out.size() == CheckpointReader::kCheckpointsMax) break;
    const auto index = indexes.find(step);
    if (index == indexes.end()) continue;  // Without it the rest is none yet, or none any more.
    SavedCheckpoint one{.step = step, .saved_at = {}};
    for (const std::string& name : names) {
      const absl::StatusOr<FileIdentity> file = directory.IdentityOf(name);
      if (!file.ok()) continue;  // It was removed just now.
      one.bytes += static_cast<int64_t>(file->size);
      if (name == index->second) {
        one.saved_at = Clock::WallTime(std::chrono::duration_cast<Clock::WallTime::duration>(
            std::chrono::nanoseconds(file->modified_ns)));
      }
    }
    out.push_back(one);
  }
  return out;
}

}  // namespace taas::dashboard
