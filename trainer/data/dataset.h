// Examples in memory: features, and a class label or float targets for each; or tokens of a text,
// each of which is also the label of the one before it.
//
// Features are floats; or pixels, which stay bytes (60,000 MNIST images are 47 MB, not 188) up to
// the graph that learns from them; or whole numbers that a model looks up, ids; feature columns are
// floats and ids side by side. Pixels mean numbers in [0, 1] unless another scale is set.
//
// Ownership: owns its values; cheap to move, not copyable. Threads: const methods from any thread.
// Errors: InvalidArgument from the Make functions when sizes disagree; they name `name`.
//
//   ASSIGN_OR_RETURN(Dataset set, Dataset::FromPixels("train", pixels, 784, labels, 10));
//   GatherRows(set, indices, {.pixels = session->Uint8Input("pixels"), …});

#ifndef TRAINER_DATA_DATASET_H_
#define TRAINER_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/columns/column_shape.h"
#include "trainer/data/image_shape.h"

namespace taas {

// Of all examples, one after the other.
struct Ids {
  std::vector<int64_t> values;
  int64_t width = 0;  // Of an example.
};

class Dataset {
 public:
  // `pixels` holds labels.size() rows of `features` bytes; each label is in [0, classes).
  static absl::StatusOr<Dataset> FromPixels(std::string name, std::vector<uint8_t> pixels,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes);
  // `values` holds `floats` numbers per example, of which there may be none beside ids.
  static absl::StatusOr<Dataset> FromFloats(std::string name, std::vector<float> values,
                                            int64_t floats, std::vector<int32_t> labels,
                                            int32_t classes, Ids ids = {});
  // For regression: `targets` holds `target_width` floats per example.
  static absl::StatusOr<Dataset> ForRegression(std::string name, std::vector<float> values,
                                               int64_t floats, std::vector<float> targets,
                                               int64_t target_width, Ids ids = {});

  // For models of language: example i is the `context` tokens from i · context on, and the one
  // after them, which the last of them is to predict. Tokens that fill no example are left out.
  static absl::StatusOr<Dataset> FromTokens(std::string name, std::vector<uint8_t> tokens,
                                            int64_t context, int32_t vocabulary);

  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = default;

  const std::string& name() const { return name_; }
  int64_t examples() const { return examples_; }
  int64_t features() const { return features_; }          // Of an example, of any kind.
  int64_t ids() const { return ids_.width; }              // Those of them that are ids,
  int64_t pixels() const;                                 // and those that are pixels.
  int32_t classes() const { return classes_; }            // 0 for regression.
  int64_t target_width() const { return target_width_; }  // 0 for classification.
  int32_t vocabulary() const { return vocabulary_; }      // 0 but for tokens.
  int64_t labels_per_example() const;                     // One; of tokens one each; or none.

  const ImageShape& image() const { return image_; }
  // `image` has features() pixels, or none.
  void set_image(const ImageShape& image);
  // What the features are where they are feature columns; else empty. Those of categories are the
  // ids, in their order, the others the floats.
  const std::vector<ColumnShape>& columns() const { return columns_; }
  void set_columns(std::vector<ColumnShape> columns);
  // Makes all features ids, where there are none yet: bytes as they are, floats if they are whole
  // numbers. InvalidArgument that names the first which is none.
  absl::Status TakeAsIds();
  // Of data that was made by FromPixels; of other data without effect.
  void set_pixel_scale(const PixelScale& scale) { pixel_scale_ = scale; }
  // Of pixels.
  const PixelScale& pixel_scale() const { return pixel_scale_; }

  // Copies rows `indices` to `features`: all that are no ids, scaled if they are pixels.
  void GatherFeatures(std::span<const int64_t> indices, float* features) const;
  // As they are.
  void GatherPixels(std::span<const int64_t> indices, uint8_t* pixels) const;
  void GatherIds(std::span<const int64_t> indices, int64_t* ids) const;
  void GatherLabels(std::span<const int64_t> indices, int32_t* labels) const;
  void GatherTargets(std::span<const int64_t> indices, float* targets) const;

  std::span<const int32_t> labels() const { return labels_; }
  // Of memory, for all examples.
  size_t bytes() const;

 private:
  Dataset() = default;
  // All but its pixels or floats.
  static absl::StatusOr<Dataset> Labelled(std::string name, std::vector<int32_t> labels,
                                          int32_t classes);

  std::string name_;
  int64_t examples_ = 0;
  int64_t features_ = 0;
  int32_t classes_ = 0;
  int64_t target_width_ = 0;
  int32_t vocabulary_ = 0;
  ImageShape image_;
  std::vector<ColumnShape> columns_;
  PixelScale pixel_scale_;
  std::vector<uint8_t> pixels_;  // One of pixels_ and values_ is filled.
  std::vector<float> values_;
  Ids ids_;  // Of tokens the width alone: they are bytes.
  std::vector<int32_t> labels_;
  std::vector<float> targets_;
};

// The memory of a batch, by the kinds of its numbers: what is empty is not filled. Row i is example
// i of the batch.
struct BatchRows {
  std::span<float> features;  // Floats; of pixels what they mean.
  std::span<uint8_t> pixels;
  std::span<int64_t> seeds;   // Of the augmentation of each example (augment.h); not of a Dataset.
  std::span<int64_t> ids;
  std::span<int32_t> labels;
  std::span<float> targets;
};

void GatherRows(const Dataset& set, std::span<const int64_t> indices, const BatchRows& rows);

}  // namespace taas

#endif  // TRAINER_DATA_DATASET_H_
