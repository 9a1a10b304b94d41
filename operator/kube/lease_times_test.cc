#include "operator/kube/lease_times.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct TimesCase {
  const char* name;
  LeaseTimes times;
  const char* wrong;  // Null: nothing.
};

class LeaseTimesTest : public testing::TestWithParam<TimesCase> {};

TEST_P(LeaseTimesTest, AreCheckedAgainstEachOther) {
  const absl::Status status = CheckLeaseTimes(GetParam().times);
  if (GetParam().wrong == nullptr) {
    EXPECT_THAT(status, IsOk());
  } else {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().wrong)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, LeaseTimesTest,
    testing::Values(
        TimesCase{"Defaults", {}, nullptr},
        TimesCase{"Shortest", {.lease = 3s, .renew = 2s, .retry = 1s}, nullptr},
        TimesCase{"NoRetry", {.retry = 0s}, "--lease-retry-seconds 0"},
        TimesCase{"NoTimeToTryAgain", {.renew = 6s, .retry = 5s}, "--lease-renew-seconds 6"},
        TimesCase{"NoMargin", {.lease = 10s}, "--lease-seconds 10"},
        TimesCase{"TooLong", {.lease = 601s}, "at most 600"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LeaseHealthTest, OnlyALeaderThatShouldHaveEndedLongAgoIsIll) {
  const Clock::Time renewed = Clock::Time(1000s);
  const LeaseState leader{.leads = true, .epoch = 1, .holder = "a", .renewed = renewed};
  EXPECT_THAT(CheckLeaseHealth(leader, {}, renewed + 35s), IsOk());
  EXPECT_THAT(CheckLeaseHealth(leader, {}, renewed + 36s),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("36 s ago")));
  EXPECT_THAT(CheckLeaseHealth({.holder = "a"}, {}, renewed + 3600s), IsOk());
}

}  // namespace
}  // namespace taas
