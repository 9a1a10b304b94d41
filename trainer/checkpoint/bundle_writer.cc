#include "trainer/checkpoint/bundle_writer.h"

#include <cstdio>
#include <utility>

#include "operator/base/crc32c.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/sorted_table.h"
#include "trainer/checkpoint/table_reader.h"
#include "trainer/checkpoint/write_pace.h"
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

std::string EncodeHeader(int shards) {
  formats::BundleHeader header;
  header.set_num_shards(shards);
  header.mutable_version()->set_producer(kBundleVersion);
  return header.SerializeAsString();
}

absl::Status WriteIndex(FileSystem& files, const std::string& prefix,
                        const std::map<std::string, std::string>& entries, bool snappy) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> index, files.OpenWrite(BundleIndexPath(prefix)));
  RETURN_IF_ERROR(index->Append(EncodeSortedTable(
      entries, snappy ? TableCompression::kSnappy : TableCompression::kNone)));
  RETURN_IF_ERROR(index->Sync());
  return index->Close();
}

}  // namespace

std::string BundleDataPath(const std::string& prefix, int shard, int shards) {
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
}

std::string BundleIndexPath(const std::string& prefix) { return prefix + ".index"; }

absl::StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Open(FileSystem& files,
                                                                 std::string prefix,
                                                                 Options options) {
  std::unique_ptr<BundleWriter> writer(new BundleWriter(files, std::move(prefix), options));
  for (int i = 0; i < options.shards; ++i) {
    const std::string path = BundleDataPath(writer->prefix_, i, options.shards);
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> data, files.OpenWrite(path));
    writer->shards_.push_back({std::move(data)});
  }
  writer->entries_[""] = EncodeHeader(options.shards);
  return writer;
}

absl::Status BundleWriter::Add(const TensorView& tensor, int shard) {
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
  }
  Shard& to = shards_[static_cast<size_t>(shard)];
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kPieceBytes - to.in_piece);
    rest.remove_prefix(piece.size());
    if (tensor.type != ElementType::kString) strings.crc = ExtendCrc32c(strings.crc, piece);
    RETURN_IF_ERROR(Append(to, piece));
  }
  formats::BundleEntry entry;
  entry.set_dtype(static_cast<int>(tensor.type));
  entry.mutable_shape();  // Present even for a scalar, as TensorFlow writes it.
  for (const int64_t size : tensor.shape) entry.mutable_shape()->add_dim()->set_size(size);
  entry.set_shard_id(shard);
  entry.set_offset(to.offset);
  entry.set_size(static_cast<int64_t>(bytes.size()));
  entry.set_masked_crc32c(MaskCrc32c(strings.crc));
  entries_[tensor.name] = entry.SerializeAsString();
  to.offset += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status BundleWriter::Append(Shard& to, std::string_view piece) {
  RETURN_IF_ERROR(to.file->Append(piece));
  to.in_piece += piece.size();
  if (to.in_piece < kPieceBytes) return absl::OkStatus();
  to.in_piece = 0;
  return options_.after_piece ? options_.after_piece(*to.file) : absl::OkStatus();
}

absl::Status BundleWriter::Finish() {
  for (Shard& shard : shards_) {
    RETURN_IF_ERROR(shard.file->Sync());
    RETURN_IF_ERROR(shard.file->Close());
  }
  return WriteIndex(files_, prefix_, entries_, options_.snappy_index);
}

std::vector<int> PlanShards(std::span<const TensorView> tensors, int64_t bytes_max) {
  std::vector<int> plan;
  int shard = 0;
  int64_t used = 0;
  for (const TensorView& tensor : tensors) {
    int64_t size = static_cast<int64_t>(tensor.bytes.size());
    for (const std::string& text : tensor.strings) size += static_cast<int64_t>(text.size());
    const bool full = used > 0 && size > 0 && size > bytes_max - used;
    if (full && shard + 1 < kBundleShardsMax) {
      ++shard;
      used = 0;
    }
    used += size;
    plan.push_back(shard);
  }
  return plan;
}

absl::Status MergeBundles(FileSystem& files, const std::vector<std::string>& parts,
                          const std::string& target) {
  const std::string what = "merge checkpoints into " + target;
  std::map<std::string, std::string> merged;
  std::vector<std::string> data_paths;
  for (const std::string& part : parts) {
    ASSIGN_OR_RETURN(const std::string text, files.ReadAll(BundleIndexPath(part)));
    const auto rows = ReadTable(text);
    if (!rows.ok()) return Annotate(rows.status(), what + ": " + BundleIndexPath(part));
    formats::BundleHeader header;
    if (rows->count("") == 0 || !header.ParseFromString(rows->at("")) || header.num_shards() < 1) {
      return absl::DataLossError(what + ": " + part + " has no header");
    }
    const int first = static_cast<int>(data_paths.size());
    for (int i = 0; i < header.num_shards() && i < kBundleShardsMax; ++i) {
      data_paths.push_back(BundleDataPath(part, i, header.num_shards()));
    }
    for (const auto& [name, value] : *rows) {
      if (name.empty()) continue;
      formats::BundleEntry entry;
      if (!entry.ParseFromString(value)) {
        return absl::DataLossError(what + ": " + part + ": entry of " + name + " is unreadable");
      }
      entry.set_shard_id(entry.shard_id() + first);
      if (!merged.emplace(name, entry.SerializeAsString()).second) {
        return absl::InvalidArgumentError(what + ": variable " + name + " is in two of them");
      }
    }
  }
  const int shards = static_cast<int>(data_paths.size());
  merged[""] = EncodeHeader(shards);
  for (int i = 0; i < shards; ++i) {
    RETURN_IF_ERROR(files.Rename(data_paths[static_cast<size_t>(i)],
                                 BundleDataPath(target, i, shards)))
        .With(what);
  }
  RETURN_IF_ERROR(files.SyncDir(DirName(target))).With(what);
  RETURN_IF_ERROR(WriteIndex(files, target, merged, /*snappy=*/false)).With(what);
  for (const std::string& part : parts) {
    if (part == target) continue;
    RETURN_IF_ERROR(files.Remove(BundleIndexPath(part))).With(what);
  }
  return absl::OkStatus();
}

}  // namespace taas
