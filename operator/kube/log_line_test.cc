#include "cli/log_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

TEST(LogLineTest, TimesOfAnyLengthSortAsText) {
  EXPECT_EQ(ParseLogLine("2026-11-21T05:54:17.25Z step 10").time, "2026-11-21T05:54:17.250000000");
  EXPECT_EQ(ParseLogLine("2026-11-21T05:54:17Z x").time, "2026-11-21T05:54:17.000000000");
  EXPECT_EQ(ParseLogLine("2026-11-21T05:54:17.25Z step 10").text, "step 10");
  EXPECT_EQ(ParseLogLine("2026-11-21T05:54:17.25Z").text, "");
  EXPECT_LT(ParseLogLine("2026-11-21T05:54:17.1Z a").time,
            ParseLogLine("2026-11-21T05:54:17.12Z a").time);
}

TEST(LogLineTest, ALineWithoutATimeIsAllText) {
  for (const char* text : {"", "hello", "a b", "2026-11-21 x", "2026-11-21T05:54:17 no zone"}) {
    EXPECT_EQ(ParseLogLine(text).text, text);
    EXPECT_EQ(ParseLogLine(text).time, "");
  }
}

TEST(LogLineTest, LinesOfAllReplicasAreMergedByTimeAndEachKeepsItsOrder) {
  std::vector<std::string> out;
  for (const MergedLine& line :
       MergeLogs({{"ps-0", "2026-11-21T05:54:17.3Z p1\n2026-11-21T05:54:17.1Z p2\nno time\n"},
                  {"worker-0", "2026-11-21T05:54:17.2Z w1\n2026-11-21T05:54:18Z w2"}})) {
    out.push_back(line.replica + " " + line.line.text);
  }
  EXPECT_THAT(out, ElementsAre("worker-0 w1", "ps-0 p1", "ps-0 p2", "ps-0 no time", "worker-0 w2"));
}

TEST(SeenLinesTest, ALogThatIsReadAgainPassesOnlyWhatIsNew) {
  SeenLines seen;
  const LogLine a = ParseLogLine("2026-11-21T05:54:17.1Z a");
  const LogLine b = ParseLogLine("2026-11-21T05:54:17.2Z b");
  const LogLine twin = ParseLogLine("2026-11-21T05:54:17.2Z twin");
  EXPECT_TRUE(seen.IsNew(a));
  EXPECT_TRUE(seen.IsNew(b));
  EXPECT_EQ(seen.SinceTime(), "2026-11-21T05:54:17Z");
  seen.Restart();
  EXPECT_FALSE(seen.IsNew(a));
  EXPECT_FALSE(seen.IsNew(b));
  EXPECT_TRUE(seen.IsNew(twin));  // Same instant, but it had not come before.
  seen.Restart();
  EXPECT_FALSE(seen.IsNew(b));
  EXPECT_FALSE(seen.IsNew(twin));
}

}  // namespace
}  // namespace taas
