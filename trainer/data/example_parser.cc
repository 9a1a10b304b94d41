#include "trainer/data/example_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {
namespace {

int64_t BytesOf(RawType raw) { return raw == RawType::kFloat32 ? 4 : 1; }

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

// What a missing feature's one string holds, so that it is decoded as any other.
std::string RawFallback(const FeatureSpec& spec) {
  if (spec.raw == RawType::kNone || !spec.fallback) return "";
  const size_t count = static_cast<size_t>(spec.count());
  if (spec.raw == RawType::kUint8) {
    return std::string(count, static_cast<char>(static_cast<uint8_t>(*spec.fallback)));
  }
  const float value = static_cast<float>(*spec.fallback);
  std::string text(count * sizeof(value), '\0');
  for (size_t i = 0; i < count; ++i) std::memcpy(&text[i * sizeof(value)], &value, sizeof(value));
  return text;
}

}  // namespace

int64_t FeatureSpec::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

ExampleParser::ExampleParser(std::vector<FeatureSpec> specs)
    : specs_(std::move(specs)), values_(specs_.size()) {
  for (const FeatureSpec& spec : specs_) {
    CHECK(spec.kind != FeatureKind::kNone) << spec.name << " needs a kind";
    CHECK(spec.raw == RawType::kNone || spec.kind == FeatureKind::kBytes)
        << spec.name << ": only bytes can be decoded";
    raw_fallbacks_.push_back(RawFallback(spec));
  }
}

absl::Status ExampleParser::Parse(std::string_view record) {
  RETURN_IF_ERROR(FindFeatures(record, &found_));
  for (size_t i = 0; i < specs_.size(); ++i) {
    RETURN_IF_ERROR(ParseOne(i)).With("feature \"" + specs_[i].name + "\"");
  }
  return absl::OkStatus();
}

absl::Status ExampleParser::ParseOne(size_t index) {
  const FeatureSpec& spec = specs_[index];
  FeatureValues& values = values_[index];
  values.Clear();
  const auto last = std::find_if(
      found_.rbegin(), found_.rend(),
      [&](const ExampleFeature& feature) { return feature.name == spec.name; });
  if (last != found_.rend()) {
    RETURN_IF_ERROR(ReadFeature(last->value, &values));
  }
  if (values.kind == FeatureKind::kNone) {
    // Also of a feature without a list, which TensorFlow takes for missing, too.
    if (!spec.fixed) return absl::OkStatus();
    if (!spec.fallback && !spec.fallback_text) {
      return absl::InvalidArgumentError(std::string("want ") + NameOf(spec.kind) +
                                        ", the record does not have it");
    }
    UseFallback(index);
    return absl::OkStatus();
  }
  if (values.kind != spec.kind) {
    return absl::InvalidArgumentError(std::string("want ") + NameOf(spec.kind) + ", it is " +
                                      NameOf(values.kind));
  }
  return CheckCount(index);
}

void ExampleParser::UseFallback(size_t index) {
  const FeatureSpec& spec = specs_[index];
  FeatureValues& values = values_[index];
  const size_t count = static_cast<size_t>(spec.count());
  values.kind = spec.kind;
  if (spec.raw != RawType::kNone) {
    values.bytes.push_back(raw_fallbacks_[index]);
  } else if (spec.kind == FeatureKind::kBytes) {
    values.bytes.assign(count, spec.fallback_text ? *spec.fallback_text : std::string_view());
  } else if (spec.kind == FeatureKind::kFloat) {
    values.floats.assign(count, static_cast<float>(spec.fallback.value_or(0)));
  } else {
    values.ints.assign(count, static_cast<int64_t>(spec.fallback.value_or(0)));
  }
}

absl::Status ExampleParser::CheckCount(size_t index) const {
  const FeatureSpec& spec = specs_[index];
  const FeatureValues& values = values_[index];
  if (spec.raw != RawType::kNone) {
    if (values.count() != 1) {
      return absl::InvalidArgumentError("want one string to decode, it has " +
                                        std::to_string(values.count()));
    }
    const int64_t bytes = std::ssize(values.bytes[0]);
    const int64_t want = spec.count() * BytesOf(spec.raw);
    if (spec.fixed ? bytes == want
                   : bytes % BytesOf(spec.raw) == 0 && (spec.shape.empty() || bytes <= want)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        std::string("want ") + (spec.fixed ? "" : "at most ") + std::to_string(want) +
        " bytes of shape " + ShapeText(spec.shape) + " of " +
        (spec.raw == RawType::kUint8 ? "uint8" : "float32") + ", it has " + std::to_string(bytes));
  }
  const int64_t count = values.count();
  if (spec.fixed ? count == spec.count() : spec.shape.empty() || count <= spec.count()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(std::string("want ") + (spec.fixed ? "" : "at most ") +
                                    std::to_string(spec.count()) + " values of shape " +
                                    ShapeText(spec.shape) + ", it has " + std::to_string(count));
}

int64_t ExampleParser::count(size_t index) const {
  const FeatureValues& values = values_[index];
  if (specs_[index].raw == RawType::kNone) return values.count();
  return values.bytes.empty() ? 0 : std::ssize(values.bytes[0]) / BytesOf(specs_[index].raw);
}

void ExampleParser::AppendFloats(size_t index, std::vector<float>* out) const {
  const FeatureSpec& spec = specs_[index];
  const FeatureValues& values = values_[index];
  const size_t begin = out->size();
  out->resize(begin + static_cast<size_t>(count(index)));
  float* const to = out->data() + begin;
  if (spec.raw == RawType::kUint8 && !values.bytes.empty()) {
    std::transform(values.bytes[0].begin(), values.bytes[0].end(), to,
                   [](char c) { return static_cast<float>(static_cast<uint8_t>(c)); });
  } else if (spec.raw == RawType::kFloat32 && !values.bytes.empty()) {
    std::memcpy(to, values.bytes[0].data(), values.bytes[0].size());
  } else if (spec.kind == FeatureKind::kFloat) {
    std::copy(values.floats.begin(), values.floats.end(), to);
  } else if (spec.kind == FeatureKind::kInt64) {
    std::transform(values.ints.begin(), values.ints.end(), to,
                   [](int64_t value) { return static_cast<float>(value); });
  }
  if (!spec.normalise) return;
  for (size_t i = begin; i < out->size(); ++i) {
    (*out)[i] = (*out)[i] * spec.normalise->scale + spec.normalise->offset;
  }
}

}  // namespace taas
