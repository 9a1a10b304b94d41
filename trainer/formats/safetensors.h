// Reads and writes safetensors files, as Hugging Face's libraries do.
//
//   file   = header-length: u64le  header  data
//   header = {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
//             "__metadata__": {"KEY": "VALUE", …}}      and spaces up to a multiple of 8 bytes
//
// Offsets count from the beginning of the data, which the tensors cover without holes and without
// overlap; values are little-endian and row-major. Source of the format: the README of the
// safetensors project. There are no checksums: a damaged value is not noticed.
//
// Nothing in a file is believed: lengths, places, shapes, types and names are checked when it is
// opened, before memory is taken for what they promise.
//
// Ownership: borrows the FileSystem, owns the open file. Threads: one at a time. Errors: DataLoss
// for what is no safetensors file, naming file and tensor; Unimplemented for element types that
// this tree cannot read; InvalidArgument (another shape than asked for, no such numbers); NotFound;
// those of the FileSystem. After a failed write the target is what it was before.
//
//   ASSIGN_OR_RETURN(auto reader, SafetensorsReader::Open(files, "model.safetensors"));
//   RETURN_IF_ERROR(reader->ReadFloats("hidden1/weights", {784, 500}, weights));
//   RETURN_IF_ERROR(WriteSafetensors(files, "copy.safetensors", tensors, {}));

#ifndef TRAINER_FORMATS_SAFETENSORS_H_
#define TRAINER_FORMATS_SAFETENSORS_H_

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

class SafetensorsReader {
 public:
  struct Entry {
    std::string dtype;  // As in the file: "BF16".
    ElementType type = ElementType::kFloat32;
    bool readable = true;  // False of types that this tree has no numbers for (F8_E4M3, U64 …).
    std::vector<int64_t> shape;
    uint64_t offset = 0;  // In the data.
    uint64_t size = 0;
  };

  static absl::StatusOr<std::unique_ptr<SafetensorsReader>> Open(FileSystem& files,
                                                                 std::string path);

  const std::string& path() const { return path_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // As it is in the file.
  absl::StatusOr<TensorValue> Read(const std::string& name) const;
  // Converted to float, whatever it is; the file's shape must be `shape`.
  absl::Status ReadFloats(const std::string& name, std::span<const int64_t> shape,
                          std::span<float> out) const;
  // Of whole numbers and booleans.
  absl::StatusOr<std::vector<int64_t>> ReadInt64s(const std::string& name) const;

 private:
  SafetensorsReader(std::string path, std::unique_ptr<RandomReadFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status ReadHeader();
  absl::Status CheckCoverage(uint64_t data_bytes) const;

  const std::string path_;
  const std::unique_ptr<RandomReadFile> file_;
  uint64_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

struct SafetensorsOptions {
  std::map<std::string, std::string> metadata{};
  // Tensors of float32 become BF16, rounded to the nearest.
  bool bfloat16 = false;
};

// All of one file; in its place, whole, when this returns. Tensors of strings are refused.
absl::Status WriteSafetensors(FileSystem& files, const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsOptions& options);

}  // namespace taas

#endif  // TRAINER_FORMATS_SAFETENSORS_H_
