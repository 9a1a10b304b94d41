#include "trainer/graph/model_state.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;

Device& Near() { return *CpuRuntime().devices[0]; }

VariableInfo Variable(const std::string& name, int64_t count, bool trainable = true) {
  const auto elements = static_cast<size_t>(count);
  return {name, Shape({count}), elements, elements * sizeof(float), trainable};
}

const std::vector<VariableInfo>& Variables() {
  static const std::vector<VariableInfo> kVariables = {
      Variable("moment", 3, /*trainable=*/false), Variable("w1", 20), Variable("w2", 5)};
  return kVariables;
}

TEST(ModelStateTest, WhatIsTrainedComesFirstInTheOrderOfItsGradients) {
  const auto state = ModelState::Make(Near(), Variables(), {.order = {2, 1}});
  ASSERT_THAT(state, IsOk());
  const ModelState& model = **state;
  // In steps of 64 bytes, where each tensor begins.
  EXPECT_THAT((std::vector{model.at(2), model.at(1), model.at(0)}), ElementsAre(0, 16, 48));
  EXPECT_EQ(model.trained_elements(), 48u);
  EXPECT_EQ(model.elements(), 64u);
  for (size_t i = 1; i <= 2; ++i) {
    const auto offset = [&](const TensorRef& tensor, const TensorRef& first) {
      return static_cast<float*>(tensor.data()) - static_cast<float*>(first.data());
    };
    EXPECT_EQ(offset(model.value(i), model.value(2)), offset(model.gradient(i), model.gradient(2)));
  }
  EXPECT_TRUE(model.gradient(0).empty());
  EXPECT_EQ(model.value(0).count(), 3u);
}

TEST(ModelStateTest, WhatHasNoPlaceInTheOrderFollows) {
  const auto state = ModelState::Make(Near(), Variables(), {.gradients = false});
  ASSERT_THAT(state, IsOk());
  EXPECT_EQ((*state)->at(1), 0u);
  EXPECT_EQ((*state)->at(2), 32u);
  EXPECT_TRUE((*state)->gradient(1).empty());
}

TEST(ModelStateTest, SlotsBeginAsTheyAreToldAndNothingLiesBetweenThem) {
  for (Device* const device : {&Near(), &FarDevice()}) {
    auto state = ModelState::Make(*device, Variables(), {.order = {1, 2}});
    ASSERT_THAT(state, IsOk());
    ASSERT_THAT((*state)->AddSlots(std::array{0.5f, 0.0f}), IsOk());
    EXPECT_EQ((*state)->slots(), 2u);
    EXPECT_TRUE((*state)->slot(0, 0).empty());
    std::vector<float> room;
    EXPECT_THAT(*OnHost((*state)->slot(0, 1), &room), Each(0.5f));
    EXPECT_THAT(*OnHost((*state)->slot(1), &room), Each(0.0f));
    std::vector<float> whole((*state)->trained_elements());
    ASSERT_THAT((*state)->slot(0).Read(std::span(whole)), IsOk());
    EXPECT_THAT(std::ranges::count(whole, 0.5f), Eq(25)) << "what lies between two is zero";
  }
}

// As a ring's other processes map it.
TEST(ModelStateTest, GradientsMayLieInMemoryThatIsGiven) {
  alignas(64) static std::array<float, 64> memory{};
  size_t asked = 0;
  const auto state = ModelState::Make(Near(), Variables(),
                                      {.order = {2, 1}, .gradient_memory = [&](size_t bytes) {
                                         asked = bytes;
                                         return Buffer(memory.data(), bytes, [](void*) {});
                                       }});
  ASSERT_THAT(state, IsOk());
  EXPECT_EQ((*state)->gradient_bytes(), asked);
  EXPECT_LE(asked, sizeof(memory));
  ASSERT_THAT((*state)->gradient(1).Fill(7), IsOk());
  EXPECT_EQ(memory[15], 0);
  EXPECT_EQ(memory[16], 7);
}

}  // namespace
}  // namespace taas
