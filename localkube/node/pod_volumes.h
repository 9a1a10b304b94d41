// Where the volumes of a pod are on this machine, and the files to be made for them.
//
// Ownership: value types; a VolumePlanner keeps references to what it was given. Threads: any.
// Errors: InvalidArgument says in one sentence which volume the local cluster cannot give;
// FailedPrecondition: its content does not exist yet.
//
//   VolumePlanner planner(pod, container, context, config, program);
//   ASSIGN_OR_RETURN(const VolumePlan plan, planner.Plan());

#ifndef LOCALKUBE_NODE_POD_VOLUMES_H_
#define LOCALKUBE_NODE_POD_VOLUMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/pod_config.h"
#include "localkube/node/program_text.h"
#include "localkube/node/run_context.h"
#include "localkube/node/shim_record.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

// Of the files of all volumes that a container mounts: a ConfigMap that is listed a thousand times
// would else be a thousand copies in memory.
inline constexpr size_t kVolumeFilesBytesMax = 64 << 20;

struct VolumeFile {
  std::string path;
  std::string data;
  int mode = 0644;
};

struct VolumePlan {
  std::vector<RunMount> mounts;
  std::vector<std::string> dirs;  // To be made before the run starts, then the files.
  std::vector<VolumeFile> files;
};

// Where a claim is: the directory it is bound to, else NAMESPACE/CLAIM in `volumes_dir`.
struct ClaimPlace {
  std::string dir;
  bool bound = false;  // The directory is somebody's, and is not made.
};
ClaimPlace PlaceOfClaim(const std::string& volumes_dir, const VolumeBindings& bindings,
                        const std::string& ns, const std::string& claim);

class VolumePlanner {
 public:
  VolumePlanner(const nlohmann::json& pod, const nlohmann::json& container,
                const RunContext& context, const PodConfig& config, const ProgramText& program)
      : pod_(pod),
        container_(container),
        context_(context),
        config_(config),
        program_(program) {}

  absl::StatusOr<VolumePlan> Plan();

 private:
  struct Source {
    std::string path;
    bool read_only = false;
    bool made = false;  // Its content is ours: nothing may be added below it.
  };
  absl::StatusOr<Source> Locate(const nlohmann::json& volume);
  Source LocateClaim(const nlohmann::json& claim);
  absl::Status AddMount(const nlohmann::json& mount);
  absl::StatusOr<std::string> SubPath(const nlohmann::json& mount) const;
  absl::StatusOr<Source> Fill(const nlohmann::json& volume);
  absl::Status FillFrom(const nlohmann::json& source, const char* kind, const char* name_field,
                        const std::string& dir, int mode);
  absl::Status FillFields(const nlohmann::json& source, const std::string& dir, int mode);
  absl::Status AddFile(const std::string& dir, const std::string& path, std::string data,
                       int mode);

  const nlohmann::json& pod_;
  const nlohmann::json& container_;
  const RunContext& context_;
  const PodConfig& config_;
  const ProgramText& program_;  // With the environment that subPathExpr names.
  VolumePlan plan_;
  size_t file_bytes_ = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_VOLUMES_H_
