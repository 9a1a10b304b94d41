#include "trainer/data/dataset.h"

#include <algorithm>
#include <cmath>
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
// Above, floats are not all whole numbers: what one means is not known.
constexpr float kFloatsWholeMax = 1 << 24;

// `values` are `each` numbers of one kind per example.
absl::Status CheckRows(const std::string& name, size_t values, int64_t each, size_t examples) {
  if (examples == 0) return absl::InvalidArgumentError(name + ": has no examples");
  if (values == examples * static_cast<size_t>(each)) return absl::OkStatus();
  return absl::InvalidArgumentError(name + ": " + std::to_string(values) + " values are not " +
                                    std::to_string(examples) + " examples of " +
                                    std::to_string(each) + " features");
}

absl::Status CheckFeatures(const std::string& name, size_t values, int64_t floats, const Ids& ids,
                           size_t examples) {
  if (floats + ids.width < 1) {
    return absl::InvalidArgumentError(name + ": an example needs at least one feature");
  }
  RETURN_IF_ERROR(CheckRows(name, values, floats, examples));
  return CheckRows(name, ids.values.size(), ids.width, examples);
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

// Begins to bring an example into the cache.
template <typename T>
void Prefetch(const std::vector<T>& all, int64_t index, int64_t width) {
  const char* const row = reinterpret_cast<const char*>(all.data() + index * width);
  const int64_t bytes = std::min(width * static_cast<int64_t>(sizeof(T)), kFetchedBytes);
  for (int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(row + at);
}

// Calls `copy(begin)` for the row of each index among all, which has `width` numbers.
template <typename T, typename Copy>
void ForRowsOf(const std::vector<T>& all, int64_t width, std::span<const int64_t> indices,
               int64_t examples, Copy copy) {
  for (size_t i = 0; i < indices.size(); ++i) {
    CHECK(indices[i] >= 0 && indices[i] < examples) << "example " << indices[i] << " of "
                                                    << examples;
    if (i + kRowsAhead < indices.size()) Prefetch(all, indices[i + kRowsAhead], width);
    copy(all.data() + indices[i] * width);
  }
}

}  // namespace

absl::StatusOr<Dataset> Dataset::Labelled(std::string name, std::vector<int32_t> labels,
                                          int32_t classes) {
  RETURN_IF_ERROR(CheckLabels(name, labels, classes));
  Dataset set;
  set.name_ = std::move(name);
  set.examples_ = static_cast<int64_t>(labels.size());
  set.classes_ = classes;
  set.labels_ = std::move(labels);
  return set;
}

absl::StatusOr<Dataset> Dataset::FromPixels(std::string name, std::vector<uint8_t> pixels,
                                            int64_t features, std::vector<int32_t> labels,
                                            int32_t classes) {
  RETURN_IF_ERROR(CheckFeatures(name, pixels.size(), features, {}, labels.size()));
  ASSIGN_OR_RETURN(Dataset set, Labelled(std::move(name), std::move(labels), classes));
  set.features_ = features;
  set.pixels_ = std::move(pixels);
  return set;
}

absl::StatusOr<Dataset> Dataset::FromFloats(std::string name, std::vector<float> values,
                                            int64_t floats, std::vector<int32_t> labels,
                                            int32_t classes, Ids ids) {
  RETURN_IF_ERROR(CheckFeatures(name, values.size(), floats, ids, labels.size()));
  ASSIGN_OR_RETURN(Dataset set, Labelled(std::move(name), std::move(labels), classes));
  set.features_ = floats + ids.width;
  set.values_ = std::move(values);
  set.ids_ = std::move(ids);
  return set;
}

absl::StatusOr<Dataset> Dataset::ForRegression(std::string name, std::vector<float> values,
                                               int64_t floats, std::vector<float> targets,
                                               int64_t target_width, Ids ids) {
  if (target_width < 1 || targets.size() % static_cast<size_t>(target_width) != 0) {
    return absl::InvalidArgumentError(name + ": " + std::to_string(targets.size()) +
                                      " targets are not rows of " + std::to_string(target_width));
  }
  const size_t examples = targets.size() / static_cast<size_t>(target_width);
  RETURN_IF_ERROR(CheckFeatures(name, values.size(), floats, ids, examples));
  Dataset set;
  set.name_ = std::move(name);
  set.examples_ = static_cast<int64_t>(examples);
  set.features_ = floats + ids.width;
  set.target_width_ = target_width;
  set.values_ = std::move(values);
  set.ids_ = std::move(ids);
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
  set.features_ = set.ids_.width = context;
  set.vocabulary_ = vocabulary;
  set.pixels_ = std::move(tokens);
  return set;
}

void Dataset::set_columns(std::vector<ColumnShape> columns) {
  const auto is_id = [](const ColumnShape& column) { return column.categories > 0; };
  CHECK(std::ssize(columns) == features_ && std::ranges::count_if(columns, is_id) == ids_.width)
      << name_ << ": a column is one feature";
  columns_ = std::move(columns);
}

void Dataset::set_image(const ImageShape& image) {
  CHECK(image.pixels() == 0 || image.pixels() == features_)
      << name_ << ": an image of " << image.pixels() << " values of " << features_ << " features";
  image_ = image;
}

absl::Status Dataset::TakeAsIds() {
  if (ids_.width > 0) return absl::OkStatus();
  if (pixels_.empty()) {
    ids_.values.reserve(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      const float value = values_[i];
      if (value != std::floor(value) || std::abs(value) >= kFloatsWholeMax) {
        const size_t width = static_cast<size_t>(features_);
        return absl::InvalidArgumentError(
            name_ + ": example " + std::to_string(i / width) + ", value " +
            std::to_string(i % width) +
            ": want a whole number below 2^24, as floats have them exactly, for an embedding to "
            "look up; it is " + std::to_string(value));
      }
      ids_.values.push_back(static_cast<int64_t>(value));
    }
    values_ = {};
  }
  ids_.width = features_;
  return absl::OkStatus();
}

int64_t Dataset::pixels() const { return pixels_.empty() || ids_.width > 0 ? 0 : features_; }

int64_t Dataset::labels_per_example() const {
  if (vocabulary_ > 0) return features_;
  return classes_ > 0 ? 1 : 0;
}

size_t Dataset::bytes() const {
  return pixels_.size() + (values_.size() + targets_.size()) * sizeof(float) +
         ids_.values.size() * sizeof(int64_t) + labels_.size() * sizeof(int32_t);
}

void Dataset::GatherFeatures(std::span<const int64_t> indices, float* features) const {
  const int64_t floats = features_ - ids_.width;
  CHECK(floats > 0) << name_ << " has ids alone";
  if (pixels_.empty()) {
    ForRowsOf(values_, floats, indices, examples_, [&](const float* row) {
      features = std::copy_n(row, floats, features);
    });
    return;
  }
  ForRowsOf(pixels_, floats, indices, examples_, [&](const uint8_t* row) {
    BestLoops().scale_bytes(row, pixel_scale_.scale, features, floats);
    if (pixel_scale_.offset != 0) {
      for (int64_t i = 0; i < floats; ++i) features[i] += pixel_scale_.offset;
    }
    features += floats;
  });
}

void Dataset::GatherPixels(std::span<const int64_t> indices, uint8_t* pixels) const {
  const int64_t width = this->pixels();
  CHECK(width > 0) << name_ << " has no pixels";
  ForRowsOf(pixels_, width, indices, examples_,
            [&](const uint8_t* row) { pixels = std::copy_n(row, width, pixels); });
}

void Dataset::GatherIds(std::span<const int64_t> indices, int64_t* ids) const {
  CHECK(ids_.width > 0) << name_ << " has no ids";
  const auto copy = [&](const auto* row) { ids = std::copy_n(row, ids_.width, ids); };
  if (pixels_.empty()) {
    ForRowsOf(ids_.values, ids_.width, indices, examples_, copy);
  } else {
    ForRowsOf(pixels_, ids_.width, indices, examples_, copy);
  }
}

void Dataset::GatherLabels(std::span<const int64_t> indices, int32_t* labels) const {
  if (vocabulary_ > 0) {
    // The tokens that come next.
    ForRowsOf(pixels_, features_, indices, examples_, [&](const uint8_t* row) {
      labels = std::copy_n(row + 1, features_, labels);
    });
    return;
  }
  CHECK(classes_ > 0) << name_ << " has targets, not labels";
  for (size_t i = 0; i < indices.size(); ++i) labels[i] = labels_[indices[i]];
}

void Dataset::GatherTargets(std::span<const int64_t> indices, float* targets) const {
  CHECK(target_width_ > 0) << name_ << " has labels, not targets";
  for (const int64_t index : indices) {
    targets = std::copy_n(targets_.data() + index * target_width_, target_width_, targets);
  }
}

void GatherRows(const Dataset& set, std::span<const int64_t> indices, const BatchRows& rows) {
  if (!rows.features.empty()) set.GatherFeatures(indices, rows.features.data());
  if (!rows.pixels.empty()) set.GatherPixels(indices, rows.pixels.data());
  if (!rows.ids.empty()) set.GatherIds(indices, rows.ids.data());
  if (!rows.labels.empty()) set.GatherLabels(indices, rows.labels.data());
  if (!rows.targets.empty()) set.GatherTargets(indices, rows.targets.data());
}

}  // namespace taas
