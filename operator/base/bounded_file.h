// A whole file that somebody named, of which nobody knows how long it is.
//
// Ownership: values. Threads: any. Errors: as FileSystem's, and InvalidArgument for one that is
// longer than the limit, of which no more than that is read.
//
//   ASSIGN_OR_RETURN(const std::string text, ReadBounded(files, path, 8 << 20));

#ifndef OPERATOR_BASE_BOUNDED_FILE_H_
#define OPERATOR_BASE_BOUNDED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

absl::StatusOr<std::string> ReadBounded(FileSystem& files, const std::string& path,
                                        size_t bytes_max);

// "read PATH: longer than 8 MiB, …"
absl::Status TooLong(const std::string& path, size_t bytes_max);

}  // namespace taas

#endif  // OPERATOR_BASE_BOUNDED_FILE_H_
