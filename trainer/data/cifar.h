// The binary files of CIFAR-10 and CIFAR-100: records of a label, or of a coarse and a fine one,
// and the red, green and blue plane of an image of 32 × 32 bytes. Plain or gzip.
//
// Source of the format: https://www.cs.toronto.edu/~kriz/cifar.html
//
// In a Dataset the three channels of a pixel are side by side, as images are elsewhere.
//
// Ownership: the caller owns the result. Threads: any. Errors: the FileSystem's; DataLoss for a
// file that does not end after a record; InvalidArgument for a label out of range. Each names the
// file and, where it can, the record (from 0).
//
//   ASSIGN_OR_RETURN(Dataset set, ReadCifar(files, {"data_batch_1.bin"}, CifarLabels::kTen));

#ifndef TRAINER_DATA_CIFAR_H_
#define TRAINER_DATA_CIFAR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"

namespace taas {

// Of CIFAR-10; the 100 or the 20 of CIFAR-100.
enum class CifarLabels { kTen, kFine, kCoarse };

inline constexpr ImageShape kCifarImage{.height = 32, .width = 32, .channels = 3};

enum class CifarFormat { kTen, kHundred };

// So many labels does a record have, and each so many classes: the 10; the 20, then the 100.
std::span<const int32_t> CifarClasses(CifarFormat format);

struct CifarRecord {
  std::span<const uint8_t> labels;  // As CifarClasses has them; of any value.
  std::span<const uint8_t> pixels;  // Of kCifarImage, the channels side by side.
};

// Calls `visit` for each record of a file, of which there is at least one. What `visit` says is
// wrong is said of the record.
absl::Status EachCifarRecord(FileSystem& files, const std::string& path, CifarFormat format,
                             absl::FunctionRef<absl::Status(const CifarRecord&)> visit);

// As it lies in a file.
void AppendCifarRecord(const CifarRecord& record, std::string* out);

// All files, in their order; at least one.
absl::StatusOr<Dataset> ReadCifar(FileSystem& files, const std::vector<std::string>& paths,
                                  CifarLabels labels);

}  // namespace taas

#endif  // TRAINER_DATA_CIFAR_H_
