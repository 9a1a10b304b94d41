#include "trainer/formats/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/checkpoint/element_convert.h"
#include "trainer/formats/file_kind.h"
#include "trainer/formats/take_memory.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// That of the safetensors library: a longer header is no sensible file, and it is read whole.
constexpr uint64_t kHeaderBytesMax = 100'000'000;
// Of tensors, and of texts about them. Each costs a kilobyte of memory here, whatever it holds; the
// largest mixtures of experts have some 60,000 tensors, in several files.
constexpr size_t kNamesMax = 100'000;
// A tensor has fewer dimensions in every program there is.
constexpr size_t kRankMax = 64;
// So that the numbers of every tensor lie at multiples of their size in memory.
constexpr size_t kAlignment = 8;

constexpr char kMetadata[] = "__metadata__";

struct Dtype {
  std::string_view name;
  uint64_t bytes;
  ElementType type;
  bool readable;
};

constexpr Dtype kDtypes[] = {
    {"F64", 8, ElementType::kFloat64, true},   {"F32", 4, ElementType::kFloat32, true},
    {"F16", 2, ElementType::kFloat16, true},   {"BF16", 2, ElementType::kBfloat16, true},
    {"I64", 8, ElementType::kInt64, true},     {"I32", 4, ElementType::kInt32, true},
    {"I16", 2, ElementType::kInt16, true},     {"I8", 1, ElementType::kInt8, true},
    {"U8", 1, ElementType::kUint8, true},      {"BOOL", 1, ElementType::kBool, true},
    {"U64", 8, ElementType::kInt64, false},    {"U32", 4, ElementType::kInt32, false},
    {"U16", 2, ElementType::kInt16, false},    {"F8_E4M3", 1, ElementType::kUint8, false},
    {"F8_E5M2", 1, ElementType::kUint8, false},
};

const Dtype* FindDtype(std::string_view name) {
  const auto* const found = std::ranges::find(kDtypes, name, &Dtype::name);
  return found == std::end(kDtypes) ? nullptr : found;
}

// Takes the header as the parser meets it, so that a name that comes twice and nesting that is too
// deep are seen, and nothing is built that the format does not have.
class HeaderHandler : public nlohmann::json_sax<Json> {
 public:
  HeaderHandler(std::map<std::string, SafetensorsReader::Entry>* entries,
                std::map<std::string, std::string>* metadata)
      : entries_(*entries), metadata_(*metadata) {}

  // What is wrong, after a parse that failed.
  const std::string& wrong() const { return wrong_; }

  bool start_object(std::size_t) override {
    if (depth_ == 2) return Wrong("has an object inside");
    if (depth_ > 2) return Wrong("has an object in its list");
    if (depth_ == 1) {
      fields_.clear();
      ends_ = {};
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (--depth_ != 1 || name_ == kMetadata) return true;
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) return Wrong(std::string("has no ") + field);
    }
    if (ends_.size() != 2) return Wrong("data_offsets: must be two numbers");
    return AddTensor();
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || name_ == kMetadata || (field_ != "shape" && field_ != "data_offsets")) {
      return Wrong("has a list where none can be");
    }
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) {
      name_ = key;
      if (!names_.insert(key).second) return Wrong("is there twice");
      if (names_.size() > kNamesMax) {
        return Wrong("comes after " + std::to_string(kNamesMax) + " others, which are the most");
      }
      return true;
    }
    field_ = key;
    if (!fields_.insert(key).second) return Wrong("has " + key + " twice");
    if (fields_.size() > kNamesMax) {
      return Wrong("has more than " + std::to_string(kNamesMax) + " texts");
    }
    if (name_ != kMetadata && key != "dtype" && key != "shape" && key != "data_offsets") {
      return Wrong("has an unknown field " + key);
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && name_ == kMetadata) {
      metadata_[field_] = text;
      return true;
    }
    if (depth_ != 2 || field_ != "dtype") return Wrong("has a text where none can be");
    entry_.dtype = text;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (depth_ != 3) return Wrong("has a number where none can be");
    if (field_ == "data_offsets") {
      if (ends_.size() == 2) return Wrong("data_offsets: must be two numbers");
      ends_.push_back(number);
      return true;
    }
    if (number > uint64_t{INT64_MAX}) return Wrong("shape: no tensor is so large");
    if (shape_.size() >= kRankMax) return Wrong("shape: has too many dimensions");
    shape_.push_back(static_cast<int64_t>(number));
    return true;
  }
  bool null() override { return Wrong("has a null"); }
  bool boolean(bool) override { return Wrong("has a boolean"); }
  bool number_integer(number_integer_t) override { return Wrong("has a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Wrong("has a number that is not whole");
  }
  bool binary(binary_t&) override { return Wrong("has binary data"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    wrong_ = "the header is not JSON from its byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  bool Wrong(const std::string& what) {
    wrong_ = (depth_ == 0 ? std::string("the header") : "tensor \"" + name_ + "\"") + ": " + what;
    return false;
  }

  bool AddTensor() {
    const Dtype* const dtype = FindDtype(entry_.dtype);
    if (dtype == nullptr) return Wrong("dtype: \"" + entry_.dtype + "\" is not known");
    entry_.type = dtype->type;
    entry_.readable = dtype->readable;
    entry_.shape = std::exchange(shape_, {});
    const int64_t count = ElementCount(entry_.shape);
    uint64_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(static_cast<uint64_t>(count), dtype->bytes, &bytes)) {
      return Wrong("shape: no tensor is so large");
    }
    if (ends_[1] < ends_[0] || ends_[1] - ends_[0] != bytes) {
      return Wrong("data_offsets: [" + std::to_string(ends_[0]) + ", " + std::to_string(ends_[1]) +
                   "] are not the " + std::to_string(bytes) + " bytes of " + entry_.dtype +
                   ShapeText(entry_.shape));
    }
    entry_.offset = ends_[0];
    entry_.size = bytes;
    entries_[name_] = std::exchange(entry_, {});
    return true;
  }

  std::map<std::string, SafetensorsReader::Entry>& entries_;
  std::map<std::string, std::string>& metadata_;
  std::set<std::string> names_;
  int depth_ = 0;  // 1: between tensors; 2: in one; 3: in a list of one.
  std::string name_, field_;
  std::set<std::string> fields_;  // Of the present tensor.
  SafetensorsReader::Entry entry_;
  std::vector<int64_t> shape_;
  std::vector<uint64_t> ends_;
  std::string wrong_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsReader>> SafetensorsReader::Open(FileSystem& files,
                                                                           std::string path) {
  ASSIGN_OR_RETURN(auto file, files.OpenRead(path));
  std::unique_ptr<SafetensorsReader> reader(
      new SafetensorsReader(std::move(path), std::move(file)));
  if (const absl::Status status = reader->ReadHeader(); !status.ok()) {
    char first[kKindBytes];
    const size_t got = reader->file_->ReadAt(0, sizeof(first), first).value_or(0);
    return absl::Status(status.code(), "read safetensors " + reader->path_ + ": " +
                                           std::string(status.message()) +
                                           KindNote({first, got}, FileKind::kUnknown));
  }
  return reader;
}

absl::Status SafetensorsReader::ReadHeader() {
  ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  uint64_t length = 0;
  char length_bytes[sizeof(length)] = {};
  ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(0, sizeof(length), length_bytes));
  std::memcpy(&length, length_bytes, sizeof(length));
  if (got < sizeof(length)) return absl::DataLossError("it is shorter than the header's length");
  if (length > kHeaderBytesMax || length > size - sizeof(length)) {
    return absl::DataLossError("its header would have " + std::to_string(length) +
                               " bytes, the file has " + std::to_string(size) +
                               " and a header at most " + std::to_string(kHeaderBytesMax));
  }
  std::string header(length, '\0');
  ASSIGN_OR_RETURN(const size_t header_got,
                   file_->ReadAt(sizeof(length), header.size(), header.data()));
  if (header_got < header.size()) return absl::DataLossError("its header is cut short");
  if (header.empty() || header[0] != '{') {
    return absl::DataLossError("its header does not begin with {");
  }
  HeaderHandler handler(&entries_, &metadata_);
  if (!Json::sax_parse(std::string_view(header), &handler)) {
    return absl::DataLossError(handler.wrong());
  }
  data_begin_ = sizeof(length) + length;
  return CheckCoverage(size - data_begin_);
}

absl::Status SafetensorsReader::CheckCoverage(uint64_t data_bytes) const {
  std::vector<std::pair<uint64_t, const std::pair<const std::string, Entry>*>> order;
  // Empty tensors may lie between any two.
  for (const auto& item : entries_) order.emplace_back(item.second.offset, &item);
  std::ranges::sort(order, {}, [](const auto& item) {
    return std::pair(item.first, item.second->second.size);
  });
  uint64_t covered = 0;
  for (const auto& [offset, item] : order) {
    const auto& [name, entry] = *item;
    const std::string tensor = "tensor \"" + name + "\": ";
    if (offset > data_bytes || entry.size > data_bytes - offset) {
      return absl::DataLossError(tensor + "ends at byte " + std::to_string(offset + entry.size) +
                                 " of the data, which has " + std::to_string(data_bytes));
    }
    if (offset < covered) return absl::DataLossError(tensor + "overlaps the one before it");
    if (offset > covered) {
      return absl::DataLossError(tensor + "there is a hole of " + std::to_string(offset - covered) +
                                 " bytes before it");
    }
    covered = offset + entry.size;
  }
  if (covered == data_bytes) return absl::OkStatus();
  return absl::DataLossError(std::to_string(data_bytes - covered) +
                             " bytes at its end belong to no tensor");
}

absl::StatusOr<TensorValue> SafetensorsReader::Read(const std::string& name) const {
  const std::string what = "read safetensors " + path_ + ": tensor \"" + name + "\": ";
  const auto found = entries_.find(name);
  if (found == entries_.end()) return absl::NotFoundError(what + "there is none of this name");
  const Entry& entry = found->second;
  if (!entry.readable) return absl::UnimplementedError(what + "cannot read " + entry.dtype);
  TensorValue value{name, entry.type, entry.shape, "", {}};
  if (!TakeMemory(entry.size, &value.bytes)) {
    return NoMemory("read safetensors " + path_ + ": tensor \"" + name + "\"", entry.size);
  }
  ASSIGN_OR_RETURN(const size_t got,
                   file_->ReadAt(data_begin_ + entry.offset, entry.size, value.bytes.data()));
  if (got < entry.size) return absl::DataLossError(what + "the file is cut short");
  return value;
}

absl::Status SafetensorsReader::ReadFloats(const std::string& name, std::span<const int64_t> shape,
                                           std::span<float> out) const {
  ASSIGN_OR_RETURN(const TensorValue value, Read(name));
  const std::string what = "read safetensors " + path_ + ": tensor \"" + name + "\"";
  if (!std::ranges::equal(value.shape, shape)) {
    return absl::InvalidArgumentError(what + ": it is " + ShapeText(value.shape) + ", want " +
                                      ShapeText(shape));
  }
  return Annotate(ToFloats(value.type, value.bytes, out), what);
}

absl::StatusOr<std::vector<int64_t>> SafetensorsReader::ReadInt64s(const std::string& name) const {
  ASSIGN_OR_RETURN(const TensorValue value, Read(name));
  std::vector<int64_t> numbers(static_cast<size_t>(ElementCount(value.shape)));
  RETURN_IF_ERROR(ToInt64s(value.type, value.bytes, numbers))
      .With("read safetensors " + path_ + ": tensor \"" + name + "\"");
  return numbers;
}

namespace {

// A tensor and how it is written.
struct Part {
  const TensorView* tensor;
  const Dtype* dtype;
  uint64_t size;
};

absl::StatusOr<std::vector<Part>> PlanParts(std::span<const TensorView> tensors, bool bfloat16) {
  std::vector<Part> parts;
  std::set<std::string> names;
  for (const TensorView& tensor : tensors) {
    const std::string what = "tensor \"" + tensor.name + "\": ";
    if (tensor.name == kMetadata || !names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(what + "the name is taken");
    }
    const bool shortened = bfloat16 && tensor.type == ElementType::kFloat32;
    const ElementType type = shortened ? ElementType::kBfloat16 : tensor.type;
    const auto* const dtype = std::ranges::find_if(
        kDtypes, [&](const Dtype& d) { return d.readable && d.type == type; });
    if (dtype == std::end(kDtypes)) {
      return absl::InvalidArgumentError(what + "safetensors cannot hold " +
                                        ElementTypeName(tensor.type));
    }
    const int64_t count = ElementCount(tensor.shape);
    if (count < 0 ||
        static_cast<int64_t>(tensor.bytes.size()) != count * ElementBytes(tensor.type)) {
      return absl::InvalidArgumentError(what + std::to_string(tensor.bytes.size()) +
                                        " bytes are not " + ElementTypeName(tensor.type) +
                                        ShapeText(tensor.shape));
    }
    parts.push_back({&tensor, dtype, static_cast<uint64_t>(count) * dtype->bytes});
  }
  // As the library does: the larger elements first, so that all are aligned, then by name.
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    if (a.dtype->bytes != b.dtype->bytes) return a.dtype->bytes > b.dtype->bytes;
    return a.tensor->name < b.tensor->name;
  });
  return parts;
}

absl::StatusOr<std::string> EncodeHeader(const std::vector<Part>& parts,
                                         const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  uint64_t offset = 0;
  for (const Part& part : parts) {
    header[part.tensor->name] = {{"dtype", part.dtype->name},
                                 {"shape", part.tensor->shape},
                                 {"data_offsets", {offset, offset + part.size}}};
    offset += part.size;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  if (text.size() > kHeaderBytesMax) {
    return absl::InvalidArgumentError("the header would have " + std::to_string(text.size()) +
                                      " bytes, readers take " + std::to_string(kHeaderBytesMax));
  }
  return text;
}

absl::Status WriteParts(WritableFile& file, const std::string& header,
                        const std::vector<Part>& parts) {
  const uint64_t length = header.size();
  RETURN_IF_ERROR(file.Append({reinterpret_cast<const char*>(&length), sizeof(length)}));
  RETURN_IF_ERROR(file.Append(header));
  for (const Part& part : parts) {
    if (part.dtype->type == part.tensor->type) {
      RETURN_IF_ERROR(file.Append(part.tensor->bytes));
      continue;
    }
    std::vector<float> values(part.tensor->bytes.size() / sizeof(float));
    RETURN_IF_ERROR(ToFloats(part.tensor->type, part.tensor->bytes, values));
    RETURN_IF_ERROR(file.Append(ToBfloat16(values)));
  }
  RETURN_IF_ERROR(file.Sync());
  return file.Close();
}

}  // namespace

absl::Status WriteSafetensors(FileSystem& files, const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsOptions& options) {
  const std::string what = "write safetensors " + path;
  auto parts = PlanParts(tensors, options.bfloat16);
  if (!parts.ok()) return Annotate(parts.status(), what);
  auto header = EncodeHeader(*parts, options.metadata);
  if (!header.ok()) return Annotate(header.status(), what);
  const std::string temporary = path + ".tmp";
  ASSIGN_OR_RETURN(auto file, files.OpenWrite(temporary));
  if (const absl::Status written = WriteParts(*file, *header, *parts); !written.ok()) {
    (void)files.Remove(temporary);
    return Annotate(written, what);
  }
  RETURN_IF_ERROR(files.Rename(temporary, path)).With(what);
  return files.SyncDir(DirName(path));
}

}  // namespace taas
