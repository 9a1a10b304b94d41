#include "trainer/checkpoint/bundle_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/bounded_file.h"
#include "operator/base/crc32c.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/table_reader.h"
#include "trainer/formats/file_kind.h"
#include "trainer/formats/take_memory.h"
#include "trainer/formats/tensor_bundle.pb.h"

namespace taas {
namespace {

constexpr size_t kVerifyBytes = 1 << 20;  // Large enough for disks, small beside a trainer.
constexpr int kShardsMax = 100'000;       // The file name has five digits.
// Of a tensor of texts, each of which takes 40 bytes of memory, also if it is empty. No model that
// is trained here has any.
constexpr int64_t kStringsBytesMax = int64_t{16} << 20;
constexpr size_t kDifferencesShown = 3;   // More do not help to tell which model it was.

bool ReadVarint(std::string_view* text, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !text->empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(text->front());
    text->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <typename T>
std::string_view AsBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Splits and checks the bytes of a string tensor; see EncodeStrings in bundle_writer.cc. Empty text
// if all is well, else what is wrong.
std::string DecodeStrings(std::string_view bytes, uint64_t count, uint32_t masked_crc,
                          std::vector<std::string>* out) {
  std::vector<uint64_t> lengths;
  uint32_t crc = 0;
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    if (!ReadVarint(&bytes, &length) || length > bytes.size()) return "bad string length";
    lengths.push_back(length);
    total += length;
    crc = length <= UINT32_MAX ? ExtendCrc32c(crc, AsBytes(static_cast<uint32_t>(length)))
                               : ExtendCrc32c(crc, AsBytes(length));
  }
  uint32_t stored = 0;
  if (bytes.size() != sizeof(stored) + total) return "lengths of strings do not add up";
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  if (stored != MaskCrc32c(crc)) return "wrong checksum of string lengths";
  if (MaskCrc32c(ExtendCrc32c(crc, bytes)) != masked_crc) return "wrong checksum";
  bytes.remove_prefix(sizeof(stored));
  for (const uint64_t length : lengths) {
    out->emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return "";
}

std::string Describe(ElementType type, std::span<const int64_t> shape) {
  return ElementTypeName(type) + ShapeText(shape);
}

bool IsBookkeeping(const std::string& name) {
  return name == "global_step" || name.rfind("taas/", 0) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(FileSystem& files,
                                                                 std::string prefix) {
  std::unique_ptr<BundleReader> reader(new BundleReader(files, std::move(prefix)));
  RETURN_IF_ERROR(reader->ReadIndex()).With("open checkpoint " + reader->prefix_);
  return reader;
}

absl::Status BundleReader::ReadIndex() {
  const std::string path = BundleIndexPath(prefix_);
  auto text = ReadBounded(files_, path, kTableBytesMax);
  // Whoever looks for the newest good checkpoint passes over damaged ones.
  if (absl::IsInvalidArgument(text.status())) return absl::DataLossError(text.status().message());
  if (!text.ok()) return text.status();
  auto rows = ReadTable(*text);
  if (!rows.ok()) {
    return absl::DataLossError(path + ": " + std::string(rows.status().message()) +
                               KindNote(*text, FileKind::kUnknown));
  }
  formats::BundleHeader header;
  if (rows->count("") == 0 || !header.ParseFromString(rows->at("")) || header.num_shards() < 1 ||
      header.num_shards() >= kShardsMax) {
    return absl::DataLossError(path + ": no header of a TensorFlow V2 checkpoint");
  }
  if (header.endianness() != 0) {
    return absl::UnimplementedError(path + ": written on a big-endian machine");
  }
  for (const auto& [name, value] : *rows) {
    if (name.empty() || name[0] == '\0') continue;  // The header; a part of a partitioned variable.
    formats::BundleEntry record;
    if (!record.ParseFromString(value)) {
      return absl::DataLossError(path + ": entry of " + name + " is unreadable");
    }
    Entry entry;
    entry.type = static_cast<ElementType>(record.dtype());
    for (const auto& dim : record.shape().dim()) entry.shape.push_back(dim.size());
    entry.shard = record.shard_id();
    entry.offset = record.offset();
    entry.size = record.size();
    entry.masked_crc = record.masked_crc32c();
    entry.partitioned = record.slices_size() > 0;
    if (entry.shard < 0 || entry.shard >= header.num_shards() || entry.offset < 0 ||
        entry.size < 0 || ElementCount(entry.shape) < 0) {
      return absl::DataLossError(path + ": entry of " + name + " makes no sense");
    }
    entries_[name] = std::move(entry);
  }
  return OpenShards(header.num_shards());
}

absl::Status BundleReader::OpenShards(int shards) {
  for (int i = 0; i < shards; ++i) {
    ASSIGN_OR_RETURN(auto file, files_.OpenRead(BundleDataPath(prefix_, i, shards)));
    shards_.push_back(std::move(file));
  }
  for (const auto& [name, entry] : entries_) {
    if (entry.partitioned) continue;
    ASSIGN_OR_RETURN(const uint64_t size, shards_[entry.shard]->Size());
    if (static_cast<uint64_t>(entry.size) <= size &&
        static_cast<uint64_t>(entry.offset) <= size - static_cast<uint64_t>(entry.size)) {
      continue;
    }
    return absl::DataLossError(BundleDataPath(prefix_, entry.shard, shards) + ": cut short: has " +
                               std::to_string(size) + " bytes, but variable " + name + " has " +
                               std::to_string(entry.size) + " from byte " +
                               std::to_string(entry.offset));
  }
  return absl::OkStatus();
}

absl::StatusOr<const BundleReader::Entry*> BundleReader::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return absl::NotFoundError("read checkpoint " + prefix_ + ": it has no variable " + name);
  }
  if (found->second.partitioned) {
    return absl::UnimplementedError("read checkpoint " + prefix_ + ": variable " + name +
                                    " is stored in partitions");
  }
  return &found->second;
}

absl::Status BundleReader::ReadBytes(const std::string& name, const Entry& entry,
                                     char* out) const {
  const size_t size = static_cast<size_t>(entry.size);
  ASSIGN_OR_RETURN(const size_t got,
                   shards_[entry.shard]->ReadAt(static_cast<uint64_t>(entry.offset), size, out));
  if (got == size) return absl::OkStatus();
  return absl::DataLossError("read checkpoint " + prefix_ + ": variable " + name +
                             ": the data file is cut short");
}

absl::StatusOr<TensorValue> BundleReader::Read(const std::string& name) const {
  ASSIGN_OR_RETURN(const Entry* const entry, Find(name));
  const std::string what = "read checkpoint " + prefix_ + ": variable " + name + ": ";
  const int64_t count = ElementCount(entry->shape);
  const int64_t element = ElementBytes(entry->type);
  const bool strings = entry->type == ElementType::kString;
  // Before memory is taken: a data file may be long, and have nothing in it.
  if (!strings && element == 0) {
    return absl::UnimplementedError(what + "cannot read " + ElementTypeName(entry->type));
  }
  int64_t bytes = 0;
  if (!strings && (__builtin_mul_overflow(count, element, &bytes) || entry->size != bytes)) {
    return absl::DataLossError(what + std::to_string(entry->size) + " bytes cannot be " +
                               Describe(entry->type, entry->shape));
  }
  if (strings && entry->size > kStringsBytesMax) {
    return absl::ResourceExhaustedError(what + std::to_string(entry->size) +
                                        " bytes of texts are too many to be read");
  }
  TensorValue value{name, entry->type, entry->shape, "", {}};
  const uint64_t size = static_cast<uint64_t>(entry->size);
  if (!TakeMemory(size, &value.bytes)) {
    return NoMemory("read checkpoint " + prefix_ + ": variable " + name, size);
  }
  RETURN_IF_ERROR(ReadBytes(name, *entry, value.bytes.data()));
  if (strings) {
    const std::string wrong = DecodeStrings(value.bytes, static_cast<uint64_t>(count),
                                            entry->masked_crc, &value.strings);
    if (!wrong.empty()) return absl::DataLossError(what + wrong);
    value.bytes.clear();
    return value;
  }
  if (MaskedCrc32c(value.bytes) != entry->masked_crc) {
    return absl::DataLossError(what + "wrong checksum, the data file is damaged");
  }
  return value;
}

absl::Status BundleReader::ReadFloats(const std::string& name, std::span<const int64_t> shape,
                                      std::span<float> out) const {
  ASSIGN_OR_RETURN(const Entry* const entry, Find(name));
  const std::string what = "read checkpoint " + prefix_ + ": variable " + name + ": ";
  if (entry->type != ElementType::kFloat32 || !std::ranges::equal(entry->shape, shape) ||
      entry->size != static_cast<int64_t>(out.size_bytes())) {
    return absl::InvalidArgumentError(what + "it is " + Describe(entry->type, entry->shape) +
                                      ", want " + Describe(ElementType::kFloat32, shape));
  }
  char* const bytes = reinterpret_cast<char*>(out.data());
  RETURN_IF_ERROR(ReadBytes(name, *entry, bytes));
  if (MaskedCrc32c({bytes, out.size_bytes()}) != entry->masked_crc) {
    return absl::DataLossError(what + "wrong checksum, the data file is damaged");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> BundleReader::ReadInt64s(const std::string& name) const {
  ASSIGN_OR_RETURN(const TensorValue value, Read(name));
  if (value.type != ElementType::kInt64) {
    return absl::InvalidArgumentError("read checkpoint " + prefix_ + ": variable " + name +
                                      ": it is " + Describe(value.type, value.shape) +
                                      ", want int64");
  }
  std::vector<int64_t> numbers(value.bytes.size() / sizeof(int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), value.bytes.data(), value.bytes.size());
  return numbers;
}

absl::StatusOr<int64_t> BundleReader::ReadInt64(const std::string& name) const {
  ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, ReadInt64s(name));
  if (numbers.size() == 1) return numbers[0];
  return absl::InvalidArgumentError("read checkpoint " + prefix_ + ": variable " + name +
                                    ": it has " + std::to_string(numbers.size()) +
                                    " elements, want one");
}

absl::Status BundleReader::CheckVariables(const std::vector<Variable>& wanted) const {
  std::vector<std::string> differences;
  std::map<std::string, const Variable*> names;
  for (const Variable& variable : wanted) {
    names[variable.name] = &variable;
    const auto found = entries_.find(variable.name);
    if (found == entries_.end()) {
      differences.push_back(variable.name + " is missing there");
    } else if (found->second.type != variable.type || found->second.shape != variable.shape) {
      differences.push_back(variable.name + " is " +
                            Describe(found->second.type, found->second.shape) + " there and " +
                            Describe(variable.type, variable.shape) + " here");
    }
  }
  for (const auto& [name, entry] : entries_) {
    if (names.count(name) == 0 && !IsBookkeeping(name)) {
      differences.push_back(name + " is not part of this model");
    }
  }
  if (differences.empty()) return absl::OkStatus();
  std::string text = prefix_ + " is a checkpoint of another model: ";
  for (size_t i = 0; i < std::min(differences.size(), kDifferencesShown); ++i) {
    text += (i == 0 ? "" : "; ") + differences[i];
  }
  if (differences.size() > kDifferencesShown) {
    text += "; and " + std::to_string(differences.size() - kDifferencesShown) + " more";
  }
  return absl::FailedPreconditionError(text +
                                       ". Use another checkpoint directory or the same model");
}

absl::Status BundleReader::Verify(const std::string& name, const Entry& entry) const {
  if (entry.type == ElementType::kString) return Read(name).status();
  std::string chunk(std::min<size_t>(static_cast<size_t>(entry.size), kVerifyBytes), '\0');
  uint32_t crc = 0;
  for (int64_t done = 0; done < entry.size;) {
    Entry part = entry;
    part.offset += done;
    part.size = std::min<int64_t>(static_cast<int64_t>(chunk.size()), entry.size - done);
    RETURN_IF_ERROR(ReadBytes(name, part, chunk.data()));
    crc = ExtendCrc32c(crc, std::string_view(chunk.data(), static_cast<size_t>(part.size)));
    done += part.size;
  }
  if (MaskCrc32c(crc) == entry.masked_crc) return absl::OkStatus();
  return absl::DataLossError("read checkpoint " + prefix_ + ": variable " + name +
                             ": wrong checksum, the data file is damaged");
}

absl::Status BundleReader::VerifyAll() const {
  for (const auto& [name, entry] : entries_) {
    // Types that this tree does not know may have checksums of their own rules.
    const bool known = entry.type == ElementType::kString || ElementBytes(entry.type) != 0;
    if (entry.partitioned || !known) continue;
    RETURN_IF_ERROR(Verify(name, entry));
  }
  return absl::OkStatus();
}

}  // namespace taas
