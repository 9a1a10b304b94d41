#include "trainer/cluster/membership.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Verdict = Admittance::Verdict;
using Standing = Membership::Standing;
using namespace std::chrono_literals;

class MembershipTest : public testing::Test {
 protected:
  static ClusterSpec Cluster() {
    return {{{"chief", {"c:1"}}, {"ps", {"p:1", "p:2"}}, {"worker", {"w:1", "w:2"}}},
            {"chief", 0}};
  }
  JoinCall Call(int index, int64_t pod, uint64_t start) {
    return {{"uid", 2}, {"worker", index}, {pod, start}, "hash", "w:9"};
  }

  Membership membership_{{"uid", 2}, "hash", Cluster()};
  Clock::Time now_{};
};

TEST_F(MembershipTest, HigherPodNumberTakesThePlace) {
  EXPECT_EQ(membership_.Join(Call(0, 1, 10), now_).verdict, Verdict::kAccepted);
  const Admittance verdict = membership_.Join(Call(0, 2, 5), now_);
  EXPECT_EQ(verdict.verdict, Verdict::kAccepted);
  EXPECT_EQ(verdict.replaced, (Incarnation{1, 10}));
  EXPECT_EQ(membership_.Hear({"worker", 0}, {1, 10}, now_), Standing::kReplaced);
  EXPECT_EQ(membership_.Join(Call(0, 1, 10), now_).verdict, Verdict::kRefused);
  EXPECT_EQ(membership_.Hear({"worker", 0}, {2, 5}, now_), Standing::kMember);
}

TEST_F(MembershipTest, WithinOnePodTheLatestStartTakesThePlaceAndKeepsIt) {
  membership_.Join(Call(0, 1, 10), now_);
  EXPECT_EQ(membership_.Join(Call(0, 1, 3), now_).replaced, (Incarnation{1, 10}));
  const Admittance late = membership_.Join(Call(0, 1, 10), now_);
  EXPECT_EQ(late.verdict, Verdict::kRefused);
  EXPECT_THAT(late.sentence, HasSubstr("worker-0"));
}

TEST_F(MembershipTest, HowLongAMemberMayBeSilentIsTheJobsToSay) {
  Membership patient({"uid", 2}, "hash", Cluster(), 60s);
  patient.Join(Call(0, 1, 10), now_);
  EXPECT_TRUE(patient.Sweep(now_ + 60s).empty());
  EXPECT_EQ(patient.Sweep(now_ + 61s).size(), 1u);
  EXPECT_THAT(patient.Join(Call(0, 1, 10), now_ + 62s).sentence,
              HasSubstr("silent for more than 60 s"));
}

TEST_F(MembershipTest, JoiningAgainChangesNothing) {
  membership_.Join(Call(0, 1, 10), now_);
  EXPECT_FALSE(membership_.Join(Call(0, 1, 10), now_ + 1s).replaced.has_value());
  EXPECT_EQ(membership_.Find({"worker", 0})->joined, now_);
}

TEST_F(MembershipTest, StrangersAreToldWhy) {
  struct Case {
    const char* name;
    std::function<void(JoinCall&)> change;
    Verdict verdict;
    const char* sentence;
  };
  const Case cases[] = {
      {"other job", [](JoinCall& c) { c.job.uid = "u2"; }, Verdict::kLater, "another job"},
      {"earlier attempt", [](JoinCall& c) { c.job.attempt = 1; }, Verdict::kRefused, "is over"},
      {"later attempt", [](JoinCall& c) { c.job.attempt = 3; }, Verdict::kLater, "attempt 2"},
      {"index", [](JoinCall& c) { c.replica = {"ps", 2}; }, Verdict::kRefused, "ps-2"},
      {"no index", [](JoinCall& c) { c.replica.index = -1; }, Verdict::kRefused, "worker--1"},
      {"chief", [](JoinCall& c) { c.replica = {"chief", 0}; }, Verdict::kRefused, "one identity"},
      {"config", [](JoinCall& c) { c.config_hash = "x"; }, Verdict::kRefused, "TAAS_TRAINER"},
      {"pod", [](JoinCall& c) { c.incarnation.pod = INT64_MAX; }, Verdict::kRefused, "no pod"},
      {"address", [](JoinCall& c) { c.bulk_address.assign(1000, 'a'); }, Verdict::kRefused,
       "1000 bytes"},
  };
  for (const Case& test : cases) {
    JoinCall call = Call(0, 1, 1);
    test.change(call);
    const Admittance verdict = membership_.Join(call, now_);
    EXPECT_EQ(verdict.verdict, test.verdict) << test.name;
    EXPECT_THAT(verdict.sentence, HasSubstr(test.sentence)) << test.name;
    // Who knows both can join, so no refusal tells either.
    EXPECT_THAT(verdict.sentence, Not(HasSubstr("uid"))) << test.name;
    EXPECT_THAT(verdict.sentence, Not(HasSubstr("hash"))) << test.name;
  }
  EXPECT_TRUE(membership_.members().empty());
}

TEST_F(MembershipTest, SilentMemberIsLostOnceAndMustJoinWithANewStart) {
  membership_.Join(Call(0, 1, 10), now_);
  membership_.Join(Call(1, 1, 11), now_);
  membership_.Hear({"worker", 1}, {1, 11}, now_ + 9s);
  EXPECT_TRUE(membership_.Sweep(now_ + 10s).empty());
  const auto lost = membership_.Sweep(now_ + 11s);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].replica.name(), "worker-0");
  EXPECT_TRUE(membership_.Sweep(now_ + 12s).empty());
  EXPECT_EQ(membership_.Hear({"worker", 0}, {1, 10}, now_ + 12s), Standing::kUnknown);
  // Its Join may have been under way for long: it is not refused for that.
  const Admittance late = membership_.Join(Call(0, 1, 10), now_ + 12s);
  EXPECT_EQ(late.verdict, Verdict::kLater);
  EXPECT_THAT(late.sentence, HasSubstr("new one"));
  EXPECT_EQ(membership_.Join(Call(0, 1, 12), now_ + 12s).verdict, Verdict::kAccepted);
  // Now a process stands there, and the earlier start is one that was replaced.
  EXPECT_EQ(membership_.Join(Call(0, 1, 10), now_ + 12s).verdict, Verdict::kRefused);
}

TEST_F(MembershipTest, WorkersThatWereAddedAfterTheChiefStartedAreAdmitted) {
  EXPECT_EQ(membership_.Join(Call(7, 1, 10), now_).verdict, Verdict::kAccepted);
  EXPECT_EQ(membership_.Hear({"worker", 7}, {1, 10}, now_), Standing::kMember);
}

TEST_F(MembershipTest, MissingReplicasAreThoseThatHaveNotJoinedOrAreLost) {
  EXPECT_EQ(membership_.Missing("ps").size(), 2u);
  membership_.Join({{"uid", 2}, {"ps", 1}, {1, 1}, "hash", "p:9"}, now_);
  EXPECT_EQ(membership_.Missing("ps"), (std::vector<ReplicaId>{{"ps", 0}}));
  membership_.Sweep(now_ + 20s);
  EXPECT_EQ(membership_.Missing("ps").size(), 2u);
  EXPECT_TRUE(membership_.Missing("chief").empty());
}

// Symptom: the chief's page had 9 MB, more than the operator reads, after three thousand forged
// workers had joined and gone.
TEST_F(MembershipTest, OfWorkersThatNobodyListedTheNewestAreKnownWhenTheyHaveGone) {
  const int many = 3 * static_cast<int>(kAddedGoneMax);
  membership_.Join(Call(0, 1, 1), now_);
  for (int i = 0; i < many; ++i) {
    now_ += 1s;
    ASSERT_EQ(membership_.Join(Call(10 + i, 1, 10), now_).verdict, Verdict::kAccepted) << i;
    if (i % 2 == 0) membership_.Leave({"worker", 10 + i}, {1, 10});
    membership_.Sweep(now_);
  }
  now_ += 20s;
  membership_.Sweep(now_);
  EXPECT_EQ(membership_.members().size(), 1 + kAddedGoneMax);
  EXPECT_NE(membership_.Find({"worker", 10 + many - 1}), nullptr);
  EXPECT_EQ(membership_.Find({"worker", 10}), nullptr);
  // Who is listed is never forgotten, and who was can join again.
  EXPECT_TRUE(membership_.Find({"worker", 0})->lost);
  EXPECT_EQ(membership_.Join(Call(10, 1, 10), now_).verdict, Verdict::kAccepted);
}

TEST_F(MembershipTest, NoMoreUnlistedWorkersAreAdmittedThanAParameterServerHasConnections) {
  for (int i = 0; i < static_cast<int>(kAddedMax); ++i) {
    ASSERT_EQ(membership_.Join(Call(10 + i, 1, 10), now_).verdict, Verdict::kAccepted) << i;
  }
  EXPECT_EQ(membership_.Join(Call(9, 1, 10), now_).verdict, Verdict::kLater);
  EXPECT_EQ(membership_.Join(Call(1, 1, 10), now_).verdict, Verdict::kAccepted);
  EXPECT_EQ(membership_.Join(Call(10, 2, 11), now_).verdict, Verdict::kAccepted);
  membership_.Leave({"worker", 11}, {1, 10});
  EXPECT_EQ(membership_.Join(Call(9, 1, 10), now_).verdict, Verdict::kAccepted);
  JoinCall high = Call(kIndexMax + 1, 1, 10);
  EXPECT_EQ(membership_.Join(high, now_).verdict, Verdict::kRefused);
}

// Symptom: each start under which one replica had joined was known for ever.
TEST_F(MembershipTest, TheNewestStartsThatWereReplacedAreKnown) {
  for (uint64_t start = 1; start <= 10 * kStartsMax; ++start) {
    ASSERT_EQ(membership_.Join(Call(0, 1, start), now_).verdict, Verdict::kAccepted);
  }
  EXPECT_EQ(membership_.Join(Call(0, 1, 10 * kStartsMax - 1), now_).verdict, Verdict::kRefused);
  EXPECT_EQ(membership_.Join(Call(0, 1, 1), now_).verdict, Verdict::kAccepted);
}

}  // namespace
}  // namespace taas
