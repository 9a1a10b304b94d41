#include "trainer/config/job_manifest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/api/manifest.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/json_text.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kKind[] = "TrainingJob";

absl::Status Wrong(const std::string& source, const std::string& what) {
  return absl::InvalidArgumentError(source + ": " + what);
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Null where there is none.
const Json& Member(const Json& json, const char* name) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

std::string TextOf(const Json& json) { return json.is_string() ? json.get<std::string>() : ""; }

absl::StatusOr<std::vector<Json>> Documents(std::string_view text, const std::string& source) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<Json> documents;
  // Of JSON the mistakes are told as those of JSON.
  if (first != std::string_view::npos && text[first] == '{') {
    ASSIGN_OR_RETURN(Json json, ParseJsonText(text, source));
    documents.push_back(std::move(json));
    return documents;
  }
  const auto read = ManifestDocuments(text);
  if (!read.ok()) return Annotate(read.status(), source);
  for (const std::string& document : *read) documents.push_back(Json::parse(document));
  return documents;
}

// A volume of the job, and where it is here.
struct Mount {
  std::string name, path;
  const VolumeDir* here = nullptr;
};

absl::StatusOr<std::vector<Mount>> Mounts(const Json& job, const std::string& source,
                                          std::span<const VolumeDir> volumes) {
  std::vector<Mount> mounts;
  std::string names;
  for (const Json& volume : Member(Member(job, "spec"), "volumes")) {
    Mount mount{.name = TextOf(Member(volume, "name")),
                .path = TextOf(Member(volume, "mountPath"))};
    while (mount.path.size() > 1 && mount.path.ends_with('/')) mount.path.pop_back();
    const auto here = std::ranges::find(volumes, mount.name, &VolumeDir::name);
    if (here != volumes.end()) mount.here = &*here;
    names += (names.empty() ? "" : ", ") + mount.name;
    if (!mount.name.empty() && !mount.path.empty()) mounts.push_back(std::move(mount));
  }
  for (const VolumeDir& volume : volumes) {
    if (std::ranges::find(mounts, volume.name, &Mount::name) != mounts.end()) continue;
    return absl::InvalidArgumentError("--volume " + volume.name + "=" + volume.dir +
                                      ": the job of " + source + " has no such volume" +
                                      (names.empty() ? "" : ", it has " + names));
  }
  // The innermost first.
  std::ranges::sort(mounts, std::ranges::greater(), [](const Mount& m) { return m.path.size(); });
  return mounts;
}

class Paths {
 public:
  explicit Paths(std::vector<Mount> mounts) : mounts_(std::move(mounts)) {}

  // What is no text is the parser's to refuse.
  void Translate(const std::string& field, bool needed, Json* path) {
    if (!path->is_string()) return;
    const std::string text = path->get<std::string>();
    const auto mount = std::ranges::find_if(mounts_, [&](const Mount& m) {
      return text.starts_with(m.path) &&
             (text.size() == m.path.size() || text[m.path.size()] == '/');
    });
    if (mount == mounts_.end()) return;
    if (mount->here != nullptr) {
      *path = mount->here->dir + text.substr(mount->path.size());
    } else if (needed && status_.ok()) {
      status_ = absl::InvalidArgumentError(
          "--volume " + mount->name + "=DIR is missing: " + field + " is " + text +
          ", which is in volume " + mount->name + " of the job; say which directory of this "
          "machine that is");
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::vector<Mount> mounts_;
  absl::Status status_;
};

// The member of an object, or a value that nobody looks at.
Json& At(Json& json, const char* name, Json& none) {
  if (!json.is_object()) return none;
  const auto found = json.find(name);
  return found == json.end() ? none : *found;
}

absl::Status TranslateAll(const NeededPaths& needed, std::vector<Mount> mounts, Json* trainer) {
  Paths paths(std::move(mounts));
  Json none;
  Json& data = At(*trainer, "data", none);
  for (const char* set : {"train", "test"}) {
    const std::string field = "data." + std::string(set);
    Json& files = At(data, set, none);
    for (const char* name : {"images", "labels"}) {
      paths.Translate(field + "." + name, needed.data, &At(files, name, none));
    }
    Json& list = At(files, "files", none);
    for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
      paths.Translate(field + ".files[" + std::to_string(i) + "]", needed.data, &list[i]);
    }
  }
  const auto dir = [&](const char* part, bool is_needed) {
    paths.Translate(std::string(part) + ".dir", is_needed,
                    &At(At(*trainer, part, none), "dir", none));
  };
  dir("checkpoint", needed.checkpoint);
  dir("export", needed.others);
  dir("summaries", needed.others);
  paths.Translate("engine.trace.file", needed.others,
                  &At(At(At(*trainer, "engine", none), "trace", none), "file", none));
  return paths.status();
}

absl::StatusOr<std::string> TrainerOfJob(Json job, const std::string& source,
                                         std::span<const VolumeDir> volumes,
                                         const NeededPaths& needed) {
  Json none;
  Json& trainer = At(At(job, "spec", none), "trainer", none);
  if (!trainer.is_object()) {
    return Wrong(source, "the job has no spec.trainer: its roles bring a program of their own");
  }
  ASSIGN_OR_RETURN(std::vector<Mount> mounts, Mounts(job, source, volumes));
  RETURN_IF_ERROR(TranslateAll(needed, std::move(mounts), &trainer));
  return Dump(trainer);
}

}  // namespace

absl::StatusOr<VolumeDir> ParseVolumeDir(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return absl::InvalidArgumentError("\"" + std::string(text) +
                                      "\" is not NAME=DIR, a volume of the job and a directory of "
                                      "this machine");
  }
  std::string dir(text.substr(equals + 1));
  while (dir.size() > 1 && dir.ends_with('/')) dir.pop_back();
  return VolumeDir{.name = std::string(text.substr(0, equals)), .dir = std::move(dir)};
}

absl::StatusOr<std::string> TrainerOfConfig(std::string_view text, const std::string& source,
                                            std::span<const VolumeDir> volumes,
                                            const NeededPaths& needed) {
  ASSIGN_OR_RETURN(std::vector<Json> documents, Documents(text, source));
  // No field of spec.trainer has this name.
  const auto is_manifest = [](const Json& document) {
    return document.is_object() && document.contains("kind");
  };
  if (std::ranges::none_of(documents, is_manifest)) {
    if (documents.size() != 1 || !documents[0].is_object()) {
      return Wrong(source, "no object; it must hold the object spec.trainer of a job, or a "
                           "manifest of a TrainingJob");
    }
    if (volumes.empty()) return Dump(documents[0]);
    return absl::InvalidArgumentError(
        "--volume " + volumes[0].name + "=" + volumes[0].dir + ": " + source +
        " is no manifest of a job, so that it has no volumes; write its paths as they are here");
  }
  std::erase_if(documents, [](const Json& document) {
    return Member(document, "kind") != Json(kKind);
  });
  if (documents.size() != 1) {
    return Wrong(source, "it has " + (documents.empty() ? "no" : std::to_string(documents.size())) +
                             " " + kKind + (documents.size() > 1 ? "s" : "") +
                             "; give a file with one");
  }
  return TrainerOfJob(std::move(documents[0]), source, volumes, needed);
}

}  // namespace taas
