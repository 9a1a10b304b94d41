#include "dashboard/training/model_files.h"

#include <algorithm>
#include <utility>

#include "dashboard/training/checkpoint_folder.h"
#include "dashboard/training/tar_header.h"
#include "dashboard/training/volume_folder.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

// A checkpoint has a file for each parameter server, and each is kept open meanwhile.
constexpr size_t kMembersMax = 300;
// Of a folder that is listed.
constexpr size_t kListMax = 100'000;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

absl::Status Add(const Directory& folder, const std::string& name, const std::string& shown,
                 ModelFiles* model) {
  ASSIGN_OR_RETURN(OpenFile file, folder.OpenFileIn(name));
  ASSIGN_OR_RETURN(const FileIdentity identity, file.Identity());
  if (model->members.size() == kMembersMax) {
    return absl::ResourceExhaustedError("the model has more than " + std::to_string(kMembersMax) +
                                        " files; take them from the volume's folder");
  }
  model->members.push_back({.name = shown,
                            .bytes = identity.size,
                            .modified_s = identity.modified_ns / kNanosecondsPerSecond,
                            .file = std::move(file)});
  return absl::OkStatus();
}

// `dir` of an export is the file itself where it ends so (trainer/export/export_model.h).
absl::StatusOr<ModelFiles> OpenSafetensors(const FolderPlace& place) {
  ModelFiles model{.kind = ModelFiles::Kind::kSafetensors, .members = {}};
  std::string folder = place.below, name = "model.safetensors";
  const bool is_file = folder.ends_with(".safetensors");
  if (is_file) {
    const size_t slash = folder.rfind('/');
    name = folder.substr(slash == std::string::npos ? 0 : slash + 1);
    folder = folder.substr(0, slash == std::string::npos ? 0 : slash);
  }
  ASSIGN_OR_RETURN(const Directory directory, OpenBelow(place.top, folder));
  RETURN_IF_ERROR(Add(directory, name, name, &model));
  // What a GPT-2 is like; other models have none.
  if (!is_file && directory.IdentityOf("config.json").ok()) {
    RETURN_IF_ERROR(Add(directory, "config.json", "config.json", &model));
  }
  return model;
}

absl::StatusOr<ModelFiles> OpenSavedModel(const FolderPlace& place) {
  ModelFiles model{.kind = ModelFiles::Kind::kSavedModel, .members = {}};
  ASSIGN_OR_RETURN(const Directory directory, OpenBelow(place.top, place.below));
  RETURN_IF_ERROR(Add(directory, "saved_model.pb", "saved_model.pb", &model));
  ASSIGN_OR_RETURN(const Directory variables, directory.OpenDirectoryIn("variables"));
  ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, variables.List(kListMax));
  for (const Directory::Entry& entry : entries) {
    if (entry.kind != Directory::Entry::Kind::kFile || !entry.name.starts_with("variables.")) {
      continue;
    }
    RETURN_IF_ERROR(Add(variables, entry.name, "variables/" + entry.name, &model));
  }
  return model;
}

absl::StatusOr<ModelFiles> OpenCheckpoint(const FolderPlace& place) {
  ModelFiles model{.kind = ModelFiles::Kind::kCheckpoint, .members = {}};
  ASSIGN_OR_RETURN(const auto newest_first, ListCheckpointFolder(place.top, place.below));
  if (newest_first.empty()) {
    return absl::NotFoundError(place.top + "/" + place.below + " has no checkpoint");
  }
  const std::string prefix = "model.ckpt-" + std::to_string(newest_first[0].step) + ".";
  ASSIGN_OR_RETURN(const Directory directory, OpenBelow(place.top, place.below));
  ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, directory.List(kListMax));
  for (const Directory::Entry& entry : entries) {
    if (entry.kind != Directory::Entry::Kind::kFile || !entry.name.starts_with(prefix)) continue;
    RETURN_IF_ERROR(Add(directory, entry.name, entry.name, &model));
  }
  return model;
}

}  // namespace

absl::StatusOr<ModelFiles> OpenModelFiles(const ModelPlaces& places) {
  absl::Status why = absl::NotFoundError("the job keeps no model on a volume that stays");
  if (places.exported.has_value()) {
    auto exported = places.saved_model ? OpenSavedModel(*places.exported)
                                       : OpenSafetensors(*places.exported);
    if (exported.ok()) return exported;
    why = exported.status();
  }
  if (!places.checkpoints.has_value()) return why;
  return OpenCheckpoint(*places.checkpoints);
}

uint64_t ModelBytes::total() const {
  uint64_t total = files_.tar() ? kTarEndBytes : 0;
  for (const ModelFiles::Member& member : files_.members) {
    total += member.bytes;
    if (files_.tar()) total += kTarBlockBytes + TarPaddingBytes(member.bytes);
  }
  return total;
}

absl::StatusOr<std::string> ModelBytes::Next(size_t most) {
  while (member_ < files_.members.size()) {
    const ModelFiles::Member& member = files_.members[member_];
    if (files_.tar() && !std::exchange(headed_, true)) {
      return TarHeader({.folder = folder_,
                        .name = member.name,
                        .bytes = member.bytes,
                        .modified_s = member.modified_s});
    }
    if (at_ < member.bytes) return Part(member, most);
    ++member_;
    at_ = 0;
    headed_ = false;
    const size_t padding = files_.tar() ? TarPaddingBytes(member.bytes) : 0;
    if (padding > 0) return std::string(padding, '\0');
  }
  if (std::exchange(ended_, true) || !files_.tar()) return "";
  return std::string(kTarEndBytes, '\0');
}

absl::StatusOr<std::string> ModelBytes::Part(const ModelFiles::Member& member, size_t most) {
  std::string part(std::min<uint64_t>(most, member.bytes - at_), '\0');
  ASSIGN_OR_RETURN(const size_t got, member.file.ReadAt(at_, part.size(), part.data()));
  if (got < part.size()) {
    return absl::DataLossError("read " + member.name + " of the model: it became shorter than " +
                               std::to_string(member.bytes) + " bytes");
  }
  at_ += got;
  return part;
}

}  // namespace taas::dashboard
