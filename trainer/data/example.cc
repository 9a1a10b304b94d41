#include "trainer/data/example.h"

#include <cstring>

#include "operator/base/status.h"
#include "trainer/formats/wire.h"

namespace taas {
namespace {

// Example.features, Features.feature, and each value of a list.
constexpr uint32_t kOnly = 1;
constexpr uint32_t kFeatureLists = 2;  // Of a SequenceExample, whose context is in field 1.
constexpr uint32_t kEntryName = 1;
constexpr uint32_t kEntryValue = 2;

absl::Status NoExample(const std::string& why) {
  return absl::DataLossError("it is no tf.train.Example: " + why);
}

bool IsBytes(const WireReader& reader, uint32_t number) {
  return reader.number() == number && reader.type() == WireType::kBytes;
}

absl::Status ReadEntry(std::string_view entry, std::vector<ExampleFeature>* out) {
  ExampleFeature feature;
  WireReader reader(entry);
  while (reader.Next()) {
    if (IsBytes(reader, kEntryName)) feature.name = reader.bytes();
    if (IsBytes(reader, kEntryValue)) feature.value = reader.bytes();
  }
  if (!reader.ok()) return NoExample("a feature's entry is damaged");
  out->push_back(feature);
  return absl::OkStatus();
}

bool ReadBytesList(std::string_view list, std::vector<std::string_view>* out) {
  WireReader reader(list);
  while (reader.Next()) {
    if (IsBytes(reader, kOnly)) out->push_back(reader.bytes());
  }
  return reader.ok();
}

// Both packed, where it is one field of bytes, and not, where each number is a field.
bool ReadFloatList(std::string_view list, std::vector<float>* out) {
  WireReader reader(list);
  while (reader.Next()) {
    if (reader.number() != kOnly || reader.type() == WireType::kVarint) continue;
    if (reader.bytes().size() % sizeof(float) != 0) return false;
    const size_t size = out->size();
    out->resize(size + reader.bytes().size() / sizeof(float));
    // Of an empty list there may be no memory to copy to.
    if (!reader.bytes().empty()) {
      std::memcpy(out->data() + size, reader.bytes().data(), reader.bytes().size());
    }
  }
  return reader.ok();
}

bool ReadIntList(std::string_view list, std::vector<int64_t>* out) {
  WireReader reader(list);
  while (reader.Next()) {
    if (reader.number() != kOnly) continue;
    if (reader.type() == WireType::kVarint) out->push_back(static_cast<int64_t>(reader.varint()));
    if (reader.type() != WireType::kBytes) continue;
    std::string_view packed = reader.bytes();
    for (uint64_t value = 0; !packed.empty();) {
      if (!TakeVarint(&packed, &value)) return false;
      out->push_back(static_cast<int64_t>(value));
    }
  }
  return reader.ok();
}

bool ReadList(FeatureKind kind, std::string_view list, FeatureValues* values) {
  switch (kind) {
    case FeatureKind::kBytes: return ReadBytesList(list, &values->bytes);
    case FeatureKind::kFloat: return ReadFloatList(list, &values->floats);
    case FeatureKind::kInt64: return ReadIntList(list, &values->ints);
    case FeatureKind::kNone: break;
  }
  return true;
}

}  // namespace

const char* NameOf(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kBytes: return "bytes";
    case FeatureKind::kFloat: return "float";
    case FeatureKind::kInt64: return "int64";
    case FeatureKind::kNone: break;
  }
  return "nothing";
}

int64_t FeatureValues::count() const {
  switch (kind) {
    case FeatureKind::kBytes: return std::ssize(bytes);
    case FeatureKind::kFloat: return std::ssize(floats);
    case FeatureKind::kInt64: return std::ssize(ints);
    case FeatureKind::kNone: break;
  }
  return 0;
}

void FeatureValues::Clear() {
  kind = FeatureKind::kNone;
  bytes.clear();
  floats.clear();
  ints.clear();
}

absl::Status FindFeatures(std::string_view record, std::vector<ExampleFeature>* out) {
  out->clear();
  WireReader example(record);
  while (example.Next()) {
    if (IsBytes(example, kFeatureLists)) {
      return NoExample("it is a SequenceExample, with lists of features, which are not read here; "
                       "write each as an Example");
    }
    if (!IsBytes(example, kOnly)) continue;
    WireReader features(example.bytes());
    while (features.Next()) {
      if (!IsBytes(features, kOnly)) continue;
      RETURN_IF_ERROR(ReadEntry(features.bytes(), out));
    }
    if (!features.ok()) return NoExample("its features are damaged");
  }
  return example.ok() ? absl::OkStatus() : NoExample("its bytes are no protobuf");
}

absl::Status ReadFeature(std::string_view feature, FeatureValues* values) {
  values->Clear();
  WireReader reader(feature);
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes || reader.number() > 3) continue;
    const auto kind = static_cast<FeatureKind>(reader.number());
    // The last of a choice counts; two parts of one list are one list.
    if (kind != values->kind) values->Clear();
    values->kind = kind;
    if (!ReadList(kind, reader.bytes(), values)) {
      return NoExample(std::string("a list of ") + NameOf(kind) + " is damaged");
    }
  }
  return reader.ok() ? absl::OkStatus() : NoExample("a feature is damaged");
}

void ExampleBuilder::AddBytes(std::string_view name, std::span<const std::string_view> values) {
  for (const std::string_view value : values) AppendBytesField(kOnly, value, &list_);
  Add(name, FeatureKind::kBytes);
}

void ExampleBuilder::AddFloats(std::string_view name, std::span<const float> values) {
  if (!values.empty()) {
    AppendBytesField(kOnly, {reinterpret_cast<const char*>(values.data()), values.size_bytes()},
                     &list_);
  }
  Add(name, FeatureKind::kFloat);
}

void ExampleBuilder::AddInts(std::string_view name, std::span<const int64_t> values) {
  std::string& packed = feature_;
  packed.clear();
  for (const int64_t value : values) AppendVarint(static_cast<uint64_t>(value), &packed);
  if (!values.empty()) AppendBytesField(kOnly, packed, &list_);
  Add(name, FeatureKind::kInt64);
}

void ExampleBuilder::Add(std::string_view name, FeatureKind kind) {
  feature_.clear();
  AppendBytesField(static_cast<uint32_t>(kind), list_, &feature_);
  entry_.clear();
  AppendBytesField(kEntryName, name, &entry_);
  AppendBytesField(kEntryValue, feature_, &entry_);
  AppendBytesField(kOnly, entry_, &features_);
  list_.clear();
}

std::string ExampleBuilder::Take() {
  std::string record;
  AppendBytesField(kOnly, features_, &record);
  features_.clear();
  return record;
}

}  // namespace taas
