#include "dashboard/history/history_tails.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<WatchedPod> PodIn(PodPhase phase, int index = 0) {
  auto pod = std::make_shared<WatchedPod>();
  pod->meta.name = "mnist-worker-" + std::to_string(index);
  pod->meta.uid = "uid-" + std::to_string(index);
  pod->role = Role::kWorker;
  pod->index = index;
  pod->node = "node-1";
  pod->phase = phase;
  return pod;
}

TEST(HistoryTailsTest, APodThatRunsIsAskedWhenItsJobIsNoMore) {
  HistoryTails tails;
  const auto pod = PodIn(PodPhase::kRunning);
  EXPECT_THAT(tails.Pick({pod}, false), IsEmpty());
  EXPECT_THAT(tails.Pick({pod}, true), ElementsAre(pod));
}

TEST(HistoryTailsTest, AnEndedPodIsAskedUntilItsLinesAreThereAndNotWhileItIsBeingAsked) {
  HistoryTails tails;
  const auto pod = PodIn(PodPhase::kFailed);
  ASSERT_THAT(tails.Pick({pod}, false), SizeIs(1));
  EXPECT_THAT(tails.Pick({pod}, false), IsEmpty());
  tails.Answered({pod}, {});
  ASSERT_THAT(tails.Pick({pod}, false), SizeIs(1));
  tails.Answered({pod}, {pod->meta.name});
  EXPECT_THAT(tails.Pick({pod}, false), IsEmpty());
  EXPECT_THAT(tails.Pick({pod}, true), IsEmpty());
}

TEST(HistoryTailsTest, ALogThatCannotBeReadIsGivenUp) {
  HistoryTails tails;
  const auto pod = PodIn(PodPhase::kFailed);
  for (int i = 0; i < HistoryTails::kTries; ++i) {
    ASSERT_THAT(tails.Pick({pod}, false), SizeIs(1)) << i;
    tails.Answered({pod}, {});
  }
  EXPECT_THAT(tails.Pick({pod}, false), IsEmpty());
}

TEST(HistoryTailsTest, WhatAPodSaysWhileItIsBeingEndedIsNotItsLast) {
  HistoryTails tails;
  const auto ending = PodIn(PodPhase::kRunning);
  ending->meta.deletion_time = Clock::WallTime{};
  ASSERT_THAT(tails.Pick({ending}, false), SizeIs(1));
  tails.Answered({ending}, {ending->meta.name});
  EXPECT_THAT(tails.Pick({ending}, false), IsEmpty()) << "once is enough";
  EXPECT_THAT(tails.Pick({PodIn(PodPhase::kSucceeded)}, false), SizeIs(1));
}

TEST(HistoryTailsTest, APodThatNeverRanHasNoLog) {
  HistoryTails tails;
  const auto pod = PodIn(PodPhase::kFailed);
  pod->node.clear();
  EXPECT_THAT(tails.Pick({pod}, true), IsEmpty());
}

TEST(HistoryTailsTest, OfALargeJobTheFailedOnesHaveTheirPlaces) {
  HistoryTails tails;
  HistoryTails::Pods well, failed;
  for (int i = 1; i <= 1'000; ++i) well.push_back(PodIn(PodPhase::kSucceeded, i));
  for (int i = 1'001; i <= 2'000; ++i) failed.push_back(PodIn(PodPhase::kFailed, i));
  EXPECT_THAT(tails.Pick(well, true), SizeIs(HistoryTails::kPodsWell));
  EXPECT_THAT(tails.Pick({PodIn(PodPhase::kSucceeded, 0)}, true), SizeIs(1)) << "the first one";
  EXPECT_THAT(tails.Pick(failed, true),
              SizeIs(HistoryTails::kPodsMax - HistoryTails::kPodsWell - 1));
}

}  // namespace
}  // namespace taas::dashboard
