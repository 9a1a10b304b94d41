#include "localkube/api/log_filter.h"

#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

constexpr char kRecords[] =
    "2026-01-01T00:00:01.5Z stdout F one\n"
    "2026-01-01T00:00:02Z stderr P tw\n"
    "2026-01-01T00:00:02Z stderr F o\n"
    "2026-01-01T00:00:03Z stdout F \n"
    "2026-01-01T00:00:04Z stdout F four\n";

std::string Filtered(LogFilter::Options options) {
  LogFilter filter(options);
  filter.Push(kRecords);
  filter.EndOfBacklog();
  return filter.Take();
}

TEST(LogFilterTest, RecordsBecomeLinesAndPartsAreJoined) {
  EXPECT_EQ(Filtered({}), "one\ntwo\n\nfour\n");
}

TEST(LogFilterTest, TimestampsStandOncePerLine) {
  EXPECT_EQ(Filtered({.timestamps = true}),
            "2026-01-01T00:00:01.5Z one\n2026-01-01T00:00:02Z two\n2026-01-01T00:00:03Z \n"
            "2026-01-01T00:00:04Z four\n");
}

TEST(LogFilterTest, TailCountsLinesOfTheBacklogOnly) {
  LogFilter filter({.tail = 2});
  filter.Push(kRecords);
  EXPECT_EQ(filter.Take(), "");
  filter.EndOfBacklog();
  EXPECT_EQ(filter.Take(), "\nfour\n");
  filter.Push("2026-01-01T00:00:05Z stdout F five\n2026-01-01T00:00:05Z stdout F six\n");
  filter.Push("2026-01-01T00:00:05Z stdout F seven\n");
  EXPECT_EQ(filter.Take(), "five\nsix\nseven\n");
}

TEST(LogFilterTest, TailOfZeroShowsNothingOfTheBacklog) { EXPECT_EQ(Filtered({.tail = 0}), ""); }

TEST(LogFilterTest, SinceDropsOlderRecords) {
  Clock::WallTime since;
  ASSERT_TRUE(ParseRfc3339("2026-01-01T00:00:03Z", &since));
  EXPECT_EQ(Filtered({.since = since}), "\nfour\n");
}

TEST(LogFilterTest, AfterTheByteLimitNothingComes) {
  LogFilter filter({.limit_bytes = 5});
  filter.Push(kRecords);
  EXPECT_EQ(filter.Take(), "one\nt");
  EXPECT_TRUE(filter.full());
  filter.Push(kRecords);
  EXPECT_EQ(filter.Take(), "");
}

TEST(LogFilterTest, ALineThatIsNoRecordIsPassedOn) {
  LogFilter filter({});
  filter.Push("plain words\n");
  EXPECT_EQ(filter.Take(), "plain words\n");
}

}  // namespace
}  // namespace taas::localkube
