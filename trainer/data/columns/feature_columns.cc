#include "trainer/data/columns/feature_columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/string_view.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"
#include "trainer/data/columns/column_hash.h"
#include "trainer/data/number_text.h"

namespace taas {
namespace {

using nlohmann::json;

// Characters of names, which become those of variables.
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
constexpr size_t kNameBytesMax = 128;

absl::Status Invalid(const std::string& why) { return absl::InvalidArgumentError(why); }

bool OfTexts(ColumnType type) {
  return type == ColumnType::kVocabulary || type == ColumnType::kHashed;
}

bool IsMissing(const SourceValue& value) {
  return std::holds_alternative<std::monostate>(value);
}

absl::Status Missing() { return Invalid("the value is missing, and the column has no default"); }

absl::StatusOr<double> NumberOf(const SourceValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return ParseNumber(*text);
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  const double number = std::get<double>(value);
  if (std::isfinite(number)) return number;
  return Invalid("want a number, it is " + std::string(std::isnan(number) ? "NaN" : "infinite"));
}

// `digits` is memory for those of a whole number.
absl::StatusOr<std::string_view> TextOf(const SourceValue& value, std::string* digits) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    *digits = std::to_string(*whole);
    return std::string_view(*digits);
  }
  return Invalid("want a text or a whole number, it is a float: numeric and bucketized columns "
                 "take those");
}

absl::StatusOr<int64_t> CategoriesField(const json& value, const std::string& path,
                                        const char* name) {
  if (!value.contains(name)) return InvalidField(path + "." + name, "is missing");
  return WholeField(value, path, name, {1, 1, kCategoriesMax});
}

// As floats, in which TensorFlow compares.
absl::StatusOr<std::vector<float>> BoundariesField(const json& value, const std::string& path) {
  const std::string at = path + ".boundaries";
  const json list = value.value("boundaries", json());
  std::vector<float> boundaries;
  if (!list.is_array() || list.empty()) {
    return InvalidField(at, "must be a list of ascending numbers, as [18, 35, 65]");
  }
  for (const json& boundary : list) {
    if (!boundary.is_number() ||
        (!boundaries.empty() && boundary.get<float>() <= boundaries.back())) {
      return InvalidField(at + "[" + std::to_string(boundaries.size()) + "]",
                          "must be a number above the one before, is " + boundary.dump());
    }
    boundaries.push_back(boundary.get<float>());
  }
  return boundaries;
}

std::vector<std::string_view> FieldsOf(ColumnType type) {
  switch (type) {
    case ColumnType::kNumeric:
      return {"name", "type", "source", "default", "normalise"};
    case ColumnType::kBucketized:
      return {"name", "type", "source", "default", "boundaries"};
    case ColumnType::kIdentity:
    case ColumnType::kHashed:
      return {"name", "type", "source", "default", "buckets"};
    case ColumnType::kVocabulary:
      return {"name", "type", "source", "default", "values", "oovBuckets"};
    case ColumnType::kCrossed:
      return {"name", "type", "sources", "buckets"};
  }
  return {};
}

}  // namespace

std::optional<SourceValue> SourceValueOf(const json& value) {
  if (value.is_null()) return SourceValue();
  if (value.is_string()) return std::string_view(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

absl::StatusOr<FeatureColumns> FeatureColumns::Parse(const json& value, const std::string& path) {
  if (!value.is_array() || value.empty() || value.size() > kColumnsMax) {
    return InvalidField(path, "must be a list of 1 to " + std::to_string(kColumnsMax) +
                                  " columns");
  }
  FeatureColumns columns;
  for (size_t i = 0; i < value.size(); ++i) {
    RETURN_IF_ERROR(columns.ParseColumn(value[i], path + "[" + std::to_string(i) + "]"));
  }
  RETURN_IF_ERROR(columns.CheckOrder(path));
  return columns;
}

absl::Status FeatureColumns::ParseColumn(const json& value, const std::string& path) {
  if (!value.is_object()) return InvalidField(path, "must be an object with a name and a type");
  ASSIGN_OR_RETURN(const std::string name, TextField(value, path, "name"));
  if (name.size() > kNameBytesMax || name.find_first_not_of(kNameCharacters) != name.npos) {
    return InvalidField(path + ".name", "must be at most " + std::to_string(kNameBytesMax) +
                                            " letters, digits, _, . and -");
  }
  if (std::ranges::find(shapes_, name, &ColumnShape::name) != shapes_.end()) {
    return InvalidField(path + ".name", "\"" + name + "\" is there twice");
  }
  RETURN_IF_ERROR(TextField(value, path, "type").status());
  ASSIGN_OR_RETURN(const size_t type,
                   ChoiceField(value, path, "type", {"numeric", "bucketized", "identity",
                                                     "vocabulary", "hashed", "crossed"}));
  Column column{.type = static_cast<ColumnType>(type)};
  RETURN_IF_ERROR(CheckFields(value, path, FieldsOf(column.type)));
  if (column.type != ColumnType::kCrossed) {
    std::string source = name;
    if (value.contains("source")) {
      ASSIGN_OR_RETURN(source, TextField(value, path, "source"));
    }
    column.source = SourceNamed(source);
    RETURN_IF_ERROR(ParseFallback(value, path, &column));
  }
  RETURN_IF_ERROR(ParseType(value, path, &column));
  RETURN_IF_ERROR(CheckFallback(column, path));
  int64_t categories = column.buckets;
  if (column.type == ColumnType::kBucketized) categories = std::ssize(column.boundaries) + 1;
  if (column.type == ColumnType::kVocabulary) {
    categories = static_cast<int64_t>(column.ids.size()) + column.oov_buckets;
  }
  if (categories > kCategoriesMax) {
    return InvalidField(path, "has " + std::to_string(categories) + " categories, at most " +
                                  std::to_string(kCategoriesMax) + " are allowed");
  }
  shapes_.push_back({.name = name,
                     .categories = categories,
                     .crossed = column.type == ColumnType::kCrossed});
  if (categories > 0) ++ids_;
  columns_.push_back(std::move(column));
  return absl::OkStatus();
}

absl::Status FeatureColumns::ParseFallback(const json& value, const std::string& path,
                                           Column* column) {
  const auto found = value.find("default");
  if (found == value.end()) return absl::OkStatus();
  column->has_fallback = true;
  if (!OfTexts(column->type)) {
    // A schema of the manifest has no type for any number or text, but one for whole numbers.
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    const absl::StatusOr<double> number = ParseNumber(text);
    if (!number.ok()) return InvalidField(path + ".default", "must be a number");
    column->fallback = *number;
    return absl::OkStatus();
  }
  if (!found->is_string() && !found->is_number_integer()) {
    return InvalidField(path + ".default", "must be a text or a whole number");
  }
  column->fallback_text = found->is_string() ? found->get<std::string>() : found->dump();
  return absl::OkStatus();
}

absl::Status FeatureColumns::CheckFallback(const Column& column, const std::string& path) {
  if (!column.has_fallback) return absl::OkStatus();
  const absl::Status status = OfTexts(column.type)
                                  ? EncodeText(column, column.fallback_text).status()
                              : column.type == ColumnType::kNumeric
                                  ? EncodeQuantity(column, column.fallback).status()
                                  : EncodeBucket(column, column.fallback).status();
  return status.ok() ? status : InvalidField(path + ".default", std::string(status.message()));
}

absl::Status FeatureColumns::ParseType(const json& value, const std::string& path,
                                       Column* column) {
  switch (column->type) {
    case ColumnType::kNumeric: {
      if (!value.contains("normalise")) return absl::OkStatus();
      const json& normalise = value["normalise"];
      const std::string at = path + ".normalise";
      RETURN_IF_ERROR(CheckFields(normalise, at, {"scale", "offset"}));
      ASSIGN_OR_RETURN(const std::optional<double> scale, RealField(normalise, at, "scale"));
      ASSIGN_OR_RETURN(const std::optional<double> offset, RealField(normalise, at, "offset"));
      column->scale = static_cast<float>(scale.value_or(1));
      column->offset = static_cast<float>(offset.value_or(0));
      return absl::OkStatus();
    }
    case ColumnType::kBucketized: {
      ASSIGN_OR_RETURN(column->boundaries, BoundariesField(value, path));
      return absl::OkStatus();
    }
    case ColumnType::kIdentity:
    case ColumnType::kHashed: {
      ASSIGN_OR_RETURN(column->buckets, CategoriesField(value, path, "buckets"));
      return absl::OkStatus();
    }
    case ColumnType::kVocabulary:
      return ParseVocabulary(value, path, column);
    case ColumnType::kCrossed:
      return ParseCrossed(value, path, column);
  }
  return absl::OkStatus();
}

absl::Status FeatureColumns::ParseVocabulary(const json& value, const std::string& path,
                                             Column* column) {
  ASSIGN_OR_RETURN(column->oov_buckets,
                   WholeField(value, path, "oovBuckets", {0, 0, kCategoriesMax}));
  const std::string at = path + ".values";
  const json list = value.value("values", json());
  if (!list.is_array() || list.empty()) {
    return InvalidField(at, "must be a list of texts or whole numbers");
  }
  for (const json& word : list) {
    const std::string here = at + "[" + std::to_string(column->ids.size()) + "]";
    if (!word.is_string() && !word.is_number_integer()) {
      return InvalidField(here, "must be a text or a whole number, is " + word.dump());
    }
    const std::string text = word.is_string() ? word.get<std::string>() : word.dump();
    if (!column->ids.emplace(text, static_cast<int64_t>(column->ids.size())).second) {
      return InvalidField(here, Shown(text) + " is there twice");
    }
  }
  return absl::OkStatus();
}

absl::Status FeatureColumns::ParseCrossed(const json& value, const std::string& path,
                                          Column* column) {
  ASSIGN_OR_RETURN(column->buckets, CategoriesField(value, path, "buckets"));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, TextsField(value, path, "sources"));
  if (names.size() < 2) return InvalidField(path + ".sources", "must be a list of at least two");
  for (size_t i = 0; i < names.size(); ++i) {
    const auto named = std::ranges::find(shapes_, names[i], &ColumnShape::name);
    const std::string at = path + ".sources[" + std::to_string(i) + "]";
    if (named == shapes_.end()) {
      column->crossed.push_back({.feature = SourceNamed(names[i])});
      continue;
    }
    const size_t index = static_cast<size_t>(named - shapes_.begin());
    const Column& earlier = columns_[index];
    if (earlier.type == ColumnType::kNumeric || earlier.type == ColumnType::kCrossed) {
      return InvalidField(at, "\"" + names[i] + "\" has no categories of its own: cross a "
                              "bucketized column of it, or the features it is made of");
    }
    // What was hashed already would meet others once more.
    if (earlier.type == ColumnType::kHashed) {
      column->crossed.push_back({.feature = earlier.source, .default_of = index});
    } else {
      const auto is_id = [](const ColumnShape& shape) { return shape.categories > 0; };
      const auto place = std::count_if(shapes_.begin(), named, is_id);
      column->crossed.push_back({.id_of = static_cast<size_t>(place)});
    }
  }
  return absl::OkStatus();
}

absl::Status FeatureColumns::CheckOrder(const std::string& path) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (size_t s = 0; s < columns_[i].crossed.size(); ++s) {
      const CrossSource& source = columns_[i].crossed[s];
      if (source.id_of || source.default_of) continue;
      const std::string& name = sources_[source.feature];
      if (std::ranges::find(shapes_, name, &ColumnShape::name) == shapes_.end()) continue;
      return InvalidField(path + "[" + std::to_string(i) + "].sources[" + std::to_string(s) + "]",
                          "the column \"" + name + "\" must come before this one");
    }
  }
  return absl::OkStatus();
}

size_t FeatureColumns::SourceNamed(const std::string& name) {
  const auto found = std::ranges::find(sources_, name);
  if (found != sources_.end()) return static_cast<size_t>(found - sources_.begin());
  sources_.push_back(name);
  return sources_.size() - 1;
}

absl::StatusOr<int64_t> FeatureColumns::EncodeCross(const Column& column,
                                                    std::span<const SourceValue> values,
                                                    std::span<const int64_t> earlier) const {
  Cross cross;
  std::string digits;
  for (const CrossSource& source : column.crossed) {
    if (source.id_of) {
      cross.Add(static_cast<uint64_t>(earlier[*source.id_of]));
      continue;
    }
    const SourceValue& value = values[source.feature];
    if (IsMissing(value) && source.default_of && columns_[*source.default_of].has_fallback) {
      cross.Add(Fingerprint(columns_[*source.default_of].fallback_text));
      continue;
    }
    const absl::StatusOr<std::string_view> text =
        IsMissing(value) ? Invalid("the value is missing") : TextOf(value, &digits);
    if (!text.ok()) return Annotate(text.status(), "feature \"" + sources_[source.feature] + "\"");
    cross.Add(Fingerprint(*text));
  }
  return cross.Bucket(column.buckets);
}

absl::StatusOr<int64_t> FeatureColumns::EncodeText(const Column& column, std::string_view text) {
  if (column.type == ColumnType::kHashed) return HashBucket(text, column.buckets);
  const auto id = column.ids.find(absl::string_view(text.data(), text.size()));
  if (id != column.ids.end()) return id->second;
  if (column.oov_buckets == 0) {
    return Invalid(Shown(text) + " is not in the vocabulary, and oovBuckets is 0");
  }
  return static_cast<int64_t>(column.ids.size()) + HashBucket(text, column.oov_buckets);
}

absl::StatusOr<float> FeatureColumns::EncodeQuantity(const Column& column, double number) {
  const float encoded = static_cast<float>(number) * column.scale + column.offset;
  if (std::isfinite(encoded)) return encoded;
  return Invalid("want a number, it becomes infinite in 32 bits");
}

absl::StatusOr<int64_t> FeatureColumns::EncodeBucket(const Column& column, double number) {
  if (column.type == ColumnType::kBucketized) {
    return std::ranges::upper_bound(column.boundaries, static_cast<float>(number)) -
           column.boundaries.begin();
  }
  if (number == std::floor(number) && number >= 0 &&
      number < static_cast<double>(column.buckets)) {
    return static_cast<int64_t>(number);
  }
  return Invalid("want a whole number from 0 to " + std::to_string(column.buckets - 1) +
                 ", it is " + json(number).dump());
}

absl::StatusOr<double> FeatureColumns::NumberFor(const Column& column, const SourceValue& value) {
  if (!IsMissing(value)) return NumberOf(value);
  if (column.has_fallback) return column.fallback;
  return Missing();
}

absl::StatusOr<int64_t> FeatureColumns::EncodeId(const Column& column,
                                                 std::span<const SourceValue> values,
                                                 std::span<const int64_t> earlier) const {
  if (column.type == ColumnType::kCrossed) return EncodeCross(column, values, earlier);
  const SourceValue& value = values[column.source];
  if (!OfTexts(column.type)) {
    ASSIGN_OR_RETURN(const double number, NumberFor(column, value));
    return EncodeBucket(column, number);
  }
  if (IsMissing(value)) {
    return column.has_fallback ? EncodeText(column, column.fallback_text) : Missing();
  }
  std::string digits;
  ASSIGN_OR_RETURN(const std::string_view text, TextOf(value, &digits));
  return EncodeText(column, text);
}

std::vector<FeatureColumns::Normaliser> FeatureColumns::normalisers() const {
  std::vector<Normaliser> all;
  for (const Column& column : columns_) {
    if (column.type == ColumnType::kNumeric) all.push_back({column.scale, column.offset});
  }
  return all;
}

absl::Status FeatureColumns::Encode(std::span<const SourceValue> values,
                                    std::vector<float>* quantities,
                                    std::vector<int64_t>* ids) const {
  const size_t first_quantity = quantities->size(), first_id = ids->size();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    absl::Status status;
    if (column.type == ColumnType::kNumeric) {
      const absl::StatusOr<double> number = NumberFor(column, values[column.source]);
      const absl::StatusOr<float> quantity =
          number.ok() ? EncodeQuantity(column, *number) : number.status();
      status = quantity.status();
      if (status.ok()) quantities->push_back(*quantity);
    } else {
      const auto id = EncodeId(column, values, std::span(*ids).subspan(first_id));
      status = id.status();
      if (status.ok()) ids->push_back(*id);
    }
    if (status.ok()) continue;
    quantities->resize(first_quantity);
    ids->resize(first_id);
    const bool crossed = column.type == ColumnType::kCrossed;
    return Annotate(status, "column \"" + shapes_[i].name + "\"" +
                                (crossed ? "" : " of feature \"" + sources_[column.source] + "\""));
  }
  return absl::OkStatus();
}

}  // namespace taas
