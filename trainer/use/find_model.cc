#include "trainer/use/find_model.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "trainer/checkpoint/checkpoint_list.h"

namespace taas {
namespace {

// Directories that are looked into for a hint, which is worth no more than a moment.
constexpr int kLooksMax = 500;
// A run has its checkpoints one below `out`, or two where its job has a directory there.
constexpr int kDepthMax = 2;

bool HasModel(const std::vector<std::string>& names) {
  return !CheckpointsAmong(names).empty() ||
         std::ranges::find(names, "model.safetensors") != names.end();
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// "" above a relative path's first part, which is the working directory.
std::string Above(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, std::max<size_t>(slash, 1));
}

std::string In(const std::string& dir, const std::string& name) {
  if (dir.empty()) return name;
  return dir + (dir.ends_with('/') ? "" : "/") + name;
}

class Nearest {
 public:
  explicit Nearest(FileSystem& files) : files_(files) {}

  // In `dir`, or below it, nothing deeper before what is higher.
  std::optional<std::string> Below(const std::string& dir) {
    std::vector<std::string> level = {dir};
    for (int depth = 0; depth <= kDepthMax; ++depth) {
      std::vector<std::string> next;
      for (const std::string& one : level) {
        if (++looks_ > kLooksMax) return std::nullopt;
        auto names = files_.List(one.empty() ? "." : one);
        if (!names.ok()) continue;  // A file.
        if (HasModel(*names)) return one.empty() ? "." : one;
        std::ranges::sort(*names);
        for (const std::string& name : *names) {
          if (!name.starts_with('.')) next.push_back(In(one, name));
        }
      }
      level = std::move(next);
    }
    return std::nullopt;
  }

 private:
  FileSystem& files_;
  int looks_ = 0;
};

// Below it, else in or beside the directory above, else further up where that does not exist.
std::optional<std::string> FindNearest(FileSystem& files, const std::string& dir, bool exists) {
  Nearest nearest(files);
  if (exists) {
    if (auto found = nearest.Below(dir)) return found;
  }
  std::string above = Above(dir);
  while (!above.empty() && above != "/" && !files.List(above).ok()) above = Above(above);
  // All of a machine is nobody's neighbourhood.
  if (above == "/" || dir == "." || dir == "/") return std::nullopt;
  return nearest.Below(above);
}

}  // namespace

absl::Status CheckThereIsAModel(FileSystem& files, const std::string& path) {
  const auto is_file = [&](const std::string& name) {
    const auto exists = files.Exists(name);
    return !exists.ok() || *exists;  // What cannot be looked at is told by who reads it.
  };
  if (path.ends_with(".safetensors") || is_file(path + ".index")) return absl::OkStatus();
  std::string dir = WithoutSlash(path);
  const auto names = files.List(dir);
  if (names.ok() && HasModel(*names)) return absl::OkStatus();
  // Elsewhere than where nothing is: what is wrong there, its reader says.
  if (!names.ok() && !absl::IsNotFound(names.status())) return absl::OkStatus();
  const auto nearest = FindNearest(files, dir, names.ok());
  return absl::NotFoundError(
      "no checkpoint in " + dir + ": " +
      (names.ok() ? "it has no model.ckpt-STEP.index" : "there is no such directory") +
      (nearest ? "; the nearest is in " + *nearest
               : "; name the directory of a training, or a prefix"));
}

}  // namespace taas
