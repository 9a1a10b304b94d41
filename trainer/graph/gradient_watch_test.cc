#include "trainer/graph/gradient_watch.h"

#include <atomic>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_device.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

TEST(GradientWatchTest, AGradientIsThereOnceAllStepsThatUseItHaveEndedAndThoseBeforeItAre) {
  std::vector<size_t> told;
  // The first is written by step 1 and read by step 3, the second is of step 2, the third of 4.
  GradientWatch watch({{1, 3}, {2}, {4}}, 5, [&](size_t count) { told.push_back(count); });
  for (int run = 0; run < 2; ++run) {
    told.clear();
    watch.Begin();
    watch.OnStep(0);
    watch.OnStep(1);
    watch.OnStep(2);
    EXPECT_THAT(told, ElementsAre()) << "step 3 still reads the first";
    watch.OnStep(3);
    EXPECT_THAT(told, ElementsAre(2));
    watch.OnStep(4);
    EXPECT_THAT(told, ElementsAre(2, 3));
  }
}

TEST(GradientWatchTest, TheOrderOfStepsDoesNotChangeThatOfGradients) {
  std::vector<size_t> told;
  GradientWatch watch({{1, 3}, {2}, {4}}, 5, [&](size_t count) { told.push_back(count); });
  watch.Begin();
  for (const int step : {4, 2, 3, 0}) watch.OnStep(step);
  EXPECT_THAT(told, ElementsAre());
  watch.OnStep(1);
  EXPECT_THAT(told, ElementsAre(3));
}

// Each step sets its number; what is told of as there is set by then, whoever ran it.
TEST(GradientWatchTest, WhatARunnerTellsOfIsWritten) {
  constexpr int kSteps = 64;
  for (const int threads : {1, 3}) {
    std::vector<int> numbers(kSteps);
    std::vector<RunnableStep> steps;
    GradientWatch::Uses uses;
    for (int i = 0; i < kSteps; ++i) {
      steps.push_back({.kernel = {.run = [&numbers, i](const KernelCall&) {
        numbers[static_cast<size_t>(i)] = i + 1;
        return absl::OkStatus();
      }}});
      uses.push_back({i});
    }
    size_t there = 0;
    bool all_written = true;
    GradientWatch watch(uses, kSteps, [&](size_t count) {
      for (size_t i = there; i < count; ++i) all_written &= numbers[i] == static_cast<int>(i) + 1;
      there = count;
    });
    StepRunner runner(CpuDevice(), steps, std::vector<std::vector<MemoryAccess>>(kSteps), threads);
    for (int run = 0; run < 20; ++run) {
      numbers.assign(kSteps, 0);
      there = 0;
      watch.Begin();
      ASSERT_THAT(runner.Run(/*forward=*/false, {.watch = &watch}).status, IsOk());
      EXPECT_EQ(there, static_cast<size_t>(kSteps)) << threads << " threads";
      EXPECT_TRUE(all_written) << threads << " threads";
    }
  }
}

TEST(GradientWatchTest, AStepThatFailsIsNotToldOf) {
  std::vector<RunnableStep> steps(2);
  steps[0].kernel.run = [](const KernelCall&) { return absl::OkStatus(); };
  steps[1].kernel.run = [](const KernelCall&) { return absl::InternalError("no"); };
  std::vector<size_t> told;
  GradientWatch watch({{0}, {1}}, 2, [&](size_t count) { told.push_back(count); });
  StepRunner runner(CpuDevice(), steps, {}, 1);
  watch.Begin();
  EXPECT_FALSE(runner.Run(/*forward=*/false, {.watch = &watch}).status.ok());
  EXPECT_THAT(told, ElementsAre(1));
}

}  // namespace
}  // namespace taas
