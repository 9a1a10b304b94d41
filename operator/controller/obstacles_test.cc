#include "operator/controller/obstacles.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::seconds;

constexpr Clock::Time kStart{seconds(1000)};

WriteResult Refused(const std::string& why) {
  return {.kind = WriteResult::Kind::kRefused, .message = why};
}

TEST(ObstaclesTest, ARefusalHoldsLongerEachTimeUntilSomethingIsDone) {
  Obstacles obstacles;
  Clock::Time now = kStart;
  for (const int wait : {5, 10, 20, 40, 80, 160, 300, 300}) {
    ASSERT_TRUE(obstacles.Refuse(CreatePod(), Refused("quota"), now, now));
    EXPECT_EQ(obstacles.LookAgainAfter(now), seconds(wait));
    now += seconds(wait);
    obstacles.Expire(now);
    EXPECT_EQ(obstacles.refusal(), "");
  }
  obstacles.Progress(CreatePod());
  ASSERT_TRUE(obstacles.Refuse(CreatePod(), Refused("quota"), now, now));
  EXPECT_EQ(obstacles.LookAgainAfter(now), seconds(5));
}

TEST(ObstaclesTest, OfOneLookTheFirstRefusalCounts) {
  Obstacles obstacles;
  EXPECT_TRUE(obstacles.Refuse(WriteLedger(), Refused("first"), kStart, kStart));
  EXPECT_FALSE(obstacles.Refuse(WriteLedger(), Refused("second"), kStart, kStart));
  EXPECT_EQ(obstacles.refusal(), "first");
  EXPECT_TRUE(obstacles.ledger_refused());
}

CreatePod PodOf(Role role) {
  CreatePod step;
  step.pod.role = role;
  return step;
}

// Symptom: while a quota had no room for the evaluator the chief that was lost meanwhile was not
// made again for up to five minutes.
TEST(ObstaclesTest, ARefusedEvaluatorHoldsUpNeitherAChiefNorServices) {
  Obstacles obstacles;
  ASSERT_TRUE(obstacles.Refuse(PodOf(Role::kEvaluator), Refused("quota"), kStart, kStart));
  EXPECT_TRUE(obstacles.Holds(PodOf(Role::kEvaluator)));
  EXPECT_FALSE(obstacles.Holds(PodOf(Role::kChief)));
  EXPECT_FALSE(obstacles.Holds(CreateService()));
  EXPECT_EQ(obstacles.refusal(), "quota");
  // What others of the job do does not make it come again sooner.
  obstacles.Expire(kStart + seconds(5));
  obstacles.Progress(PodOf(Role::kChief));
  const Clock::Time again = kStart + seconds(5);
  ASSERT_TRUE(obstacles.Refuse(PodOf(Role::kEvaluator), Refused("quota"), again, again));
  EXPECT_EQ(obstacles.LookAgainAfter(again), seconds(10));
}

TEST(ObstaclesTest, WithoutItsLedgerNothingIsMade) {
  Obstacles obstacles;
  ASSERT_TRUE(obstacles.Refuse(PodOf(Role::kChief), Refused("quota"), kStart, kStart));
  ASSERT_TRUE(obstacles.Refuse(WriteLedger(), Refused("too long"), kStart, kStart));
  EXPECT_TRUE(obstacles.ledger_refused());
  EXPECT_TRUE(obstacles.Holds(CreateService()));
  EXPECT_EQ(obstacles.refusal(), "too long");
}

TEST(ObstaclesTest, AnotherSpecIsTriedAtOnce) {
  Obstacles obstacles;
  ASSERT_TRUE(obstacles.Refuse(WriteLedger(), Refused("bad"), kStart, kStart));
  obstacles.ForgetRefusal();
  EXPECT_EQ(obstacles.refusal(), "");
  EXPECT_FALSE(obstacles.ledger_refused());
  EXPECT_FALSE(obstacles.LookAgainAfter(kStart).has_value());
}

// Symptom: a job whose name was free again waited half a minute.
TEST(ObstaclesTest, WhatIsNotOursIsLookedForSoonAndThenMoreRarely) {
  Obstacles obstacles;
  WriteResult pod{.kind = WriteResult::Kind::kTaken};
  pod.taken_by.emplace<Pod>().meta.name = "mnist-ps-0";
  Clock::Time now = kStart;
  for (const int wait : {5, 10, 20, 30, 30}) {
    obstacles.Expire(now);
    obstacles.Take(pod, now);
    EXPECT_EQ(obstacles.LookAgainAfter(now), seconds(wait));
    now += seconds(wait);
  }
  obstacles.Expire(now);  // It is gone.
  obstacles.Expire(now);
  obstacles.Take(pod, now);
  EXPECT_EQ(obstacles.LookAgainAfter(now), seconds(5));
}

TEST(ObstaclesTest, WhatIsNotOursIsInTheSnapshotUntilTheViewHasItOrItsTimeIsOver) {
  Obstacles obstacles;
  WriteResult pod{.kind = WriteResult::Kind::kTaken};
  pod.taken_by.emplace<Pod>().meta.name = "mnist-ps-0";
  obstacles.Take(pod, kStart);
  WriteResult service{.kind = WriteResult::Kind::kTaken};
  OwnedObject& taken = service.taken_by.emplace<OwnedObject>();
  taken.meta.name = "mnist";
  taken.owner_uid = "somebody";
  obstacles.Take(service, kStart);
  WriteResult group{.kind = WriteResult::Kind::kTaken};
  group.taken_by.emplace<PodGroup>().owner_uid = "somebody else";
  obstacles.Take(group, kStart);
  Snapshot snapshot;
  obstacles.Complete(snapshot);
  ASSERT_TRUE(snapshot.pod_group.has_value());
  EXPECT_EQ(snapshot.pod_group->owner_uid, "somebody else");
  ASSERT_EQ(snapshot.pods.size(), 1u);
  EXPECT_EQ(snapshot.services.at("mnist").owner_uid, "somebody");

  Snapshot seen;
  seen.pods.emplace_back().meta.name = "mnist-ps-0";
  obstacles.Complete(seen);
  EXPECT_EQ(seen.pods.size(), 1u) << "not twice";

  obstacles.Expire(kStart + seconds(30));
  Snapshot later;
  obstacles.Complete(later);
  EXPECT_TRUE(later.pods.empty());
  EXPECT_TRUE(later.services.empty());
  EXPECT_FALSE(later.pod_group.has_value());
}

}  // namespace
}  // namespace taas
