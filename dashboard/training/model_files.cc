#include "dashboard/training/model_files.h"

#include <algorithm>
#include <utility>

#include "dashboard/training/checkpoint_folder.h"
#include "dashboard/training/tar_header.h"
#include "dashboard/training/volume_folder.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

// A checkpoint has a file for each parameter server.
constexpr size_t kMembersMax = 300;
// Of a folder that is listed.
constexpr size_t kListMax = 100'000;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

struct Folder {
  FolderPlace place;
  Directory directory;
};
absl::StatusOr<Folder> OpenFolder(const std::string& top, const std::string& below) {
  ASSIGN_OR_RETURN(Directory directory, OpenBelow(top, below));
  return Folder{{.top = top, .below = below}, std::move(directory)};
}

// `within`: where the tar has it, "variables/".
absl::Status Add(const Folder& folder, const std::string& file, const std::string& within,
                 ModelFiles* model) {
  ASSIGN_OR_RETURN(const FileIdentity seen, folder.directory.IdentityOf(file));
  if (model->members.size() == kMembersMax) {
    return absl::ResourceExhaustedError("the model has more than " + std::to_string(kMembersMax) +
                                        " files; take them from the volume's folder");
  }
  model->members.push_back(
      {.name = within + file, .folder = folder.place, .file = file, .seen = seen});
  return absl::OkStatus();
}

absl::Status IsOfThisRun(const ModelFiles::Member& member, std::chrono::nanoseconds since) {
  if (member.seen.modified_ns >= since.count()) return absl::OkStatus();
  return absl::NotFoundError(member.folder.top + "/" + member.folder.below + "/" + member.file +
                             " is older than the job: another one wrote it");
}

// The files of variables that begin with `prefix`.
absl::Status AddParts(const Folder& folder, const std::string& prefix, const std::string& within,
                      ModelFiles* model) {
  ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, folder.directory.List(kListMax));
  for (const Directory::Entry& entry : entries) {
    const std::string_view name = entry.name;
    const bool part = name.starts_with(prefix) && IsCheckpointPart(name.substr(prefix.size()));
    if (entry.kind != Directory::Entry::Kind::kFile || !part) continue;
    RETURN_IF_ERROR(Add(folder, entry.name, within, model));
  }
  return absl::OkStatus();
}

// `dir` of an export is the file itself where it ends so (trainer/export/export_model.h).
absl::StatusOr<ModelFiles> FindSafetensors(const FolderPlace& place) {
  ModelFiles model{.kind = ModelFiles::Kind::kSafetensors, .members = {}};
  std::string below = place.below, name = "model.safetensors";
  const bool is_file = below.ends_with(".safetensors");
  if (is_file) {
    const size_t slash = below.rfind('/');
    name = below.substr(slash == std::string::npos ? 0 : slash + 1);
    below = below.substr(0, slash == std::string::npos ? 0 : slash);
  }
  ASSIGN_OR_RETURN(const Folder folder, OpenFolder(place.top, below));
  RETURN_IF_ERROR(Add(folder, name, "", &model));
  // What a GPT-2 is like; other models have none.
  if (!is_file && folder.directory.IdentityOf("config.json").ok()) {
    RETURN_IF_ERROR(Add(folder, "config.json", "", &model));
  }
  return model;
}

absl::StatusOr<ModelFiles> FindSavedModel(const FolderPlace& place) {
  ModelFiles model{.kind = ModelFiles::Kind::kSavedModel, .members = {}};
  ASSIGN_OR_RETURN(const Folder folder, OpenFolder(place.top, place.below));
  RETURN_IF_ERROR(Add(folder, "saved_model.pb", "", &model));
  ASSIGN_OR_RETURN(const Folder variables, OpenFolder(place.top, place.below + "/variables"));
  RETURN_IF_ERROR(AddParts(variables, "variables.", "variables/", &model));
  return model;
}

absl::StatusOr<ModelFiles> FindCheckpoint(const FolderPlace& place,
                                         std::chrono::nanoseconds since) {
  ModelFiles model{.kind = ModelFiles::Kind::kCheckpoint, .members = {}};
  ASSIGN_OR_RETURN(const auto newest_first, ListCheckpointFolder(place.top, place.below));
  if (newest_first.empty()) {
    return absl::NotFoundError(place.top + "/" + place.below + " has no checkpoint");
  }
  const std::string prefix = "model.ckpt-" + std::to_string(newest_first[0].step) + ".";
  ASSIGN_OR_RETURN(const Folder folder, OpenFolder(place.top, place.below));
  RETURN_IF_ERROR(AddParts(folder, prefix, "", &model));
  const auto index = std::ranges::find(model.members, prefix + "index", &ModelFiles::Member::file);
  if (index == model.members.end()) {
    return absl::NotFoundError("the checkpoint of step " + std::to_string(newest_first[0].step) +
                               " in " + place.top + "/" + place.below +
                               " has just been removed; try again");
  }
  RETURN_IF_ERROR(IsOfThisRun(*index, since));
  return model;
}

}  // namespace

absl::StatusOr<ModelFiles> FindModelFiles(const ModelPlaces& places) {
  absl::Status why = absl::NotFoundError("the job keeps no model on a volume that stays");
  if (places.exported.has_value()) {
    auto exported = places.saved_model ? FindSavedModel(*places.exported)
                                       : FindSafetensors(*places.exported);
    why = exported.ok() ? IsOfThisRun(exported->members[0], places.since) : exported.status();
    if (why.ok()) return exported;
  }
  if (!places.checkpoints.has_value()) return why;
  return FindCheckpoint(*places.checkpoints, places.since);
}

uint64_t ModelBytes::total() const {
  uint64_t total = files_.tar() ? kTarEndBytes : 0;
  for (const ModelFiles::Member& member : files_.members) {
    total += member.seen.size;
    if (files_.tar()) total += kTarBlockBytes + TarPaddingBytes(member.seen.size);
  }
  return total;
}

absl::StatusOr<std::string> ModelBytes::Next(size_t most) {
  while (member_ < files_.members.size()) {
    const ModelFiles::Member& member = files_.members[member_];
    if (files_.tar() && !std::exchange(headed_, true)) {
      return TarHeader({.folder = folder_,
                        .name = member.name,
                        .bytes = member.seen.size,
                        .modified_s = member.seen.modified_ns / kNanosecondsPerSecond});
    }
    if (at_ < member.seen.size) return Part(member, most);
    ++member_;
    file_.reset();
    at_ = 0;
    headed_ = false;
    const size_t padding = files_.tar() ? TarPaddingBytes(member.seen.size) : 0;
    if (padding > 0) return std::string(padding, '\0');
  }
  if (std::exchange(ended_, true) || !files_.tar()) return "";
  return std::string(kTarEndBytes, '\0');
}

absl::Status ModelBytes::OpenNow(const ModelFiles::Member& member) {
  ASSIGN_OR_RETURN(const Directory folder, OpenBelow(member.folder.top, member.folder.below));
  ASSIGN_OR_RETURN(OpenFile file, folder.OpenFileIn(member.file));
  ASSIGN_OR_RETURN(const FileIdentity now, file.Identity());
  if (now != member.seen) {
    return absl::DataLossError("read " + member.name +
                               " of the model: it was changed since the download began");
  }
  file_ = std::move(file);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ModelBytes::Part(const ModelFiles::Member& member, size_t most) {
  if (!file_.has_value()) {
    RETURN_IF_ERROR(OpenNow(member));
  }
  std::string part(std::min<uint64_t>(most, member.seen.size - at_), '\0');
  ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(at_, part.size(), part.data()));
  if (got < part.size()) {
    return absl::DataLossError("read " + member.name + " of the model: it became shorter than " +
                               std::to_string(member.seen.size) + " bytes");
  }
  at_ += got;
  return part;
}

}  // namespace taas::dashboard
