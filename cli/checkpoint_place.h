// Where the checkpoints of a job lie, for whoever wants the model that it trained.
//
// Of a job of the bundled trainer that keeps some. On a cluster its volume is all that is known; of
// a local one the volume is a folder of this machine, which is looked into.
//
// Ownership: values. Threads: any. Errors: none; what cannot be read is not known.
//
//   std::optional<CheckpointPlace> place = CheckpointPlaceOf(job);
//   if (place.has_value()) LookInFolder(folder_of_claim, &*place);
//   for (const std::string& line : CheckpointLines(job, *place)) io.err << line << "\n";

#ifndef CLI_CHECKPOINT_PLACE_H_
#define CLI_CHECKPOINT_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/seen_job.h"
#include "operator/api/job.h"

namespace taas {

struct CheckpointPlace {
  std::string dir;      // In the pods.
  std::string volume;   // "claim mnist-out", "volume out"; empty: on none.
  bool stays = false;   // After the pods.
  std::string claim;    // With a folder `inside` it; empty: of no claim.
  std::string inside;
  std::string folder;   // Of this machine; empty: elsewhere, or not known.
  // Of the newest checkpoint.
  std::optional<int64_t> step;
  std::optional<uint64_t> bytes;
};

// What job and status say. A job that has succeeded has saved its last step.
std::optional<CheckpointPlace> CheckpointPlaceOf(const SeenJob& job);

// `claim_folder`: of the volume's top on this machine; empty: it is elsewhere, so nothing is known.
void LookInFolder(const std::string& claim_folder, CheckpointPlace* place);

// "/out on claim mnist-out, step 2000, 3.1 MB"
std::string PlaceText(const CheckpointPlace& place);

// What to say at the end of a job, also what to do next; nothing where there is no checkpoint, as
// far as that is known.
std::vector<std::string> CheckpointLines(const Job& job, const CheckpointPlace& place);

}  // namespace taas

#endif  // CLI_CHECKPOINT_PLACE_H_
