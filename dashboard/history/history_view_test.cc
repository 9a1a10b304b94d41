#include "dashboard/history/history_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Clock::WallTime kNow{seconds(1'767'225'600)};
const std::vector<std::shared_ptr<const WatchedPod>> kNoPods;

WatchedJob SomeJob(JobState state) {
  WatchedJob job;
  job.meta = {.ns = "ml", .name = "Mnist", .uid = "u1"};
  job.owner = "ada";
  job.roles = {{.role = Role::kPs, .name = "ps", .key = "ps", .desired = 1},
               {.role = Role::kWorker, .name = "worker", .key = "worker", .desired = 3, .gpus = 2}};
  job.status.state = state;
  job.status.message = "All steps are done";
  job.status.restarts[RestartCause::kKilled] = 2;
  job.status.conditions = {{.type = "Complete", .status = true}};
  job.status.history = {{.role = Role::kWorker, .index = 1, .message = "killed"}};
  return job;
}

TEST(EntryOfTest, AJobThatGoesOnIsNotOver) {
  const WatchedJob job = SomeJob(JobState::kRunning);
  const HistoryJob entry = EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {});
  EXPECT_EQ(entry.uid, "u1");
  EXPECT_EQ(entry.ns, "ml");
  EXPECT_EQ(entry.over, std::nullopt);
  EXPECT_FALSE(entry.settled);
}

TEST(EntryOfTest, AnEndedJobIsOverSinceItEnded) {
  WatchedJob job = SomeJob(JobState::kSucceeded);
  job.status.completion_time = kNow - seconds(90);
  const HistoryJob entry =
      EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {.deleted = kNow, .settled = true});
  EXPECT_EQ(entry.over, kNow - seconds(90));
  EXPECT_EQ(entry.deleted, kNow);
  EXPECT_TRUE(entry.settled);
}

// Who may write a status could otherwise keep a job at the head of the list for ever.
TEST(EntryOfTest, AnEndInTheFutureIsNow) {
  WatchedJob job = SomeJob(JobState::kFailed);
  job.status.completion_time = kNow + seconds(1'000'000'000);
  EXPECT_EQ(EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {}).over, kNow);
  job.status.completion_time.reset();
  EXPECT_EQ(EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {}).over, kNow);
}

TEST(EntryOfTest, AJobThatWasDeletedWhileItRanIsOverSinceThen) {
  WatchedJob job = SomeJob(JobState::kRunning);
  job.meta.deletion_time = kNow;
  const HistoryJob entry =
      EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {.deleted = kNow});
  EXPECT_EQ(entry.over, kNow);
  const json row = json::parse(entry.row);
  EXPECT_EQ(row["state"], "Running");
  EXPECT_FALSE(row.contains("deleting")) << "it is deleted";
}

TEST(EntryOfTest, TheRowSaysWhatTheJobAskedForAndTheDetailHowItWent) {
  const WatchedJob job = SomeJob(JobState::kSucceeded);
  const HistoryJob entry = EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {});
  EXPECT_EQ(json::parse(entry.row)["gpus"], 6);
  EXPECT_THAT(entry.search, HasSubstr("ml/mnist\nada\n\nall steps"));
  const json detail = json::parse(entry.detail);
  EXPECT_EQ(detail["conditions"][0]["type"], "Complete");
  EXPECT_EQ(detail["restartsByCause"]["killed"], 2);
  EXPECT_EQ(detail["restartHistory"][0]["message"], "killed");
  EXPECT_EQ(detail["attempt"], 1);
  EXPECT_FALSE(detail.contains("access")) << "rights are the caller's of today";
}

TEST(EntryOfTest, OfManyEventsTheNewestAreKeptEachUnderItsOwnName) {
  const WatchedJob job = SomeJob(JobState::kRunning);
  std::vector<std::shared_ptr<const WatchedEvent>> events;
  for (int i = 0; i < 250; ++i) {
    auto event = std::make_shared<WatchedEvent>();
    event->meta.name = "e" + std::to_string(i);
    event->message = "text " + std::to_string(i);
    event->at = kNow + seconds(i);
    events.push_back(event);
  }
  const HistoryJob entry = EntryOf({.job = job, .pods = kNoPods, .now = kNow}, events, {});
  ASSERT_THAT(entry.events, SizeIs(kHistoryEventsMax));
  EXPECT_EQ(entry.events.front().id, "e50");
  EXPECT_EQ(json::parse(entry.events.front().json)["message"], "text 50");
  EXPECT_EQ(entry.events.back().at, kNow + seconds(249));
}

TEST(EntryOfTest, TextsThatAreNoUtf8DoNoHarm) {
  WatchedJob job = SomeJob(JobState::kFailed);
  job.status.message = std::string("\xff\xfe \"\\ \0 end", 12);
  job.owner = std::string(2'000, 'A') + "\xc3";
  const HistoryJob entry = EntryOf({.job = job, .pods = kNoPods, .now = kNow}, {}, {});
  EXPECT_TRUE(json::accept(entry.row));
  EXPECT_LE(entry.search.size(), kSearchBytes);
}

TEST(CutTailTest, TheLastLinesStayUpToTheirNumber) {
  HistoryTail tail;
  for (int i = 0; i < 500; ++i) tail.lines.push_back({"t", std::to_string(i)});
  CutTail(&tail);
  ASSERT_THAT(tail.lines, SizeIs(kLogTailLines));
  EXPECT_EQ(tail.lines.front().l, "300");
  EXPECT_TRUE(tail.truncated);
}

TEST(CutTailTest, AShortLogStaysAsItIs) {
  HistoryTail tail{.lines = {{"t", "one"}, {"t", "two"}}};
  CutTail(&tail);
  EXPECT_THAT(tail.lines, SizeIs(2));
  EXPECT_FALSE(tail.truncated);
}

TEST(CutTailTest, LongLinesTakeNoMoreThanTheirRoom) {
  HistoryTail tail;
  for (int i = 0; i < 100; ++i) tail.lines.push_back({"t", std::string(5'000, 'x')});
  tail.lines.push_back({"t", std::string(kLogLineBytes - 1, 'y') + "\xc3\xa4" + "zz"});
  CutTail(&tail);
  size_t bytes = 0;
  for (const HistoryLine& line : tail.lines) bytes += line.t.size() + line.l.size();
  EXPECT_LE(bytes, kLogTailBytes);
  EXPECT_GT(bytes, kLogTailBytes / 2);
  EXPECT_EQ(tail.lines.back().l, std::string(kLogLineBytes - 1, 'y')) << "cut inside a character";
  EXPECT_TRUE(tail.truncated);
}

}  // namespace
}  // namespace taas::dashboard
