// What is at a path, in words and as JSON: a checkpoint, a directory of checkpoints or event files,
// a saved model, safetensors, an event file, or a data file.
//
// A checkpoint may be named by its prefix, by one of its files or, the newest of several, by its
// directory.
//
// Ownership: borrows the FileSystem. Threads: any. Errors: NotFound for what is not there; those of
// the format's reader, naming file and tensor.
//
//   ASSIGN_OR_RETURN(const PathReport report, InspectPath(files, "/out", {.values = true}));
//   std::fputs(report.text.c_str(), stdout);

#ifndef TRAINER_INSPECT_INSPECT_PATH_H_
#define TRAINER_INSPECT_INSPECT_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "operator/base/file_system.h"

namespace taas {

struct InspectOptions {
  // Reads every value: the least, the mean and the largest of each tensor; checks checksums.
  bool values = false;
};

struct PathReport {
  std::string text;     // Lines, each with its end.
  nlohmann::json json;  // An object with "path" and "format".
  bool damaged = false;
};

absl::StatusOr<PathReport> InspectPath(FileSystem& files, const std::string& path,
                                       const InspectOptions& options);

}  // namespace taas

#endif  // TRAINER_INSPECT_INSPECT_PATH_H_
