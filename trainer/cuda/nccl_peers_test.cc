// GPUs that stand for some, each with a NCCL of its own, as it would be in processes of their own:
// means, what is aborted, ranks that do not come, and calls that fail one by one.

#include "trainer/cuda/nccl_peers.h"

#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/device_group.h"
#include "trainer/graph/machine_fault.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Stage = DeviceGroup::Stage;
using fake::FakeCudaLeft;
using fake::FakeGpu;
using fake::kNeverEnds;

constexpr size_t kCount = 300;
constexpr std::chrono::minutes kLong{1};
constexpr std::chrono::milliseconds kShort{20};
// Of which an abort that hangs takes half.
constexpr std::chrono::seconds kSoon{2};

std::string Machine(int devices) {
  std::string lines;
  for (int i = 0; i < devices; ++i) lines += fake::kH100;
  return lines;
}

struct Side {
  explicit Side(CudaDevice& on) : device(on) {
    auto loaded = NcclPeers::Load(device, fake::kNccl);
    EXPECT_THAT(loaded.status(), IsOk());
    peers = *std::move(loaded);
    auto made = device.Allocate(kCount * sizeof(float), MemoryKind::kDevice);
    EXPECT_THAT(made.status(), IsOk());
    buffer = *std::move(made);
  }
  TensorRef values() const { return {device, buffer.data(), DType::kFloat32, kCount}; }
  std::vector<float> Read() const {
    std::vector<float> values(kCount);
    EXPECT_THAT(this->values().Read(std::span(values)), IsOk());
    return values;
  }

  CudaDevice& device;
  Buffer buffer;
  std::unique_ptr<NcclPeers> peers;
};

class NcclPeersTest : public testing::Test {
 protected:
  explicit NcclPeersTest(int devices = 3) : gpu_(Machine(devices), devices) {
    before_ = gpu_.left();
    for (int i = 0; i < devices; ++i) sides_.push_back(std::make_unique<Side>(gpu_.device(i)));
  }
  ~NcclPeersTest() override {
    for (const char* const what : {"kernel@1", "collective@1"}) gpu_.FailAt(what, 0, 0);
    sides_.clear();
    EXPECT_EQ(gpu_.left(), before_);
  }

  void Fill() {
    for (size_t i = 0; i < sides_.size(); ++i) {
      EXPECT_THAT(sides_[i]->values().Fill(0.1F * static_cast<float>(i + 1)), IsOk());
    }
  }
  // The first that goes wrong.
  absl::Status Form() {
    auto id = sides_[0]->peers->DrawId();
    if (!id.ok()) return id.status();
    for (size_t i = 0; i < sides_.size(); ++i) {
      const absl::Status formed = sides_[i]->peers->Form(
          {.rank = static_cast<int>(i), .ranks = static_cast<int>(sides_.size()), .id = *id});
      if (!formed.ok()) return formed;
    }
    return Until(Stage::kReady);
  }
  absl::Status Until(Stage stage) {
    for (bool there = false; !there;) {
      there = true;
      for (const auto& side : sides_) {
        const auto looked = side->peers->Look();
        if (!looked.ok()) return looked.status();
        there = there && *looked == stage;
      }
    }
    return absl::OkStatus();
  }
  absl::Status Mean(bool narrow = false) {
    for (const auto& side : sides_) {
      const absl::Status launched = side->peers->Launch(side->values(), narrow);
      if (!launched.ok()) return launched;
    }
    return Until(Stage::kReady);
  }
  void Leave() {
    for (const auto& side : sides_) side->peers->Abort();
    for (const auto& side : sides_) EXPECT_TRUE(side->peers->Ended(kLong));
    EXPECT_EQ(gpu_.left().communicators, before_.communicators);
  }

  const FakeGpu gpu_;
  FakeCudaLeft before_;
  std::vector<std::unique_ptr<Side>> sides_;
};

TEST_F(NcclPeersTest, MeansAreTheSameBitsOnAllRanksGroupAfterGroup) {
  EXPECT_EQ(sides_[0]->peers->name(), "NCCL 2.28.9");
  for (int group = 0; group < 3; ++group) {
    ASSERT_THAT(Form(), IsOk());
    for (const bool narrow : {false, true, false}) {
      Fill();
      ASSERT_THAT(Mean(narrow), IsOk());
      const std::vector<float> first = sides_[0]->Read();
      // 8 bits of a number are 0.4 %.
      EXPECT_THAT(first, Each(testing::FloatNear(0.2F, narrow ? 0.001F : 1e-6F)));
      for (const auto& side : sides_) EXPECT_EQ(side->Read(), first);
    }
    Leave();
  }
}

TEST_F(NcclPeersTest, WhoAbortsLeavesAGroupThatNeverForms) {
  const auto id = sides_[0]->peers->DrawId();
  ASSERT_THAT(id.status(), IsOk());
  ASSERT_THAT(sides_[0]->peers->Form({.rank = 0, .ranks = 3, .id = *id}), IsOk());
  for (int looks = 0; looks < 10; ++looks) EXPECT_EQ(*sides_[0]->peers->Look(), Stage::kForms);
  Leave();
  EXPECT_THAT(sides_[0]->peers->Look().status(), StatusIs(Code::kFailedPrecondition));
  EXPECT_THAT(Form(), IsOk());
  Leave();
}

TEST_F(NcclPeersTest, ARankThatDoesNotComeHoldsTheOthersUntilTheyAbort) {
  ASSERT_THAT(Form(), IsOk());
  gpu_.FailAt("collective@1", 1, kNeverEnds);
  Fill();
  for (const auto& side : sides_) {
    ASSERT_THAT(side->peers->Launch(side->values(), /*narrow=*/false), IsOk());
  }
  ASSERT_THAT(Until(Stage::kWaits), IsOk());
  for (int looks = 0; looks < 100; ++looks) {
    for (const auto& side : sides_) EXPECT_EQ(*side->peers->Look(), Stage::kWaits);
  }
  EXPECT_EQ(gpu_.Calls("collective@1"), 1) << "it is in its stream, and does not come";
  Leave();
  EXPECT_THAT(sides_[0]->Read(), Each(0.1F)) << "nothing was added";
  ASSERT_THAT(Form(), IsOk());
  ASSERT_THAT(Mean(), IsOk());
  Leave();
}

// Symptom: the rank ended with exit code 3, and no pod came to its node for an hour.
TEST_F(NcclPeersTest, AnAbortThatHangsIsLeftBehindWhereTheGpuIsFree) {
  for (const bool waits : {false, true}) {
    ASSERT_THAT(Form(), IsOk());
    Fill();
    if (waits) {
      gpu_.FailAt("collective@1", 1, kNeverEnds);
      for (const auto& side : sides_) {
        ASSERT_THAT(side->peers->Launch(side->values(), /*narrow=*/false), IsOk());
      }
      // And once more, until the mean is known to be in all streams.
      for (int looks = 0; looks < 10; ++looks) ASSERT_THAT(Until(Stage::kWaits), IsOk());
    } else {
      ASSERT_THAT(Mean(), IsOk());
    }
    gpu_.FailAt("ncclCommAbort", 1, kNeverEnds);
    for (const auto& side : sides_) side->peers->Abort();
    for (const auto& side : sides_) EXPECT_TRUE(side->peers->Ended(kSoon)) << waits;
    gpu_.FailAt("ncclCommAbort", 0, 0);
    gpu_.FailAt("collective@1", 0, 0);
  }
  ASSERT_THAT(Form(), IsOk());
  ASSERT_THAT(Mean(), IsOk());
  Leave();
}

TEST_F(NcclPeersTest, AnAbortThatHangsWhileTheMeanMayStillComeIsNotLeftBehind) {
  ASSERT_THAT(Form(), IsOk());
  Fill();
  // Nobody looks, so it is not known to be in the stream.
  ASSERT_THAT(sides_[0]->peers->Launch(sides_[0]->values(), /*narrow=*/false), IsOk());
  gpu_.FailAt("ncclCommAbort", 1, kNeverEnds);
  sides_[0]->peers->Abort();
  while (gpu_.Calls("ncclCommAbort") == 0) std::this_thread::yield();
  EXPECT_FALSE(sides_[0]->peers->Ended(kShort));
  gpu_.FailAt("ncclCommAbort", 0, 0);
  for (const size_t other : {1, 2}) sides_[other]->peers->Abort();
  for (const size_t other : {1, 2}) EXPECT_TRUE(sides_[other]->peers->Ended(kLong));
}

TEST_F(NcclPeersTest, AGpuThatHangsHasNotComeToTheMeanAndNotEvenAnAbortEndsIt) {
  ASSERT_THAT(Form(), IsOk());
  // That which rounds.
  gpu_.FailAt("kernel@1", 1, kNeverEnds);
  Fill();
  for (const auto& side : sides_) {
    ASSERT_THAT(side->peers->Launch(side->values(), /*narrow=*/true), IsOk());
  }
  for (int looks = 0; looks < 100; ++looks) {
    EXPECT_EQ(*sides_[1]->peers->Look(), Stage::kBegun);
    EXPECT_THAT(*sides_[0]->peers->Look(), AnyOf(Stage::kBegun, Stage::kWaits));
  }
  for (const auto& side : sides_) side->peers->Abort();
  EXPECT_TRUE(sides_[0]->peers->Ended(kLong));
  EXPECT_FALSE(sides_[1]->peers->Ended(kShort));
  gpu_.FailAt("kernel@1", 0, 0);
  EXPECT_TRUE(sides_[1]->peers->Ended(kLong));
}

// A driver may load a kernel at its first launch, and wait for the device meanwhile, which waits
// for a rank that has died: nobody looks at the links then.
TEST_F(NcclPeersTest, NoKernelIsLaunchedForTheFirstTimeBehindASum) {
  ASSERT_THAT(Form(), IsOk());
  gpu_.FailAt("collective@1", 1, kNeverEnds);
  Fill();
  const int before = gpu_.Calls("kernel@1");
  for (const auto& side : sides_) {
    ASSERT_THAT(side->peers->Launch(side->values(), /*narrow=*/true), IsOk());
  }
  ASSERT_THAT(Until(Stage::kWaits), IsOk());
  EXPECT_EQ(gpu_.Calls("kernel@1") - before, 2) << "one that rounds, and the one back";
  Leave();
}

TEST_F(NcclPeersTest, RanksThatLaunchDifferentThingsFindOut) {
  ASSERT_THAT(Form(), IsOk());
  Fill();
  for (size_t i = 0; i < sides_.size(); ++i) {
    ASSERT_THAT(sides_[i]->peers->Launch(sides_[i]->values(), /*narrow=*/i == 1), IsOk());
  }
  EXPECT_THAT(Until(Stage::kReady), StatusIs(Code::kUnavailable));
  gpu_.FailAt("kernel", 0, 0);
  Leave();
}

TEST_F(NcclPeersTest, AnIdThatIsNoneIsRefused) {
  EXPECT_THAT(sides_[0]->peers->Form({.rank = 0, .ranks = 3, .id = "short"}),
              StatusIs(Code::kInvalidArgument, HasSubstr("an id of 5 bytes is none of NCCL's")));
  EXPECT_THAT(sides_[0]->peers->Form({.rank = 0, .ranks = 3, .id = std::string(128, 'x')}),
              StatusIs(Code::kUnavailable,
                       AllOf(HasSubstr("GPU 0 (NVIDIA H100 80GB HBM3): NCCL: become rank 0 of 3"),
                             HasSubstr("unhandled system error"))));
}

TEST_F(NcclPeersTest, EachCallThatFailsIsToldAndTheNextGroupSums) {
  for (const char* const function :
       {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclAllReduce"}) {
    for (const int nth : {1, 2}) {
      if (nth == 2 && std::string(function) == "ncclGetUniqueId") continue;
      gpu_.FailAt(function, nth, kNcclSystemError);
      Fill();
      absl::Status ended = Form();
      if (ended.ok()) ended = Mean();
      EXPECT_THAT(ended, StatusIs(Code::kUnavailable,
                                  AllOf(HasSubstr("NVIDIA H100 80GB HBM3): NCCL: "),
                                        HasSubstr("unhandled system error"))))
          << function << nth;
      gpu_.FailAt(function, 0, 0);
      Leave();
      ASSERT_THAT(Form(), IsOk());
      EXPECT_THAT(Mean(), IsOk());
      Leave();
    }
  }
}

TEST_F(NcclPeersTest, ADeviceThatIsLostIsTheMachinesFault) {
  ASSERT_THAT(Form(), IsOk());
  gpu_.FailAt("collective@1", 1, kCuEccUncorrectable);
  for (const auto& side : sides_) {
    ASSERT_THAT(side->peers->Launch(side->values(), /*narrow=*/false), IsOk());
  }
  const absl::Status ended = Until(Stage::kReady);
  EXPECT_THAT(ended, StatusIs(Code::kUnavailable, HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE")));
  EXPECT_TRUE(IsMachineFault(ended));
  Leave();
  gpu_.FailAt("collective@1", 0, 0);
}

class OneRankTest : public NcclPeersTest {
 protected:
  OneRankTest() : NcclPeersTest(1) {}
};

TEST_F(OneRankTest, ItIsAGroupToo) {
  ASSERT_THAT(Form(), IsOk());
  Fill();
  EXPECT_THAT(Mean(), IsOk());
  EXPECT_THAT(sides_[0]->Read(), Each(0.1F));
  Leave();
}

TEST_F(OneRankTest, TwoOnOneGpuAreRefused) {
  sides_.push_back(std::make_unique<Side>(gpu_.device(0)));
  EXPECT_THAT(Form(), StatusIs(Code::kUnavailable, HasSubstr("invalid usage")));
  Leave();
}

}  // namespace
}  // namespace taas::cuda
