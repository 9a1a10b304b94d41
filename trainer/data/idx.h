// IDX files, the format of MNIST: a header of type and sizes, then the numbers, big-endian; gzip or
// plain.
//
// Ownership: IdxArray is a value. Threads: any. Errors: NotFound; DataLoss (not gzip, truncated,
// more bytes than the header says, not an IDX file); ResourceExhausted (larger than kIdxBytesMax);
// InvalidArgument (labels that are none, numbers that are not finite, different counts). Each
// sentence names the file.
//
//   ASSIGN_OR_RETURN(IdxArray images, ReadIdx(files, "train-images.gz"));
//   ASSIGN_OR_RETURN(Dataset set, ReadLabelledIdx(files, images_path, labels_path, {}));

#ifndef TRAINER_DATA_IDX_H_
#define TRAINER_DATA_IDX_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"

namespace taas {

// Twice the largest set of this kind in use; a header that says more is more likely damaged.
inline constexpr int64_t kIdxBytesMax = int64_t{16} << 30;

// The third byte of the file.
enum class IdxType : uint8_t {
  kUint8 = 0x08,
  kInt8 = 0x09,
  kInt16 = 0x0b,
  kInt32 = 0x0c,
  kFloat32 = 0x0d,
  kFloat64 = 0x0e,
};

struct IdxArray {
  IdxType type = IdxType::kUint8;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  // In the byte order of this machine.

  int64_t count() const;  // Elements.
  // All elements, without scaling. Of float and double.
  template <typename T>
  std::vector<T> Numbers() const;
};

absl::StatusOr<IdxArray> ReadIdx(FileSystem& files, const std::string& path);
// The file's text before compression. Only uint8.
std::string EncodeIdx(std::span<const int64_t> shape, std::string_view bytes);

struct LabelledIdxOptions {
  // 0: as many as the largest label says.
  int32_t classes = 0;
  bool ids = false;  // Whole numbers of 32 bits stay exact.
};

// Images (any number of dimensions, the first counts examples) and their labels. Integer labels
// make classes, float labels targets of a regression.
absl::StatusOr<Dataset> ReadLabelledIdx(FileSystem& files, const std::string& images,
                                        const std::string& labels, LabelledIdxOptions options);

}  // namespace taas

#endif  // TRAINER_DATA_IDX_H_
