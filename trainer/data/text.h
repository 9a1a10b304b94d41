// Text as tokens: each byte of UTF-8 is one, so that any text has 256 of them and needs no
// vocabulary file.
//
// Ownership: the caller owns the result. Threads: any. Errors: those of gzip.h and dataset.h,
// naming the file; ResourceExhausted above kDataBytesMax.
//
//   ASSIGN_OR_RETURN(Dataset set, ReadText(files, {"train.txt"}, /*context=*/256));

#ifndef TRAINER_DATA_TEXT_H_
#define TRAINER_DATA_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"

namespace taas {

inline constexpr int32_t kByteVocabulary = 256;

// The files one after the other, as one text; plain or gzip.
absl::StatusOr<Dataset> ReadText(FileSystem& files, const std::vector<std::string>& paths,
                                 int64_t context);

}  // namespace taas

#endif  // TRAINER_DATA_TEXT_H_
