#include "dashboard/logs/log_merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

LogEntry Entry(size_t source, const std::string& order, const std::string& text) {
  return {.source = source, .order = order, .line = {.time = order, .text = text}};
}

std::vector<std::string> All(LogMerge* merge) {
  std::vector<std::string> out;
  while (const auto entry = merge->Next()) out.push_back(entry->line.text);
  return out;
}

TEST(LogMergeTest, NothingComesUntilEachSourceHasSaidWhatIsItsNext) {
  LogMerge merge;
  const size_t a = merge.Add(), b = merge.Add();
  merge.Push(Entry(a, "2", "a2"));
  EXPECT_THAT(All(&merge), IsEmpty());
  merge.Push(Entry(b, "1", "b1"));
  EXPECT_THAT(All(&merge), ElementsAre("b1"));  // Of b may come something before a2.
  merge.Close(b);
  EXPECT_THAT(All(&merge), ElementsAre("a2"));
  EXPECT_FALSE(merge.drained());
  merge.Close(a);
  EXPECT_TRUE(merge.drained());
  EXPECT_EQ(merge.bytes(), 0u);
}

TEST(LogMergeTest, LinesOfOneInstantAndLinesWithoutATimeKeepTheirOrder) {
  LogMerge merge;
  const size_t a = merge.Add(), b = merge.Add();
  for (const char* text : {"a1", "a2", "a3"}) merge.Push(Entry(a, "5", text));
  for (const char* text : {"b1", "b2"}) merge.Push(Entry(b, "5", text));
  merge.Close(a);
  merge.Close(b);
  EXPECT_THAT(All(&merge), ElementsAre("a1", "a2", "a3", "b1", "b2"));
}

TEST(LogMergeTest, WhatHasNoPlaceInTheOrderComesAtOnce) {
  LogMerge merge;
  const size_t a = merge.Add();
  merge.Add();
  merge.Push(Entry(a, "", "it began"));
  EXPECT_THAT(All(&merge), ElementsAre("it began"));
}

TEST(LogMergeTest, ASourceThatIsOpenedAgainIsWaitedForAgain) {
  LogMerge merge;
  const size_t a = merge.Add(), b = merge.Add();
  merge.Close(b);
  merge.Open(b);
  merge.Push(Entry(a, "1", "a1"));
  EXPECT_THAT(All(&merge), IsEmpty());
  merge.Push(Entry(b, "0", "b0"));
  EXPECT_THAT(All(&merge), ElementsAre("b0"));
}

// Against std::stable_sort: by time, then by source, then as pushed.
TEST(LogMergeTest, AnyNumberOfSourcesInAnyPiecesComesOutSorted) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    LogMerge merge;
    std::vector<std::vector<LogEntry>> logs(1 + random.Below(6));
    std::vector<LogEntry> sorted;
    for (size_t source = 0; source < logs.size(); ++source) {
      merge.Add();
      uint64_t time = 100;
      for (uint64_t i = random.Below(40); i > 0; --i) {
        time += random.Below(4);
        logs[source].push_back(Entry(source, std::to_string(1000 + time), std::to_string(i)));
      }
      sorted.insert(sorted.end(), logs[source].begin(), logs[source].end());
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.order < b.order; });
    std::vector<size_t> next(logs.size());
    std::vector<std::string> want, got;
    for (const LogEntry& entry : sorted) want.push_back(entry.order + entry.line.text);
    while (!merge.drained()) {
      const size_t source = random.Below(logs.size());
      if (next[source] < logs[source].size()) {
        merge.Push(logs[source][next[source]++]);
      } else {
        merge.Close(source);
      }
      if (random.Below(3) > 0) continue;
      while (const auto entry = merge.Next()) got.push_back(entry->order + entry->line.text);
    }
    EXPECT_EQ(got, want);
  }
}

std::vector<std::string> Out(LogSorter* sorter, Clock::Time now) {
  std::vector<std::string> out;
  while (const auto entry = sorter->Next(now)) out.push_back(entry->line.text);
  return out;
}

TEST(LogSorterTest, LinesThatArriveWithinTheHoldComeInOrder) {
  const Clock::Time start{};
  LogSorter sorter;
  sorter.Push(Entry(0, "3", "late"), start);
  sorter.Push(Entry(1, "1", "early"), start + 100ms);
  sorter.Push(Entry(1, "4", "next"), start + 200ms);
  EXPECT_THAT(Out(&sorter, start + 200ms), IsEmpty());
  EXPECT_EQ(sorter.due(), start + LogSorter::kHold);
  EXPECT_THAT(Out(&sorter, start + LogSorter::kHold), ElementsAre("early", "late"));
  EXPECT_THAT(Out(&sorter, start + 200ms + LogSorter::kHold), ElementsAre("next"));
  EXPECT_EQ(sorter.due(), std::nullopt);
  EXPECT_EQ(sorter.bytes(), 0u);
}

TEST(LogSorterTest, ALineIsHeldNoLongerHoweverMuchComes) {
  const Clock::Time start{};
  LogSorter sorter;
  SeededRandom random(7);
  Clock::Time now = start;
  std::map<std::string, Clock::Time> arrived;
  for (int i = 0; i < 2'000; ++i) {
    now += std::chrono::milliseconds(random.Below(20));
    const std::string name = std::to_string(i);
    arrived[name] = now;
    sorter.Push(Entry(i % 3, std::to_string(1000 + random.Below(1000)), name), now);
    for (const std::string& text : Out(&sorter, now)) arrived.erase(text);
    for (const auto& [text, at] : arrived) EXPECT_LT(now - at, LogSorter::kHold) << text;
  }
}

}  // namespace
}  // namespace taas::dashboard
