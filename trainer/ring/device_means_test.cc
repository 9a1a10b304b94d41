// Ranks in threads, with links between them and devices that a test decides: means, and each way in
// which one does not come about.

#include "trainer/ring/device_means.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/collective/link.h"
#include "trainer/collective/testing/link_pairs.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/testing/device_hub.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using collective::Group;
using Code = absl::StatusCode;

TEST(AgreeOnSumsTest, AllRanksDoTheSame) {
  const std::vector<std::string> addresses = {"a:1", "b:1", "c:1"};
  const std::string can = NoteOfSums(true, "NCCL 2.28.9");
  const std::string other = NoteOfSums(true, "NCCL 2.27.3");
  const std::string cannot = NoteOfSums(false, "a processor");
  const auto agree = [&](std::vector<std::string> notes, int own) {
    return AgreeOnSums(notes, addresses, own);
  };
  for (const int own : {0, 1, 2}) {
    EXPECT_TRUE(agree({can, can, can}, own)->by_devices);
    EXPECT_EQ(agree({can, can, can}, own)->words, "NCCL 2.28.9");
    EXPECT_FALSE(agree({can, cannot, can}, own)->by_devices);
    EXPECT_EQ(agree({can, cannot, can}, own)->words, "rank 1 at b:1 has a processor");
    EXPECT_FALSE(agree({cannot, cannot, cannot}, own)->by_devices);
    EXPECT_EQ(agree({cannot, cannot, cannot}, own)->words, "");
    // What an older build says.
    EXPECT_FALSE(agree({can, "", can}, own)->by_devices);
  }
  const char kBoth[] = "rank 2 at c:1 has NCCL 2.27.3, and rank 0 at a:1 has NCCL 2.28.9: ranks";
  EXPECT_THAT(agree({can, can, other}, 0),
              StatusIs(Code::kFailedPrecondition, HasSubstr(kBoth)));
  EXPECT_THAT(agree({can, can, other}, 1),
              StatusIs(Code::kFailedPrecondition, HasSubstr(kBoth)));
  EXPECT_THAT(agree({can, can, other}, 2), StatusIs(Code::kInvalidArgument, HasSubstr(kBoth)));
  // Also where no sum would be between them now: a rank on a processor may leave.
  EXPECT_THAT(agree({cannot, can, other}, 2),
              StatusIs(Code::kInvalidArgument, HasSubstr("and rank 1 at b:1 has NCCL 2.28.9")));
  // Each that differs is told of itself.
  EXPECT_THAT(agree({can, other, other}, 1),
              StatusIs(Code::kInvalidArgument, HasSubstr("rank 1 at b:1 has NCCL 2.27.3")));
  EXPECT_THAT(agree({can, other, other}, 2),
              StatusIs(Code::kInvalidArgument, HasSubstr("rank 2 at c:1 has NCCL 2.27.3")));
}

constexpr std::chrono::hours kLong{1};
constexpr DeviceMeans::Limits kPatient{
    .form = kLong, .round = kLong, .arrival = kLong, .mean = kLong, .end = kLong};

class DeviceMeansTest : public testing::Test {
 protected:
  struct Rank {
    Rank(DeviceHub& hub, const DeviceMeans::Limits& limits)
        : device(hub), means(device, clock, limits, [this](const absl::Status& why) {
            stuck = why;
          }) {}

    RealClock clock;
    HubDevice device;
    absl::Status stuck;
    DeviceMeans means;
    std::unique_ptr<Group> group;
    Epoch epoch;
    std::vector<float> gradients;
  };

  void Make(int ranks, const DeviceMeans::Limits& limits = kPatient) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(hub_, limits));
    }
    Connect();
  }
  // A new epoch of all of them.
  void Connect() {
    ++epoch_;
    const size_t count = ranks_.size();
    std::vector<std::vector<std::unique_ptr<collective::Link>>> links(count);
    for (auto& of_rank : links) of_rank.resize(count);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = a + 1; b < count; ++b) {
        auto pair = a == 0 ? collective::MakeMemoryPair() : collective::MakeTcpPair();
        links[a][b] = std::move(pair.first);
        links[b][a] = std::move(pair.second);
      }
    }
    for (size_t i = 0; i < count; ++i) {
      Rank& rank = *ranks_[i];
      rank.means.End();
      rank.epoch = {.number = epoch_,
                    .rank = static_cast<int>(i),
                    .addresses = std::vector<std::string>(count, "a:1")};
      rank.group = std::make_unique<Group>(
          Group::Options{.place = {static_cast<int>(count), rank.epoch.rank},
                         .links = std::move(links[i])});
      rank.gradients.assign(3, static_cast<float>(i));
    }
  }

  static absl::Status Enter(Rank& rank) {
    if (absl::Status begun = rank.means.Begin(*rank.group, rank.epoch); !begun.ok()) return begun;
    return rank.means.AwaitFormed();
  }
  static absl::Status Mean(Rank& rank, int64_t step = 1) {
    return rank.means.Make({.epoch = rank.epoch.number, .step = step},
                           TensorRef(std::span(rank.gradients)), /*narrow=*/false);
  }
  static absl::Status EnterAndMean(Rank& rank) {
    const absl::Status entered = Enter(rank);
    return entered.ok() ? Mean(rank) : entered;
  }
  // Each on a thread of its own.
  std::vector<absl::Status> Each(const std::function<absl::Status(Rank& rank)>& work) {
    std::vector<absl::Status> ended(ranks_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      threads.emplace_back([&, i] { ended[i] = work(*ranks_[i]); });
    }
    for (std::thread& thread : threads) thread.join();
    return ended;
  }

  ~DeviceMeansTest() override {
    for (const auto& rank : ranks_) rank->device.ends = true;
  }

  DeviceHub hub_;
  uint32_t epoch_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_F(DeviceMeansTest, GradientsBecomeTheMeanOfAllStepAfterStepAndEpochAfterEpoch) {
  Make(3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch > 0) Connect();
    EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
    for (int64_t step = 1; step <= 4; ++step) {
      EXPECT_THAT(Each([step](Rank& rank) { return Mean(rank, step); }), testing::Each(IsOk()));
      for (const auto& rank : ranks_) {
        EXPECT_THAT(rank->gradients, testing::Each(1.0F));
        rank->gradients.assign(3, static_cast<float>(rank->epoch.rank));
      }
    }
  }
  EXPECT_EQ(ranks_[2]->device.formed(), 3);
  EXPECT_EQ(ranks_[2]->device.means(), 12U);
}

// Symptom without a look at the links: the others wait for a killed rank until the chief misses its
// heartbeats.
TEST_F(DeviceMeansTest, ARankThatGoesInAMeanIsNoticedByItsLinks) {
  for (const bool forms : {true, false}) {
    ranks_.clear();
    Make(3);
    if (forms) {
      EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
    }
    const auto ended = Each([&](Rank& rank) -> absl::Status {
      if (rank.epoch.rank != 2) return forms ? Mean(rank) : Enter(rank);
      if (!forms) {
        // Or the others may have formed their group before it goes, and notice nothing yet.
        rank.device.joins = false;
        EXPECT_THAT(rank.means.Begin(*rank.group, rank.epoch), IsOk());
      }
      rank.group->Abort();
      (void)rank.group->Pause(std::chrono::microseconds(0));
      return absl::OkStatus();
    });
    for (const size_t rank : {0, 1}) {
      EXPECT_THAT(ended[rank], StatusIs(Code::kUnavailable)) << forms;
      // Whoever ends the epoch first closes its links, too.
      EXPECT_TRUE(ranks_[rank]->group->lost().has_value());
      EXPECT_THAT(ranks_[rank]->means.note(), StartsWith("+")) << "no fault of its device";
    }
  }
}

TEST_F(DeviceMeansTest, ARankThatDoesNotComeToTheMeanIsNamed) {
  DeviceMeans::Limits limits = kPatient;
  limits.arrival = std::chrono::milliseconds(200);
  Make(2, limits);
  EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
  ranks_[1]->device.comes = false;
  const auto ended = Each([](Rank& rank) { return Mean(rank); });
  EXPECT_THAT(ended[0],
              StatusIs(Code::kDeadlineExceeded,
                       AllOf(HasSubstr(" has not come within 200 ms of this rank: its process has "
                                       "stopped, or its GPU hangs"))));
  EXPECT_EQ(ranks_[0]->group->lost(), 1);
  // It learns of it by its links.
  EXPECT_THAT(ended[1], StatusIs(Code::kUnavailable));
  EXPECT_THAT(ranks_[0]->means.note(), StartsWith("+"));
}

// Symptom before there were rounds: a rank that stopped when its device had come to the mean was
// named by missed heartbeats only.
TEST_F(DeviceMeansTest, ARankThatStopsWhenItHasComeToTheMeanIsNamed) {
  DeviceMeans::Limits limits = kPatient;
  limits.arrival = std::chrono::milliseconds(200);
  limits.round = std::chrono::milliseconds(10);
  Make(3, limits);
  EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
  std::atomic<bool> over = false;
  ranks_[1]->device.passes = false;
  // So long its process does nothing.
  ranks_[1]->device.on_look = [&, looks = 0]() mutable {
    while (++looks > 3 && !over) std::this_thread::yield();
  };
  const auto ended = Each([&](Rank& rank) {
    absl::Status status = Mean(rank);
    if (rank.epoch.rank != 1) over = true;
    return status;
  });
  EXPECT_THAT(ended[1], Not(IsOk()));
  EXPECT_TRUE(ranks_[0]->group->lost() == 1 || ranks_[2]->group->lost() == 1);
  EXPECT_THAT(ended, Contains(StatusIs(Code::kDeadlineExceeded,
                                       HasSubstr(" has not come within 200 ms of this rank"))));
}

TEST_F(DeviceMeansTest, AMeanThatDoesNotEndAlthoughAllHaveComeIsTold) {
  DeviceMeans::Limits limits = kPatient;
  limits.mean = std::chrono::milliseconds(100);
  limits.round = std::chrono::milliseconds(10);
  Make(2, limits);
  EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
  ranks_[1]->device.passes = false;
  const auto ended = Each([](Rank& rank) { return Mean(rank); });
  EXPECT_THAT(ended, Contains(StatusIs(Code::kDeadlineExceeded,
                                       HasSubstr("it has not ended within 100 ms, though all ranks "
                                                 "are there"))));
  EXPECT_THAT(ended, testing::Each(Not(IsOk())));
  for (int times = 2; times <= DeviceMeans::kFailuresMax; ++times) {
    Connect();
    EXPECT_THAT(Each(EnterAndMean), testing::Each(Not(IsOk())));
  }
  for (const auto& rank : ranks_) {
    EXPECT_THAT(rank->means.note(), HasSubstr("has failed 3 times"));
  }
}

TEST_F(DeviceMeansTest, WhoFailsThreeTimesInARowNotesThatItCannot) {
  Make(2);
  const absl::Status why = absl::UnavailableError("NCCL: unhandled system error");
  const auto fail = [&] {
    ranks_[1]->device.FailWith(why);
    EXPECT_EQ(Each(EnterAndMean)[1].code(), Code::kUnavailable);
    ranks_[1]->device.FailWith(absl::OkStatus());
    Connect();
  };
  fail();
  fail();
  // A mean that comes about makes good what was before.
  EXPECT_THAT(Each(EnterAndMean), testing::Each(IsOk()));
  Connect();
  fail();
  fail();
  EXPECT_EQ(ranks_[1]->means.note(), "+NCCL 2.28.9");
  fail();
  EXPECT_EQ(ranks_[1]->means.note(), "-a GPU on which NCCL 2.28.9 has failed 3 times");
  // Of the others the links broke.
  EXPECT_EQ(ranks_[0]->means.note(), "+NCCL 2.28.9");
}

TEST_F(DeviceMeansTest, AGroupThatCannotBeFormedEndsTheEpochForAll) {
  Make(3);
  ranks_[0]->device.draws = false;
  auto ended = Each(Enter);
  EXPECT_THAT(ended[0], StatusIs(Code::kUnavailable, HasSubstr("draw an id: no network")));
  EXPECT_THAT(ended[1], Not(IsOk()));
  ranks_[0]->device.draws = true;
  ranks_[2]->device.forms = false;
  Connect();
  ended = Each(Enter);
  EXPECT_THAT(ended[2], StatusIs(Code::kUnavailable, HasSubstr("no space in /dev/shm")));
  EXPECT_THAT(ended, testing::Each(StatusIs(Code::kUnavailable)));
}

// Symptom: rank 0 said so to the others before it counted, these left at once, the chief ended the
// epoch, and so on without end: each epoch was "aborted", and none was a failure of NCCL's.
TEST_F(DeviceMeansTest, WhoCannotDrawAnIdCountsItBeforeOthersLeave) {
  Make(2);
  for (int times = 1; times <= DeviceMeans::kFailuresMax; ++times) {
    ranks_[0]->device.draws = false;
    const auto ended = Each([this](Rank& rank) {
      absl::Status entered = Enter(rank);
      // A chief learns at once of a rank that has left, and ends the epoch for its own.
      if (rank.epoch.rank == 1) ranks_[0]->group->Abort();
      return entered;
    });
    EXPECT_THAT(ended[0], StatusIs(Code::kUnavailable, HasSubstr("draw an id: no network")));
    EXPECT_THAT(ended[1], StatusIs(Code::kUnavailable));
    Connect();
  }
  EXPECT_THAT(ranks_[0]->means.note(), HasSubstr("has failed 3 times"));
  EXPECT_EQ(ranks_[1]->means.note(), "+NCCL 2.28.9");
}

// Symptom: whose patience ended first counted a failure, others a link that broke: of many ranks
// none failed three times for hours.
TEST_F(DeviceMeansTest, AGroupThatDoesNotFormInTimeIsGivenUpAndHasFailedOnAllRanks) {
  DeviceMeans::Limits limits = kPatient;
  // Who begins late must still be there for half of it.
  limits.form = std::chrono::seconds(1);
  Make(3, limits);
  for (int times = 1; times <= DeviceMeans::kFailuresMax; ++times) {
    ranks_[1]->device.joins = false;
    const auto ended = Each(Enter);
    EXPECT_THAT(ended, testing::Each(Not(IsOk())));
    EXPECT_THAT(ended, Contains(StatusIs(Code::kDeadlineExceeded,
                                         HasSubstr("form a group of GPUs: it has not ended"))));
    Connect();
  }
  for (const auto& rank : ranks_) {
    EXPECT_EQ(rank->means.note(), "-a GPU on which NCCL 2.28.9 has failed 3 times");
  }
}

TEST_F(DeviceMeansTest, AnEpochThatIsEndedEndsTheWait) {
  Make(2);
  EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
  std::atomic<bool> waits = false;
  std::thread ends([&] {
    while (!waits) std::this_thread::yield();
    ranks_[0]->group->Abort();
  });
  ranks_[1]->device.passes = false;
  const auto ended = Each([&](Rank& rank) {
    if (rank.epoch.rank == 0) waits = true;
    return Mean(rank);
  });
  ends.join();
  EXPECT_THAT(ended[0], StatusIs(Code::kAborted));
  EXPECT_THAT(ended[1], StatusIs(Code::kUnavailable));
}

TEST_F(DeviceMeansTest, WhatNotEvenAnAbortEndsIsToldToWhoCanEndTheProcess) {
  DeviceMeans::Limits limits = kPatient;
  limits.end = std::chrono::milliseconds(100);
  Make(2, limits);
  EXPECT_THAT(Each(EnterAndMean), testing::Each(IsOk()));
  ranks_[1]->device.ends = false;
  for (const auto& rank : ranks_) rank->means.End();
  EXPECT_THAT(ranks_[0]->stuck, IsOk());
  EXPECT_THAT(ranks_[1]->stuck, StatusIs(Code::kUnavailable,
                                         AllOf(HasSubstr("did not end within 100 ms of its abort"),
                                               HasSubstr("or NCCL 2.28.9 does"))));
  EXPECT_TRUE(IsMachineFault(ranks_[1]->stuck));
}

// The kernel closes the links of a process that was killed a moment after its device is missed.
TEST_F(DeviceMeansTest, ADeviceThatFailsBecauseARankIsGoneHasNotFailedByItself) {
  Make(2);
  for (int times = 0; times < DeviceMeans::kFailuresMax; ++times) {
    EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
    ranks_[1]->device.FailWith(absl::UnavailableError("NCCL: remote error"));
    ranks_[1]->device.on_look = [this] {
      ranks_[0]->group->Abort();
      (void)ranks_[0]->group->Pause(std::chrono::microseconds(0));
    };
    EXPECT_THAT(Mean(*ranks_[1]),
                StatusIs(Code::kUnavailable, HasSubstr("it has closed the connection")));
    EXPECT_EQ(ranks_[1]->group->lost(), 0);
    ranks_[1]->device.on_look = [] {};
    ranks_[1]->device.FailWith(absl::OkStatus());
    Connect();
  }
  EXPECT_EQ(ranks_[1]->means.note(), "+NCCL 2.28.9");
}

TEST_F(DeviceMeansTest, ADeviceThatIsLostIsTheMachinesFaultAndNoFailureAmongTheOthers) {
  Make(2);
  for (int times = 0; times < DeviceMeans::kFailuresMax; ++times) {
    EXPECT_THAT(Each(Enter), testing::Each(IsOk()));
    ranks_[1]->device.FailWith(MachineFault(absl::UnavailableError("CUDA_ERROR_ECC")));
    const auto ended = Each([](Rank& rank) { return Mean(rank); });
    EXPECT_TRUE(IsMachineFault(ended[1]));
    EXPECT_THAT(ended[0], StatusIs(Code::kUnavailable));
    EXPECT_FALSE(IsMachineFault(ended[0]));
    ranks_[1]->device.FailWith(absl::OkStatus());
    Connect();
  }
  EXPECT_EQ(ranks_[1]->means.note(), "+NCCL 2.28.9");
}

}  // namespace
}  // namespace taas
