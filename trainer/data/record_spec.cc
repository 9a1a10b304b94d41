#include "trainer/data/record_spec.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"

namespace taas {
namespace {

using nlohmann::json;

absl::Status ParseDecoding(const json& feature, const std::string& path, FeatureSpec* spec) {
  const bool decodes = feature.contains("decode");
  if (decodes != (spec->kind == FeatureKind::kBytes)) {
    return InvalidField(path + ".decode", decodes ? "is of dtype bytes only"
                                                  : "is missing: bytes are no numbers");
  }
  ASSIGN_OR_RETURN(const size_t decode, ChoiceField(feature, path, "decode", {"raw", "text"}));
  if (!decodes || decode == 1) {
    return feature.contains("rawDtype")
               ? InvalidField(path + ".rawDtype", "is of decode raw only")
               : absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const size_t raw, ChoiceField(feature, path, "rawDtype", {"uint8", "float32"}));
  spec->raw = raw == 0 ? RawType::kUint8 : RawType::kFloat32;
  return absl::OkStatus();
}

bool IsText(const FeatureSpec& spec) {
  return spec.kind == FeatureKind::kBytes && spec.raw == RawType::kNone;
}

// A default must be one of the feature's numbers.
absl::Status CheckDefault(const FeatureSpec& spec, const std::string& path) {
  if (!spec.fallback) return absl::OkStatus();
  if (IsText(spec)) {
    return InvalidField(path + ".default", "is of numbers; a text's is that of its column");
  }
  const double value = *spec.fallback;
  const bool whole = spec.kind == FeatureKind::kInt64 || spec.raw == RawType::kUint8;
  if (whole && value != std::floor(value)) {
    return InvalidField(path + ".default", "must be a whole number");
  }
  if (spec.raw == RawType::kUint8 && (value < 0 || value > 255)) {
    return InvalidField(path + ".default", "must be a number from 0 to 255");
  }
  if (std::abs(value) > 1e9) return InvalidField(path + ".default", "must be within ±1e9");
  return absl::OkStatus();
}

absl::Status ParseNormalise(const json& feature, const std::string& path, FeatureSpec* spec) {
  const auto found = feature.find("normalise");
  if (found == feature.end()) return absl::OkStatus();
  const std::string at = path + ".normalise";
  RETURN_IF_ERROR(CheckFields(*found, at, {"scale", "offset"}));
  ASSIGN_OR_RETURN(const std::optional<double> scale, RealField(*found, at, "scale"));
  ASSIGN_OR_RETURN(const std::optional<double> offset, RealField(*found, at, "offset"));
  spec->normalise = Normalise{static_cast<float>(scale.value_or(1)),
                              static_cast<float>(offset.value_or(0))};
  return absl::OkStatus();
}

absl::StatusOr<FeatureSpec> ParseFeature(const json& feature, const std::string& path) {
  RETURN_IF_ERROR(CheckFields(feature, path,
                              {"name", "kind", "dtype", "shape", "default", "decode", "rawDtype",
                               "normalise"}));
  FeatureSpec spec;
  ASSIGN_OR_RETURN(spec.name, TextField(feature, path, "name"));
  RETURN_IF_ERROR(TextField(feature, path, "dtype").status());
  ASSIGN_OR_RETURN(const size_t kind, ChoiceField(feature, path, "kind", {"FixedLen", "VarLen"}));
  spec.fixed = kind == 0;
  ASSIGN_OR_RETURN(const size_t dtype,
                   ChoiceField(feature, path, "dtype", {"float", "int64", "bytes"}));
  constexpr FeatureKind kKinds[] = {FeatureKind::kFloat, FeatureKind::kInt64, FeatureKind::kBytes};
  spec.kind = kKinds[dtype];
  ASSIGN_OR_RETURN(spec.shape, ShapeField(feature, path, "shape"));
  if (!spec.fixed && !feature.contains("shape")) {
    return InvalidField(path + ".shape", "is missing: VarLen needs the most values");
  }
  ASSIGN_OR_RETURN(spec.fallback, RealField(feature, path, "default"));
  RETURN_IF_ERROR(ParseDecoding(feature, path, &spec));
  RETURN_IF_ERROR(CheckDefault(spec, path));
  RETURN_IF_ERROR(ParseNormalise(feature, path, &spec));
  return spec;
}

// Without columns each feature is numbers; with them, a source of one is one value.
absl::Status CheckColumns(const RecordDataOptions& options, const std::string& path) {
  const std::vector<FeatureSpec>& features = options.features;
  for (size_t i = 0; i < features.size(); ++i) {
    const bool is_label = features[i].name == options.label;
    if (IsText(features[i]) && (options.feature_columns == nullptr || is_label)) {
      return InvalidField(path + ".features[" + std::to_string(i) + "].decode",
                          "text is of the sources of data.columns only");
    }
  }
  if (options.feature_columns == nullptr) return absl::OkStatus();
  for (const std::string& source : options.feature_columns->sources()) {
    const auto found = std::ranges::find(features, source, &FeatureSpec::name);
    if (found == features.end()) {
      return InvalidField("data.columns", "the source \"" + source + "\" is none of " + path +
                                              ".features");
    }
    if (found->count() != 1 || found->raw != RawType::kNone) {
      return InvalidField("data.columns",
                          "the source \"" + source +
                              "\" must be one value, not bytes to decode or a list");
    }
    const std::string at = path + ".features[" + std::to_string(found - features.begin()) + "]";
    if (found->normalise) return InvalidField(at + ".normalise", "is that of the column here");
    if (found->fallback) return InvalidField(at + ".default", "is that of the column here");
  }
  return absl::OkStatus();
}

// What can be learnt: one class, or any fixed number of targets.
absl::Status CheckLabel(const RecordDataOptions& options, const std::string& path) {
  const auto label = std::ranges::find(options.features, options.label, &FeatureSpec::name);
  if (label == options.features.end()) {
    return InvalidField(path, "\"" + options.label + "\" is none of the features");
  }
  if (!label->fixed) return InvalidField(path, "\"" + options.label + "\" is not FixedLen");
  const bool targets =
      options.classes == 0 || (!options.classes && label->kind != FeatureKind::kInt64 &&
                               label->raw != RawType::kUint8);
  if (targets || label->count() == 1) return absl::OkStatus();
  return InvalidField(path, "\"" + options.label + "\" has " + std::to_string(label->count()) +
                                " values, want one");
}

}  // namespace

absl::StatusOr<RecordDataOptions> ParseRecordSpec(const json& spec, const std::string& path,
                                                  ClassCount classes,
                                                  std::shared_ptr<const FeatureColumns> columns) {
  RETURN_IF_ERROR(CheckFields(spec, path, {"compression", "badRecords", "label", "features"}));
  RecordDataOptions options{.classes = classes, .feature_columns = std::move(columns)};
  ASSIGN_OR_RETURN(const size_t compression,
                   ChoiceField(spec, path, "compression", {"auto", "none", "gzip", "zlib"}));
  constexpr Compression kCompressions[] = {Compression::kAuto, Compression::kNone,
                                           Compression::kGzip, Compression::kZlib};
  options.reader.compression = kCompressions[compression];
  ASSIGN_OR_RETURN(const size_t bad, ChoiceField(spec, path, "badRecords", {"fail", "skip"}));
  options.reader.skip_bad = bad == 1;
  ASSIGN_OR_RETURN(options.label, TextField(spec, path, "label"));
  const json features = spec.value("features", json());
  if (!features.is_array() || features.size() < 2) {
    return InvalidField(path + ".features", "must be a list of the label and at least one more");
  }
  std::set<std::string> names;
  int64_t values = 0;
  for (size_t i = 0; i < features.size(); ++i) {
    const std::string at = path + ".features[" + std::to_string(i) + "]";
    ASSIGN_OR_RETURN(FeatureSpec feature, ParseFeature(features[i], at));
    if (!names.insert(feature.name).second) {
      return InvalidField(at + ".name", "\"" + feature.name + "\" is there twice");
    }
    values += feature.count();
    options.features.push_back(std::move(feature));
  }
  if (values > kShapeValuesMax) {
    return InvalidField(path + ".features", "have more than " + std::to_string(kShapeValuesMax) +
                                                " values together");
  }
  RETURN_IF_ERROR(CheckLabel(options, path + ".label"));
  RETURN_IF_ERROR(CheckColumns(options, path));
  return options;
}

}  // namespace taas
