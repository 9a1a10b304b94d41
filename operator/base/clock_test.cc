#include "operator/base/clock.h"

#include <chrono>

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"

namespace taas {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(Rfc3339Test, SecondsAndMicrosecondsRoundTrip) {
  const Clock::WallTime time = Clock::WallTime(seconds(1'795'240'457) + microseconds(42));
  EXPECT_EQ(FormatRfc3339(time), "2026-11-21T05:54:17Z");
  EXPECT_EQ(FormatRfc3339Micro(time), "2026-11-21T05:54:17.000042Z");
  Clock::WallTime parsed;
  ASSERT_TRUE(ParseRfc3339("2026-11-21T05:54:17.000042Z", &parsed));
  EXPECT_EQ(parsed, time);
}

TEST(Rfc3339Test, OffsetsAreSubtracted) {
  Clock::WallTime east, utc;
  ASSERT_TRUE(ParseRfc3339("2026-11-21T07:54:17+02:00", &east));
  ASSERT_TRUE(ParseRfc3339("2026-11-21T05:54:17Z", &utc));
  EXPECT_EQ(east, utc);
}

// Symptom: a time of the year 9999 was read as one of the 18th century.
TEST(Rfc3339Test, TimesThatAClockCannotHoldAreTheFarthestThatItCan) {
  Clock::WallTime begin, end;
  ASSERT_TRUE(ParseRfc3339("0001-01-01T00:00:00Z", &begin));
  ASSERT_TRUE(ParseRfc3339("9999-12-31T23:59:59.999999999-14:00", &end));
  EXPECT_EQ(FormatRfc3339(begin).substr(0, 4), "1764");
  EXPECT_EQ(FormatRfc3339(end).substr(0, 4), "2175");
}

TEST(Rfc3339Test, AnythingElseIsRefused) {
  Clock::WallTime time;
  for (const char* text : {"", "2026-11-21", "2026-13-21T05:54:17Z", "2026-11-21T05:54:17",
                           "2026-11-21T05:54:17.Z", "2026-11-21T05:54:17Zx", "yesterday"}) {
    EXPECT_FALSE(ParseRfc3339(text, &time)) << text;
  }
}

TEST(RealClockTest, MonotonicTimeMovesForwardAndSleepReachesItsEnd) {
  const RealClock clock;
  const Clock::Time end = clock.Now() + microseconds(200);
  clock.SleepUntil(end);
  EXPECT_GE(clock.Now(), end);
}

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock;
  const Clock::Time start = clock.Now();
  const Clock::WallTime wall = clock.WallNow();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(seconds(5));
  EXPECT_EQ(clock.Now() - start, seconds(5));
  EXPECT_EQ(clock.WallNow() - wall, seconds(5));
}

}  // namespace
}  // namespace taas
