// Feature columns: how the named values of an example become the numbers of a model's input.
//
// Each column is one number of the input. Quantities stay what they are (`numeric`), as floats; all
// others are ids of categories, whole numbers that a model looks up (trainer/model/wide_deep.h).
// They mean what TensorFlow's feature columns of these names mean, hashes included (column_hash.h):
//
//   [{"name": "age", "type": "numeric", "normalise": {"scale": 0.01}, "default": "40.5"},
//    {"name": "ageGroup", "type": "bucketized", "source": "age", "boundaries": [18, 65]},
//    {"name": "hour", "type": "identity", "buckets": 24},
//    {"name": "school", "type": "vocabulary", "values": ["HS", "BSc"], "oovBuckets": 1},
//    {"name": "job", "type": "hashed", "buckets": 1000},
//    {"name": "job_age", "type": "crossed", "sources": ["job", "ageGroup"], "buckets": 10000}]
//
// A column's `source` is the feature of the data whose value it takes; its own name unless given.
// Of a crossed column each source is the id of a column (bucketized, identity or vocabulary) where
// one has the name, else the text of the feature. A whole number is the text of its digits.
//
// Ownership: owns its tables. Threads: const methods from any thread. Errors: InvalidArgument that
// names field (Parse) or column and feature (Encode); the caller adds the place.
//
//   ASSIGN_OR_RETURN(const FeatureColumns columns, FeatureColumns::Parse(json, "data.columns"));
//   const SourceValue values[] = {"39", "BSc"};      // Of columns.sources().
//   RETURN_IF_ERROR(columns.Encode(values, &quantities, &ids)).With("line 3");

#ifndef TRAINER_DATA_COLUMNS_FEATURE_COLUMNS_H_
#define TRAINER_DATA_COLUMNS_FEATURE_COLUMNS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/data/columns/column_shape.h"

namespace taas {

// That of the TrainingJob schema: more columns than any table has are a mistake.
inline constexpr size_t kColumnsMax = 1024;
// A table has a row for each, and no more rows than 32 bits count (kTableRowsMax of trainer/graph);
// also that of the schema.
inline constexpr int64_t kCategoriesMax = std::numeric_limits<int32_t>::max();

// Missing, a text, a whole number or a number.
using SourceValue = std::variant<std::monostate, std::string_view, int64_t, double>;

// Of JSON, whose texts it borrows: null is missing. Nothing of what is no value.
std::optional<SourceValue> SourceValueOf(const nlohmann::json& json);

enum class ColumnType : uint8_t {
  kNumeric,
  kBucketized,
  kIdentity,
  kVocabulary,
  kHashed,
  kCrossed,
};

class FeatureColumns {
 public:
  // `json` is the list `spec.trainer.data.columns`.
  static absl::StatusOr<FeatureColumns> Parse(const nlohmann::json& json, const std::string& path);

  // The features of the data that are needed, each once.
  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<ColumnShape>& shapes() const { return shapes_; }
  // How many columns are ids; all others are quantities.
  int64_t ids() const { return ids_; }
  // What becomes of the number of each quantity, in their order: number * scale + offset.
  struct Normaliser {
    float scale = 1;
    float offset = 0;
  };
  std::vector<Normaliser> normalisers() const;

  // values[i] is that of sources()[i]. Appends a number for each column, in their order, to those
  // of its kind; none after an error.
  absl::Status Encode(std::span<const SourceValue> values, std::vector<float>* quantities,
                      std::vector<int64_t>* ids) const;

 private:
  // A source of a crossed column is the id of an earlier column, by its place among the ids; or the
  // text of a feature, and the earlier hashed column, if there is one, whose default stands for it.
  struct CrossSource {
    std::optional<size_t> id_of{};
    size_t feature = 0;
    std::optional<size_t> default_of{};
  };

  struct Column {
    ColumnType type = ColumnType::kNumeric;
    size_t source = 0;  // In sources_; not of crossed.
    // Stands for a missing value.
    bool has_fallback = false;
    double fallback = 0;
    std::string fallback_text{};
    float scale = 1, offset = 0;           // Of numeric.
    std::vector<float> boundaries{};       // Of bucketized, ascending.
    int64_t buckets = 0;                   // Of identity, hashed, crossed.
    absl::flat_hash_map<std::string, int64_t> ids{};  // Of vocabulary.
    int64_t oov_buckets = 0;               // Ids of texts that are not in it come after its own.
    std::vector<CrossSource> crossed{};
  };

  absl::Status ParseColumn(const nlohmann::json& json, const std::string& path);
  absl::Status ParseFallback(const nlohmann::json& json, const std::string& path, Column* column);
  absl::Status ParseType(const nlohmann::json& json, const std::string& path, Column* column);
  absl::Status ParseVocabulary(const nlohmann::json& json, const std::string& path, Column* column);
  absl::Status ParseCrossed(const nlohmann::json& json, const std::string& path, Column* column);
  // Else what a crossed column means would hang on the order of the list.
  absl::Status CheckOrder(const std::string& path) const;
  size_t SourceNamed(const std::string& name);
  // That there are ids of the column's default, too.
  static absl::Status CheckFallback(const Column& column, const std::string& path);

  // What stands for the value: the column's default where it is missing.
  static absl::StatusOr<double> NumberFor(const Column& column, const SourceValue& value);
  // Of all but numeric columns. `earlier` are the ids of the columns before.
  absl::StatusOr<int64_t> EncodeId(const Column& column, std::span<const SourceValue> values,
                                   std::span<const int64_t> earlier) const;
  absl::StatusOr<int64_t> EncodeCross(const Column& column, std::span<const SourceValue> values,
                                      std::span<const int64_t> earlier) const;
  static absl::StatusOr<int64_t> EncodeText(const Column& column, std::string_view text);
  // Of bucketized and identity columns.
  static absl::StatusOr<int64_t> EncodeBucket(const Column& column, double number);
  static absl::StatusOr<float> EncodeQuantity(const Column& column, double number);

  std::vector<std::string> sources_;
  std::vector<Column> columns_;
  std::vector<ColumnShape> shapes_;
  int64_t ids_ = 0;
};

}  // namespace taas

#endif  // TRAINER_DATA_COLUMNS_FEATURE_COLUMNS_H_
