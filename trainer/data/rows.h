// Examples that a reader collects one at a time until they are a Dataset, with what all readers of
// labels and of numbers have in common.
//
// Ownership: a value. Threads: one at a time. Errors: InvalidArgument for labels that are none and
// for numbers that are not finite; ResourceExhausted beyond kDataBytesMax. The messages begin with
// what the caller says of the place.
//
//   Rows rows;
//   RETURN_IF_ERROR(rows.AddLabel(7, classes)).With("read train.csv: line 3, column label");
//   rows.values.insert(rows.values.end(), features.begin(), features.end());
//   return std::move(rows).Make("read train.csv", {.features = 4}, classes);

#ifndef TRAINER_DATA_ROWS_H_
#define TRAINER_DATA_ROWS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"

namespace taas {

// Twice the largest set that is trained from memory; compressed files that hold more are more
// likely damaged or made to harm.
inline constexpr uint64_t kDataBytesMax = uint64_t{16} << 30;

// Of a label: 0 for a target of a regression; nothing: as many as the largest label says.
using ClassCount = std::optional<int32_t>;

struct Rows {
  std::vector<uint8_t> pixels;  // Either pixels are filled, or one of values and ids, or both.
  std::vector<float> values;
  std::vector<int64_t> ids;
  std::vector<int32_t> labels;  // One of labels and targets is filled.
  std::vector<float> targets;

  // A whole number from 0 below `classes`, or any finite number of a regression.
  absl::Status AddLabel(double label, ClassCount classes);
  absl::Status CheckSize() const;
  // What an example has: `features` bytes or floats, and `ids`.
  struct Width {
    int64_t features = 0;
    int64_t ids = 0;
  };
  // `name` begins messages. `pixel_scale` is of `pixels`.
  absl::StatusOr<Dataset> Make(const std::string& name, const Width& width, ClassCount classes,
                               PixelScale pixel_scale = {}) &&;
};

// One NaN or infinity in the data is enough to make a model of NaN, in a step that says no more of
// where it came from. "want a finite number, it is NaN".
absl::Status CheckFinite(float number);
// Names the first number that is not: "value 3: want …".
absl::Status CheckFinite(std::span<const float> numbers);
// Of rows of `width` numbers: "example 2, value 3: want …".
absl::Status CheckFiniteRows(std::span<const float> numbers, int64_t width);

// Labels are counted from 0 without large gaps; a wild one would make a model of its size.
// `labels` is not empty.
absl::StatusOr<int32_t> CountClasses(const std::vector<int32_t>& labels, const std::string& name);

}  // namespace taas

#endif  // TRAINER_DATA_ROWS_H_
