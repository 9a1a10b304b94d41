#include "localkube/node/pod_volumes.h"

#include <algorithm>
#include <utility>

#include "localkube/node/pod_fields.h"
#include "localkube/node/pod_json.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr int kDefaultMode = 0644;
constexpr int kModeBits = 0777;
// Of a path, as the kernel has it.
constexpr size_t kPathBytesMax = 4096;

// Whether a relative path stays below where it begins.
bool StaysBelow(const std::string& path) {
  return !path.empty() && path[0] != '/' && ("/" + path + "/").find("/../") == std::string::npos;
}

int ModeOf(const Json& owner, const char* field, int otherwise) {
  return static_cast<int>(Whole(owner, field, otherwise)) & kModeBits;
}

std::string KindOf(const Json& volume) {
  for (const auto& [key, value] : volume.items()) {
    if (key != "name") return key;
  }
  return "a source";
}

}  // namespace

ClaimPlace PlaceOfClaim(const std::string& volumes_dir, const VolumeBindings& bindings,
                        const std::string& ns, const std::string& claim) {
  for (const std::string& key : {ns + "/" + claim, claim}) {
    const auto bound = bindings.find(key);
    if (bound != bindings.end()) return {.dir = bound->second, .bound = true};
  }
  return {.dir = volumes_dir + "/" + ns + "/" + claim};
}

VolumePlanner::Source VolumePlanner::LocateClaim(const Json& claim) {
  const std::string ns = Text(Member(pod_, "metadata"), "namespace");
  const std::string name = Text(claim, "claimName");
  const ClaimPlace place =
      PlaceOfClaim(context_.volumes_dir, context_.volume_bindings, ns, name);
  if (!place.bound) plan_.dirs.push_back(place.dir);
  return {place.dir, Flag(claim, "readOnly")};
}

absl::StatusOr<VolumePlanner::Source> VolumePlanner::Locate(const Json& volume) {
  if (const Json& claim = Member(volume, "persistentVolumeClaim"); !claim.is_null()) {
    return LocateClaim(claim);
  }
  if (const Json& host = Member(volume, "hostPath"); !host.is_null()) {
    const std::string path = Text(host, "path");
    if (Text(host, "type") == "DirectoryOrCreate") plan_.dirs.push_back(path);
    return Source{path};
  }
  if (volume.contains("emptyDir")) {
    const std::string dir = context_.pod_dir + "/volumes/" + Text(volume, "name");
    plan_.dirs.push_back(dir);
    return Source{dir};
  }
  for (const char* kind : {"configMap", "secret", "downwardAPI", "projected"}) {
    if (volume.contains(kind)) return Fill(volume);
  }
  return absl::InvalidArgumentError(
      "volume " + Text(volume, "name") + ": " + KindOf(volume) +
      " is not supported by the local cluster; use persistentVolumeClaim, hostPath, emptyDir, "
      "configMap, secret, downwardAPI or projected");
}

absl::Status VolumePlanner::AddFile(const std::string& dir, const std::string& path,
                                    std::string data, int mode) {
  if (!StaysBelow(path)) {
    return absl::InvalidArgumentError("volume path " + path + " must stay inside its volume");
  }
  file_bytes_ += data.size();
  if (file_bytes_ > kVolumeFilesBytesMax) {
    return absl::InvalidArgumentError(
        "container " + Text(container_, "name") + ": what it mounts of ConfigMaps, Secrets and "
        "fields of its pod has more than " + std::to_string(kVolumeFilesBytesMax) +
        " bytes; put it into a persistentVolumeClaim");
  }
  const std::string whole = dir + "/" + path;
  plan_.dirs.push_back(whole.substr(0, whole.rfind('/')));
  plan_.files.push_back({whole, std::move(data), mode});
  return absl::OkStatus();
}

// Of a ConfigMap or Secret: the keys that `items` names, or all.
absl::Status VolumePlanner::FillFrom(const Json& source, const char* kind, const char* name_field,
                                     const std::string& dir, int mode) {
  const bool secret = std::string(kind) == "secret";
  const ConfigRef ref{secret ? ConfigKind::kSecret : ConfigKind::kConfigMap,
                      Text(source, name_field)};
  const bool optional = Flag(source, "optional");
  ASSIGN_OR_RETURN(const ConfigData* data, config_.Find(ref, optional));
  if (data == nullptr) return absl::OkStatus();
  const Json& items = Elements(source, "items");
  if (items.empty()) {
    for (const auto& [key, value] : *data) RETURN_IF_ERROR(AddFile(dir, key, value, mode));
  }
  for (const Json& item : items) {
    ASSIGN_OR_RETURN(const auto value, config_.Value(ref, Text(item, "key"), optional));
    if (!value.has_value()) continue;
    RETURN_IF_ERROR(AddFile(dir, Text(item, "path"), *value, ModeOf(item, "mode", mode)));
  }
  return absl::OkStatus();
}

absl::Status VolumePlanner::FillFields(const Json& source, const std::string& dir, int mode) {
  for (const Json& item : Elements(source, "items")) {
    std::string value;
    if (const Json& field = Member(item, "fieldRef"); !field.is_null()) {
      ASSIGN_OR_RETURN(value, PodField(pod_, Text(field, "fieldPath")));
    } else {
      ASSIGN_OR_RETURN(value, ResourceField(pod_, container_, Member(item, "resourceFieldRef"),
                                            context_.node));
    }
    RETURN_IF_ERROR(
        AddFile(dir, Text(item, "path"), std::move(value), ModeOf(item, "mode", mode)));
  }
  return absl::OkStatus();
}

absl::StatusOr<VolumePlanner::Source> VolumePlanner::Fill(const Json& volume) {
  const std::string dir = context_.pod_dir + "/volumes/" + Text(volume, "name");
  plan_.dirs.push_back(dir);
  const std::string kind = KindOf(volume);
  const Json& body = Member(volume, kind.c_str());
  const int mode = ModeOf(body, "defaultMode", kDefaultMode);
  absl::Status filled;
  if (kind == "configMap") filled = FillFrom(body, "configMap", "name", dir, mode);
  if (kind == "secret") filled = FillFrom(body, "secret", "secretName", dir, mode);
  if (kind == "downwardAPI") filled = FillFields(body, dir, mode);
  RETURN_IF_ERROR(filled);
  for (const Json& source : Elements(body, "sources")) {
    const std::string sort = source.empty() ? "" : source.begin().key();
    const Json& part = Member(source, sort.c_str());
    if (sort == "configMap" || sort == "secret") {
      RETURN_IF_ERROR(FillFrom(part, sort.c_str(), "name", dir, mode));
    } else if (sort == "downwardAPI") {
      RETURN_IF_ERROR(FillFields(part, dir, mode));
    } else {
      return absl::InvalidArgumentError("volume " + Text(volume, "name") + ": projected " + sort +
                                        " is not supported by the local cluster");
    }
  }
  return Source{dir, /*read_only=*/true, /*made=*/true};
}

absl::StatusOr<std::string> VolumePlanner::SubPath(const Json& mount) const {
  const std::string expression = Text(mount, "subPathExpr");
  if (expression.empty()) return Text(mount, "subPath");
  const std::string what = "subPathExpr of the mount " + Text(mount, "name");
  std::string unknown;
  ASSIGN_OR_RETURN(std::string path, program_.Expand(what, expression, kPathBytesMax, &unknown));
  if (unknown.empty()) return path;
  return absl::InvalidArgumentError("container " + Text(container_, "name") + ": " + what +
                                    ": there is no variable " + unknown);
}

absl::Status VolumePlanner::AddMount(const Json& mount) {
  const std::string owner = "container " + Text(container_, "name");
  const std::string name = Text(mount, "name");
  const Json& volumes = Elements(Member(pod_, "spec"), "volumes");
  const auto volume = std::find_if(volumes.begin(), volumes.end(), [&](const Json& candidate) {
    return Text(candidate, "name") == name;
  });
  if (volume == volumes.end()) {
    return absl::InvalidArgumentError(owner + ": volumeMounts names the volume " + name +
                                      ", which spec.volumes does not have");
  }
  ASSIGN_OR_RETURN(const Source source, Locate(*volume));
  RunMount out{source.path, Text(mount, "mountPath"),
               source.read_only || Flag(mount, "readOnly")};
  while (out.target.size() > 1 && out.target.back() == '/') out.target.pop_back();
  ASSIGN_OR_RETURN(const std::string sub_path, SubPath(mount));
  if (!sub_path.empty()) {
    if (!StaysBelow(sub_path)) {
      return absl::InvalidArgumentError(owner + ": subPath " + sub_path +
                                        " must stay inside its volume");
    }
    out.source += "/" + sub_path;
    if (!source.made) plan_.dirs.push_back(out.source);
  }
  plan_.mounts.push_back(std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<VolumePlan> VolumePlanner::Plan() {
  for (const Json& mount : Elements(container_, "volumeMounts")) RETURN_IF_ERROR(AddMount(mount));
  return std::move(plan_);
}

}  // namespace taas::localkube
