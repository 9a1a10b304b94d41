// What a data file is, in words: its format, how much is in it, what its examples hold, whether it
// is whole. For `data inspect`.
//
// The format is told by what the file begins with (records, IDX), else by its name (.csv, .bin).
//
// Ownership: borrows the FileSystem. Threads: any. Errors: the FileSystem's and those of the
// format's reader, naming the file. A file of records is read to its end: damaged records are
// counted and the first is described; after damage behind which nothing can be found the text says
// so and `damaged` is set.
//
//   ASSIGN_OR_RETURN(const Inspection found, InspectFile(files, "train.tfrecord.gz"));
//   std::fputs(found.text.c_str(), stdout);

#ifndef TRAINER_DATA_INSPECT_H_
#define TRAINER_DATA_INSPECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

struct Inspection {
  std::string text;  // Lines, each with its end.
  bool damaged = false;
  bool known = true;  // False: the format is none that we know.
};

absl::StatusOr<Inspection> InspectFile(FileSystem& files, const std::string& path);

}  // namespace taas

#endif  // TRAINER_DATA_INSPECT_H_
