// Which volume of a pod holds a path of its container, and what becomes of what is written there.
//
// Ownership: values. Threads: any. Errors: none; what is no pod mounts nothing.
//
//   const std::optional<MountedPath> at = FindMountedPath(pod, "trainer", "/out/checkpoints");
//   if (!at.has_value() || at->ends_with_pod) …  // Nobody else will see it.

#ifndef OPERATOR_PLAN_MOUNTED_PATH_H_
#define OPERATOR_PLAN_MOUNTED_PATH_H_

#include <optional>
#include <string>
#include <string_view>

#include "third_party/json.h"

namespace taas {

struct MountedPath {
  std::string volume;      // Its name in the pod.
  std::string mount_path;  // As the mount has it.
  std::string claim;       // Of a persistentVolumeClaim; else empty.
  std::string host_path;   // Of a hostPath; else empty.
  // From the volume's top to the path, without slashes at its ends; nothing where a subPathExpr
  // says it.
  std::optional<std::string> inside = "";
  bool read_only = false;
  bool ends_with_pod = false;  // Nobody sees it after the pod, nor from another pod.
};

// Nothing: the path is in no volume, so it ends with its container; or it is not absolute, or has
// ".." in it, and nobody says where that leads.
std::optional<MountedPath> FindMountedPath(const nlohmann::json& pod, std::string_view container,
                                           std::string_view path);

}  // namespace taas

#endif  // OPERATOR_PLAN_MOUNTED_PATH_H_
