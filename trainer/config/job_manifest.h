// --config as a person has it: spec.trainer as JSON or YAML, or the manifest of a TrainingJob,
// whose volumes are directories of this machine.
//
// A path of spec.trainer below the mountPath of a volume becomes one below that volume's directory;
// of volumes within each other the innermost counts. Other paths stay as they are. Paths are those
// of data.train and data.test, checkpoint.dir, export.dir, summaries.dir and engine.trace.file.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: no such text, no TrainingJob or several
// in it, no spec.trainer, "--volume …" of a volume that is needed and not given, or that the job
// has not; those of the readers, with line and column.
//
//   ASSIGN_OR_RETURN(const VolumeDir data, ParseVolumeDir("data=./text-data"));
//   ASSIGN_OR_RETURN(const std::string trainer, TrainerOfConfig(text, "job.yaml", {{data}}, {}));

#ifndef TRAINER_CONFIG_JOB_MANIFEST_H_
#define TRAINER_CONFIG_JOB_MANIFEST_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

struct VolumeDir {
  std::string name;  // In spec.volumes.
  std::string dir;   // Of this machine.
};

// "NAME=DIR".
absl::StatusOr<VolumeDir> ParseVolumeDir(std::string_view text);

// Which paths somebody will open. One that is not needed stays as it is where its volume is not
// given.
struct NeededPaths {
  bool data = true;
  bool checkpoint = true;
  bool others = true;  // What else a training writes.
};

// The object spec.trainer as JSON. `source` is what messages call the text.
absl::StatusOr<std::string> TrainerOfConfig(std::string_view text, const std::string& source,
                                            std::span<const VolumeDir> volumes,
                                            const NeededPaths& needed);

}  // namespace taas

#endif  // TRAINER_CONFIG_JOB_MANIFEST_H_
