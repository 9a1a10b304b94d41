// Checks an Example against what a data set's features must be, and gives their numbers.
//
// FixedLen and VarLen mean what they mean in tf.io.parse_example. What `raw` decodes is one string
// of little-endian numbers, as tf.io.decode_raw does.
//
// Ownership: a parser owns its specification; what it gives points into the record and is valid
// until the next Parse. Threads: one at a time. Errors: InvalidArgument naming the feature, what
// was expected and what is there; DataLoss for bytes that are no Example. The caller adds file and
// record.
//
//   ExampleParser parser({{.name = "image_raw", .kind = FeatureKind::kBytes,
//                          .shape = {28, 28, 1}, .raw = RawType::kUint8}});
//   RETURN_IF_ERROR(parser.Parse(record)).With(reader->Where());
//   parser.AppendFloats(0, &floats);

#ifndef TRAINER_DATA_EXAMPLE_PARSER_H_
#define TRAINER_DATA_EXAMPLE_PARSER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "trainer/data/example.h"

namespace taas {

enum class RawType : uint8_t { kNone, kUint8, kFloat32 };

// number · scale + offset.
struct Normalise {
  float scale = 1;
  float offset = 0;
};

struct FeatureSpec {
  std::string name;
  FeatureKind kind = FeatureKind::kFloat;  // Not kNone.
  bool fixed = true;                       // FixedLen; else VarLen.
  // Of the values, after decoding: of FixedLen exactly so many; of VarLen, where it is given, at
  // most. Empty is one value of FixedLen, and any number of VarLen.
  std::vector<int64_t> shape;
  // What stands for each value of a FixedLen feature that the record does not have; without it that
  // is an error. Of bytes without `raw` the text.
  std::optional<double> fallback;
  std::optional<std::string> fallback_text;
  RawType raw = RawType::kNone;  // Of kind kBytes.
  std::optional<Normalise> normalise;

  // The product of the shape.
  int64_t count() const;
};

class ExampleParser {
 public:
  explicit ExampleParser(std::vector<FeatureSpec> specs);

  absl::Status Parse(std::string_view record);

  const std::vector<FeatureSpec>& specs() const { return specs_; }
  // Of the feature of specs()[index]. Numbers that were decoded are the one string of `bytes`.
  const FeatureValues& values(size_t index) const { return values_[index]; }
  // How many after decoding.
  int64_t count(size_t index) const;
  // As floats, normalised. Not of bytes without `raw`. Whole numbers beyond 2^24 are rounded.
  void AppendFloats(size_t index, std::vector<float>* out) const;

 private:
  absl::Status ParseOne(size_t index);
  absl::Status CheckCount(size_t index) const;
  void UseFallback(size_t index);

  const std::vector<FeatureSpec> specs_;
  std::vector<ExampleFeature> found_;
  std::vector<FeatureValues> values_;  // One for each of specs_.
  std::vector<std::string> raw_fallbacks_;
};

}  // namespace taas

#endif  // TRAINER_DATA_EXAMPLE_PARSER_H_
