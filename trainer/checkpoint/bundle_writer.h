// Writes one TensorFlow V2 checkpoint ("tensor bundle"): PREFIX.data-00000-of-00001 and
// PREFIX.index; a large one in several data files, "shards".
//
// A data file is the tensors' bytes back to back; the index is a LevelDB table from name to type,
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
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/tensor.h"

namespace taas {

class BundleWriter {
 public:
  struct Options {
    int shards = 1;
    // A smaller index, which TensorFlow reads as well. For tests: no program of ours asks for it.
    bool snappy_index = false;
    // Called with a data file after each kPieceBytes of it; an error ends the writing.
    std::function<absl::Status(WritableFile& file)> after_piece{};
  };
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Open(FileSystem& files, std::string prefix,
                                                            Options options);
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Open(FileSystem& files,
                                                            std::string prefix) {
    return Open(files, std::move(prefix), Options());
  }

  // Appends the bytes to the data file of `shard` now. TensorFlow adds in the order of names; any
  // order loads.
  absl::Status Add(const TensorView& tensor, int shard = 0);
  // Writes the index. All files are on the disk when this returns.
  absl::Status Finish();

 private:
  struct Shard {
    std::unique_ptr<WritableFile> file;
    int64_t offset = 0;
    size_t in_piece = 0;  // Bytes since the last whole piece.
  };
  // Not beyond the end of a piece.
  absl::Status Append(Shard& to, std::string_view piece);

  BundleWriter(FileSystem& files, std::string prefix, Options options)
      : files_(files), prefix_(std::move(prefix)), options_(options) {}

  FileSystem& files_;
  const std::string prefix_;
  const Options options_;
  std::vector<Shard> shards_;
  std::map<std::string, std::string> entries_;  // Name → encoded BundleEntry, in byte order.
};

// For each tensor the shard it goes to, in order, so that no data file has more than `bytes_max`
// bytes unless it holds one tensor only. At most kBundleShardsMax shards: the last takes the rest.
std::vector<int> PlanShards(std::span<const TensorView> tensors, int64_t bytes_max);

// Of one checkpoint: the names of its files have five digits, and all stay open while it is read.
inline constexpr int kBundleShardsMax = 1'000;

// Makes one checkpoint `target` of several, each with tensors of its own, as processes that wrote
// one each leave them: the data files are renamed, not copied, and the parts' indexes removed.
// InvalidArgument if two have a tensor of one name.
absl::Status MergeBundles(FileSystem& files, const std::vector<std::string>& parts,
                          const std::string& target);

// "PREFIX.data-00000-of-00001".
std::string BundleDataPath(const std::string& prefix, int shard = 0, int shards = 1);
std::string BundleIndexPath(const std::string& prefix);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_BUNDLE_WRITER_H_
