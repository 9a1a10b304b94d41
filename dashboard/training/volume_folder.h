// Where a volume of a job is on this machine, and folders in it: on the local cluster volumes are
// folders.
//
// Symbolic links below the volume's top are not followed: whoever can write into a volume could
// otherwise have other folders read.
//
// Ownership: values. Threads: any; OpenBelow may wait for the disk. Errors: the system's, naming
// the path.
//
//   const std::string top = VolumeTop(claim_dir, "ml", place);      // "": it is elsewhere.
//   ASSIGN_OR_RETURN(const Directory folder, OpenBelow(top, place.below));

#ifndef DASHBOARD_TRAINING_VOLUME_FOLDER_H_
#define DASHBOARD_TRAINING_VOLUME_FOLDER_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "operator/base/directory.h"

namespace taas::dashboard {

// Where a claim of a namespace is on this machine; null: volumes cannot be seen.
using ClaimDir = std::function<std::string(const std::string& ns, const std::string& claim)>;

// "": it cannot be seen from here.
std::string VolumeTop(const ClaimDir& claim_dir, const std::string& ns, const VolumePath& place);

// `below`: the path from the volume's top `top`; empty: the top itself.
absl::StatusOr<Directory> OpenBelow(const std::string& top, std::string_view below);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_VOLUME_FOLDER_H_
