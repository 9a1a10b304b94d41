#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(OptimizerTest, SlotsStartWhereTensorFlowsDo) {
  const auto rmsprop = Optimizer::Make(
      {.name = "rmsprop", .learning_rate = {.start = 1}, .centered = true, .average_decay = 0.9});
  ASSERT_THAT(rmsprop, IsOk());
  EXPECT_THAT((*rmsprop)->slots(), ElementsAre("RMSProp", "RMSProp_1", "RMSProp_2",
                                               "ExponentialMovingAverage"));
  EXPECT_EQ((*rmsprop)->slot_start(0), 1);
  EXPECT_EQ((*rmsprop)->slot_start(1), 0);
  const auto ftrl = Optimizer::Parse(R"({"name":"ftrl","learningRate":1})");
  ASSERT_THAT(ftrl, IsOk());
  EXPECT_THAT((*ftrl)->slots(), ElementsAre("Ftrl", "Ftrl_1"));
  EXPECT_EQ((*ftrl)->slot_start(0), 0.1f);
  EXPECT_EQ((*ftrl)->slot_start(1), 0);
  const auto adagrad =
      Optimizer::Parse(R"({"name":"adagrad","learningRate":1,"initialAccumulator":0.25})");
  ASSERT_THAT(adagrad, IsOk());
  EXPECT_THAT((*adagrad)->slots(), ElementsAre("Adagrad"));
  EXPECT_EQ((*adagrad)->slot_start(0), 0.25f);
}

TEST(OptimizerTest, TheRateGrowsWithTheGradientsOfAnUpdateWhereToldSo) {
  for (const bool told : {false, true}) {
    const std::string json = std::string(R"({"name":"sgd","learningRate":0.5,"scaleByWorkers":)") +
                             (told ? "true}" : "false}");
    const auto sgd = Optimizer::Parse(json, /*gradients=*/4);
    ASSERT_THAT(sgd, IsOk());
    EXPECT_EQ((*sgd)->learning_rate(1), told ? 2 : 0.5);
  }
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

// The same updates one element after the other, in double precision. tensorflow_test shows that
// they are TensorFlow's.
class Twin {
 public:
  Twin(const Optimizer& optimizer, const OptimizerOptions& options,
       const std::vector<float>& start)
      : options_(options), w_(start.begin(), start.end()), average_(w_) {
    for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
      slots_.emplace_back(start.size(), double{optimizer.slot_start(slot)});
    }
  }

  void Apply(const std::vector<float>& gradient, int64_t step) {
    const double n = static_cast<double>(step);
    for (size_t i = 0; i < w_.size(); ++i) {
      Update(i, double{gradient[i]}, n, options_.learning_rate.At(step));
      if (!options_.average_decay) continue;
      const double decay = std::min(*options_.average_decay, (1 + n) / (10 + n));
      average_[i] = decay * average_[i] + (1 - decay) * w_[i];
      slots_.back()[i] = average_[i];
    }
  }

  const std::vector<double>& w() const { return w_; }
  const std::vector<double>& slot(size_t slot) const { return slots_[slot]; }

 private:
  void Update(size_t i, double g, double n, double rate) {
    const OptimizerOptions& o = options_;
    if (o.name == "sgd") {
      w_[i] -= rate * g;
    } else if (o.name == "momentum") {
      const double momentum = o.momentum.value_or(0.9);
      slots_[0][i] = momentum * slots_[0][i] + g;
      w_[i] -= rate * (o.nesterov ? g + momentum * slots_[0][i] : slots_[0][i]);
    } else if (o.name == "adagrad") {
      slots_[0][i] += g * g;
      w_[i] -= rate * g / std::sqrt(slots_[0][i]);
    } else if (o.name == "rmsprop") {
      RmsProp(i, g, rate);
    } else if (o.name == "ftrl") {
      Ftrl(i, g, rate);
    } else {
      slots_[0][i] = o.beta1 * slots_[0][i] + (1 - o.beta1) * g;
      slots_[1][i] = o.beta2 * slots_[1][i] + (1 - o.beta2) * g * g;
      const double corrected =
          rate * std::sqrt(1 - std::pow(o.beta2, n)) / (1 - std::pow(o.beta1, n));
      if (o.name == "adamw") w_[i] -= rate * o.weight_decay * w_[i];
      w_[i] -= corrected * slots_[0][i] / (std::sqrt(slots_[1][i]) + o.epsilon.value_or(1e-8));
    }
  }

  void RmsProp(size_t i, double g, double rate) {
    const double rho = options_.rho;
    double variance = slots_[0][i] = rho * slots_[0][i] + (1 - rho) * g * g;
    if (options_.centered) {
      slots_[1][i] = rho * slots_[1][i] + (1 - rho) * g;
      variance -= slots_[1][i] * slots_[1][i];
    }
    double& move = slots_[options_.centered ? 2 : 1][i];
    move = options_.momentum.value_or(0) * move +
           rate * g / std::sqrt(variance + options_.epsilon.value_or(1e-10));
    w_[i] -= move;
  }

  void Ftrl(size_t i, double g, double rate) {
    if (rate == 0) return;
    const double power = -options_.learning_rate_power;
    const double sum = slots_[0][i], linear = slots_[1][i];
    slots_[0][i] = sum + g * g;
    const double weight = std::pow(slots_[0][i], power) / rate;
    slots_[1][i] = linear + g - (weight - std::pow(sum, power) / rate) * w_[i];
    const double size = std::abs(slots_[1][i]);
    w_[i] = size <= options_.l1 ? 0
                                : -std::copysign(size - options_.l1, slots_[1][i]) /
                                      (weight + 2 * options_.l2);
  }

  const OptimizerOptions options_;
  std::vector<double> w_;
  std::vector<double> average_;
  std::vector<std::vector<double>> slots_;
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
  // The linear term of ftrl is a sum in which terms of 1 / rate cancel.
  const double slot_tolerance = GetParam().options.name == "ftrl" ? 1e-5 : kTolerance;
  for (const size_t size : {1, 7, 16, 31, 97, 1023, 1024, 1025, 4099, 32769}) {
    SeededRandom random(size);
    std::vector<float> w = RandomFloats(size, random);
    for (float& value : w) value *= 0.1f;  // As weights are.
    Twin twin(**optimizer, GetParam().options, w);
    std::vector<std::vector<float>> slots;
    for (size_t slot = 0; slot < (*optimizer)->slots().size(); ++slot) {
      slots.emplace_back(size, (*optimizer)->slot_start(slot));
    }
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
      ASSERT_NEAR(w[i], twin.w()[i], kTolerance * (1 + std::abs(twin.w()[i])))
          << "element " << i << " of " << size;
      for (size_t slot = 0; slot < slots.size(); ++slot) {
        const double want = twin.slot(slot)[i];
        ASSERT_NEAR(slots[slot][i], want, slot_tolerance * (1 + std::abs(want)))
            << (*optimizer)->slots()[slot] << " " << i << " of " << size;
      }
    }
  }
}

// The variable and its slots after three updates that `threads` share.
std::vector<std::vector<float>> Updated(const Optimizer& optimizer, size_t size, int threads,
                                        bool past_caches) {
  SeededRandom random(1);
  std::vector<std::vector<float>> arrays{RandomFloats(size, random)};
  for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
    arrays.emplace_back(size, optimizer.slot_start(slot));
  }
  // Some of which no line of the caches begins with.
  std::vector<std::vector<float>> next(arrays.size(), std::vector<float>(size + 7, 77.0f));
  for (int64_t step = 1; step <= 3; ++step) {
    const std::vector<std::span<const float>> in(arrays.begin() + 1, arrays.end());
    std::vector<std::span<float>> out;
    for (size_t i = 0; i < arrays.size(); ++i) {
      out.push_back(past_caches ? std::span(next[i]).subspan(i, size) : std::span(arrays[i]));
    }
    optimizer.Apply({.gradient = RandomFloats(size, random),
                     .in = arrays[0],
                     .out = out[0],
                     .slots_in = in,
                     .slots_out = std::span(out).subspan(1),
                     .step = step,
                     .threads = threads,
                     .past_caches = past_caches});
    if (!past_caches) continue;
    for (size_t i = 0; i < arrays.size(); ++i) std::ranges::copy(out[i], arrays[i].begin());
  }
  return arrays;
}

TEST_P(TwinTest, SeveralThreadsMakeTheSameBits) {
  const auto optimizer = Optimizer::Make(GetParam().options);
  ASSERT_THAT(optimizer, IsOk());
  for (const size_t size : {5, 100'003}) {
    EXPECT_EQ(Updated(**optimizer, size, 3, /*past_caches=*/false),
              Updated(**optimizer, size, 1, /*past_caches=*/false))
        << size;
  }
}

TEST_P(TwinTest, WritingPastTheCachesMakesTheSameBits) {
  const auto optimizer = Optimizer::Make(GetParam().options);
  ASSERT_THAT(optimizer, IsOk());
  for (const size_t size : {0, 1, 15, 511, 513, 5000, 100'003}) {
    EXPECT_EQ(Updated(**optimizer, size, 2, /*past_caches=*/true),
              Updated(**optimizer, size, 1, /*past_caches=*/false))
        << size;
  }
}

const LearningRate kConstant{.start = 0.01};
const LearningRate kDecaying{.start = 0.01, .decay_steps = 30, .decay_rate = 0.5};
const LearningRate kWarm{.start = 0.01, .warmup_steps = 5};
const LearningRate kStaircase{
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
                 {.name = "adam", .learning_rate = kConstant, .average_decay = 0.999}},
        TwinCase{"Nesterov",
                 {.name = "momentum", .learning_rate = kDecaying, .nesterov = true}},
        TwinCase{"AdamW", {.name = "adamw", .learning_rate = kConstant, .weight_decay = 0.3}},
        TwinCase{"Adagrad", {.name = "adagrad", .learning_rate = kConstant}},
        TwinCase{"AdagradAveraged",
                 {.name = "adagrad", .learning_rate = kDecaying, .initial_accumulator = 2,
                  .average_decay = 0.9}},
        TwinCase{"RmsProp", {.name = "rmsprop", .learning_rate = kConstant}},
        TwinCase{"RmsPropOtherNumbers",
                 {.name = "rmsprop", .learning_rate = kDecaying, .momentum = 0.5,
                  .epsilon = 0.01, .rho = 0.5}},
        TwinCase{"RmsPropCentered",
                 {.name = "rmsprop", .learning_rate = kConstant, .momentum = 0.9,
                  .centered = true, .average_decay = 0.9}},
        TwinCase{"Ftrl", {.name = "ftrl", .learning_rate = kConstant}},
        TwinCase{"FtrlPenalties",
                 {.name = "ftrl", .learning_rate = kWarm, .initial_accumulator = 0.5,
                  .l1 = 0.5, .l2 = 0.25}},
        TwinCase{"FtrlOtherPower",
                 {.name = "ftrl", .learning_rate = kWarm, .learning_rate_power = -0.7,
                  .l1 = 0.5, .average_decay = 0.9}}),
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

TEST(OptimizerTest, NumbersThatAreNoneAreRefused) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double none : {kNaN, -kNaN, kInfinity}) {
    EXPECT_THAT(Optimizer::Make({.learning_rate = {.start = none}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("optimizer.learningRate")));
    EXPECT_THAT(Optimizer::Make({.name = "momentum", .learning_rate = {.start = 1},
                                 .momentum = none}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("optimizer.momentum")));
  }
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
                    "optimizer.name: there is no optimizer \"sdg\"; did you mean \"sgd\"? known: "
                    "sgd, momentum, adam, adamw, adagrad, rmsprop, ftrl"},
        RefusedCase{"NoName", R"({"learningRate":1})", "optimizer.name"},
        RefusedCase{"NoRate", R"({"name":"sgd"})", "optimizer.learningRate"},
        RefusedCase{"RateOfText", R"({"name":"sgd","learningRate":"1"})", "optimizer.learningRate"},
        RefusedCase{"RateZero", R"({"name":"sgd","learningRate":0})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"RateNegative", R"({"name":"sgd","learningRate":-1})",
                    "optimizer.learningRate: must be above 0"},
        RefusedCase{"RateHuge", R"({"name":"sgd","learningRate":1e300})",
                    "optimizer.learningRate: must be above 0 and at most 1e+06"},
        RefusedCase{"UnknownField", R"({"name":"sgd","learningRate":1,"nestorov":true})",
                    "optimizer.nestorov: unknown field"},
        RefusedCase{"FieldOfAnother", R"({"name":"sgd","learningRate":1,"momentum":0.9})",
                    "optimizer.momentum: belongs to momentum, rmsprop, not to sgd"},
        RefusedCase{"NesterovOfRmsProp", R"({"name":"rmsprop","learningRate":1,"nesterov":true})",
                    "optimizer.nesterov: belongs to momentum, not to rmsprop"},
        RefusedCase{"NesterovOne", R"({"name":"momentum","learningRate":1,"nesterov":1})",
                    "optimizer.nesterov: must be true or false"},
        RefusedCase{"WeightDecayOfAdam", R"({"name":"adam","learningRate":1,"weightDecay":0.1})",
                    "optimizer.weightDecay: belongs to adamw, not to adam"},
        RefusedCase{"WeightDecay", R"({"name":"adamw","learningRate":1,"weightDecay":-1})",
                    "optimizer.weightDecay: must be at least 0"},
        RefusedCase{"AdagradFromZero",
                    R"({"name":"adagrad","learningRate":1,"initialAccumulator":0})",
                    "optimizer.initialAccumulator: must be above 0"},
        RefusedCase{"Rho", R"({"name":"rmsprop","learningRate":1,"rho":1})",
                    "optimizer.rho: must be at least 0 and below 1"},
        RefusedCase{"FtrlPower", R"({"name":"ftrl","learningRate":1,"learningRatePower":0.5})",
                    "optimizer.learningRatePower: must be"},
        RefusedCase{"FtrlL1", R"({"name":"ftrl","learningRate":1,"l1":-1})", "optimizer.l1: must"},
        RefusedCase{"FtrlL2", R"({"name":"ftrl","learningRate":1,"l2":-1})", "optimizer.l2: must"},
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
        RefusedCase{"DecayType", R"({"name":"sgd","learningRate":1,"decay":{"type":"linear"}})",
                    "optimizer.decay.type: must be exponential, step or cosine"},
        RefusedCase{"StepNoBoundaries",
                    R"({"name":"sgd","learningRate":1,"decay":{"type":"step","rates":[1]}})",
                    "optimizer.decay.boundaries: must be a list"},
        RefusedCase{"StepShrinks",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"type":"step","boundaries":[5,5],"rates":[1,1]}})",
                    "optimizer.decay.boundaries: must grow"},
        RefusedCase{"StepRates",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"type":"step","boundaries":[5],"rates":[1,2]}})",
                    "optimizer.decay.rates: must be one for each boundary"},
        RefusedCase{"StepRateZero",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"type":"step","boundaries":[5],"rates":[0]}})",
                    "optimizer.decay.rates: must be above 0"},
        RefusedCase{"CosineRate",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"type":"cosine","steps":5,"rate":0.5}})",
                    "optimizer.decay.rate: unknown field"},
        RefusedCase{"CosineAlpha",
                    R"({"name":"sgd","learningRate":1,
                        "decay":{"type":"cosine","steps":5,"alpha":2}})",
                    "optimizer.decay.alpha: must be at least 0 and at most 1"},
        RefusedCase{"Warmup", R"({"name":"sgd","learningRate":1,"warmup":{"steps":0}})",
                    "optimizer.warmup.steps: must be"},
        RefusedCase{"WarmupUnknown",
                    R"({"name":"sgd","learningRate":1,"warmup":{"steps":1,"from":0}})",
                    "optimizer.warmup.from: unknown field"},
        RefusedCase{"ScaleByWorkers", R"({"name":"sgd","learningRate":1,"scaleByWorkers":4})",
                    "optimizer.scaleByWorkers: must be true or false"},
        RefusedCase{"AverageOne",
                    R"({"name":"sgd","learningRate":1,"movingAverage":{"decay":1}})",
                    "movingAverage.decay: must be at least 0 and below 1"},
        RefusedCase{"AverageEmpty", R"({"name":"sgd","learningRate":1,"movingAverage":{}})",
                    "movingAverage: must be an object with decay"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
