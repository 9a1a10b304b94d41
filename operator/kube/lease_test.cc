#include "operator/kube/lease.h"

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kHeld[] = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
  "metadata":{"name":"taas-operator","namespace":"taas","uid":"u-1","resourceVersion":"41",
    "labels":{"team":"ml"},"managedFields":[{"manager":"x"}]},
  "spec":{"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":3,
    "acquireTime":"2026-11-21T05:00:00.000000Z","renewTime":"2026-11-21T05:54:17.000001Z",
    "strategy":"OldestEmulationVersion"}})";

const LeaseName kName{.ns = "taas", .name = "taas-operator"};

TEST(LeaseTest, AHeldLeaseIsRead) {
  const auto lease = DecodeLease(kHeld);
  ASSERT_THAT(lease, IsOk());
  EXPECT_EQ(lease->uid, "u-1");
  EXPECT_EQ(lease->resource_version, "41");
  EXPECT_EQ(lease->holder, "a");
  EXPECT_EQ(lease->duration, seconds(15));
  EXPECT_EQ(lease->transitions, 3);
}

TEST(LeaseTest, ALeaseWithoutASpecIsNobodys) {
  const auto lease = DecodeLease(R"({"metadata":{"uid":"u","resourceVersion":"1"}})");
  ASSERT_THAT(lease, IsOk());
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, seconds(0));
  EXPECT_EQ(lease->transitions, 0);
}

TEST(LeaseTest, NonsenseInFieldsDoesNoHarm) {
  const auto lease = DecodeLease(R"({"metadata":{"uid":"u","resourceVersion":"1"},
    "spec":{"holderIdentity":7,"leaseDurationSeconds":2147483647,"leaseTransitions":-5}})");
  ASSERT_THAT(lease, IsOk());
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, kLeaseSecondsMax);
  EXPECT_EQ(lease->transitions, 0);
  const auto late = DecodeLease(R"({"metadata":{"uid":"u","resourceVersion":"1"},
    "spec":{"leaseTransitions":2147483647}})");
  EXPECT_EQ(late->transitions, kEpochMax) << "there must be a next one";
}

TEST(LeaseTest, WhatIsNoLeaseIsRefused) {
  EXPECT_THAT(DecodeLease("404 page not found"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodeLease("[]"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodeLease(R"({"kind":"Lease","metadata":{"name":"a"}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("uid")));
}

TEST(LeaseTest, ARenewalKeepsWhatOthersWroteAndTheTimeOfAcquiring) {
  const Lease seen = *DecodeLease(kHeld);
  const Clock::WallTime now = Clock::WallTime(seconds(1'795'240'460) + microseconds(42));
  const json body = json::parse(EncodeLease(
      kName, &seen,
      {.holder = "a", .duration = seconds(15), .transitions = 3, .renewed = now}));
  EXPECT_EQ(body["metadata"]["uid"], "u-1");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "41");
  EXPECT_EQ(body["metadata"]["labels"]["team"], "ml");
  EXPECT_FALSE(body["metadata"].contains("managedFields"));
  EXPECT_EQ(body["spec"]["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(body["spec"]["acquireTime"], "2026-11-21T05:00:00.000000Z");
  EXPECT_EQ(body["spec"]["renewTime"], "2026-11-21T05:54:20.000042Z");
}

TEST(LeaseTest, ANewHolderStandsInAWholeNewObjectOrInTheOldOne) {
  const LeaseClaim claim{.holder = "b",
                         .duration = seconds(20),
                         .transitions = 4,
                         .renewed = Clock::WallTime(seconds(1'795'240'460)),
                         .acquired = true};
  const json made = json::parse(EncodeLease(kName, nullptr, claim));
  EXPECT_EQ(made["metadata"], json::parse(R"({"namespace":"taas","name":"taas-operator"})"));
  EXPECT_EQ(made["spec"], json::parse(R"({"holderIdentity":"b","leaseDurationSeconds":20,
    "leaseTransitions":4,"acquireTime":"2026-11-21T05:54:20.000000Z",
    "renewTime":"2026-11-21T05:54:20.000000Z"})"));
  const Lease seen = *DecodeLease(kHeld);
  const json taken = json::parse(EncodeLease(kName, &seen, claim));
  EXPECT_EQ(taken["spec"]["acquireTime"], "2026-11-21T05:54:20.000000Z");
  EXPECT_EQ(taken["spec"]["leaseTransitions"], 4);
}

}  // namespace
}  // namespace taas
