#include "trainer/graph/step_runner.h"

#include <atomic>
#include <latch>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_device.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

MemoryAccess At(size_t place, bool writes) { return {0, place, place + 1, writes}; }

// Steps on an array of numbers, each of which folds what it reads into what it writes: a result
// that depends on the order of any two that touch one number.
class Folds {
 public:
  void Add(std::vector<size_t> reads, size_t writes) {
    const int index = static_cast<int>(steps.size());
    std::vector<MemoryAccess> touched;
    for (const size_t read : reads) touched.push_back(At(read, false));
    touched.push_back(At(writes, true));
    accesses.push_back(touched);
    steps.push_back({.forward = true,
                     .kernel = {.run = [this, reads, writes, index](const KernelCall&) {
                       uint64_t sum = static_cast<uint64_t>(index) + 1;
                       for (const size_t read : reads) sum = sum * 31 + numbers[read];
                       numbers[writes] = sum;
                       return absl::OkStatus();
                     }}});
  }

  std::vector<uint64_t> numbers = std::vector<uint64_t>(12, 1);
  std::vector<RunnableStep> steps;
  std::vector<std::vector<MemoryAccess>> accesses;
};

// Seeds are fixed: the test states a property, not an experiment.
TEST(StepRunnerTest, AnyNumberOfThreadsComputesTheSame) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<uint64_t> expected;
    for (const int threads : {1, 2, 3, 8}) {
      SeededRandom random(seed);
      Folds program;
      for (int i = 0; i < 60; ++i) {
        program.Add({random.Below(12), random.Below(12)}, random.Below(12));
      }
      StepRunner runner(CpuDevice(), program.steps, program.accesses, threads);
      for (int run = 0; run < 10; ++run) {
        ASSERT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
      }
      if (threads == 1) expected = program.numbers;
      EXPECT_EQ(program.numbers, expected) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

TEST(StepRunnerTest, StepsThatNeedNotWaitRunAtTheSameTime) {
  // Each ends only when the other has begun.
  std::latch both(2);
  std::vector<RunnableStep> steps;
  for (int i = 0; i < 2; ++i) {
    steps.push_back({.kernel = {.run = [&both](const KernelCall&) {
      both.arrive_and_wait();
      return absl::OkStatus();
    }}});
  }
  StepRunner runner(CpuDevice(), steps, std::vector<std::vector<MemoryAccess>>(2), /*threads=*/2);
  EXPECT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
}

TEST(StepRunnerTest, AForwardRunSkipsTheOthers) {
  for (const int threads : {1, 2}) {
    std::atomic<int> ran = 0;
    std::vector<RunnableStep> steps;
    for (int i = 0; i < 4; ++i) {
      steps.push_back({.forward = i % 2 == 0, .kernel = {.run = [&ran](const KernelCall&) {
        ++ran;
        return absl::OkStatus();
      }}});
    }
    StepRunner runner(CpuDevice(), steps, std::vector<std::vector<MemoryAccess>>(4), threads);
    ASSERT_THAT(runner.Run(/*forward=*/true, {}).status, IsOk());
    EXPECT_EQ(ran, 2);
    ASSERT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
    EXPECT_EQ(ran, 6);
  }
}

TEST(StepRunnerTest, AnErrorEndsTheRunBeforeStepsThatWaitAndTheNextRunWorks) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<bool> failing = true;
    std::atomic<int> after = 0;
    std::vector<RunnableStep> steps;
    std::vector<std::vector<MemoryAccess>> accesses;
    for (int i = 0; i < 20; ++i) {
      accesses.push_back({At(0, true)});
      steps.push_back({.kernel = {.run = [&, i](const KernelCall&) -> absl::Status {
        if (i == 5 && failing) return absl::InvalidArgumentError("bad data");
        if (i > 5) ++after;
        return absl::OkStatus();
      }}});
    }
    StepRunner runner(CpuDevice(), steps, accesses, threads);
    const StepFailure failure = runner.Run(/*forward=*/false, {});
    EXPECT_THAT(failure.status, StatusIs(absl::StatusCode::kInvalidArgument, "bad data"));
    EXPECT_EQ(failure.step, 5);
    EXPECT_EQ(after, 0);
    failing = false;
    EXPECT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
    EXPECT_EQ(after, 14);
  }
}

TEST(StepRunnerTest, ADeviceThatRunsLaterComputesTheSame) {
  std::vector<uint64_t> expected;
  for (Device* device : {&CpuDevice(), &FarDevice()}) {
    for (const int threads : {1, 3}) {
      SeededRandom random(4);
      Folds program;
      for (int i = 0; i < 60; ++i) {
        program.Add({random.Below(12), random.Below(12)}, random.Below(12));
      }
      StepRunner runner(*device, program.steps, program.accesses, threads);
      ASSERT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
      ASSERT_THAT(runner.RunOne(7, {}), IsOk());
      if (expected.empty()) expected = program.numbers;
      EXPECT_EQ(program.numbers, expected) << device->type() << ", " << threads << " threads";
    }
  }
}

// A kernel of a device with queues launches into that of its call.
TEST(StepRunnerTest, AKernelIsToldItsStream) {
  std::atomic<int> told = 0;
  Stream* seen = nullptr;
  const std::vector<RunnableStep> steps(2, {.kernel = {.run = [&](const KernelCall& call) {
    told += call.stream != nullptr && (seen == nullptr || seen == call.stream) ? 1 : 0;
    seen = call.stream;
    return absl::OkStatus();
  }}});
  StepRunner runner(CpuDevice(), steps, {}, /*threads=*/1);
  EXPECT_THAT(runner.Run(/*forward=*/false, {}).status, IsOk());
  EXPECT_EQ(told, 2);
}

TEST(StepRunnerTest, AnErrorOfADeviceThatRunsLaterEndsTheRun) {
  std::vector<RunnableStep> steps;
  for (int i = 0; i < 3; ++i) {
    steps.push_back({.kernel = {.run = [i](const KernelCall&) -> absl::Status {
      return i == 1 ? absl::InvalidArgumentError("bad data") : absl::OkStatus();
    }}});
  }
  StepRunner runner(FarDevice(), steps, {}, /*threads=*/1);
  const StepFailure failure = runner.Run(/*forward=*/false, {});
  EXPECT_THAT(failure.status, StatusIs(absl::StatusCode::kInvalidArgument, "bad data"));
  EXPECT_EQ(failure.step, -1);
}

TEST(StepRunnerTest, NothingToRunIsDone) {
  StepRunner runner(CpuDevice(), {}, {}, /*threads=*/3);
  EXPECT_THAT(runner.Run(/*forward=*/true, {}).status, IsOk());
}

}  // namespace
}  // namespace taas
