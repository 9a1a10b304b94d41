// tf.train.Example, the message that a record of a data set holds: features by name, each a list of
// bytes, floats or whole numbers. Read and written without generated classes.
//
// The format is that of trainer/formats/README.md; source: tensorflow/core/example/example.proto
// and feature.proto. Fields may come in any order, numbers packed or not, unknown fields are passed
// over.
//
// Ownership: what is read points into the record. Threads: any, ExampleBuilder one at a time.
// Errors: DataLoss for bytes that are no Example; the caller adds file and record.
//
//   std::vector<ExampleFeature> features;
//   RETURN_IF_ERROR(FindFeatures(record, &features)).With(reader->Where());
//   FeatureValues values;
//   RETURN_IF_ERROR(ReadFeature(features[0].value, &values)).With(reader->Where());

#ifndef TRAINER_DATA_EXAMPLE_H_
#define TRAINER_DATA_EXAMPLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace taas {

// Numbers are those of the fields in Feature.
enum class FeatureKind : uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };
// "bytes", "float", "int64"; "nothing" of a feature that has no list.
const char* NameOf(FeatureKind kind);

struct ExampleFeature {
  std::string_view name;
  std::string_view value;  // The Feature, for ReadFeature.
};

// In the order of the record, a name that comes twice twice: the last counts. Replaces what `out`
// holds, and keeps its memory.
absl::Status FindFeatures(std::string_view record, std::vector<ExampleFeature>* out);

// One of the lists is filled, that of `kind`.
struct FeatureValues {
  FeatureKind kind = FeatureKind::kNone;
  std::vector<std::string_view> bytes;
  std::vector<float> floats;
  std::vector<int64_t> ints;

  int64_t count() const;
  void Clear();
};
absl::Status ReadFeature(std::string_view feature, FeatureValues* values);

// Builds one Example after the other.
class ExampleBuilder {
 public:
  void AddBytes(std::string_view name, std::span<const std::string_view> values);
  void AddBytes(std::string_view name, std::string_view value) { AddBytes(name, {&value, 1}); }
  void AddFloats(std::string_view name, std::span<const float> values);
  void AddInts(std::string_view name, std::span<const int64_t> values);
  // The record; begins the next.
  std::string Take();

 private:
  void Add(std::string_view name, FeatureKind kind);

  std::string features_;
  std::string list_;  // Memory of a list, its entry and its feature while they are made.
  std::string entry_;
  std::string feature_;
};

}  // namespace taas

#endif  // TRAINER_DATA_EXAMPLE_H_
