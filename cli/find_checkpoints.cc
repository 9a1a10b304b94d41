#include "cli/find_checkpoints.h"

#include <ostream>
#include <string>

namespace taas {

std::optional<CheckpointPlace> FindCheckpoints(const CommandIo& io, const ApiClient& api,
                                               const SeenJob& job) {
  std::optional<CheckpointPlace> place = CheckpointPlaceOf(job);
  if (!place.has_value() || place->claim.empty() || io.claim_folder == nullptr) return place;
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
