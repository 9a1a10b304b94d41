// Leaders: what keeps them, what ends them, and how they let go.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/lease_elector.h"
#include "operator/kube/lease_fixture.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LeaseLeaderTest : public testing::Test {
 protected:
  LeaseLeaderTest() { EXPECT_TRUE(world_.RunUntil([&] { return a_.leads(); }, 1s)); }

  // How long after the last renewal it gave up; nothing may keep it longer than `renew`.
  Clock::Duration LastedUntilLost() {
    const Clock::Time renewed = a_.elector.state().renewed;
    EXPECT_TRUE(world_.RunUntil([&] { return !a_.lost.empty(); }, 60s));
    EXPECT_THAT(a_.gate.Check(), StatusIs(absl::StatusCode::kAborted));
    return world_.now() - renewed;
  }

  LeaseWorld world_;
  Candidate& a_ = world_.Add("a");
};

TEST_F(LeaseLeaderTest, RenewsWithOneRequestInTwoSecondsAndReadsNothing) {
  const int gets = world_.server.gets();
  const int writes = world_.server.writes();
  const json acquired = world_.server.object()["spec"]["acquireTime"];
  world_.RunFor(60s);
  EXPECT_EQ(world_.server.gets(), gets);
  EXPECT_NEAR(world_.server.writes() - writes, 30, 1);
  EXPECT_EQ(world_.server.object()["spec"]["acquireTime"], acquired);
  EXPECT_NE(world_.server.object()["spec"]["renewTime"], acquired);
  EXPECT_EQ(world_.server.transitions(), 1);
  EXPECT_TRUE(a_.leads());
}

TEST_F(LeaseLeaderTest, EachLeaderIsToldInOneEventOnTheLease) {
  Candidate& b = world_.Add("b");
  world_.RunFor(10s);
  a_.Release();
  ASSERT_TRUE(world_.RunUntil([&] { return b.leads(); }, 5s));
  world_.RunFor(10s);
  const std::map<std::string, json>& events = world_.server.events();
  ASSERT_EQ(events.size(), 2u);
  const json& first = events.at("taas-operator.lease-1.1");
  EXPECT_EQ(first["reason"], "LeaderElection");
  EXPECT_EQ(first["type"], "Normal");
  EXPECT_EQ(first["message"], "a became leader, epoch 1");
  EXPECT_EQ(first["involvedObject"]["kind"], "Lease");
  EXPECT_EQ(first["involvedObject"]["uid"], "lease-1");
  EXPECT_EQ(first["metadata"]["namespace"], "taas");
  EXPECT_EQ(events.at("taas-operator.lease-1.2")["message"], "b became leader, epoch 2");
}

TEST_F(LeaseLeaderTest, AnEventThatIsRefusedChangesNothing) {
  Candidate& b = world_.Add("b");
  a_.Release();
  ASSERT_TRUE(world_.RunUntil([&] { return b.epoch == 2; }, 5s));
  b.link.faults().answers = 403;
  world_.RunFor(1s);
  b.link.faults().answers = 0;
  world_.RunFor(60s);
  EXPECT_EQ(world_.server.events().count("taas-operator.lease-1.2"), 0u);
  EXPECT_TRUE(b.leads());
}

TEST_F(LeaseLeaderTest, TheGateNeverReachesBeyondTheRenewalThatWasSent) {
  for (int i = 0; i < 500; ++i) {
    world_.RunFor(100ms);
    EXPECT_EQ(a_.gate.end(), a_.elector.state().renewed + 10s);
    EXPECT_LE(a_.elector.state().renewed, world_.now());
  }
}

TEST_F(LeaseLeaderTest, SurvivesAnOutageThatEndsInTime) {
  a_.link.faults().cut = true;
  world_.RunFor(7s);
  a_.link.faults().cut = false;
  world_.RunFor(60s);
  EXPECT_TRUE(a_.leads());
}

TEST_F(LeaseLeaderTest, LosesWhenItCannotRenewInTimeAndSaysWhy) {
  a_.link.faults().cut = true;
  EXPECT_EQ(LastedUntilLost(), 10s);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("connection refused")));
  EXPECT_FALSE(a_.elector.state().leads);
  const int writes = world_.server.writes();
  a_.link.faults().cut = false;
  world_.RunFor(60s);
  EXPECT_EQ(world_.server.writes(), writes) << "it has ended";
}

// Symptom of peers: one request that hangs outlives the lease.
TEST_F(LeaseLeaderTest, ARequestThatHangsDoesNotKeepItLonger) {
  a_.link.faults().hangs = true;
  EXPECT_EQ(LastedUntilLost(), 10s);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("no reply in time")));
}

TEST_F(LeaseLeaderTest, OneRequestThatHangsIsGivenUpForTheNext) {
  a_.link.faults().hangs = true;
  world_.RunFor(3s);
  a_.link.faults().hangs = false;
  world_.RunFor(60s);
  EXPECT_TRUE(a_.leads());
}

TEST_F(LeaseLeaderTest, RenewalsWhoseRepliesAreLostAreItsOwnAfterwards) {
  a_.link.faults().loses_replies = true;
  world_.RunFor(5s);
  a_.link.faults().loses_replies = false;
  world_.RunFor(60s);
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(world_.server.transitions(), 1);
}

TEST_F(LeaseLeaderTest, AServerThatIsForbiddenOrBrokenEndsItAtTheSameTime) {
  a_.link.faults().answers = 500;
  EXPECT_EQ(LastedUntilLost(), 10s);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("the test says so")));
}

TEST_F(LeaseLeaderTest, LabelsAndAnnotationsOfOthersDoNotEndItAndStay) {
  for (int i = 0; i < 10; ++i) {
    world_.RunFor(1700ms);
    world_.server.Edit({{"metadata", {{"labels", {{"team", std::to_string(i)}}}}}});
  }
  world_.RunFor(60s);
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(world_.server.object()["metadata"]["labels"]["team"], "9");
}

TEST_F(LeaseLeaderTest, LosesALeaseThatIsDeletedAndDoesNotMakeItAgain) {
  world_.server.Delete();
  EXPECT_LE(LastedUntilLost(), 2100ms);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("was deleted")));
  EXPECT_TRUE(world_.server.object().is_null());
}

TEST_F(LeaseLeaderTest, LosesALeaseThatAnotherHolds) {
  world_.server.Edit({{"spec", {{"holderIdentity", "kubectl"}}}});
  EXPECT_LE(LastedUntilLost(), 2100ms);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("held by kubectl")));
}

TEST_F(LeaseLeaderTest, LosesALeaseWhoseTransitionsWereChanged) {
  world_.server.Edit({{"spec", {{"leaseTransitions", 99}}}});
  EXPECT_LE(LastedUntilLost(), 2100ms);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("from 1 to 99")));
}

TEST_F(LeaseLeaderTest, LosesALeaseThatCameBackFromABackup) {
  const json before = world_.server.object();
  world_.RunFor(10s);
  world_.server.Restore(before);
  EXPECT_LE(LastedUntilLost(), 2100ms);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("went back")));
}

TEST_F(LeaseLeaderTest, OneThatStoodStillLosesBeforeItDoesAnythingElse) {
  a_.process.Freeze();
  world_.RunFor(30s);
  EXPECT_THAT(a_.gate.Check(), StatusIs(absl::StatusCode::kAborted)) << "while it stands still";
  const int writes = world_.server.writes();
  a_.process.Thaw();
  world_.RunFor(1s);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("stood still")));
  EXPECT_EQ(world_.server.writes(), writes);
}

TEST_F(LeaseLeaderTest, AWallClockThatJumpsChangesNothing) {
  Candidate& b = world_.Add("b");
  for (const auto offset : {3600s, -7200s, 0s, 86400s}) {
    a_.process.set_wall_offset(offset);
    b.process.set_wall_offset(-2 * offset);
    world_.RunFor(30s);
  }
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(b.epoch, 0);
}

TEST_F(LeaseLeaderTest, LetsGoSoThatTheNextNeedNotWait) {
  world_.server.Edit({{"metadata", {{"labels", {{"team", "ml"}}}}}});
  a_.Release();
  ASSERT_TRUE(world_.RunUntil([&] { return !a_.released.empty(); }, 5s));
  EXPECT_THAT(a_.released, ElementsAre(IsOk()));
  EXPECT_EQ(world_.server.holder(), "");
  EXPECT_EQ(world_.server.object()["spec"]["leaseDurationSeconds"], 1);
  EXPECT_EQ(world_.server.transitions(), 1);
  EXPECT_EQ(world_.server.object()["metadata"]["labels"]["team"], "ml");
  EXPECT_THAT(a_.gate.Check(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(a_.lost, IsEmpty()) << "it was told to";
  world_.RunFor(60s);
  EXPECT_EQ(world_.server.holder(), "");
}

TEST_F(LeaseLeaderTest, DoesNotLetGoBeforeItsWritesHaveEnded) {
  auto pass = std::make_unique<WriteGate::Pass>(*a_.gate.Enter());
  a_.Release();
  EXPECT_THAT(a_.gate.Enter(), StatusIs(absl::StatusCode::kAborted)) << "no more begin";
  world_.RunFor(3s);
  EXPECT_EQ(world_.server.holder(), "a");
  pass.reset();
  world_.RunFor(100ms);
  EXPECT_EQ(world_.server.holder(), "");
}

TEST_F(LeaseLeaderTest, LeavesTheLeaseToRunOutWhenAWriteDoesNotEnd) {
  const auto pass = a_.gate.Enter();
  a_.Release();
  ASSERT_TRUE(world_.RunUntil([&] { return !a_.released.empty(); }, 10s));
  EXPECT_THAT(a_.released[0],
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("1 writes are still under way")));
  EXPECT_EQ(world_.server.holder(), "a");
}

TEST_F(LeaseLeaderTest, TheReleaseSaysSoWhenTheServerIsAway) {
  a_.link.faults().hangs = true;
  a_.Release();
  const Clock::Time asked = world_.now();
  ASSERT_TRUE(world_.RunUntil([&] { return !a_.released.empty(); }, 60s));
  EXPECT_LE(world_.now() - asked, 2100ms) << "a process that ends has not long";
  EXPECT_THAT(a_.released[0], StatusIs(absl::StatusCode::kUnknown));
}

TEST_F(LeaseLeaderTest, ACandidateThatIsToldToStopHasNothingToLetGo) {
  Candidate& b = world_.Add("b");
  world_.RunFor(5s);
  b.Release();
  EXPECT_THAT(b.released, ElementsAre(IsOk()));
  world_.RunFor(60s);
  EXPECT_TRUE(a_.leads());
}

TEST_F(LeaseLeaderTest, ACandidateThatIsToldToStopWhileItTakesTheLeaseLetsItGo) {
  Candidate& b = world_.Add("b");
  a_.Release();
  const int writes = world_.server.writes() + 1;  // The release itself.
  ASSERT_TRUE(world_.RunUntil([&] { return world_.server.writes() > writes; }, 5s));
  ASSERT_EQ(world_.server.holder(), "b");
  ASSERT_FALSE(b.leads()) << "it does not know yet";
  b.Release();
  ASSERT_TRUE(world_.RunUntil([&] { return !b.released.empty(); }, 5s));
  EXPECT_THAT(b.released, ElementsAre(IsOk()));
  EXPECT_EQ(b.epoch, 0);
  EXPECT_EQ(world_.server.holder(), "");
}

TEST_F(LeaseLeaderTest, OneThatIsStoppedBeforeItStartsDoesNothing) {
  LeaseWorld world;
  world.candidates.push_back(std::make_unique<Candidate>(
      "c", world.server, world.executor, world.random, LeaseTimes{}, 1));
  Candidate& c = *world.candidates.back();
  c.Release();
  c.elector.Start();
  world.RunFor(60s);
  EXPECT_EQ(world.server.gets(), 0);
}

TEST_F(LeaseLeaderTest, VerifySaysYesToALeaderAndEndsOneThatIsNone) {
  int yes = 0;
  a_.elector.Verify([&] { ++yes; });
  a_.elector.Verify([&] { ++yes; });
  world_.RunFor(100ms);
  EXPECT_EQ(yes, 1) << "one question at a time";
  world_.server.Put("b", 15, 2);
  a_.elector.Verify([&] { ++yes; });
  world_.RunFor(100ms);
  EXPECT_EQ(yes, 1);
  EXPECT_THAT(a_.lost, ElementsAre(HasSubstr("held by b")));
}

TEST_F(LeaseLeaderTest, VerifyThatGetsNoAnswerSaysNothingAndMayBeAskedAgain) {
  int yes = 0;
  a_.link.faults().cut = true;
  a_.elector.Verify([&] { ++yes; });
  world_.RunFor(100ms);
  EXPECT_EQ(yes, 0);
  a_.link.faults().cut = false;
  a_.elector.Verify([&] { ++yes; });
  world_.RunFor(100ms);
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(a_.leads());
}

// Symptom: a read that a renewal had overtaken looked like a restored database.
TEST_F(LeaseLeaderTest, AReadThatARenewalOvertakesIsNoWayBack) {
  a_.link.faults().delay_max = 1500ms;
  for (int i = 0; i < 200; ++i) {
    world_.RunFor(300ms);
    a_.elector.Verify([] {});
  }
  EXPECT_TRUE(a_.leads()) << a_.lost.at(0);
}

}  // namespace
}  // namespace taas
