// A file of examples as one run of bytes, plain or gzip.
//
// Ownership: the caller owns the result. Threads: any. Errors: those of gzip.h; ResourceExhausted
// beyond kDataBytesMax, naming the file.
//
//   ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, ReadWholeFile(files, "train.txt"));

#ifndef TRAINER_DATA_WHOLE_FILE_H_
#define TRAINER_DATA_WHOLE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

absl::StatusOr<std::vector<uint8_t>> ReadWholeFile(FileSystem& files, const std::string& path);

}  // namespace taas

#endif  // TRAINER_DATA_WHOLE_FILE_H_
