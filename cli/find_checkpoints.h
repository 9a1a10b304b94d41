// What this command can find out of where a job's checkpoints lie, and how it tells it.
//
// Ownership: the client outlives the calls. Threads: one. Errors: none.
//
//   TellCheckpoints(io, *api, job);  // At the end of a job.

#ifndef CLI_FIND_CHECKPOINTS_H_
#define CLI_FIND_CHECKPOINTS_H_

#include <optional>

#include "cli/api_client.h"
#include "cli/checkpoint_place.h"
#include "cli/command.h"
#include "cli/seen_job.h"

namespace taas {

// Whether the pods are processes of this machine.
bool OfLocalCluster(const CommandIo& io, const ApiClient& api);

// Looks into the folder of the claim, where it is one of this machine.
std::optional<CheckpointPlace> FindCheckpoints(const CommandIo& io, const ApiClient& api,
                                               const SeenJob& job);

// On io.err, of a job that has ended.
void TellCheckpoints(const CommandIo& io, const ApiClient& api, const SeenJob& job);

}  // namespace taas

#endif  // CLI_FIND_CHECKPOINTS_H_
