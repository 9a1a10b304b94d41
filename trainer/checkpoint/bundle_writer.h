// Writes one TensorFlow V2 checkpoint ("tensor bundle"): PREFIX.data-00000-of-00001 and
// PREFIX.index.
//
// The data file is the tensors' bytes back to back; the index is a LevelDB table from name to type,
// shape, place and checksum. TensorFlow loads the result (trainer/formats/README.md has the
// grammar).
//
// Ownership: borrows the FileSystem. Threads: one at a time. Errors: the FileSystem's;
// InvalidArgument for a tensor whose bytes and shape disagree or whose name was used before. After
// an error the files are worthless: write a bundle to a temporary place and rename it
// (checkpoint_dir.h does).
//
//   ASSIGN_OR_RETURN(auto writer, BundleWriter::Open(files, "dir/model.ckpt-1000"));
//   RETURN_IF_ERROR(writer->Add(FloatTensor("hidden1/weights", {784, 500}, weights)));
//   RETURN_IF_ERROR(writer->Finish());

#ifndef TRAINER_CHECKPOINT_BUNDLE_WRITER_H_
#define TRAINER_CHECKPOINT_BUNDLE_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/tensor.h"

namespace taas {

class BundleWriter {
 public:
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Open(FileSystem& files, std::string prefix);

  // Appends the bytes now. TensorFlow adds in the order of names; any order loads.
  absl::Status Add(const TensorView& tensor);
  // Writes the index. Both files are on the disk when this returns.
  absl::Status Finish();

 private:
  BundleWriter(FileSystem& files, std::string prefix, std::unique_ptr<WritableFile> data)
      : files_(files), prefix_(std::move(prefix)), data_(std::move(data)) {}

  FileSystem& files_;
  const std::string prefix_;
  std::unique_ptr<WritableFile> data_;
  int64_t offset_ = 0;
  std::map<std::string, std::string> entries_;  // Name → encoded BundleEntry, in byte order.
};

// "PREFIX.data-00000-of-00001".
std::string BundleDataPath(const std::string& prefix, int shard = 0, int shards = 1);
std::string BundleIndexPath(const std::string& prefix);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_BUNDLE_WRITER_H_
