// Reads TensorFlow V2 checkpoints, ours and TensorFlow's: any number of shards, plain or Snappy
// blocks.
//
// Every checksum is verified before a value is believed: each block of the index when it is
// opened, each tensor when it is read.
//
// Ownership: borrows the FileSystem, owns its open files. Threads: one at a time. Errors:
// NotFound; DataLoss (damaged or cut short), naming file and tensor; InvalidArgument (another type
// or shape than asked for); Unimplemented (partitioned variables).
//
//   ASSIGN_OR_RETURN(auto reader, BundleReader::Open(files, "dir/model.ckpt-1000"));
//   RETURN_IF_ERROR(reader->CheckVariables({{"w", ElementType::kFloat32, {784, 500}}}));
//   RETURN_IF_ERROR(reader->ReadFloats("w", shape, weights));

#ifndef TRAINER_CHECKPOINT_BUNDLE_READER_H_
#define TRAINER_CHECKPOINT_BUNDLE_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/tensor.h"

namespace taas {

class BundleReader {
 public:
  struct Entry {
    ElementType type = ElementType::kFloat32;
    std::vector<int64_t> shape;
    int shard = 0;
    int64_t offset = 0;
    int64_t size = 0;
    uint32_t masked_crc = 0;
    bool partitioned = false;
  };
  // What a model wants from a checkpoint.
  struct Variable {
    std::string name;
    ElementType type = ElementType::kFloat32;
    std::vector<int64_t> shape;
  };

  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(FileSystem& files, std::string prefix);

  const std::string& prefix() const { return prefix_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  bool Has(const std::string& name) const { return entries_.count(name) != 0; }

  absl::StatusOr<TensorValue> Read(const std::string& name) const;
  // Into the caller's memory; the checkpoint's shape must be `shape`.
  absl::Status ReadFloats(const std::string& name, std::span<const int64_t> shape,
                          std::span<float> out) const;
  absl::StatusOr<int64_t> ReadInt64(const std::string& name) const;  // A scalar.
  absl::StatusOr<std::vector<int64_t>> ReadInt64s(const std::string& name) const;

  // FailedPrecondition "… is a checkpoint of another model: …" with the first differences, unless
  // the checkpoint holds exactly these variables. `global_step` and names under "taas/" do not
  // count.
  absl::Status CheckVariables(const std::vector<Variable>& wanted) const;

  // Reads everything and checks every checksum.
  absl::Status VerifyAll() const;

 private:
  BundleReader(FileSystem& files, std::string prefix)
      : files_(files), prefix_(std::move(prefix)) {}
  absl::Status ReadIndex();
  absl::Status OpenShards(int shards);
  absl::StatusOr<const Entry*> Find(const std::string& name) const;
  absl::Status ReadBytes(const std::string& name, const Entry& entry, char* out) const;
  absl::Status Verify(const std::string& name, const Entry& entry) const;

  FileSystem& files_;
  const std::string prefix_;
  std::map<std::string, Entry> entries_;
  std::vector<std::unique_ptr<RandomReadFile>> shards_;
};

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_BUNDLE_READER_H_
