#include "trainer/data/generated/digits.h"

#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/dataset.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int64_t kTrain = 9'000;
constexpr int64_t kTest = 1'000;
constexpr int64_t kBatch = 100;

Dataset Draw(int64_t first, int64_t count) {
  DigitImages images = DrawDigits({.seed = kSeed, .first = first, .count = count});
  auto set = Dataset::FromPixels(
      "digits", std::move(images.pixels), kDigitPixels,
      std::vector<int32_t>(images.labels.begin(), images.labels.end()), kDigitClasses);
  EXPECT_TRUE(set.ok());
  return *std::move(set);
}

struct Training {
  const char* model;
  int steps;
  float learning_rate;
};

// Test accuracy after plain SGD.
double Train(const Dataset& train, const Dataset& test, const Training& training) {
  auto spec = ParseModel(training.model, {.features = kDigitPixels, .classes = kDigitClasses});
  EXPECT_TRUE(spec.ok()) << spec.status();
  auto model = BuildModel(*spec);
  EXPECT_TRUE(model.ok()) << model.status();
  auto session = Session::Compile(
      CpuRuntime(), model->graph,
      {.batch = kBatch, .loss = model->loss, .fetches = {model->accuracy}});
  EXPECT_TRUE(session.ok()) << session.status();
  Session& s = **session;
  EXPECT_TRUE(s.InitializeVariables(kSeed).ok());
  std::vector<int64_t> indices(kBatch);
  const auto fill = [&](const Dataset& set) {
    GatherRows(set, indices, {.features = s.FloatInput(model->features),
                              .labels = s.Int32Input(model->labels)});
  };
  const BatchPlan plan({.seed = kSeed, .examples = train.examples(), .batch_size = kBatch});
  for (int step = 0; step < training.steps; ++step) {
    plan.Indices(step, indices);
    fill(train);
    EXPECT_TRUE(s.Run(RunKind::kTrain).ok());
    for (size_t i = 0; i < s.variables().size(); ++i) {
      const auto gradient = s.gradient(i).host();
      const auto variable = s.variable(i).host();
      for (size_t k = 0; k < gradient.size(); ++k) {
        variable[k] -= training.learning_rate * gradient[k];
      }
    }
  }
  double sum = 0;
  for (int64_t first = 0; first < test.examples(); first += kBatch) {
    std::iota(indices.begin(), indices.end(), first);
    fill(test);
    EXPECT_TRUE(s.Run(RunKind::kForward).ok());
    sum += s.output(model->accuracy).host()[0] * static_cast<double>(kBatch);
  }
  return sum / static_cast<double>(test.examples());
}

TEST(DigitsTest, SameSeedGivesTheSameImagesFromAnyStart) {
  const DigitImages whole = DrawDigits({.seed = 5, .first = 0, .count = 30});
  const DigitImages tail = DrawDigits({.seed = 5, .first = 20, .count = 10});
  EXPECT_EQ(std::vector<uint8_t>(whole.pixels.begin() + 20 * kDigitPixels, whole.pixels.end()),
            tail.pixels);
  EXPECT_EQ(std::vector<uint8_t>(whole.labels.begin() + 20, whole.labels.end()), tail.labels);
  EXPECT_NE(DrawDigits({.seed = 6, .first = 0, .count = 30}).pixels, whole.pixels);
}

TEST(DigitsTest, AllDigitsOccurAboutEquallyOften) {
  const DigitImages images = DrawDigits({.seed = kSeed, .count = 2'000});
  std::vector<int> counts(kDigitClasses);
  for (const uint8_t label : images.labels) ++counts[label];
  for (const int count : counts) EXPECT_NEAR(count, 200, 70);
}

TEST(DigitsTest, HiddenLayersAreNeededAndEnough) {
  const Dataset train = Draw(0, kTrain);
  const Dataset test = Draw(kTrain, kTest);
  const double softmax = Train(train, test, {R"({"name":"softmax"})", 2'000, 0.3f});
  const double mlp = Train(train, test, {R"({"name":"mlp","hidden":[500]})", 2'000, 0.1f});
  RecordProperty("softmax", std::to_string(softmax));
  RecordProperty("mlp", std::to_string(mlp));
  EXPECT_LE(softmax, 0.93);
  EXPECT_GE(mlp, softmax + 0.03);
  EXPECT_GE(mlp, 0.95);
}

}  // namespace
}  // namespace taas
