#include "trainer/data/generated/generated.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "trainer/data/generated/generated_stream.h"

namespace taas {
namespace {

// Far apart enough for a linear model in many dimensions, near enough that few features overlap.
constexpr float kScatter = 0.5f;
// In pixels, of the first class; that of the last is nearly twice as long.
constexpr double kWaveLength = 5;
Dataset Must(absl::StatusOr<Dataset> set) {
  CHECK(set.ok()) << set.status().ToString();
  return *std::move(set);
}

}  // namespace

Dataset GenerateClassification(const GeneratedOptions& options) {
  CHECK(options.classes >= 1) << "a classification has classes";
  const std::vector<float> centres =
      TruthGaussians(options.seed, 0, options.features * int64_t{options.classes});
  std::vector<float> values;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < options.examples; ++i) {
    SeededRandom random = ExampleStream(options.seed, options.first + i);
    labels.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(options.classes))));
    const float* const centre = centres.data() + labels.back() * options.features;
    for (int64_t f = 0; f < options.features; ++f) {
      values.push_back(centre[f] + kScatter * Gaussian(random));
    }
  }
  return Must(Dataset::FromFloats("generated", std::move(values), options.features,
                                  std::move(labels), options.classes));
}

Dataset GenerateWaves(const GeneratedOptions& options) {
  CHECK(options.classes >= 1) << "a classification has classes";
  const ImageShape& image = options.image;
  CHECK(image.pixels() == options.features) << "waves fill an image";
  std::vector<float> values;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < options.examples; ++i) {
    SeededRandom random = ExampleStream(options.seed, options.first + i);
    labels.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(options.classes))));
    const double share = static_cast<double>(labels.back()) / options.classes;
    // Half a turn has all directions, since a wave has no sign; classes of one direction would need
    // another length.
    const double angle = std::numbers::pi * share;
    const double frequency = 2 * std::numbers::pi / (kWaveLength * (1 + share));
    const double down = frequency * std::cos(angle), right = frequency * std::sin(angle);
    const double phase = 2 * std::numbers::pi * random.Unit();
    for (int64_t y = 0; y < image.height; ++y) {
      for (int64_t x = 0; x < image.width; ++x) {
        for (int64_t c = 0; c < image.channels; ++c) {
          const double at = down * static_cast<double>(y) + right * static_cast<double>(x) +
                            static_cast<double>(c);
          values.push_back(static_cast<float>(std::sin(at + phase)) + kScatter * Gaussian(random));
        }
      }
    }
  }
  Dataset set = Must(Dataset::FromFloats("generated", std::move(values), options.features,
                                         std::move(labels), options.classes));
  set.set_image(image);
  return set;
}

Dataset GenerateRegression(const GeneratedOptions& options) {
  const std::vector<float> truth = TruthGaussians(options.seed, 0, options.features + 1);
  // Targets of the same size whatever the number of features.
  const float scale = 1.0f / std::sqrt(static_cast<float>(options.features));
  std::vector<float> values;
  std::vector<float> targets;
  for (int64_t i = 0; i < options.examples; ++i) {
    SeededRandom random = ExampleStream(options.seed, options.first + i);
    float target = truth.back();
    for (int64_t f = 0; f < options.features; ++f) {
      values.push_back(Gaussian(random));
      target += scale * truth[static_cast<size_t>(f)] * values.back();
    }
    targets.push_back(target + kRegressionNoise * Gaussian(random));
  }
  return Must(Dataset::ForRegression("generated", std::move(values), options.features,
                                     std::move(targets), 1));
}

}  // namespace taas
