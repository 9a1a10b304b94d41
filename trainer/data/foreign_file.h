// What a file is that a reader found wrong, added to what the reader says: a table that begins with
// "<html>" has no column "label", and that is not what its owner needs to know.
//
// Ownership: borrows the FileSystem. Threads: any. Errors: the one that is given.
//
//   return NameForeign(files, path, FileKind::kIdx, status);

#ifndef TRAINER_DATA_FOREIGN_FILE_H_
#define TRAINER_DATA_FOREIGN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "operator/base/file_system.h"
#include "trainer/formats/file_kind.h"

namespace taas {

// `status` as it is, if it is OK or not about what the file holds, or if what the file holds, after
// decompression, may be `wanted`.
absl::Status NameForeign(FileSystem& files, const std::string& path, FileKind wanted,
                         absl::Status status);

}  // namespace taas

#endif  // TRAINER_DATA_FOREIGN_FILE_H_
