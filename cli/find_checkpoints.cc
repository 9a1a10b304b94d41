#include "cli/find_checkpoints.h"

#include <ostream>
#include <string>

namespace taas {
namespace {

// A path on no volume is one of the machine's own to all pods of a local cluster.
bool IsOnThisMachine(const CommandIo& io, const ApiClient& api, const CheckpointPlace& place) {
  return place.volume.empty() && place.dir.starts_with('/') && OfLocalCluster(io, api);
}

}  // namespace

bool OfLocalCluster(const CommandIo& io, const ApiClient& api) {
  return io.claim_folder != nullptr && !io.claim_folder(api.source(), "default", "any").empty();
}

std::optional<CheckpointPlace> FindCheckpoints(const CommandIo& io, const ApiClient& api,
                                               const SeenJob& job) {
  std::optional<CheckpointPlace> place = CheckpointPlaceOf(job);
  if (!place.has_value() || io.claim_folder == nullptr) return place;
  if (IsOnThisMachine(io, api, *place)) {
    place->stays = true;
    LookInFolder(place->dir, &*place);
    return place;
  }
  if (place->claim.empty()) return place;
  LookInFolder(io.claim_folder(api.source(), job.meta.ns, place->claim), &*place);
  return place;
}

void TellCheckpoints(const CommandIo& io, const ApiClient& api, const SeenJob& job) {
  if (!job.HasEnded()) return;
  const std::optional<CheckpointPlace> place = FindCheckpoints(io, api, job);
  if (!place.has_value()) return;
  for (const std::string& line : CheckpointLines(job, *place)) io.err << line << "\n";
}

}  // namespace taas
