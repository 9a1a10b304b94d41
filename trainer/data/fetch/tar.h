// The files of a tar archive that is in memory, as those are that data sets are published in.
//
// Format: ustar (POSIX.1-1988), whose numbers are octal text. Names that an extension puts into
// entries of their own (GNU, pax) are not read; such entries and folders are passed over.
//
// Ownership: views into the archive. Threads: any. Errors: DataLoss for a block that is no header,
// and for an archive that ends within a file, each with the place.
//
//   ASSIGN_OR_RETURN(const std::vector<TarFile> files, ReadTar(archive));

#ifndef TRAINER_DATA_FETCH_TAR_H_
#define TRAINER_DATA_FETCH_TAR_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct TarFile {
  std::string_view name;  // With its folders.
  std::string_view content;
};

absl::StatusOr<std::vector<TarFile>> ReadTar(std::string_view archive);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_TAR_H_
