#include "trainer/data/rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "operator/base/finite.h"
#include "operator/base/status.h"

namespace taas {

absl::Status CheckFinite(float number) {
  if (std::isfinite(number)) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string("want a finite number, it is ") +
                                    (std::isnan(number) ? "NaN" : "infinite"));
}

absl::Status CheckFinite(std::span<const float> numbers) {
  const size_t at = FindNonFinite(numbers);
  if (at == numbers.size()) return absl::OkStatus();
  return Annotate(CheckFinite(numbers[at]), "value " + std::to_string(at));
}

absl::Status CheckFiniteRows(std::span<const float> numbers, int64_t width) {
  const size_t at = FindNonFinite(numbers);
  if (at == numbers.size()) return absl::OkStatus();
  const size_t row = at / static_cast<size_t>(width);
  return Annotate(CheckFinite(numbers[at]),
                  "example " + std::to_string(row) + ", value " +
                      std::to_string(at - row * static_cast<size_t>(width)));
}

absl::Status Rows::AddLabel(double label, ClassCount classes) {
  if (classes == 0) {
    const float target = static_cast<float>(label);
    RETURN_IF_ERROR(CheckFinite(target));
    targets.push_back(target);
    return absl::OkStatus();
  }
  const int32_t end = classes.value_or(INT32_MAX);
  if (!(label >= 0 && label < end && label == std::floor(label))) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", label);
    return absl::InvalidArgumentError(
        std::string("label ") + text + " is out of range, want a whole number from 0 to " +
        std::to_string(end - 1) +
        (classes ? ""
                 : "; of a regression set data.classes to 0 (models linear, layers and wideDeep)"));
  }
  labels.push_back(static_cast<int32_t>(label));
  return absl::OkStatus();
}

absl::Status Rows::CheckSize() const {
  const size_t bytes =
      pixels.size() + values.size() * sizeof(float) + ids.size() * sizeof(int64_t);
  if (bytes <= kDataBytesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "the data has more than " + std::to_string(kDataBytesMax >> 30) +
      " GiB, which are not read into memory; of TFRecord files data.streaming reads parts");
}

absl::StatusOr<Dataset> Rows::Make(const std::string& name, const Width& width, ClassCount classes,
                                   PixelScale pixel_scale) && {
  if (labels.empty() && targets.empty()) {
    return absl::InvalidArgumentError(name + ": it has no examples");
  }
  if (classes == 0) {
    for (const uint8_t pixel : pixels) {
      values.push_back(static_cast<float>(pixel) * pixel_scale.scale + pixel_scale.offset);
    }
    // Of all examples, of which each has a feature.
    const int64_t numbers = std::ssize(values) + std::ssize(ids);
    const int64_t target_width = static_cast<int64_t>(targets.size()) *
                                 (width.features + width.ids) / std::max<int64_t>(1, numbers);
    return Dataset::ForRegression(name, std::move(values), width.features, std::move(targets),
                                  target_width, {std::move(ids), width.ids});
  }
  if (!classes) {
    ASSIGN_OR_RETURN(classes, CountClasses(labels, name));
  }
  if (pixels.empty()) {
    return Dataset::FromFloats(name, std::move(values), width.features, std::move(labels),
                               *classes, {std::move(ids), width.ids});
  }
  ASSIGN_OR_RETURN(Dataset set, Dataset::FromPixels(name, std::move(pixels), width.features,
                                                    std::move(labels), *classes));
  set.set_pixel_scale(pixel_scale);
  return set;
}

absl::StatusOr<int32_t> CountClasses(const std::vector<int32_t>& labels, const std::string& name) {
  const auto largest = std::ranges::max_element(labels);
  std::vector<int32_t> distinct = labels;
  std::ranges::sort(distinct);
  const auto rest = std::ranges::unique(distinct);
  const int64_t used = static_cast<int64_t>(distinct.size() - rest.size());
  if (*largest >= 2 * used + 1) {
    return absl::InvalidArgumentError(
        name + ": label " + std::to_string(*largest) + " of example " +
        std::to_string(largest - labels.begin()) + " is out of range: only " +
        std::to_string(used) + " classes occur, so most of 0 to " + std::to_string(*largest) +
        " would be empty");
  }
  return *largest + 1;
}

}  // namespace taas
