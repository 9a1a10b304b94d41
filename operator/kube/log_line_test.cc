#include "operator/kube/log_line.h"

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

// Logs of nodes in Shanghai were taken for lines without a time.
TEST(LogLineTest, TimesOfAnyZoneBecomeUtc) {
  const LogLine line = ParseLogLine("2026-11-21T07:54:17.250000000+08:00 step 10");
  EXPECT_EQ(line.time, "2026-11-20T23:54:17.250000000");
  EXPECT_EQ(line.text, "step 10");
  EXPECT_EQ(ParseLogLine("2026-11-21T05:54:17-03:30 x").time, "2026-11-21T09:24:17.000000000");
}

TEST(LogLineTest, ALineWithoutATimeIsAllText) {
  for (const char* text : {"", "hello", "a b", "2026-11-21T05:54:17+x y", "2026-11-21 x",
                           "2026-11-21T05:54:17 no zone"}) {
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

std::vector<std::string> NewOf(SeenLines* seen, const std::vector<std::string>& log) {
  std::vector<std::string> out;
  for (const std::string& text : log) {
    const LogLine line = ParseLogLine("2026-11-21T05:54:" + text);
    if (seen->IsNew(line)) out.push_back(line.text);
  }
  return out;
}

// Of what a tail has left out nothing may come when the same second is read again.
TEST(SeenLinesTest, EarlierLinesOfTheSecondThatATailBeganInAreNotNew) {
  SeenLines seen;
  EXPECT_THAT(NewOf(&seen, {"17.3Z c"}), ElementsAre("c"));
  seen.Restart();
  EXPECT_THAT(NewOf(&seen, {"17.1Z a", "17.2Z b", "17.3Z c", "17.4Z d"}), ElementsAre("d"));
}

// Lines were lost until the clock was where it had been.
TEST(SeenLinesTest, LinesOfAClockThatWasSetBackAreNew) {
  SeenLines seen;
  EXPECT_THAT(NewOf(&seen, {"17.1Z a", "18.1Z b", "12.1Z c", "12.2Z d"}),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(seen.SinceTime(), "2026-11-21T05:54:12Z");
  seen.Restart();
  EXPECT_THAT(NewOf(&seen, {"17.1Z a", "18.1Z b", "12.1Z c", "12.2Z d", "13.1Z e", "18.1Z f"}),
              ElementsAre("e", "f"));
}

// The part of the file that had been read was rotated away: counting alone would skip what is new.
TEST(SeenLinesTest, NewLinesAreNewAlthoughThoseBeforeAreGone) {
  SeenLines seen;
  NewOf(&seen, {"17.1Z a", "17.2Z b", "17.3Z c"});
  seen.Restart();
  EXPECT_THAT(NewOf(&seen, {"17.4Z d", "17.5Z e"}), ElementsAre("d", "e"));
}

}  // namespace
}  // namespace taas
