// Which data a training set is, as one line: enough to tell another list of files, or changed ones,
// and for a person to see which.
//
//   "60000 examples in 12 files, part-00000 to part-00011, 47040016 bytes, fingerprint 9c81…"
//
// The place of an example in an epoch follows from how many there are and in which order: replicas
// that see different lists, and a training that goes on with another one, would use some examples
// twice and others never, unseen.
//
// The fingerprint is of each file's name (not of its directory, which may be mounted elsewhere),
// its size, and its first and last kilobytes. What is in between is not read for this: of streamed
// data that would be all of it.
//
// Ownership: borrows the FileSystem. Threads: any. Errors: the FileSystem's.
//
//   ASSIGN_OR_RETURN(const std::string identity, IdentifyFiles(files, paths, examples));

#ifndef TRAINER_DATA_DATA_IDENTITY_H_
#define TRAINER_DATA_DATA_IDENTITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

// `paths` in their order; at least one.
absl::StatusOr<std::string> IdentifyFiles(FileSystem& files, const std::vector<std::string>& paths,
                                          int64_t examples);

}  // namespace taas

#endif  // TRAINER_DATA_DATA_IDENTITY_H_
