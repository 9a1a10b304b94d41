#include "operator/plan/mounted_path.h"

#include <algorithm>
#include <iterator>

namespace taas {
namespace {

using nlohmann::json;

const json& Member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string Text(const json& object, const char* key) {
  const json& member = Member(object, key);
  return member.is_string() ? member.get<std::string>() : "";
}

bool IsTrue(const json& object, const char* key) { return Member(object, key) == json(true); }

const json& Named(const json& list, std::string_view name) {
  static const json kNothing;
  if (!list.is_array()) return kNothing;
  const auto found = std::find_if(list.begin(), list.end(), [&](const json& item) {
    return Text(item, "name") == name;
  });
  return found == list.end() ? kNothing : *found;
}

// Without slashes at its ends.
std::string Trimmed(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return std::string(path);
}

bool IsIn(const std::string& path, const std::string& dir) {
  return dir.empty() || path == dir || path.starts_with(dir + "/");
}

std::string Joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "/" + b;
}

MountedPath Describe(const json& volume, const json& mount, const std::string& rest) {
  // What Kubernetes fills itself, and nobody writes to.
  constexpr const char* kFilled[] = {"configMap", "secret", "downwardAPI", "projected", "image"};
  MountedPath out{.volume = Text(mount, "name"), .mount_path = Text(mount, "mountPath")};
  const json& claim = Member(volume, "persistentVolumeClaim");
  out.claim = Text(claim, "claimName");
  out.host_path = Text(Member(volume, "hostPath"), "path");
  out.inside = Joined(Trimmed(Text(mount, "subPath")), rest);
  if (!Text(mount, "subPathExpr").empty()) out.inside.reset();
  out.read_only = IsTrue(mount, "readOnly") || IsTrue(claim, "readOnly") ||
                  std::any_of(std::begin(kFilled), std::end(kFilled),
                              [&](const char* kind) { return volume.contains(kind); });
  out.ends_with_pod = volume.contains("emptyDir") || volume.contains("ephemeral");
  return out;
}

}  // namespace

std::optional<MountedPath> FindMountedPath(const json& pod, std::string_view container,
                                           std::string_view path) {
  if (!path.starts_with("/") || (std::string(path) + "/").find("/../") != std::string::npos) {
    return std::nullopt;
  }
  const json& spec = Member(pod, "spec");
  const json& mounts = Member(Named(Member(spec, "containers"), container), "volumeMounts");
  if (!mounts.is_array()) return std::nullopt;
  const std::string wanted = Trimmed(path);
  const json* innermost = nullptr;
  std::string at;
  for (const json& mount : mounts) {
    const std::string dir = Trimmed(Text(mount, "mountPath"));
    if (!IsIn(wanted, dir) || (innermost != nullptr && dir.size() < at.size())) continue;
    innermost = &mount;
    at = dir;
  }
  if (innermost == nullptr) return std::nullopt;
  const json& volume = Named(Member(spec, "volumes"), Text(*innermost, "name"));
  if (!volume.is_object()) return std::nullopt;
  return Describe(volume, *innermost, Trimmed(std::string_view(wanted).substr(at.size())));
}

}  // namespace taas
