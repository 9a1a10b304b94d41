#include "dashboard/training/volume_folder.h"

#include <algorithm>
#include <utility>

#include "operator/base/status.h"

namespace taas::dashboard {

std::string VolumeTop(const ClaimDir& claim_dir, const std::string& ns, const VolumePath& place) {
  if (claim_dir == nullptr) return "";
  return place.claim.empty() ? place.host_path : claim_dir(ns, place.claim);
}

absl::StatusOr<Directory> OpenBelow(const std::string& top, std::string_view below) {
  ASSIGN_OR_RETURN(Directory directory, Directory::Open(top, Links::kRefused));
  while (!below.empty()) {
    const size_t end = std::min(below.find('/'), below.size());
    const std::string name(below.substr(0, end));
    below.remove_prefix(std::min(end + 1, below.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      return absl::FailedPreconditionError("open " + top + ": .. leads out of the volume");
    }
    ASSIGN_OR_RETURN(Directory inner, directory.OpenDirectoryIn(name));
    directory = std::move(inner);
  }
  return directory;
}

}  // namespace taas::dashboard
