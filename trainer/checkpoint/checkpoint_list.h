// The names of checkpoints in a directory: model.ckpt-STEP.index and what belongs to it.
//
// For those who read a directory that another process writes; the writer is CheckpointDir.
//
// Ownership: pure functions. Threads: any. Errors: the FileSystem's; NotFound without a directory.
//
//   ASSIGN_OR_RETURN(const std::vector<int64_t> steps, ListCheckpoints(files, "/out"));
//   auto reader = BundleReader::Open(files, CheckpointPrefix("/out", steps.back()));

#ifndef TRAINER_CHECKPOINT_CHECKPOINT_LIST_H_
#define TRAINER_CHECKPOINT_CHECKPOINT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

// "DIR/model.ckpt-1000"
std::string CheckpointPrefix(const std::string& dir, int64_t step);

// 1000 of "model.ckpt-1000.index" and "model.ckpt-1000.data-00000-of-00001"; -1 of any other name.
int64_t StepOfCheckpointFile(const std::string& name);
bool IsCheckpointIndex(const std::string& name);

// Steps of the checkpoints that are complete, ascending: in a directory, or among the names of its
// files. Whether they are undamaged shows when they are read.
std::vector<int64_t> CheckpointsAmong(const std::vector<std::string>& names);
absl::StatusOr<std::vector<int64_t>> ListCheckpoints(FileSystem& files, const std::string& dir);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_CHECKPOINT_LIST_H_
