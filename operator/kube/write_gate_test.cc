#include "operator/kube/write_gate.h"

#include <optional>

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(WriteGateTest, IsShutUntilItIsOpened) {
  const FakeClock clock;
  WriteGate gate(clock);
  EXPECT_THAT(gate.Check(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("does not hold the lease")));
  EXPECT_THAT(gate.Enter(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(gate.under_way(), 0);
}

TEST(WriteGateTest, ShutsByItselfAtItsEndAndOpensAgainWithTheNextRenewal) {
  FakeClock clock;
  WriteGate gate(clock);
  const Clock::Time end = clock.Now() + seconds(10);
  gate.OpenUntil(end);
  clock.AdvanceTo(end - nanoseconds(1));
  EXPECT_THAT(gate.Check(), IsOk());
  clock.AdvanceTo(end);
  EXPECT_THAT(gate.Check(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("not renewed in time")));
  gate.OpenUntil(end + seconds(1));
  EXPECT_THAT(gate.Check(), IsOk());
}

TEST(WriteGateTest, AnEarlierRenewalThatIsToldLaterTakesNothingAway) {
  FakeClock clock;
  WriteGate gate(clock);
  gate.OpenUntil(clock.Now() + seconds(10));
  gate.OpenUntil(clock.Now() + seconds(8));
  EXPECT_EQ(gate.end(), clock.Now() + seconds(10));
}

TEST(WriteGateTest, OnceGivenUpItStaysShut) {
  FakeClock clock;
  WriteGate gate(clock);
  gate.OpenUntil(clock.Now() + seconds(10));
  gate.Shut();
  gate.OpenUntil(clock.Now() + seconds(20));
  EXPECT_THAT(gate.Check(), StatusIs(absl::StatusCode::kAborted, HasSubstr("given up")));
}

TEST(WriteGateTest, AWriteIsUnderWayAsLongAsItsPassExists) {
  FakeClock clock;
  WriteGate gate(clock);
  gate.OpenUntil(clock.Now() + seconds(10));
  auto first = gate.Enter();
  ASSERT_THAT(first, IsOk());
  std::optional<WriteGate::Pass> kept = *std::move(first);
  EXPECT_EQ(gate.under_way(), 1);
  {
    const auto second = gate.Enter();
    EXPECT_EQ(gate.under_way(), 2);
  }
  EXPECT_EQ(gate.under_way(), 1);
  gate.Shut();
  EXPECT_EQ(gate.under_way(), 1) << "what has left does not come back";
  kept.reset();
  EXPECT_EQ(gate.under_way(), 0);
}

}  // namespace
}  // namespace taas
