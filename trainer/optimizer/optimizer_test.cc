#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptimizerTest, GradientDescentStepsAgainstTheGradient) {
  const auto sgd = Optimizer::Parse(R"({"name":"sgd","learningRate":0.5})");
  ASSERT_THAT(sgd, IsOk());
  EXPECT_EQ((*sgd)->name(), "sgd");
  EXPECT_TRUE((*sgd)->slots().empty());
  const std::vector<float> gradient = {2, -4, 0};
  std::vector<float> variable = {1, 1, 1};
  (*sgd)->Apply({.gradient = gradient, .in = variable, .out = variable, .step = 1});
  EXPECT_THAT(variable, ElementsAre(0, 3, 1));
}

TEST(OptimizerTest, OutOfPlaceUpdateLeavesTheOldVersionAlone) {
  const auto momentum = Optimizer::Make(
      {.name = "momentum", .learning_rate = {.start = 1}, .momentum = 0.5, .average_decay = 0.1});
  ASSERT_THAT(momentum, IsOk());
  const std::vector<float> gradient = {1, 2}, old_version = {10, 10}, old_accumulator = {4, 6},
                           old_average = {8, 8};
  std::vector<float> new_version(2), new_accumulator(2), new_average(2);
  const std::span<const float> slots_in[] = {old_accumulator, old_average};
  const std::span<float> slots_out[] = {new_accumulator, new_average};
  (*momentum)->Apply({.gradient = gradient,
                      .in = old_version,
                      .out = new_version,
                      .slots_in = slots_in,
                      .slots_out = slots_out,
                      .step = 2});
  EXPECT_THAT(old_version, ElementsAre(10, 10));
  EXPECT_THAT(old_accumulator, ElementsAre(4, 6));
  EXPECT_THAT(old_average, ElementsAre(8, 8));
  EXPECT_THAT(new_accumulator, ElementsAre(3, 5));
  EXPECT_THAT(new_version, ElementsAre(7, 5));
  // The average goes 0.9 of its way: 3 of 12 would be the early decay, which is larger than 0.1.
  EXPECT_FLOAT_EQ(new_average[0], 8 - 0.9f * 1);
  EXPECT_FLOAT_EQ(new_average[1], 8 - 0.9f * 3);
}

TEST(OptimizerTest, NothingToUpdateIsFine) {
  const auto sgd = Optimizer::Make({.learning_rate = {.start = 1}});
  ASSERT_THAT(sgd, IsOk());
  (*sgd)->Apply({});
}

TEST(OptimizerTest, SlotsAreTensorFlowsWithTheAverageLast) {
  const OptimizerOptions adam{
      .name = "adam", .learning_rate = {.start = 1}, .average_decay = 0.99};
  const auto with_average = Optimizer::Make(adam);
  ASSERT_THAT(with_average, IsOk());
  EXPECT_THAT((*with_average)->slots(),
              ElementsAre("Adam", "Adam_1", "ExponentialMovingAverage"));
  EXPECT_EQ((*with_average)->average_slot(), 2u);
  const auto momentum = Optimizer::Make({.name = "momentum", .learning_rate = {.start = 1}});
  ASSERT_THAT(momentum, IsOk());
  EXPECT_THAT((*momentum)->slots(), ElementsAre("Momentum"));
  EXPECT_EQ((*momentum)->average_slot(), std::nullopt);
}

TEST(OptimizerTest, AdamsPowersAreThoseOfTensorFlowsCheckpoints) {
  const auto adam = Optimizer::Make({.name = "adam", .learning_rate = {.start = 1}});
  ASSERT_THAT(adam, IsOk());
  const auto numbers = (*adam)->numbers(2);
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[0].name, "beta1_power");
  EXPECT_DOUBLE_EQ(numbers[0].value, 0.9 * 0.9 * 0.9);
  EXPECT_EQ(numbers[1].name, "beta2_power");
  EXPECT_DOUBLE_EQ(numbers[1].value, 0.999 * 0.999 * 0.999);
}

// The same updates one element after the other, in double precision.
class Twin {
 public:
  Twin(const OptimizerOptions& options, const std::vector<float>& start)
      : options_(options), w_(start.begin(), start.end()), average_(w_) {
    for (auto& slot : slots_) slot.resize(start.size());
  }

  void Apply(const std::vector<float>& gradient, int64_t step) {
    const double n = static_cast<double>(step);
    const double rate = options_.learning_rate.At(step);
    for (size_t i = 0; i < w_.size(); ++i) {
      const double g = double{gradient[i]};
      if (options_.name == "sgd") {
        w_[i] -= rate * g;
      } else if (options_.name == "momentum") {
        slots_[0][i] = options_.momentum * slots_[0][i] + g;
        w_[i] -= rate * slots_[0][i];
      } else {
        slots_[0][i] = options_.beta1 * slots_[0][i] + (1 - options_.beta1) * g;
        slots_[1][i] = options_.beta2 * slots_[1][i] + (1 - options_.beta2) * g * g;
        const double corrected =
            rate * std::sqrt(1 - std::pow(options_.beta2, n)) / (1 - std::pow(options_.beta1, n));
        w_[i] -= corrected * slots_[0][i] / (std::sqrt(slots_[1][i]) + options_.epsilon);
      }
      const double decay =
          std::min(options_.average_decay.value_or(0), (1 + n) / (10 + n));
      average_[i] = decay * average_[i] + (1 - decay) * w_[i];
    }
  }

  const std::vector<double>& w() const { return w_; }
  const std::vector<double>& slot(const std::string& name) const {
    if (name == "ExponentialMovingAverage") return average_;
    return slots_[name == "Adam_1" ? 1 : 0];
  }

 private:
  const OptimizerOptions options_;
  std::vector<double> w_;
  std::vector<double> average_;
  std::vector<double> slots_[2];
};

struct TwinCase {
  const char* name;
  OptimizerOptions options;
};

class TwinTest : public testing::TestWithParam<TwinCase> {};

std::vector<float> RandomFloats(size_t n, SeededRandom& random) {
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

// Of the size of the values: what a hundred roundings of float leave.
constexpr double kTolerance = 1e-6;

TEST_P(TwinTest, AHundredUpdatesAgreeWithTheTwinAtOddSizes) {
  const auto optimizer = Optimizer::Make(GetParam().options);
  ASSERT_THAT(optimizer, IsOk());
  for (const size_t size : {1, 7, 16, 31, 97, 1023, 1024, 1025, 4099}) {
    SeededRandom random(size);
    std::vector<float> w = RandomFloats(size, random);
    for (float& value : w) value *= 0.1f;  // As weights are.
    Twin twin(GetParam().options, w);
    std::vector<std::vector<float>> slots((*optimizer)->slots().size(),
                                          std::vector<float>(size));
    const std::vector<std::span<const float>> slots_in(slots.begin(), slots.end());
    const std::vector<std::span<float>> slots_out(slots.begin(), slots.end());
    for (int64_t step = 1; step <= 100; ++step) {
      const std::vector<float> gradient = RandomFloats(size, random);
      (*optimizer)->Apply({.gradient = gradient,
                           .in = w,
                           .out = w,
                           .slots_in = slots_in,
                           .slots_out = slots_out,
                           .step = step});
      twin.Apply(gradient, step);
    }
    for (size_t i = 0; i < size; ++i) {
      ASSERT_NEAR(w[i], twin.w()[i], kTolerance) << "element " << i << " of " << size;
      for (size_t slot = 0; slot < slots.size(); ++slot) {
        const double want = twin.slot((*optimizer)->slots()[slot])[i];
        ASSERT_NEAR(slots[slot][i], want, kTolerance * (1 + std::abs(want)))
            << (*optimizer)->slots()[slot] << " " << i << " of " << size;
      }
    }
  }
}

constexpr LearningRate kConstant{.start = 0.01};
constexpr LearningRate kDecaying{.start = 0.01, .decay_steps = 30, .decay_rate = 0.5};
constexpr LearningRate kStaircase{
    .start = 0.01, .decay_steps = 30, .decay_rate = 0.5, .staircase = true};

INSTANTIATE_TEST_SUITE_P(
    Table, TwinTest,
    testing::Values(
        TwinCase{"Sgd", {.name = "sgd", .learning_rate = kConstant}},
        TwinCase{"SgdDecaying", {.name = "sgd", .learning_rate = kDecaying}},
        TwinCase{"SgdAveraged",
                 {.name = "sgd", .learning_rate = kConstant, .average_decay = 0.9}},
        TwinCase{"Momentum", {.name = "momentum", .learning_rate = kConstant}},
        TwinCase{"MomentumLightStaircase",
                 {.name = "momentum", .learning_rate = kStaircase, .momentum = 0.5}},
        TwinCase{"MomentumAveraged",
                 {.name = "momentum", .learning_rate = kDecaying, .average_decay = 0.99}},
        TwinCase{"Adam", {.name = "adam", .learning_rate = kConstant}},
        TwinCase{"AdamOtherNumbers",
                 {.name = "adam", .learning_rate = kDecaying, .beta1 = 0.5, .beta2 = 0.99,
                  .epsilon = 0.1}},
        TwinCase{"AdamAveraged",
                 {.name = "adam", .learning_rate = kConstant, .average_decay = 0.999}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(OptimizerTest, AllFieldsOfTheJsonCount) {
  const auto adam = Optimizer::Parse(
      R"({"name":"adam","learningRate":0.5,"beta1":0.5,"beta2":0.75,"epsilon":0.25,
          "decay":{"steps":1,"rate":0.5,"staircase":true},"movingAverage":{"decay":0.25}})");
  ASSERT_THAT(adam, IsOk());
  EXPECT_EQ((*adam)->learning_rate(3), 0.125);
  EXPECT_EQ((*adam)->numbers(1)[0].value, 0.25);
  EXPECT_EQ((*adam)->numbers(1)[1].value, 0.5625);
  std::vector<float> w = {1}, m = {0}, v = {0}, average = {0};
  const std::span<const float> slots_in[] = {m, v, average};
  const std::span<float> slots_out[] = {m, v, average};
  const std::vector<float> gradient = {2};
  (*adam)->Apply({.gradient = gradient, .in = w, .out = w, .slots_in = slots_in,
                  .slots_out = slots_out, .step = 1});
  // rate 0.5 · √0.25 / 0.5 = 0.5; m = 1, v = 1.
  EXPECT_FLOAT_EQ(w[0], 1 - 0.5f / 1.25f);
  EXPECT_FLOAT_EQ(average[0], 1 - (1 - 2.0f / 11) * 0.4f);

  const auto momentum =
      Optimizer::Parse(R"({"name":"momentum","learningRate":1,"momentum":0.25})");
  ASSERT_THAT(momentum, IsOk());
  std::vector<float> x = {0}, accumulator = {4};
  const std::span<const float> in[] = {accumulator};
  const std::span<float> out[] = {accumulator};
  (*momentum)->Apply(
      {.gradient = gradient, .in = x, .out = x, .slots_in = in, .slots_out = out, .step = 1});
  EXPECT_EQ(accumulator[0], 3);
  EXPECT_EQ(x[0], -3);
}

struct RefusedCase {
  const char* name;
  const char* json;
  const char* message;
};

class OptimizerRefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(OptimizerRefusedTest, MessageNamesTheField) {
  EXPECT_THAT(Optimizer::Parse(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, OptimizerRefusedTest,
    testing::Values(
        RefusedCase{"NotJson", "sgd", "optimizer: must be a JSON object, is sgd"},
        RefusedCase{"UnknownName", R"({"name":"sdg","learningRate":1})",
                    "optimizer.name: there is no optimizer \"sdg\"; known: sgd, momentum, adam"},
        RefusedCase{"NoName", R"({"learningRate":1})", "optimizer.name"},
        RefusedCase{"NoRate", R"({"name":"sgd"})", "optimizer.learningRate"},
        RefusedCase{"RateOfText", R"({"name":"sgd","learningRate":"1"})", "optimizer.learningRate"},
        RefusedCase{"RateZero", R"({"name":"sgd","learningRate":0})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"RateNegative", R"({"name":"sgd","learningRate":-1})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"RateHuge", R"({"name":"sgd","learningRate":1e300})",
                    "optimizer.learningRate: must be above 0 and at most 1e+06"},
        RefusedCase{"UnknownField", R"({"name":"sgd","learningRate":1,"nesterov":true})",
                    "optimizer.nesterov: unknown field"},
        RefusedCase{"FieldOfAnother", R"({"name":"sgd","learningRate":1,"momentum":0.9})",
                    "optimizer.momentum: belongs to optimizer momentum, not to sgd"},
        RefusedCase{"MomentumOne", R"({"name":"momentum","learningRate":1,"momentum":1})",
                    "optimizer.momentum: must be at least 0 and below 1, is 1"},
        RefusedCase{"Beta", R"({"name":"adam","learningRate":1,"beta2":-0.1})",
                    "optimizer.beta2: must be"},
        RefusedCase{"Epsilon", R"({"name":"adam","learningRate":1,"epsilon":0})",
                    "optimizer.epsilon: must be above 0"},
        RefusedCase{"DecayNoSteps", R"({"name":"sgd","learningRate":1,"decay":{"rate":0.5}})",
                    "optimizer.decay.steps: must be"},
        RefusedCase{"DecayNoRate", R"({"name":"sgd","learningRate":1,"decay":{"steps":5}})",
                    "optimizer.decay.rate: is required"},
        RefusedCase{"DecayRateZero",
                    R"({"name":"sgd","learningRate":1,"decay":{"steps":5,"rate":0}})",
                    "optimizer.decay.rate: must be above 0"},
        RefusedCase{"DecayUnknown",
                    R"({"name":"sgd","learningRate":1,"decay":{"steps":5,"rate":1,"start":2}})",
                    "optimizer.decay.start: unknown field"},
        RefusedCase{"DecayStaircase",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"steps":5,"rate":1,"staircase":1}})",
                    "optimizer.decay.staircase: must be true or false"},
        RefusedCase{"AverageOne",
                    R"({"name":"sgd","learningRate":1,"movingAverage":{"decay":1}})",
                    "movingAverage.decay: must be at least 0 and below 1"},
        RefusedCase{"AverageEmpty", R"({"name":"sgd","learningRate":1,"movingAverage":{}})",
                    "movingAverage: must be an object with decay"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
