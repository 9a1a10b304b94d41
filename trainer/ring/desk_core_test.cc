#include "trainer/ring/desk_core.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "trainer/proto/chief.pb.h"

namespace taas {
namespace {

using std::chrono::milliseconds;

constexpr int kWorkers = 3;
constexpr int64_t kMaxSteps = 100;

class DeskCoreTest : public testing::Test {
 protected:
  static DeskCore::Options Options(size_t min) {
    ClusterSpec cluster;
    cluster.addresses["chief"] = {"chief:1"};
    for (int i = 0; i < kWorkers; ++i) cluster.addresses["worker"].push_back("worker:1");
    cluster.self = {"chief", 0};
    return {.roster = {.cluster = cluster, .job = {"uid", 1}, .config_hash = "c"},
            .address = "chief:2",
            .min = min,
            .max = 1 + kWorkers,
            .max_steps = kMaxSteps};
  }

  static wire::Identity Identity(int worker, int64_t pod) {
    wire::Identity identity;
    identity.set_job_uid("uid");
    identity.set_role("worker");
    identity.set_index(worker);
    identity.set_attempt(1);
    identity.set_pod_number(pod);
    identity.set_start(static_cast<uint64_t>(100 * pod + worker));
    return identity;
  }
  static Roster::Caller Caller(int worker, int64_t pod = 1) {
    return Roster::Caller(Identity(worker, pod));
  }

  void Join(int worker, int64_t pod = 1) {
    wire::JoinRequest request;
    *request.mutable_identity() = Identity(worker, pod);
    request.set_config_hash("c");
    request.set_bulk_address("worker-" + std::to_string(worker) + ":2");
    EXPECT_EQ(desk_.Join(request, now_).verdict, Admittance::Verdict::kAccepted);
  }
  void Waits(int worker, const DeskCore::Waiting& waiting) {
    desk_.Tell(Caller(worker), waiting, now_);
  }
  // All are in epoch 1.
  void Begin() {
    for (int worker = 0; worker < kWorkers; ++worker) Join(worker);
    for (int worker = 0; worker < kWorkers; ++worker) Waits(worker, {});
    desk_.OwnWaits({.step = 0}, std::nullopt, now_);
    ASSERT_EQ(desk_.in_force(), 1U);
    now_ += std::chrono::seconds(1);
  }
  void Pass(milliseconds time) {
    now_ += time;
    desk_.Look(now_);
  }
  static DeskCore::Waiting At(int64_t step, std::optional<int> lost = std::nullopt) {
    return {.standing = {.step = step}, .epoch = 1, .lost = lost};
  }

  Clock::Time now_{std::chrono::hours(1)};
  DeskCore desk_{Options(/*min=*/2)};
};

// The others stood still for 100 ms after the kernel had closed the connections of one that was
// killed.
TEST_F(DeskCoreTest, WhomAnotherRankHasLostIsWaitedForForAMoment) {
  Begin();
  Waits(0, At(7, /*lost=*/2));
  Waits(2, At(7));
  desk_.OwnWaits({.step = 7}, /*lost=*/1, now_);
  Pass(kLostAnswerMax - milliseconds(1));
  EXPECT_EQ(desk_.in_force(), 0U);
  EXPECT_TRUE(desk_.ending());
  Pass(milliseconds(1));
  ASSERT_EQ(desk_.in_force(), 2U);
  EXPECT_EQ(desk_.own_epoch()->addresses.size(), 3U);
  EXPECT_EQ(desk_.EpochOf(Caller(1)), nullptr);
  EXPECT_NE(desk_.EpochOf(Caller(0)), nullptr);
}

TEST_F(DeskCoreTest, OneThatAnswersIsNotLostWhateverOthersSay) {
  Begin();
  Waits(0, At(7, /*lost=*/2));
  Waits(2, At(7));
  desk_.OwnWaits({.step = 7}, /*lost=*/2, now_);
  // Its heartbeat: it ends its step.
  desk_.Tell(Caller(1), std::nullopt, now_);
  Pass(10 * kAnswerMax);
  EXPECT_EQ(desk_.in_force(), 0U);
  Waits(1, At(7));
  EXPECT_EQ(desk_.in_force(), 2U);
  EXPECT_EQ(desk_.own_epoch()->addresses.size(), 4U);
}

TEST_F(DeskCoreTest, OneThatNobodyHasLostHasTheTimeToAnswer) {
  Begin();
  Waits(0, At(7));
  Waits(2, At(7));
  desk_.OwnWaits({.step = 7}, std::nullopt, now_);
  Pass(kAnswerMax - milliseconds(1));
  EXPECT_EQ(desk_.in_force(), 0U);
  Pass(milliseconds(1));
  EXPECT_EQ(desk_.in_force(), 2U);
}

TEST_F(DeskCoreTest, WhatIsSaidOfAnEarlierEpochCountsNotOfTheNext) {
  Begin();
  Waits(0, At(7, /*lost=*/2));
  Waits(2, At(7));
  Waits(1, At(7));
  desk_.OwnWaits({.step = 7}, std::nullopt, now_);
  ASSERT_EQ(desk_.in_force(), 2U);
  // Rank 3 of epoch 2 leaves; nobody says that rank 2 is lost there.
  Waits(2, {.standing = {.step = 8}, .epoch = 2});
  Waits(0, {.standing = {.step = 8}, .epoch = 2});
  desk_.OwnWaits({.step = 8}, std::nullopt, now_);
  Pass(kLostAnswerMax);
  EXPECT_EQ(desk_.in_force(), 0U);
}

// A chief was killed when some ranks had been told of the end and were gone: its successor waited
// for these for ever, while another had the model of the last step.
TEST_F(DeskCoreTest, WhereAllIsTrainedWhoHasTheModelIsEnough) {
  DeskCore desk(Options(/*min=*/4));
  wire::JoinRequest request;
  *request.mutable_identity() = Identity(0, 1);
  request.set_config_hash("c");
  EXPECT_EQ(desk.Join(request, now_).verdict, Admittance::Verdict::kAccepted);
  desk.OwnWaits({.step = 0}, std::nullopt, now_);
  desk.Tell(Caller(0), DeskCore::Waiting{.standing = {.step = kMaxSteps - 1}, .epoch = 9}, now_);
  desk.Look(now_ + std::chrono::seconds(9));
  EXPECT_EQ(desk.in_force(), 0U);
  desk.Tell(Caller(0), DeskCore::Waiting{.standing = {.step = kMaxSteps}, .epoch = 9}, now_);
  EXPECT_EQ(desk.in_force(), 10U);
}

}  // namespace
}  // namespace taas
