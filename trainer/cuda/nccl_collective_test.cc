// GPUs that stand for some, and a NCCL that does: means in their streams, what is captured, ranks
// that do not come, and calls that fail one by one.

#include "trainer/cuda/nccl_collective.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using fake::FakeCudaLeft;
using fake::FakeGpu;
using fake::kNeverEnds;
using Code = absl::StatusCode;
using Floats = std::vector<float>;

constexpr size_t kCount = 300, kBytes = kCount * sizeof(float);

std::string Machine(int devices) {
  std::string lines;
  for (int i = 0; i < devices; ++i) lines += fake::kH100;
  return lines;
}

// Of a test of what comes too late; a thread that is slow to start does not.
NcclCollective::Options Impatient() {
  return {.library = fake::kNccl, .arrival = std::chrono::seconds(1)};
}
// Of one in which something else has to end what waits.
NcclCollective::Options Patient() {
  return {.library = fake::kNccl, .arrival = std::chrono::hours(1)};
}

// A rank's memory and stream.
struct Side {
  explicit Side(CudaDevice& on) : device(on), stream(on.MakeStream()) {
    for (Buffer* const buffer : {&mean, &other, &first}) {
      absl::StatusOr<Buffer> made = device.Allocate(kBytes, MemoryKind::kDevice);
      EXPECT_THAT(made, IsOk());
      *buffer = *std::move(made);
    }
  }
  TensorRef At(const Buffer& buffer, size_t count = kCount) {
    return {device, buffer.data(), DType::kFloat32, count};
  }
  Floats Read(const Buffer& buffer) {
    Floats values(kCount);
    EXPECT_THAT(At(buffer).Read(std::span(values)), IsOk());
    return values;
  }
  Collective::Exchange exchange() {
    return {.means = {At(mean), At(other)}, .firsts = {At(first)}};
  }

  CudaDevice& device;
  std::unique_ptr<Stream> stream;
  Buffer mean, other, first;
};

class NcclCollectiveTest : public testing::Test {
 protected:
  void Open(int devices, NcclCollective::Options options = Patient()) {
    gpu_ = std::make_unique<FakeGpu>(Machine(devices), devices, std::move(options));
    for (int i = 0; i < devices; ++i) {
      Side& side = *sides_.emplace_back(std::make_unique<Side>(gpu_->device(i)));
      const auto value = static_cast<float>(i + 1);
      EXPECT_THAT(side.At(side.mean).Fill(0.1f * value), IsOk());
      EXPECT_THAT(side.At(side.other).Fill(value * value), IsOk());
      EXPECT_THAT(side.At(side.first).Fill(value), IsOk());
    }
  }
  Collective& collective() { return *gpu_->runtime().collective; }
  // Each rank by a thread; what they end with.
  std::vector<absl::Status> OnEach(const std::function<absl::Status(int rank, Side&)>& run) {
    std::vector<absl::Status> ended(sides_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < sides_.size(); ++i) {
      threads.emplace_back([&, i] {
        const int rank = static_cast<int>(i);
        collective().Begin(rank);
        ended[i] = collective().End(rank, run(rank, *sides_[i]), /*under_way=*/0);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return ended;
  }
  // That does nothing, unless a test has it fail.
  static absl::Status LaunchKernel(Side& side) {
    const ScaleParams params{};
    if (const absl::Status status = side.device.Enter(); !status.ok()) return status;
    return static_cast<GpuStream&>(*side.stream).LaunchFunction(kScaleKernel.index, {}, &params);
  }
  absl::Status LaunchAndWait(int rank, Side& side) {
    return Await(*side.stream, collective().Launch(rank, side.exchange(), *side.stream));
  }
  // Of all ranks, which another thread does; hangs where nobody does.
  void AwaitAbort() const {
    while (gpu_->left().communicators > 0) std::this_thread::yield();
  }
  std::vector<absl::Status> Average() {
    return OnEach([this](int rank, Side& side) { return LaunchAndWait(rank, side); });
  }

  ~NcclCollectiveTest() override {
    if (gpu_ == nullptr) return;
    for (const char* const what : {"kernel@1", "collective@1", "ncclAllReduce"}) {
      gpu_->FailAt(what, 0, 0);
    }
    sides_.clear();
    gpu_->Close();
    EXPECT_EQ(gpu_->left(), (FakeCudaLeft{.buffers = 0, .pinned = 0, .streams = 0, .events = 0,
                                          .graphs = 0, .libraries = 0, .contexts = 0}));
  }

  std::unique_ptr<FakeGpu> gpu_;
  std::vector<std::unique_ptr<Side>> sides_;
};

auto IsTooLate(const std::string& which) {
  return StatusIs(Code::kUnavailable, HasSubstr(which + ", did not come to the mean of the "
                                                        "gradients within 1 s of GPU 0 ("));
}

TEST_F(NcclCollectiveTest, AMeanIsTheSameBitsOnAllRanksAndTheRestIsThatOfTheFirst) {
  for (const int devices : {2, 3}) {
    sides_.clear();
    if (gpu_ != nullptr) gpu_->Close();
    Open(devices);
    EXPECT_EQ(gpu_->left().communicators, static_cast<size_t>(devices));
    EXPECT_THAT(Average(), Each(IsOk()));
    const float share = 1.0f / static_cast<float>(devices);
    float mean = 0, other = 0;
    for (int i = 1; i <= devices; ++i) {
      mean += 0.1f * static_cast<float>(i) * share;
      other += static_cast<float>(i * i) * share;
    }
    for (const auto& side : sides_) {
      EXPECT_THAT(side->Read(side->mean), Each(mean));
      EXPECT_THAT(side->Read(side->other), Each(other));
      EXPECT_THAT(side->Read(side->first), Each(1.0f));
    }
  }
}

TEST_F(NcclCollectiveTest, AProgramTakesTheMeanEachTimeItIsLaunched) {
  Open(2);
  std::vector<std::unique_ptr<Program>> programs(2);
  EXPECT_THAT(OnEach([&](int rank, Side& side) -> absl::Status {
                auto captured = side.stream->Capture([&]() -> absl::Status {
                  return collective().Launch(rank, side.exchange(), *side.stream);
                });
                if (!captured.ok()) return captured.status();
                programs[static_cast<size_t>(rank)] = *std::move(captured);
                return absl::OkStatus();
              }),
              Each(IsOk()));
  EXPECT_THAT(sides_[1]->Read(sides_[1]->other), Each(4.0f)) << "a capture runs nothing";
  for (const float wanted : {2.5f, 10.0f}) {
    EXPECT_THAT(OnEach([&](int rank, Side& side) {
                  return Await(*side.stream,
                               programs[static_cast<size_t>(rank)]->Launch(*side.stream));
                }),
                Each(IsOk()));
    for (const auto& side : sides_) {
      EXPECT_THAT(side->Read(side->other), Each(wanted));
      EXPECT_THAT(side->At(side->other).Fill(10), IsOk());
    }
  }
}

TEST_F(NcclCollectiveTest, ARankWhoseThreadLaunchesNothingIsNamedAndTheOtherEnds) {
  Open(2, Impatient());
  collective().Begin(0);
  const absl::Status ended = collective().End(0, LaunchAndWait(0, *sides_[0]), 0);
  EXPECT_THAT(ended, IsTooLate("GPU 1 (NVIDIA H100 80GB HBM3), GPU-a1a1a1a1-a1a1-a1a1-a1a1-"
                               "a1a1a1a1a1a1"));
  EXPECT_TRUE(IsMachineFault(ended));
  // It is over for all.
  EXPECT_EQ(collective().Launch(1, sides_[1]->exchange(), *sides_[1]->stream), ended);
  EXPECT_EQ(collective().End(1, absl::OkStatus(), 0), ended);
  AwaitAbort();
}

TEST_F(NcclCollectiveTest, AGpuThatDoesNotComeToWhatWasLaunchedIsNamed) {
  Open(3, Impatient());
  gpu_->FailAt("kernel@1", 1, kNeverEnds);
  bool released = false;
  const auto ended = OnEach([&](int rank, Side& side) -> absl::Status {
    if (rank == 1) {
      EXPECT_THAT(LaunchKernel(side), IsOk());
      EXPECT_THAT(collective().Launch(rank, side.exchange(), *side.stream), IsOk());
      // A real one might hang for ever.
      AwaitAbort();
      released = true;
      gpu_->FailAt("kernel@1", 0, 0);
      return side.stream->Synchronize();
    }
    return LaunchAndWait(rank, side);
  });
  EXPECT_TRUE(released);
  EXPECT_THAT(ended, Each(AllOf(IsTooLate("GPU 1 (NVIDIA H100 80GB HBM3), GPU-a1a1a1a1-a1a1-a1a1-"
                                          "a1a1-a1a1a1a1a1a1"))));
  EXPECT_THAT(std::string(ended[0].message()), HasSubstr("GPU 2 (NVIDIA H100 80GB HBM3), GPU-a2"));
}

TEST_F(NcclCollectiveTest, AGpuThatHangsBehindTheMeanIsNamedToo) {
  Open(2, Impatient());
  // Behind the one that counts.
  gpu_->FailAt("kernel@1", 2, kNeverEnds);
  const auto ended = OnEach([&](int rank, Side& side) -> absl::Status {
    absl::Status launched = collective().Launch(rank, side.exchange(), *side.stream);
    if (rank == 0) return Await(*side.stream, std::move(launched));
    EXPECT_THAT(launched, IsOk());
    const std::unique_ptr<Event> behind = side.device.MakeEvent();
    EXPECT_THAT(side.stream->Record(*behind), IsOk());
    EXPECT_THAT(LaunchKernel(side), IsOk());
    EXPECT_THAT(behind->Synchronize(), IsOk());
    AwaitAbort();
    gpu_->FailAt("kernel@1", 0, 0);
    return side.stream->Synchronize();
  });
  EXPECT_THAT(ended[0], IsOk()) << "it had ended before";
  EXPECT_THAT(ended[1], StatusIs(Code::kUnavailable,
                                 HasSubstr("GPU 1 (NVIDIA H100 80GB HBM3), GPU-a1a1a1a1-a1a1-a1a1-"
                                           "a1a1-a1a1a1a1a1a1, did not end its step within 1 s of "
                                           "GPU 0 (")));
}

TEST_F(NcclCollectiveTest, WhereAllHaveComeAndTheMeanDoesNotEndTheirLinksAreBlamed) {
  Open(2, Impatient());
  gpu_->FailAt("collective@1", 1, kNeverEnds);
  EXPECT_THAT(Average(), Each(StatusIs(Code::kUnavailable,
                                       HasSubstr("what connects them does not work"))));
  // Nothing was added to anything.
  EXPECT_THAT(sides_[0]->Read(sides_[0]->other), Each(1.0f));
}

TEST_F(NcclCollectiveTest, WhatNotEvenAnAbortEndsIsToldToWhoCanEndTheProcess) {
  std::atomic<int> told = 0;
  std::string why;
  NcclCollective::Options options = Impatient();
  options.abort = std::chrono::milliseconds(100);
  options.stuck = [&](const absl::Status& status) {
    why = std::string(status.message());
    ++told;
    gpu_->FailAt("kernel@1", 0, 0);  // So that the test ends.
  };
  Open(2, std::move(options));
  gpu_->FailAt("kernel@1", 1, kNeverEnds);
  EXPECT_THAT(OnEach([&](int rank, Side& side) -> absl::Status {
                if (rank == 1) {
                  EXPECT_THAT(LaunchKernel(side), IsOk());
                }
                return LaunchAndWait(rank, side);
              }),
              Each(StatusIs(Code::kUnavailable)));
  EXPECT_EQ(told, 1);
  EXPECT_THAT(why, HasSubstr("GPU 1 (NVIDIA H100 80GB HBM3), GPU-a1a1"));
}

TEST_F(NcclCollectiveTest, ACallThatFailsOnOneRankEndsAllAtOnce) {
  Open(2);
  gpu_->FailAt("ncclAllReduce", 1, kNcclSystemError);
  const auto ended = Average();
  EXPECT_THAT(ended, Each(StatusIs(Code::kUnavailable,
                                   AllOf(HasSubstr("NVIDIA H100 80GB HBM3): NCCL: average: "),
                                         HasSubstr("/dev/shm")))));
  EXPECT_EQ(ended[0], ended[1]);
  EXPECT_TRUE(IsMachineFault(ended[0]));
}

TEST_F(NcclCollectiveTest, AGpuThatIsLostBeforeTheMeanIsNamedToAll) {
  Open(2);
  gpu_->FailAt("kernel@1", 1, kCuEccUncorrectable);
  const auto ended = OnEach([&](int rank, Side& side) -> absl::Status {
    if (rank == 1) {
      EXPECT_THAT(LaunchKernel(side), IsOk());
    }
    return LaunchAndWait(rank, side);
  });
  EXPECT_THAT(ended, Each(StatusIs(Code::kUnavailable,
                                   AllOf(HasSubstr("GPU 1 (NVIDIA H100 80GB HBM3): NVIDIA driver"),
                                         HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE")))));
}

TEST_F(NcclCollectiveTest, WhatNcclSaysOfItselfMeanwhileEndsIt) {
  Open(2);
  gpu_->FailAt("ncclCommGetAsyncError", 1, kNcclSystemError);
  absl::Status found;
  while (found.ok()) found = collective().End(0, absl::OkStatus(), 0);
  EXPECT_THAT(found, StatusIs(Code::kUnavailable, HasSubstr("NCCL: look at a rank")));
  gpu_->FailAt("ncclCommGetAsyncError", 0, 0);
}

TEST_F(NcclCollectiveTest, WhatIsWrongWithTheDataIsNoFaultOfTheMachine) {
  Open(2);
  const auto ended = OnEach([this](int rank, Side& side) -> absl::Status {
    const absl::Status launched = LaunchAndWait(rank, side);
    return rank == 1 && launched.ok() ? absl::InvalidArgumentError("the label is 12") : launched;
  });
  EXPECT_THAT(ended[0], IsOk());
  EXPECT_THAT(ended[1], StatusIs(Code::kInvalidArgument, "the label is 12"));
  EXPECT_THAT(Average(), Each(IsOk())) << "it goes on";
}

TEST_F(NcclCollectiveTest, RanksThatAskForDifferentThingsAreFound) {
  Open(2);
  const auto ended = OnEach([this](int rank, Side& side) {
    const Collective::Exchange other{
        .means = {side.At(side.mean, kCount - static_cast<size_t>(rank))}, .firsts = {}};
    return Await(*side.stream, collective().Launch(rank, other, *side.stream));
  });
  EXPECT_THAT(ended, Each(Not(IsOk())));
}

// All that a single card can show: a graph with a mean in it, and the watch over it.
TEST(NcclOneRankTest, AMeanIsCapturedInAProgramAndOneThatDoesNotEndIsAborted) {
  const FakeGpu gpu(Machine(1), 1);
  const FakeCudaLeft before = gpu.left();
  {
    Side side(gpu.device());
    EXPECT_THAT(side.At(side.other).Fill(4), IsOk());
    auto made = NcclCollective::Start({&gpu.device()}, Impatient());
    ASSERT_THAT(made.status(), IsOk());
    NcclCollective& collective = **made;
    auto program = side.stream->Capture(
        [&] { return collective.Launch(0, side.exchange(), *side.stream); });
    ASSERT_THAT(program.status(), IsOk());
    const auto run = [&] {
      collective.Begin(0);
      return collective.End(0, Await(*side.stream, (*program)->Launch(*side.stream)), 0);
    };
    for (int step = 0; step < 3; ++step) EXPECT_THAT(run(), IsOk());
    EXPECT_THAT(side.Read(side.other), Each(4.0F));
    gpu.FailAt("collective@0", 1, kNeverEnds);
    const absl::Status ended = run();
    EXPECT_THAT(ended, StatusIs(Code::kUnavailable,
                                HasSubstr("the mean of the gradients has not ended within 1 s on "
                                          "GPU 0 (NVIDIA H100 80GB HBM3)")));
    EXPECT_TRUE(IsMachineFault(ended));
    gpu.FailAt("collective@0", 0, 0);
    while (gpu.left().communicators > 0) std::this_thread::yield();
    program->reset();
  }
  EXPECT_EQ(gpu.left().communicators, before.communicators);
}

// With one device for the functions that a test needs, and two that are opened.
TEST(NcclStartTest, EachCallThatFailsIsToldAndLeavesNothing) {
  const FakeGpu one(Machine(2), 1);
  const FakeCudaLeft before = one.left();
  const auto open = [](const std::string& library) {
    return CudaRuntime::Open(2, fake::FakeLibraries({.library = library}));
  };
  for (const char* const function :
       {"ncclGetUniqueId", "ncclGroupStart", "ncclCommInitRankConfig", "ncclGroupEnd",
        "ncclCommGetAsyncError"}) {
    for (const int nth : {1, 2}) {
      const bool once = std::string(function) != "ncclCommInitRankConfig" &&
                        std::string(function) != "ncclCommGetAsyncError";
      if (once && nth == 2) continue;
      one.FailAt(function, nth, kNcclSystemError);
      const absl::Status status = open(fake::kNccl).status();
      EXPECT_THAT(status, StatusIs(Code::kUnavailable,
                                   AllOf(HasSubstr("2 GPUs are wanted: "), HasSubstr("NCCL: "))))
          << function;
      EXPECT_TRUE(IsMachineFault(status)) << function;
      one.FailAt(function, 0, 0);
      EXPECT_EQ(one.left(), before) << function << " " << nth;
    }
  }
  for (const char* const function : {"ncclCommFinalize", "ncclCommDestroy"}) {
    one.FailAt(function, 2, kNcclSystemError);
    EXPECT_THAT(open(fake::kNccl), IsOk());
    one.FailAt(function, 0, 0);
    EXPECT_EQ(one.left(), before) << function;
  }
  EXPECT_THAT(open("./none/libnccl.so.2"),
              StatusIs(Code::kNotFound, HasSubstr("2 GPUs are wanted: no NCCL here")));
  EXPECT_EQ(one.left(), before);
}

}  // namespace
}  // namespace taas::cuda
