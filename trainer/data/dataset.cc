#include "trainer/data/dataset.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

// Rows of a batch lie anywhere in memory, so that the processor does not guess the next one. Of a
// long row it does after the beginning.
constexpr size_t kRowsAhead = 2;
constexpr int64_t kFetchedBytes = 1024;
constexpr int64_t kLineBytes = 64;

absl::Status CheckRows(const std::string& name, size_t values, int64_t features, size_t examples) {
  if (features < 1) {
    return absl::InvalidArgumentError(name + ": an example needs at least one feature");
  }
  if (examples == 0) return absl::InvalidArgumentError(name + ": has no examples");
  if (values == examples * static_cast<size_t>(features)) return absl::OkStatus();
  return absl::InvalidArgumentError(name + ": " + std::to_string(values) + " values are not " +
                                    std::to_string(examples) + " examples of " +
                                    std::to_string(features) + " features");
}

absl::Status CheckLabels(const std::string& name, const std::vector<int32_t>& labels,
                         int32_t classes) {
  if (classes < 1) return absl::InvalidArgumentError(name + ": needs at least one class");
  const auto wrong =
      std::ranges::find_if(labels, [&](int32_t label) { return label < 0 || label >= classes; });
  if (wrong == labels.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(name + ": label " + std::to_string(*wrong) + " of example " +
                                    std::to_string(wrong - labels.begin()) +
                                    " is out of range, want 0 to " + std::to_string(classes - 1));
}

}  // namespace

absl::StatusOr<Dataset> Dataset::Labelled(std::string name, size_t values, int64_t features,
                                          std::vector<int32_t> labels, int32_t classes) {
  RETURN_IF_ERROR(CheckRows(name, values, features, labels.size()));
  RETURN_IF_ERROR(CheckLabels(name, labels, classes));
  Dataset set;
  set.name_ = std::move(name);
  set.examples_ = static_cast<int64_t>(labels.size());
  set.features_ = set.stride_ = features;
  set.classes_ = classes;
  set.labels_ = std::move(labels);
  return set;
}

absl::StatusOr<Dataset> Dataset::FromPixels(std::string name, std::vector<uint8_t> pixels,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes) {
  ASSIGN_OR_RETURN(Dataset set, Labelled(std::move(name), pixels.size(), features,
                                         std::move(labels), classes));
  set.pixels_ = std::move(pixels);
  return set;
}

absl::StatusOr<Dataset> Dataset::FromFloats(std::string name, std::vector<float> values,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes) {
  ASSIGN_OR_RETURN(Dataset set, Labelled(std::move(name), values.size(), features,
                                         std::move(labels), classes));
  set.values_ = std::move(values);
  return set;
}

absl::StatusOr<Dataset> Dataset::ForRegression(std::string name, std::vector<float> values,
                                               int64_t features, std::vector<float> targets,
                                               int64_t target_width) {
  if (target_width < 1 || targets.size() % static_cast<size_t>(target_width) != 0) {
    return absl::InvalidArgumentError(name + ": " + std::to_string(targets.size()) +
                                      " targets are not rows of " + std::to_string(target_width));
  }
  const size_t examples = targets.size() / static_cast<size_t>(target_width);
  RETURN_IF_ERROR(CheckRows(name, values.size(), features, examples));
  Dataset set;
  set.name_ = std::move(name);
  set.examples_ = static_cast<int64_t>(examples);
  set.features_ = set.stride_ = features;
  set.target_width_ = target_width;
  set.values_ = std::move(values);
  set.targets_ = std::move(targets);
  return set;
}

absl::StatusOr<Dataset> Dataset::FromTokens(std::string name, std::vector<uint8_t> tokens,
                                            int64_t context, int32_t vocabulary) {
  if (context < 1) return absl::InvalidArgumentError(name + ": the context must be at least 1");
  const int64_t count = std::ssize(tokens);
  if (count <= context) {
    return absl::InvalidArgumentError(name + ": has " + std::to_string(count) +
                                      " tokens, a context of " + std::to_string(context) +
                                      " needs one more than that");
  }
  const auto wrong = std::ranges::find_if(tokens, [&](uint8_t id) { return id >= vocabulary; });
  if (wrong != tokens.end()) {
    return absl::InvalidArgumentError(name + ": token " + std::to_string(*wrong) + " at " +
                                      std::to_string(wrong - tokens.begin()) +
                                      " is out of range, want 0 to " +
                                      std::to_string(vocabulary - 1));
  }
  Dataset set;
  set.name_ = std::move(name);
  set.examples_ = (count - 1) / context;
  set.features_ = context + 1;
  set.stride_ = context;
  set.vocabulary_ = vocabulary;
  set.pixel_scale_ = {.scale = 1, .offset = 0};
  set.pixels_ = std::move(tokens);
  return set;
}

void Dataset::set_columns(std::vector<ColumnShape> columns) {
  CHECK(std::ssize(columns) == features_) << name_ << ": a column is one feature";
  columns_ = std::move(columns);
}

void Dataset::set_image(const ImageShape& image) {
  CHECK(image.pixels() == 0 || image.pixels() == features_)
      << name_ << ": an image of " << image.pixels() << " values of " << features_ << " features";
  image_ = image;
}

size_t Dataset::bytes() const {
  return pixels_.size() + (values_.size() + targets_.size()) * sizeof(float) +
         labels_.size() * sizeof(int32_t);
}

void Dataset::FetchAhead(int64_t index) const {
  const int64_t width = pixels_.empty() ? static_cast<int64_t>(sizeof(float)) : 1;
  const char* const row = (pixels_.empty() ? reinterpret_cast<const char*>(values_.data())
                                           : reinterpret_cast<const char*>(pixels_.data())) +
                          index * stride_ * width;
  const int64_t bytes = std::min(features_ * width, kFetchedBytes);
  for (int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(row + at);
}

void Dataset::GatherFeatures(std::span<const int64_t> indices, float* features) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t index = indices[i];
    CHECK(index >= 0 && index < examples_) << "example " << index << " of " << examples_;
    if (i + kRowsAhead < indices.size()) FetchAhead(indices[i + kRowsAhead]);
    const int64_t begin = index * stride_;
    if (pixels_.empty()) {
      std::copy_n(values_.data() + begin, features_, features);
    } else {
      BestLoops().scale_bytes(pixels_.data() + begin, pixel_scale_.scale, features, features_);
      if (pixel_scale_.offset != 0) {
        for (int64_t i = 0; i < features_; ++i) features[i] += pixel_scale_.offset;
      }
    }
    features += features_;
  }
}

void Dataset::GatherLabels(std::span<const int64_t> indices, int32_t* labels) const {
  CHECK(classes_ > 0) << name_ << " has targets, not labels";
  for (size_t i = 0; i < indices.size(); ++i) labels[i] = labels_[indices[i]];
}

void Dataset::GatherTargets(std::span<const int64_t> indices, float* targets) const {
  CHECK(target_width_ > 0) << name_ << " has labels, not targets";
  for (const int64_t index : indices) {
    targets = std::copy_n(targets_.data() + index * target_width_, target_width_, targets);
  }
}

}  // namespace taas
