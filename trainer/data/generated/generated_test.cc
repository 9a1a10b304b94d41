#include "trainer/data/generated/generated.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::vector<float> AllFeatures(const Dataset& set) {
  std::vector<int64_t> indices(set.examples());
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<float> features(set.examples() * set.features());
  set.GatherFeatures(indices, features.data());
  return features;
}

TEST(GeneratedTest, SameSeedGivesTheSameExamplesAndAnotherSeedOthers) {
  GeneratedOptions options{.seed = 1, .examples = 50, .features = 4, .classes = 3};
  const auto once = AllFeatures(GenerateClassification(options));
  EXPECT_EQ(once, AllFeatures(GenerateClassification(options)));
  options.seed = 2;
  EXPECT_NE(once, AllFeatures(GenerateClassification(options)));
}

TEST(GeneratedTest, TestExamplesGoOnWhereTrainingExamplesEnd) {
  const GeneratedOptions all{.seed = 1, .examples = 30, .features = 4, .classes = 3};
  GeneratedOptions tail = all;
  tail.first = 20;
  tail.examples = 10;
  const auto whole = AllFeatures(GenerateClassification(all));
  const auto rest = AllFeatures(GenerateClassification(tail));
  EXPECT_EQ(std::vector<float>(whole.begin() + 80, whole.end()), rest);
}

TEST(GeneratedTest, WavesAreImagesWhoseClassesHaveNoCentre) {
  const GeneratedOptions options{.seed = 3,
                                 .examples = 4000,
                                 .features = 8 * 8 * 3,
                                 .classes = 2,
                                 .image = {8, 8, 3}};
  const Dataset train = GenerateWaves(options);
  EXPECT_EQ(train.image(), options.image);
  EXPECT_EQ(AllFeatures(train), AllFeatures(GenerateWaves(options)));
  std::vector<double> sums(static_cast<size_t>(options.features));
  double squares = 0;
  std::vector<float> x(static_cast<size_t>(options.features));
  for (int64_t i = 0; i < train.examples(); ++i) {
    if (train.labels()[static_cast<size_t>(i)] != 0) continue;
    train.GatherFeatures({&i, 1}, x.data());
    for (size_t f = 0; f < x.size(); ++f) sums[f] += x[f] / 2000;
    for (const float value : x) squares += value * value / 2000 / static_cast<double>(x.size());
  }
  // Half of a wave's square, and the noise's.
  EXPECT_NEAR(squares, 0.75, 0.05);
  for (const double mean : sums) EXPECT_NEAR(mean, 0, 0.1);
}

// Centres estimated from training examples tell the classes of test examples.
TEST(GeneratedTest, ClassesCanBeLearned) {
  constexpr int64_t kFeatures = 20;
  GeneratedOptions options{.seed = 3, .examples = 2000, .features = kFeatures, .classes = 5};
  const Dataset train = GenerateClassification(options);
  std::vector<float> centres(5 * kFeatures);
  std::vector<float> counts(5);
  std::vector<float> x(kFeatures);
  for (int64_t i = 0; i < train.examples(); ++i) {
    train.GatherFeatures({&i, 1}, x.data());
    const int32_t label = train.labels()[i];
    counts[label] += 1;
    for (int64_t f = 0; f < kFeatures; ++f) centres[label * kFeatures + f] += x[f];
  }
  options.first = 2000;
  options.examples = 500;
  const Dataset test = GenerateClassification(options);
  int right = 0;
  for (int64_t i = 0; i < test.examples(); ++i) {
    test.GatherFeatures({&i, 1}, x.data());
    int best = 0;
    float best_distance = 1e30f;
    for (int c = 0; c < 5; ++c) {
      float distance = 0;
      for (int64_t f = 0; f < kFeatures; ++f) {
        const float d = x[f] - centres[c * kFeatures + f] / counts[c];
        distance += d * d;
      }
      if (distance < best_distance) {
        best_distance = distance;
        best = c;
      }
    }
    right += best == test.labels()[i] ? 1 : 0;
  }
  EXPECT_GT(right, 480);
}

// With one feature, least squares finds the line and leaves only the noise.
TEST(GeneratedTest, RegressionIsALineWithNoise) {
  const Dataset set = GenerateRegression({.seed = 4, .examples = 5000, .features = 1});
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  const double n = 5000;
  for (int64_t i = 0; i < set.examples(); ++i) {
    float x = 0;
    float y = 0;
    set.GatherFeatures({&i, 1}, &x);
    set.GatherTargets({&i, 1}, &y);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    syy += y * y;
  }
  const double cxx = sxx / n - sx * sx / n / n;
  const double cxy = sxy / n - sx * sy / n / n;
  const double cyy = syy / n - sy * sy / n / n;
  EXPECT_NEAR(cyy - cxy * cxy / cxx, kRegressionNoise * kRegressionNoise, 0.001);
  EXPECT_GT(cyy, 0.05);
}

}  // namespace
}  // namespace taas
