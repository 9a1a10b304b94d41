// Between the two IDX files of a labelled image set, or a file of CIFAR, and a file of records of
// tf.train.Example; and from a file of records to another one, to compress or unpack it.
//
// Each record has `image_raw` (bytes: the pixels of one image), `label` (int64) and the sizes of
// the image: `height`, `width`, `depth` (int64; depth 1 of IDX files with three dimensions). These
// are the names of TensorFlow's own convert_to_records.py, so its readers take the file. Back from
// records the two IDX files are byte for byte what they were, but for a fourth dimension of one
// channel, which is left out, and for what gzip makes of them.
//
// Of CIFAR-100 `label` is the fine label, and `coarse_label` (int64) the other one. Back from
// records a file of CIFAR is byte for byte what it was.
//
// Ownership: borrows the FileSystem. Threads: any. Errors: those of the readers; InvalidArgument
// for IDX files of other types than bytes, images without three or four dimensions, records whose
// images differ in size or, for CIFAR, are not 32 × 32 × 3, labels that do not fit. A file appears
// whole or not at all.
//
//   ASSIGN_OR_RETURN(int64_t examples, IdxToRecords(files, {images, labels}, "train.tfrecord"));

#ifndef TRAINER_DATA_CONVERT_H_
#define TRAINER_DATA_CONVERT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/cifar.h"

namespace taas {

struct IdxFiles {
  std::string images;
  std::string labels;
};

// All give how many examples there are. What is written is gzip if its name ends with ".gz".
absl::StatusOr<int64_t> IdxToRecords(FileSystem& files, const IdxFiles& source,
                                     const std::string& target);
absl::StatusOr<int64_t> RecordsToIdx(FileSystem& files, const std::string& source,
                                     const IdxFiles& target);
absl::StatusOr<int64_t> CifarToRecords(FileSystem& files, const std::string& source,
                                       CifarFormat format, const std::string& target);
absl::StatusOr<int64_t> RecordsToCifar(FileSystem& files, const std::string& source,
                                       CifarFormat format, const std::string& target);
// Records of any kind, as they are.
absl::StatusOr<int64_t> RecordsToRecords(FileSystem& files, const std::string& source,
                                         const std::string& target);

}  // namespace taas

#endif  // TRAINER_DATA_CONVERT_H_
