// The checkpoints in a folder of this machine: on the local cluster a volume is one.
//
// Symbolic links are not followed (volume_folder.h). Names alone are looked at, and no file is
// opened.
//
// Ownership: values. Threads: any; may wait for the disk. Errors: the system's, naming the path.
//
//   ASSIGN_OR_RETURN(auto newest_first, ListCheckpointFolder("/…/mnist-out", "checkpoints"));

#ifndef DASHBOARD_TRAINING_CHECKPOINT_FOLDER_H_
#define DASHBOARD_TRAINING_CHECKPOINT_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/plan/saved_checkpoints.h"

namespace taas::dashboard {

// At most CheckpointReader::kCheckpointsMax of them. `below`: the path from the volume's top `top`;
// empty: the top itself.
absl::StatusOr<std::vector<SavedCheckpoint>> ListCheckpointFolder(const std::string& top,
                                                                  const std::string& below);

// "index" and "data-00000-of-00001": what stands behind the step in a checkpoint's file's name.
bool IsCheckpointPart(std::string_view part);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_CHECKPOINT_FOLDER_H_
