// Examples as bare little-endian numbers: a file of features, each example of one shape, and a file
// with the label of each. Plain or gzip.
//
// Ownership: the caller owns the result. Threads: any. Errors: the FileSystem's; DataLoss for a
// file that does not end after an example; InvalidArgument for labels that are none and counts that
// differ. Each names the file and, where it can, the example (from 0).
//
//   ASSIGN_OR_RETURN(Dataset set, ReadRaw(files, "x.bin", "y.bin", {.shape = {32, 32, 3}}));

#ifndef TRAINER_DATA_RAW_H_
#define TRAINER_DATA_RAW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"
#include "trainer/data/rows.h"

namespace taas {

enum class RawNumber { kUint8, kInt32, kInt64, kFloat32 };

struct RawOptions {
  RawNumber type = RawNumber::kUint8;  // Of features: kUint8 or kFloat32.
  std::vector<int64_t> shape;          // Of one example's features.
  RawNumber label_type = RawNumber::kUint8;
  ClassCount classes;
};

absl::StatusOr<Dataset> ReadRaw(FileSystem& files, const std::string& features,
                                const std::string& labels, const RawOptions& options);

// {height, width} and {height, width, channels} are images, other shapes are none.
ImageShape ImageOfShape(const std::vector<int64_t>& shape);

}  // namespace taas

#endif  // TRAINER_DATA_RAW_H_
