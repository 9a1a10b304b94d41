// Examples in memory: features, and a class label or float targets for each; or tokens of a text,
// which are features and labels at once.
//
// Pixels stay bytes (60,000 MNIST images are 47 MB, not 188) and become floats when a batch is
// gathered, in [0, 1] unless another scale is set.
//
// Ownership: owns its values; cheap to move, not copyable. Threads: const methods from any thread.
// Errors: InvalidArgument from the Make functions when sizes disagree; they name `name`.
//
//   ASSIGN_OR_RETURN(Dataset set, Dataset::FromPixels("train", pixels, 784, labels, 10));
//   Gather(set, indices, session->input("features"), session->input("labels"));

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

// What becomes of the byte of a pixel: byte · scale + offset.
struct PixelScale {
  float scale = 1.0f / 255.0f;
  float offset = 0;
};

class Dataset {
 public:
  // `pixels` holds labels.size() rows of `features` bytes; each label is in [0, classes).
  static absl::StatusOr<Dataset> FromPixels(std::string name, std::vector<uint8_t> pixels,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes);
  static absl::StatusOr<Dataset> FromFloats(std::string name, std::vector<float> values,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes);
  // For regression: `targets` holds `target_width` floats per example.
  static absl::StatusOr<Dataset> ForRegression(std::string name, std::vector<float> values,
                                               int64_t features, std::vector<float> targets,
                                               int64_t target_width);

  // For models of language: example i is the `context` tokens from i · context on, and the one
  // after them, which the last of them is to predict. Tokens that fill no example are left out.
  static absl::StatusOr<Dataset> FromTokens(std::string name, std::vector<uint8_t> tokens,
                                            int64_t context, int32_t vocabulary);

  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = default;

  const std::string& name() const { return name_; }
  int64_t examples() const { return examples_; }
  int64_t features() const { return features_; }
  int32_t classes() const { return classes_; }            // 0 for regression.
  int64_t target_width() const { return target_width_; }  // 0 for classification.
  int32_t vocabulary() const { return vocabulary_; }      // 0 but for tokens.

  const ImageShape& image() const { return image_; }
  // `image` has features() pixels, or none.
  void set_image(const ImageShape& image);
  // What the features are where they are feature columns: one of each; else empty.
  const std::vector<ColumnShape>& columns() const { return columns_; }
  void set_columns(std::vector<ColumnShape> columns);
  // Of data that was made by FromPixels; of other data without effect.
  void set_pixel_scale(const PixelScale& scale) { pixel_scale_ = scale; }
  // What a black pixel is when it is gathered.
  float zero() const { return pixels_.empty() ? 0 : pixel_scale_.offset; }

  // Copies rows `indices` to `features`, indices.size() · features() floats.
  void GatherFeatures(std::span<const int64_t> indices, float* features) const;
  void GatherLabels(std::span<const int64_t> indices, int32_t* labels) const;
  void GatherTargets(std::span<const int64_t> indices, float* targets) const;

  std::span<const int32_t> labels() const { return labels_; }
  // Of memory, for all examples.
  size_t bytes() const;

 private:
  Dataset() = default;
  // Begins to bring an example's features into the cache.
  void FetchAhead(int64_t index) const;
  // All but the `values` numbers of its features.
  static absl::StatusOr<Dataset> Labelled(std::string name, size_t values, int64_t features,
                                          std::vector<int32_t> labels, int32_t classes);

  std::string name_;
  int64_t examples_ = 0;
  int64_t features_ = 0;
  int32_t classes_ = 0;
  int64_t target_width_ = 0;
  int32_t vocabulary_ = 0;
  int64_t stride_ = 0;  // From one example to the next.
  ImageShape image_;
  std::vector<ColumnShape> columns_;
  PixelScale pixel_scale_;
  std::vector<uint8_t> pixels_;  // One of pixels_ and values_ is filled.
  std::vector<float> values_;
  std::vector<int32_t> labels_;
  std::vector<float> targets_;
};

// Features and labels of one batch.
inline void Gather(const Dataset& set, std::span<const int64_t> indices, float* features,
                   int32_t* labels) {
  set.GatherFeatures(indices, features);
  set.GatherLabels(indices, labels);
}

}  // namespace taas

#endif  // TRAINER_DATA_DATASET_H_
