#include "trainer/checkpoint/bundle_writer.h"

#include <cstdio>
#include <utility>

#include "operator/base/crc32c.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/sorted_table.h"
#include "trainer/formats/tensor_bundle.pb.h"

namespace taas {
namespace {

constexpr int kBundleVersion = 1;

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

template <typename T>
std::string_view AsBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// The bytes of a string tensor: lengths as varints, masked checksum of the lengths, the strings.
// The tensor's checksum does not cover these bytes as they lie: it sees each length as a fixed
// number.
struct EncodedStrings {
  std::string bytes;
  uint32_t crc = 0;
};

EncodedStrings EncodeStrings(std::span<const std::string> strings) {
  EncodedStrings out;
  for (const std::string& text : strings) {
    AppendVarint(text.size(), &out.bytes);
    if (text.size() <= UINT32_MAX) {
      out.crc = ExtendCrc32c(out.crc, AsBytes(static_cast<uint32_t>(text.size())));
    } else {
      out.crc = ExtendCrc32c(out.crc, AsBytes(static_cast<uint64_t>(text.size())));
    }
  }
  const uint32_t lengths_crc = MaskCrc32c(out.crc);
  out.bytes += AsBytes(lengths_crc);
  out.crc = ExtendCrc32c(out.crc, AsBytes(lengths_crc));
  for (const std::string& text : strings) {
    out.bytes += text;
    out.crc = ExtendCrc32c(out.crc, text);
  }
  return out;
}

absl::Status CheckTensor(const TensorView& tensor) {
  const std::string what = "tensor " + tensor.name + " of " + ElementTypeName(tensor.type) +
                           ShapeText(tensor.shape);
  // "" is the key of the header, and a leading zero byte marks parts of partitioned variables.
  if (tensor.name.empty() || tensor.name[0] == '\0') {
    return absl::InvalidArgumentError("a checkpoint cannot hold a variable without a name");
  }
  const int64_t count = ElementCount(tensor.shape);
  if (count < 0) return absl::InvalidArgumentError(what + ": impossible shape");
  if (tensor.type == ElementType::kString) {
    if (static_cast<int64_t>(tensor.strings.size()) == count) return absl::OkStatus();
    return absl::InvalidArgumentError(what + ": got " + std::to_string(tensor.strings.size()) +
                                      " strings");
  }
  const int64_t element = ElementBytes(tensor.type);
  if (element == 0) return absl::UnimplementedError(what + ": cannot write this type");
  if (static_cast<int64_t>(tensor.bytes.size()) == count * element) return absl::OkStatus();
  return absl::InvalidArgumentError(what + ": got " + std::to_string(tensor.bytes.size()) +
                                    " bytes, want " + std::to_string(count * element));
}

}  // namespace

std::string BundleDataPath(const std::string& prefix, int shard, int shards) {
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
}

std::string BundleIndexPath(const std::string& prefix) { return prefix + ".index"; }

absl::StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Open(FileSystem& files,
                                                                 std::string prefix) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> data, files.OpenWrite(BundleDataPath(prefix)));
  std::unique_ptr<BundleWriter> writer(
      new BundleWriter(files, std::move(prefix), std::move(data)));
  formats::BundleHeader header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(kBundleVersion);
  writer->entries_[""] = header.SerializeAsString();
  return writer;
}

absl::Status BundleWriter::Add(const TensorView& tensor) {
  RETURN_IF_ERROR(CheckTensor(tensor)).With("write checkpoint " + prefix_);
  if (entries_.count(tensor.name) != 0) {
    return absl::InvalidArgumentError("write checkpoint " + prefix_ + ": variable " + tensor.name +
                                      " is there twice");
  }
  EncodedStrings strings;
  std::string_view bytes = tensor.bytes;
  if (tensor.type == ElementType::kString) {
    strings = EncodeStrings(tensor.strings);
    bytes = strings.bytes;
  } else {
    strings.crc = Crc32c(bytes);
  }
  RETURN_IF_ERROR(data_->Append(bytes));
  formats::BundleEntry entry;
  entry.set_dtype(static_cast<int>(tensor.type));
  entry.mutable_shape();  // Present even for a scalar, as TensorFlow writes it.
  for (const int64_t size : tensor.shape) entry.mutable_shape()->add_dim()->set_size(size);
  entry.set_offset(offset_);
  entry.set_size(static_cast<int64_t>(bytes.size()));
  entry.set_masked_crc32c(MaskCrc32c(strings.crc));
  entries_[tensor.name] = entry.SerializeAsString();
  offset_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status BundleWriter::Finish() {
  RETURN_IF_ERROR(data_->Sync());
  RETURN_IF_ERROR(data_->Close());
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> index,
                   files_.OpenWrite(BundleIndexPath(prefix_)));
  RETURN_IF_ERROR(index->Append(EncodeSortedTable(entries_)));
  RETURN_IF_ERROR(index->Sync());
  return index->Close();
}

}  // namespace taas
