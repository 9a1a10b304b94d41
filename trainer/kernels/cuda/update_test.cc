// The updates of all rules, and what is done to gradients before, against their twins on the
// processor: whole variables, rows that are listed, and a step that has a fault.
//
// A product that is added to is rounded once on some processors and twice on others, and so on
// GPUs: bits are the same where there is none.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/step_block.h"
#include "trainer/kernels/cuda/testing/twin.h"
#include "trainer/kernels/cuda/update_ops.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/optimizer/update_ops.h"

namespace taas::cuda {
namespace {

constexpr double kRoundings = 1e-6;

HostTensor Nothing() {
  return {.type = {DType::kInt32, Shape({0})}, .bytes = {}, .absent = true};
}
HostTensor Ints(const std::vector<int32_t>& values) {
  return TensorOf(DType::kInt32, Shape({static_cast<int64_t>(values.size())}), values);
}
// `capacity` ids, of which `ids` are listed.
void AddRows(const std::vector<int32_t>* ids, std::vector<HostTensor>* inputs) {
  if (ids == nullptr) {
    inputs->insert(inputs->end(), {Nothing(), Nothing()});
    return;
  }
  std::vector<int32_t> room = *ids;
  room.push_back(-5);  // What is behind the list is nobody's.
  inputs->push_back(Ints(room));
  inputs->push_back(Ints({static_cast<int32_t>(ids->size())}));
}

struct Update {
  std::string rule;
  int64_t step = 2;
  Shape shape{};
  const std::vector<int32_t>* rows = nullptr;
};

OpCase CaseOf(const Update& update) {
  const absl::StatusOr<std::unique_ptr<Optimizer>> made = Optimizer::Parse(update.rule);
  EXPECT_THAT(made, IsOk()) << update.rule;
  if (!made.ok()) return {};
  const Optimizer& optimizer = **made;
  OpCase of{.op = std::string(optimizer.update_op()),
            .inputs = {RandomFloats(update.shape, 1), RandomFloats(update.shape, 2)},
            .attributes = optimizer.update_attributes(),
            .tolerance = kRoundings,
            .block = {.step = update.step, .update = optimizer.scalars(update.step)},
            .in_place = {1},
            .spec = {{DType::kFloat32, update.shape}}};
  for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
    // As sums of squares are; a mean below each of their roots.
    of.inputs.push_back(RandomFloats(update.shape, 3 + slot, slot == 0 ? 0.5 : 0.1,
                                     slot == 0 ? 1.5 : 0.6));
    of.in_place.push_back(static_cast<int>(2 + slot));
  }
  AddRows(update.rows, &of.inputs);
  return of;
}

constexpr const char* kRules[] = {
    R"({"name": "sgd", "learningRate": 0.1})",
    R"({"name": "sgd", "learningRate": 0.1, "movingAverage": {"decay": 0.9}})",
    R"({"name": "momentum", "learningRate": 0.1})",
    R"({"name": "momentum", "learningRate": 0.1, "nesterov": true})",
    R"({"name": "adam", "learningRate": 0.1, "beta1": 0.8, "epsilon": 0.01})",
    R"({"name": "adamw", "learningRate": 0.1, "weightDecay": 0.3,
        "movingAverage": {"decay": 0.5}})",
    R"({"name": "adagrad", "learningRate": 0.1})",
    R"({"name": "adagrad", "learningRate": 0.1, "movingAverage": {"decay": 0.9}})",
    R"({"name": "rmsprop", "learningRate": 0.1, "momentum": 0.3})",
    R"({"name": "rmsprop", "learningRate": 0.1, "momentum": 0.3, "centered": true,
        "movingAverage": {"decay": 0.9}})",
    R"({"name": "ftrl", "learningRate": 0.1, "l1": 0.5, "l2": 0.02})",
    R"({"name": "ftrl", "learningRate": 0.1, "l1": 0.5, "learningRatePower": -0.7})",
    // Its rate is 0 in the first step.
    R"({"name": "ftrl", "learningRate": 0.1, "warmup": {"steps": 2},
        "movingAverage": {"decay": 0.9}})"};

TEST(UpdateTest, EachRuleIsItsTwin) {
  for (const char* const rule : kRules) {
    for (const int64_t step : {1, 2}) {
      ExpectTwin(CaseOf({.rule = rule, .step = step, .shape = Shape({5, 7})}));
    }
  }
}

TEST(UpdateTest, OfEachSize) {
  for (const int64_t n : {0, 1, 255, 256, 257, 1'025}) {
    ExpectTwin(CaseOf({.rule = kRules[5], .shape = Shape({n})}));
  }
  ExpectTwin(CaseOf({.rule = kRules[0], .shape = Shape()}));
}

// Other rows have a gradient, too, so that they would not stay as they are.
TEST(UpdateTest, ChangesTheRowsThatAreListedIfTheRuleLeavesZeros) {
  const std::vector<int32_t> some = {0, 3, 4, 8}, none, all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (const char* const rule : kRules) {
    ExpectTwin(CaseOf({.rule = rule, .step = 3, .shape = Shape({9, 5}), .rows = &some}));
  }
  for (const auto* rows : {&none, &all}) {
    ExpectTwin(CaseOf({.rule = kRules[0], .shape = Shape({9, 33}), .rows = rows}));
  }
}

TEST(UpdateTest, ChangesNothingInAStepThatHasAFault) {
  for (const char* const rule : kRules) {
    OpCase of = CaseOf({.rule = rule, .shape = Shape({5, 7})});
    of.tolerance = 0;
    of.block.fault = {.kernel = 3, .kind = Fault::Kind::kLabel, .at = 1};
    ExpectTwin(of);
  }
}

// Several in arrays of one layout, with some elements between them that are nobody's.
struct Variables {
  std::string rule;
  int64_t step = 2;
  std::vector<Shape> shapes{};
};

std::vector<int64_t> PlacesOf(const Variables& variables) {
  constexpr int64_t kBetween = 3;
  std::vector<int64_t> places = {kBetween};
  for (const Shape& shape : variables.shapes) {
    places.push_back(places.back() + shape.count() + kBetween);
  }
  return places;
}

OpCase CaseOf(const Variables& variables) {
  std::vector<int64_t> places = PlacesOf(variables);
  OpCase of = CaseOf(Update{variables.rule, variables.step, Shape({places.back()})});
  places.pop_back();
  of.attributes.Set(kPlaces, std::move(places));
  of.spec.clear();
  for (const Shape& shape : variables.shapes) of.spec.push_back({DType::kFloat32, shape});
  return of;
}

TEST(UpdateTest, OfManyVariablesEachRuleIsItsTwin) {
  const std::vector<Shape> shapes = {Shape({1}), Shape({5, 7}), Shape({0}), Shape({1'025}),
                                     Shape()};
  for (const char* const rule : kRules) {
    for (const int64_t step : {1, 2}) {
      OpCase of = CaseOf(Variables{rule, step, shapes});
      of.orders = 3;  // Each variable by itself is held in all.
      ExpectTwin(of);
    }
  }
}

TEST(UpdateTest, ManyVariablesHaveTheBitsOfEachByItself) {
  for (const char* const rule : kRules) {
    const Variables variables{rule, 2, {Shape({1'500}), Shape({3, 4}), Shape({2'049})}};
    const OpCase together = CaseOf(variables);
    const std::vector<HostTensor> all = OnGpu(together);
    const std::vector<int64_t> places = PlacesOf(variables);
    for (size_t i = 0; i < variables.shapes.size(); ++i) {
      OpCase alone = CaseOf(Update{rule, 2, variables.shapes[i]});
      const auto count = static_cast<size_t>(variables.shapes[i].count());
      const auto begin = static_cast<size_t>(places[i]);
      for (size_t input = 0; input + 2 < alone.inputs.size(); ++input) {
        const auto values = together.inputs[input].As<float>().subspan(begin, count);
        alone.inputs[input] = Floats(variables.shapes[i], {values.begin(), values.end()});
      }
      const std::vector<HostTensor> one = OnGpu(alone);
      ASSERT_EQ(one.size(), all.size());
      for (size_t output = 0; output < one.size(); ++output) {
        const auto values = all[output].As<float>().subspan(begin, count);
        const auto wanted = one[output].As<float>();
        EXPECT_TRUE(std::memcmp(values.data(), wanted.data(), wanted.size_bytes()) == 0)
            << rule << ", variable " << i << ", output " << output;
      }
    }
  }
}

TEST(UpdateTest, OfManyVariablesNothingIsChangedInAStepThatHasAFault) {
  OpCase of = CaseOf(Variables{kRules[5], 2, {Shape({5}), Shape({2, 3})}});
  of.tolerance = 0;
  of.block.fault = {.kernel = 3, .kind = Fault::Kind::kLoss};
  ExpectTwin(of);
}

TEST(UpdateTest, OfMoreVariablesThanALaunchHasRoomFor) {
  for (const size_t count : {160, 161}) {
    OpCase of = CaseOf(Variables{kRules[4], 2, std::vector<Shape>(count, Shape({2}))});
    EXPECT_EQ(CostsOf(of).launches, count == 160 ? 1 : 2);
    of.orders = 1;
    ExpectTwin(of);
  }
}

// A large variable has more blocks than a GPU runs at once, so that the last ones end together; a
// block never has more than some rounds of its threads.
TEST(UpdateTest, ElementsOfABlockGrowWithTheModelUpToALimit) {
  EXPECT_EQ(UpdateElements(0), 1'024);
  EXPECT_EQ(UpdateElements(1'056 * 1'024), 1'024);
  EXPECT_EQ(UpdateElements(1'056 * 1'024 + 1), 2'048);
  EXPECT_EQ(UpdateElements(124'000'000), 8'192);
}

// 28 bytes per element, and 37 of the step's numbers for each of 256 threads.
TEST(UpdateTest, AdamIsOnePass) {
  EXPECT_EQ(CostsOf(CaseOf({.rule = kRules[4], .shape = Shape({512})})),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 17'664, .written_bytes = 6'144}));
}

TEST(CheckLossTest, ReportsWhatIsNoNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float loss : {0.0f, -3e38f, kInfinity, -kInfinity,
                           std::numeric_limits<float>::quiet_NaN()}) {
    OpCase check{.op = kCheckLoss,
                 .inputs = {Floats(Shape(), {loss})},
                 .spec = {{DType::kFloat32, Shape()}}};
    check.index = Fault::kAfterGraph;
    ExpectTwin(check);
    check.block.fault = {.kernel = 2, .kind = Fault::Kind::kId, .at = 4};
    ExpectTwin(check);
  }
}

TEST(LossUnlessFaultTest, IsNoNumberInAStepThatHasAFault) {
  OpCase of{.op = kLossUnlessFault,
            .inputs = {Floats(Shape(), {1.25f})},
            .in_place = {-1},
            .spec = {{DType::kFloat32, Shape()}}};
  ExpectTwin(of);
  EXPECT_EQ(OnGpu(of)[0].As<float>()[0], 1.25f);
  of.block.fault = {.kernel = 2, .kind = Fault::Kind::kId, .at = 4};
  ExpectTwin(of);
  EXPECT_TRUE(std::isnan(OnGpu(of)[0].As<float>()[0]));
}

struct Finish {
  std::string clip{};
  double limit = 1;
  double loss_scale = 1;
  std::vector<Shape> shapes{};
  const std::vector<int32_t>* rows = nullptr;  // Of those that are tables.
};

OpCase CaseOf(const Finish& finish) {
  OpCase of{.op = kFinishGradients,
            .inputs = {},
            .attributes = {{"loss_scale", finish.loss_scale},
                           {"clip", finish.clip},
                           {"clip_limit", finish.limit}}};
  for (const Shape& shape : finish.shapes) {
    of.in_place.push_back(static_cast<int>(of.inputs.size()));
    of.inputs.push_back(RandomFloats(shape, of.inputs.size()));
    of.spec.push_back({DType::kFloat32, shape});
    AddRows(shape.rank() == 2 ? finish.rows : nullptr, &of.inputs);
  }
  return of;
}

TEST(FinishGradientsTest, IsItsTwin) {
  const std::vector<int32_t> rows = {1, 2, 7};
  const std::vector<Shape> shapes = {Shape({1}), Shape({9, 5}), Shape({0}), Shape({1'300}),
                                     Shape()};
  struct Case {
    std::string clip;
    double limit, loss_scale;
  };
  for (const auto& [clip, limit, loss_scale] : std::vector<Case>{
           {"", 1, 1}, {"", 1, 4}, {"value", 0.1, 1}, {"value", 0.1, 4}, {"norm", 0.1, 4},
           {"norm", 1e3, 1}}) {
    for (const auto* listed : {static_cast<const std::vector<int32_t>*>(nullptr), &rows}) {
      OpCase of = CaseOf(Finish{clip, limit, loss_scale, shapes, listed});
      if (clip == "norm" && limit < 1) of.tolerance = kRoundings;
      ExpectTwin(of);
    }
  }
}

TEST(FinishGradientsTest, OfMoreGradientsThanALaunchHasRoomFor) {
  OpCase of = CaseOf(Finish{"norm", 0.5, 2, std::vector<Shape>(65, Shape({2})), nullptr});
  of.tolerance = kRoundings;
  of.orders = 1;
  ExpectTwin(of);
  for (const size_t count : {64, 65}) {
    const std::vector<Shape> shapes(count, Shape({2}));
    EXPECT_EQ(CostsOf(CaseOf(Finish{"value", 0.5, 2, shapes, nullptr})).launches,
              count == 64 ? 1 : 2);
  }
}

TEST(FinishGradientsTest, WhatIsNoNumberIsSeen) {
  for (const std::string clip : {"value", "norm"}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 1e30f}) {
      OpCase of = CaseOf(Finish{clip, 0.5, 1, {Shape({3}), Shape({2})}, nullptr});
      of.inputs[0] = Floats(Shape({3}), {1, bad, 2});
      ExpectTwin(of);
    }
  }
}

// The norm reads each gradient once, then its sums; the change reads and writes each.
TEST(FinishGradientsTest, TheNormIsAPassOfItsOwn) {
  EXPECT_EQ(CostsOf(CaseOf(Finish{"norm", 0.5, 1, {Shape({1'000}), Shape({500})}, nullptr})),
            (OpCosts{.launches = 3, .barriers = 12, .read_bytes = 34'528,
                     .written_bytes = 10'164}));
}

OpCase MeanOf(int towers, const Shape& shape, const std::vector<int32_t>* rows) {
  OpCase of{.op = kMeanGradients, .inputs = {}, .in_place = {0}};
  for (int tower = 0; tower < towers; ++tower) {
    of.inputs.push_back(RandomFloats(shape, static_cast<uint64_t>(tower)));
    of.spec.push_back({DType::kFloat32, shape});
  }
  AddRows(rows, &of.inputs);
  return of;
}

TEST(MeanGradientsTest, IsItsTwin) {
  const std::vector<int32_t> rows = {0, 2, 3, 8};
  for (const int towers : {1, 2, 3, 4, 5, 9}) {
    ExpectTwin(MeanOf(towers, Shape({9, 5}), nullptr));
    ExpectTwin(MeanOf(towers, Shape({9, 5}), &rows));
  }
  ExpectTwin(MeanOf(2, Shape({1'025}), nullptr));
  ExpectTwin(MeanOf(130, Shape({3}), nullptr));
}

}  // namespace
}  // namespace taas::cuda
