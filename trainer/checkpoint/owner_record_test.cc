#include "trainer/checkpoint/owner_record.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr Clock::Duration kLease = 30s;
const Clock::WallTime kNow{std::chrono::seconds(1'800'000'000)};

OwnerRecord Record(std::string uid, int64_t attempt, int64_t pod, std::chrono::seconds age) {
  return {{"default/mnist", std::move(uid), attempt, pod, "s1"}, kNow - age, false};
}

TEST(OwnerRecordTest, RecordComesBackFromItsText) {
  OwnerRecord record = Record("u1", 2, 3, 5s);
  record.released = true;
  const auto back = ParseOwnerRecord(EncodeOwnerRecord(record));
  ASSERT_THAT(back, IsOk());
  EXPECT_TRUE(SameProcess(back->owner, record.owner));
  EXPECT_EQ(back->owner.job, "default/mnist");
  EXPECT_EQ(back->renewed, record.renewed);
  EXPECT_TRUE(back->released);
}

TEST(OwnerRecordTest, TextThatIsNoRecordIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"uid\":1}", "null"}) {
    EXPECT_THAT(ParseOwnerRecord(text), StatusIs(absl::StatusCode::kDataLoss)) << text;
  }
}

struct Case {
  const char* name;
  OwnerRecord there;
  absl::StatusCode want;
  const char* text;
};

class MayClaimTest : public ::testing::TestWithParam<Case> {};

// The claimant is attempt 2, pod 2 of job u1.
TEST_P(MayClaimTest, DecidesAsTheTableSays) {
  const CheckpointOwner me{"default/mnist", "u1", 2, 2, "s2"};
  const absl::Status status = MayClaim(GetParam().there, me, kNow, kLease);
  EXPECT_EQ(status.code(), GetParam().want) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().text));
}

OwnerRecord Released(OwnerRecord record) {
  record.released = true;
  return record;
}

INSTANTIATE_TEST_SUITE_P(
    Table, MayClaimTest,
    ::testing::Values(
        Case{"EarlierAttemptOfThisJob", Record("u1", 1, 9, 0s), absl::StatusCode::kOk, ""},
        Case{"LaterAttemptOfThisJob", Record("u1", 3, 1, 900s),
             absl::StatusCode::kFailedPrecondition, "attempt 3"},
        Case{"EarlierPodOfThisAttempt", Record("u1", 2, 1, 0s), absl::StatusCode::kOk, ""},
        Case{"LaterPodOfThisAttempt", Record("u1", 2, 3, 900s),
             absl::StatusCode::kFailedPrecondition, "pod 3"},
        Case{"ThisPodBeforeItsContainerRestarted", Record("u1", 2, 2, 0s), absl::StatusCode::kOk,
             ""},
        Case{"OtherJobThatLives", Record("u2", 1, 1, 29s), absl::StatusCode::kAborted,
             "in use by another job, job default/mnist (uid u2"},
        Case{"OtherJobWhoseClockIsAhead", Record("u2", 1, 1, -10s),
             absl::StatusCode::kAborted, "10 s ago"},
        Case{"OtherJobThatIsDead", Record("u2", 9, 9, 30s), absl::StatusCode::kOk, ""},
        Case{"OtherJobThatReleasedIt", Released(Record("u2", 9, 9, 0s)), absl::StatusCode::kOk,
             ""}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
