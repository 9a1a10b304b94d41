// Candidates: who takes over, when, and under which epoch.

#include "operator/kube/lease_elector.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/lease_fixture.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(LeaseCandidateTest, MakesALeaseThatIsNotThereAndLeadsUnderEpochOne) {
  LeaseWorld world;
  Candidate& a = world.Add("a", {.lease = 20s});
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 1s));
  EXPECT_EQ(a.epoch, 1);
  EXPECT_THAT(a.gate.Check(), IsOk());
  const json spec = world.server.object()["spec"];
  EXPECT_EQ(spec["holderIdentity"], "a");
  EXPECT_EQ(spec["leaseDurationSeconds"], 20);
  EXPECT_EQ(spec["leaseTransitions"], 1);
  EXPECT_EQ(spec["acquireTime"], spec["renewTime"]);
  EXPECT_EQ(a.elector.state().holder, "a");
  EXPECT_TRUE(a.elector.state().leads);
}

TEST(LeaseCandidateTest, TakesALeaseThatNobodyHoldsAtOnceUnderTheNextEpoch) {
  LeaseWorld world;
  world.server.Put("", 1, 7);
  Candidate& a = world.Add("a");
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 1s));
  EXPECT_EQ(a.epoch, 8);
  EXPECT_EQ(world.server.transitions(), 8);
}

// The time in the object is years old: what counts is that its holder may have written it just now.
TEST(LeaseCandidateTest, WaitsForAHolderFromWhenItWasSeenNotFromWhatItSays) {
  LeaseWorld world;
  world.server.Put("old", 15, 3);
  Candidate& a = world.Add("a");
  EXPECT_FALSE(world.RunUntil([&] { return a.leads(); }, 15s - 1ms));
  EXPECT_THAT(a.gate.Check(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(a.elector.state().holder, "old");
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 300ms));
  EXPECT_EQ(a.epoch, 4);
}

TEST(LeaseCandidateTest, LeavesAHolderAloneThatShowsAnySignOfLife) {
  LeaseWorld world;
  world.server.Put("old", 15, 3);
  Candidate& a = world.Add("a");
  for (int i = 0; i < 20; ++i) {
    world.RunFor(13s);
    world.server.Put("old", 15, 3);
  }
  EXPECT_EQ(a.epoch, 0);
  EXPECT_EQ(world.server.writes(), 0) << "it has not even tried";
}

TEST(LeaseCandidateTest, WaitsAsLongAsAHolderWithALongerLeaseAsked) {
  LeaseWorld world;
  world.server.Put("old", 60, 3);
  Candidate& a = world.Add("a");
  EXPECT_FALSE(world.RunUntil([&] { return a.leads(); }, 59s));
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 3s));
}

TEST(LeaseCandidateTest, AShorterLeaseThanItsOwnIsGivenItsOwnTime) {
  LeaseWorld world;
  world.server.Put("old", 1, 3);
  Candidate& a = world.Add("a");
  EXPECT_FALSE(world.RunUntil([&] { return a.leads(); }, 15s - 1ms));
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 300ms));
}

TEST(LeaseCandidateTest, ALeaseThatWasEditedToLastForEverIsWaitedForTenMinutes) {
  LeaseWorld world;
  world.server.Put("old", 2'000'000'000, 3);
  Candidate& a = world.Add("a");
  EXPECT_FALSE(world.RunUntil([&] { return a.leads(); }, 599s));
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 3s));
}

TEST(LeaseCandidateTest, TransitionsThatWereEditedToTheirEndDoNotEndTheElection) {
  LeaseWorld world;
  world.server.Put("", 1, 2'147'483'647);
  Candidate& a = world.Add("a");
  a.known_epoch = 12;
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 1s));
  EXPECT_EQ(a.epoch, 13);
  world.RunFor(60s);
  EXPECT_THAT(a.lost, IsEmpty());
}

// Symptom otherwise: after the Lease was deleted the next leader's pods look older than those of
// the leader before.
TEST(LeaseCandidateTest, TheEpochIsAboveWhatTheObjectsOfTheClusterTell) {
  LeaseWorld world;
  Candidate& a = world.Add("a");
  a.known_epoch = 41;
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 1s));
  EXPECT_EQ(a.epoch, 42);
}

TEST(LeaseCandidateTest, AForgedEpochDoesNotUseEpochsUp) {
  LeaseWorld world;
  world.server.Put("", 1, 7);
  Candidate& a = world.Add("a");
  a.known_epoch = kEpochMax - 1;
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 1s));
  EXPECT_EQ(a.epoch, 8);
}

TEST(LeaseCandidateTest, ALeaseThatIsDeletedUnderItsHolderIsNotTakenBeforeTheHolderIsSilent) {
  LeaseWorld world;
  world.server.Put("old", 15, 3);
  Candidate& a = world.Add("a");
  world.RunFor(3s);
  world.server.Delete();
  EXPECT_FALSE(world.RunUntil([&] { return a.leads(); }, 11s));
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 3s));
  EXPECT_EQ(a.epoch, 4);
}

TEST(LeaseCandidateTest, OfTwoThatComeAtOnceOneLeads) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    LeaseWorld world(seed);
    Candidate& a = world.Add("a");
    Candidate& b = world.Add("b");
    ASSERT_TRUE(world.RunUntil([&] { return a.leads() || b.leads(); }, 5s));
    world.RunFor(60s);
    EXPECT_NE(a.leads(), b.leads()) << "seed " << seed;
    EXPECT_THAT(a.lost, IsEmpty());
    EXPECT_THAT(b.lost, IsEmpty());
  }
}

TEST(LeaseCandidateTest, ItsOwnLeaseWhoseReplyWasLostIsFoundAndLed) {
  LeaseWorld world;
  Candidate& a = world.Add("a");
  ASSERT_TRUE(world.RunUntil([&] { return world.server.gets() == 1; }, 1s));
  a.link.faults().loses_replies = true;
  ASSERT_TRUE(world.RunUntil([&] { return world.server.writes() == 1; }, 1s));
  a.link.faults().loses_replies = false;
  EXPECT_EQ(world.server.holder(), "a");
  EXPECT_FALSE(a.leads());
  ASSERT_TRUE(world.RunUntil([&] { return a.leads(); }, 10s));
  EXPECT_EQ(a.epoch, 1) << "nobody has led in between";
}

TEST(LeaseCandidateTest, AServerThatRefusesIsAskedAgainWithoutHaste) {
  LeaseWorld world;
  Candidate& a = world.Add("a");
  a.link.faults().answers = 403;
  world.RunFor(60s);
  EXPECT_EQ(a.epoch, 0);
  a.link.faults().answers = 0;
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 3s));
}

struct Takeover {
  Clock::Duration after_kill{0};
  Clock::Duration after_release{0};
};

// Two processes; the leader ends at a random moment of its life.
Clock::Duration TakeoverTime(uint64_t seed, bool kill) {
  LeaseWorld world(seed);
  Candidate& a = world.Add("a");
  EXPECT_TRUE(world.RunUntil([&] { return a.leads(); }, 5s));
  Candidate& b = world.Add("b");
  world.RunFor(10s + std::chrono::milliseconds(world.random.Below(5000)));
  const Clock::Time ended = world.now();
  kill ? a.process.Kill() : a.Release();
  EXPECT_TRUE(world.RunUntil([&] { return b.leads(); }, 60s));
  EXPECT_EQ(b.epoch, 2);
  return world.now() - ended;
}

TEST(LeaseCandidateTest, TakesOverWithinTwoSecondsOfAReleaseAndSeventeenOfAKill) {
  Takeover worst;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    worst.after_kill = std::max(worst.after_kill, TakeoverTime(seed, /*kill=*/true));
    worst.after_release = std::max(worst.after_release, TakeoverTime(seed, /*kill=*/false));
  }
  EXPECT_LE(worst.after_release, 1700ms);
  EXPECT_LE(worst.after_kill, 16'800ms);
  EXPECT_GE(worst.after_kill, 14s) << "a holder's time was not respected";
}

}  // namespace
}  // namespace taas
