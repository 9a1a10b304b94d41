#include "localkube/node/run_preparer.h"

#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <utility>

#include "localkube/node/pod_json.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

// ConfigMaps and Secrets that one pod may name, and what they may have together: each start of a
// container reads all of them into this process. No pod that anybody wrote comes near.
constexpr size_t kConfigsMax = 1000;
constexpr size_t kConfigBytesMax = 64 << 20;

absl::Status TooMuchConfig(size_t limit, const char* unit) {
  return absl::InvalidArgumentError(
      "the ConfigMaps and Secrets that the pod names are more than " + std::to_string(limit) +
      unit + "; put what is large into a persistentVolumeClaim");
}

}  // namespace

RunPreparer::RunPreparer(RunContext common, ApiCalls& api, FileSystem& disk, const PodDirs& dirs)
    : common_(std::move(common)), api_(api), disk_(disk), dirs_(dirs) {}

// The ConfigMaps and Secrets that the pod names, as they are now.
absl::StatusOr<PodConfig> RunPreparer::ReadConfig(const Json& pod) {
  PodConfig out;
  size_t bytes = 0;
  const std::string ns = Text(Member(pod, "metadata"), "namespace");
  const std::set<ConfigRef> refs = ConfigReferences(pod);
  if (refs.size() > kConfigsMax) return TooMuchConfig(kConfigsMax, "");
  for (const ConfigRef& ref : refs) {
    const char* plural = ref.kind == ConfigKind::kSecret ? "secrets/" : "configmaps/";
    const auto text = api_.Get("/api/v1/namespaces/" + ns + "/" + plural + ref.name);
    if (absl::IsNotFound(text.status())) continue;
    RETURN_IF_ERROR(text.status());
    bytes += text->size();
    if (bytes > kConfigBytesMax) return TooMuchConfig(kConfigBytesMax, " bytes");
    out.Add(ref, Json::parse(*text, nullptr, /*allow_exceptions=*/false));
  }
  return out;
}

absl::Status RunPreparer::WriteVolumeFiles(const ContainerRun& run) {
  for (const std::string& dir : run.dirs) RETURN_IF_ERROR(disk_.MakeDirs(dir));
  for (const VolumeFile& file : run.files) {
    RETURN_IF_ERROR(disk_.WriteAtomically(file.path, file.data));
    if (::chmod(file.path.c_str(), static_cast<mode_t>(file.mode)) != 0) {
      return ErrnoToStatus(errno, "chmod", file.path);
    }
  }
  return absl::OkStatus();
}

absl::Status RunPreparer::Prepare(const std::string& uid, const Json& pod,
                                  const std::string& container, const RunFiles& files,
                                  Share share) {
  RunContext context = common_;
  context.pod_dir = dirs_.Pod(uid);
  context.node = share.node;
  context.gpus = std::move(share.gpus);
  ASSIGN_OR_RETURN(const PodConfig config, ReadConfig(pod));
  ASSIGN_OR_RETURN(const ContainerRun run, PlanRun(pod, container, files, context, config));
  RETURN_IF_ERROR(WriteVolumeFiles(run));
  for (const RunMount& mount : run.spec.mounts) {
    ASSIGN_OR_RETURN(const bool exists, disk_.Exists(mount.source));
    if (!exists) {
      return absl::InvalidArgumentError("mount " + mount.target + ": " + mount.source +
                                        " does not exist on this machine");
    }
  }
  RETURN_IF_ERROR(WriteSpec(disk_, files, run.spec));
  const size_t root = dirs_.root().size();
  for (std::string dir = files.dir; dir.size() >= root; dir = DirName(dir)) {
    RETURN_IF_ERROR(disk_.SyncDir(dir));
  }
  return absl::OkStatus();
}

}  // namespace taas::localkube
