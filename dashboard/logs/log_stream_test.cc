#include "dashboard/logs/log_stream.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "dashboard/logs/fake_logs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Time(int64_t millis) {
  const Clock::WallTime start{std::chrono::seconds(1'795'240'000)};
  return FormatRfc3339Micro(start + std::chrono::milliseconds(millis));
}

class LogStreamTest : public testing::Test {
 protected:
  LogPod& AddPod(const std::string& replica, LogPod::State state = LogPod::State::kRunning) {
    pods_.pods.push_back({.uid = "u-" + replica, .ns = "ns", .name = replica, .replica = replica,
                          .state = state});
    return pods_.pods.back();
  }
  void Write(const std::string& replica, int64_t millis, const std::string& text) {
    logs_.Write(replica, Time(millis) + " " + text);
  }
  LogStream& Open(LogStream::Options options) {
    stream_ = std::make_unique<LogStream>(
        LogStream::Context{
            .executor = executor_,
            .callers = logs_,
            .pods =
                [this] {
                  if (throws_) throw std::runtime_error("out of range");
                  return pods_;
                }},
        std::move(options));
    stream_->Open(sink_);
    Run();
    return *stream_;
  }
  void Run(Clock::Duration time = 1s) { executor_.RunUntil(executor_.clock().Now() + time); }
  // What came since the last call: "worker-0 text", "worker-0 begin", …
  std::vector<std::string> Out() {
    std::vector<std::string> out;
    for (const json& record : Records()) {
      std::string text = record["r"];
      text += " " + (record.contains("l") ? record["l"] : record["note"]).get<std::string>();
      if (record.contains("message")) text += ": " + record["message"].get<std::string>();
      out.push_back(text);
    }
    return out;
  }
  std::vector<json> Records() {
    std::vector<json> records;
    while (true) {
      const size_t end = sink_->text.find('\n', read_);
      if (end == std::string::npos) return records;
      const std::string line = sink_->text.substr(read_, end - read_);
      read_ = end + 1;
      if (!line.empty()) records.push_back(json::parse(line));
    }
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> out;
    for (const json& record : Records()) {
      if (record.contains("l")) out.push_back(record["l"]);
    }
    return out;
  }

  SimExecutor executor_{{.in_order = true}};
  FakeLogs logs_{executor_};
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  LogPods pods_;
  bool throws_ = false;
  size_t read_ = 0;
  std::unique_ptr<LogStream> stream_;
};

TEST_F(LogStreamTest, LinesOfAllReplicasComeInOrderOfTimeAndThenItEnds) {
  AddPod("ps-0");
  AddPod("worker-0", LogPod::State::kEnded).message = "exit code 1";
  Write("ps-0", 100, "one");
  Write("ps-0", 400, "four");
  Write("worker-0", 200, "two");
  Write("worker-0", 300, "three");
  Open({});
  EXPECT_THAT(Out(), ElementsAre("ps-0 begin", "worker-0 begin", "ps-0 one", "worker-0 two",
                                 "worker-0 three", "worker-0 end: exit code 1", "ps-0 four"));
  EXPECT_TRUE(sink_->ended);
}

TEST_F(LogStreamTest, OnlyTheReplicasThatWereChosenAreRead) {
  for (const char* replica : {"ps-0", "worker-0", "worker-1"}) {
    AddPod(replica);
    Write(replica, 100, "x");
  }
  Open({.replicas = {"worker-1", "worker-7"}, .tail = 10});
  EXPECT_THAT(Out(), ElementsAre("worker-7 error: read the log of worker-7: it has no pod now",
                                 "worker-1 begin", "worker-1 x"));
  ASSERT_EQ(logs_.requests().size(), 1u);
  EXPECT_THAT(logs_.requests()[0].path, HasSubstr("tailLines=10"));
}

TEST_F(LogStreamTest, ARoleIsAllItsReplicas) {
  for (const char* replica : {"ps-0", "worker-0", "worker-1"}) {
    AddPod(replica);
    Write(replica, 100, replica);
  }
  Open({.replicas = {"worker"}});
  EXPECT_THAT(Lines(), ElementsAre("worker-0", "worker-1"));
}

TEST_F(LogStreamTest, WhatHasNotStartedIsANoteForWhoDoesNotWait) {
  AddPod("worker-0", LogPod::State::kWaiting).message = "ImagePullBackOff";
  Open({});
  EXPECT_THAT(Out(), ElementsAre("worker-0 error: read the log of pod ns/worker-0: it has not "
                                 "started: ImagePullBackOff"));
  EXPECT_TRUE(sink_->ended);
}

TEST_F(LogStreamTest, AJobWithoutPodsSaysSo) {
  Open({});
  EXPECT_THAT(Out(), ElementsAre(" error: read the logs: the job has no pods now"));
  EXPECT_TRUE(sink_->ended);
}

// A clock that was set back must not turn the lines of one replica around.
TEST_F(LogStreamTest, EachReplicaKeepsItsOwnOrder) {
  AddPod("ps-0");
  AddPod("worker-0");
  Write("worker-0", 5'000, "w1");
  Write("worker-0", 1'000, "w2, an hour back");
  logs_.Write("worker-0", "w3, without a time");
  Write("worker-0", 6'000, "w4");
  Write("ps-0", 4'000, "p1");
  Write("ps-0", 5'500, "p2");
  Open({});
  EXPECT_THAT(Lines(), ElementsAre("p1", "w1", "w2, an hour back", "w3, without a time", "p2",
                                   "w4"));
}

TEST_F(LogStreamTest, ARefusedReplicaIsANoteAndTheOthersCome) {
  AddPod("ps-0");
  AddPod("worker-0");
  Write("ps-0", 100, "x");
  logs_.Refuse("worker-0", 403, "may not");
  Open({.follow = true});
  EXPECT_THAT(Out(), AllOf(Contains("ps-0 x"), Contains(AllOf(HasSubstr("worker-0 error"),
                                                              HasSubstr("403 R: may not")))));
  EXPECT_FALSE(sink_->ended);
  logs_.Refuse("ps-0", 401);
  logs_.CutFollowing("ps-0", absl::UnavailableError("lost"));
  Run(5s);
  EXPECT_TRUE(sink_->ended);  // Whoever is not known any more has to log in again.
}

TEST_F(LogStreamTest, ManyReplicasAreReadAFewAtATime) {
  for (int i = 0; i < 40; ++i) {
    const std::string replica = "worker-" + std::to_string(i);
    AddPod(replica);
    Write(replica, 1'000 - i, std::to_string(i));
  }
  Open({});
  EXPECT_LE(logs_.windows_at_once_max(), static_cast<int>(LogStream::kWindowsAtOnce));
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 40u);
  EXPECT_EQ(lines.front(), "39");
}

TEST_F(LogStreamTest, TooManyPodsAreANote) {
  for (size_t i = 0; i < LogStream::kPodsMax + 5; ++i) AddPod("worker-" + std::to_string(i));
  Open({});
  EXPECT_THAT(Out()[0], HasSubstr("no more than 256 pods"));
  EXPECT_EQ(logs_.windows(), static_cast<int>(LogStream::kPodsMax));
}

TEST_F(LogStreamTest, WhatIsWrittenLaterComesInOrderAndASilentReplicaHoldsNobodyUp) {
  for (const char* replica : {"ps-0", "worker-0", "worker-1"}) AddPod(replica);
  Write("worker-0", 100, "before");
  Open({.tail = 1'000, .follow = true});
  EXPECT_THAT(Lines(), ElementsAre("before"));
  Write("worker-1", 2'002, "second");
  Run(100ms);
  Write("worker-0", 2'001, "first");
  Run(100ms);
  EXPECT_THAT(Lines(), IsEmpty());
  Run(100ms);
  EXPECT_THAT(Lines(), ElementsAre("first", "second"));
  EXPECT_FALSE(sink_->ended);
}

TEST_F(LogStreamTest, ALostConnectionLosesAndRepeatsNoLine) {
  AddPod("worker-0");
  Write("worker-0", 100, "a");
  Write("worker-0", 100, "twin");
  Open({.follow = true});
  Write("worker-0", 150, "b");
  Run();
  logs_.CutFollowing("worker-0", absl::UnavailableError("lost"));
  Run(100ms);
  Write("worker-0", 150, "c");
  Run(3s);
  Write("worker-0", 160, "d");
  Run();
  EXPECT_THAT(Out(), ElementsAre("worker-0 begin", "worker-0 a", "worker-0 twin", " live",
                                 "worker-0 b",
                                 HasSubstr("worker-0 error: read the log of pod ns/worker-0: lost"),
                                 "worker-0 begin", "worker-0 c", "worker-0 d"));
}

TEST_F(LogStreamTest, NewPodsJoinAndEndedOnesSaySo) {
  AddPod("worker-0");
  LogPod& waiting = AddPod("worker-1", LogPod::State::kWaiting);
  Write("worker-0", 100, "a");
  LogStream& stream = Open({.tail = 1, .follow = true});
  EXPECT_EQ(logs_.following("worker-1"), 0);
  waiting.state = LogPod::State::kRunning;
  for (const char* text : {"b", "c"}) Write("worker-1", 200, text);
  pods_.pods[0].state = LogPod::State::kEnded;
  pods_.pods[0].message = "exit code 137 (OOMKilled)";
  logs_.EndContainer("worker-0");
  stream.OnChange();
  Run(5s);
  // Of a pod that is new all is new, whatever the tail.
  EXPECT_THAT(Out(), ElementsAre("worker-0 begin", "worker-0 a", " live", "worker-1 begin",
                                 "worker-1 b", "worker-1 c",
                                 "worker-0 end: exit code 137 (OOMKilled)"));
  pods_.pods.clear();
  pods_.over = true;
  logs_.Refuse("worker-1", 404);
  stream.OnChange();
  logs_.EndContainer("worker-1");
  Run(5s);
  EXPECT_THAT(Out(), ElementsAre("worker-1 end: the pod was deleted"));
  EXPECT_TRUE(sink_->ended);
}

TEST_F(LogStreamTest, WhoFollowsAJobThatHasEndedGetsItsLogsAndTheEnd) {
  AddPod("worker-0", LogPod::State::kEnded);
  pods_.over = true;
  Write("worker-0", 100, "a");
  Open({.follow = true});
  EXPECT_THAT(Lines(), ElementsAre("a"));
  EXPECT_TRUE(sink_->ended);
}

// Every line of a log of 40 MB, in memory that does not depend on it.
TEST_F(LogStreamTest, AClientThatReadsSlowlyGetsEverythingAndLittleIsKeptForIt) {
  logs_.chunk_bytes = 64 << 10;
  const int lines = 100'000;
  for (int i = 0; i < lines; ++i) {
    const std::string replica = i % 3 == 0 ? "ps-0" : "worker-0";
    Write(replica, i / 10, std::to_string(i) + std::string(400, '.'));
  }
  AddPod("ps-0");
  AddPod("worker-0");
  sink_->slow = true;
  LogStream& stream = Open({});
  const int windows_before = logs_.windows();
  Run(60s);
  EXPECT_EQ(logs_.windows(), windows_before);  // Nobody reads, so nobody asks.
  size_t kept_max = 0;
  for (int i = 0; i < 5'000 && !sink_->ended; ++i) {
    sink_->Take(100'000);
    Run(LogStream::kDrainCheck);
    kept_max = std::max(kept_max, stream.bytes());
  }
  EXPECT_TRUE(sink_->ended);
  EXPECT_LE(sink_->unsent_max, LogStream::kUnsentMax + 2 * LogStream::kChunkBytes);
  // Two windows of 4 MB, one and a half times at most, and the strings around their lines.
  EXPECT_LE(kept_max, 24u << 20);
  const auto got = Lines();
  ASSERT_EQ(got.size(), static_cast<size_t>(lines));
}

TEST_F(LogStreamTest, AClientThatCannotKeepUpWhileFollowingLosesNothing) {
  AddPod("worker-0");
  LogStream& stream = Open({.follow = true});
  EXPECT_EQ(logs_.following("worker-0"), 1);
  sink_->slow = true;
  const int lines = 20'000;
  size_t kept_max = 0;
  for (int i = 0; i < lines; ++i) {
    Write("worker-0", i, std::to_string(i) + std::string(400, '.'));
    if (i % 100 == 0) Run(1ms);
    kept_max = std::max(kept_max, stream.bytes());
  }
  Run();
  EXPECT_EQ(logs_.following("worker-0"), 0);
  EXPECT_LE(sink_->unsent_max, LogStream::kUnsentMax + 2 * LogStream::kChunkBytes);
  EXPECT_LE(kept_max, 12u << 20);
  for (int i = 0; i < 1'000; ++i) {
    sink_->Take(100'000);
    Run(LogStream::kDrainCheck);
  }
  EXPECT_EQ(logs_.following("worker-0"), 1);  // It has caught up.
  const auto got = Lines();
  ASSERT_EQ(got.size(), static_cast<size_t>(lines));
  for (int i = 0; i < lines; ++i) ASSERT_EQ(got[i].rfind(std::to_string(i) + ".", 0), 0u) << i;
}

// Symptom: what threw in a callback of a stream of logs ended the dashboard for everybody.
TEST_F(LogStreamTest, WhatThrowsEndsTheStreamAndSaysSo) {
  AddPod("worker-0");
  Write("worker-0", 100, "one");
  Open({.follow = true});
  throws_ = true;
  stream_->OnChange();
  Run();
  EXPECT_THAT(Out(), Contains(HasSubstr("the dashboard could not; its log says why")));
  EXPECT_TRUE(sink_->ended);
  EXPECT_EQ(logs_.following("worker-0"), 0);
}

class ThrowingSink : public FakeSink {
 public:
  bool Write(SharedText) override { throw std::bad_alloc(); }
};

TEST_F(LogStreamTest, WhereNothingCanBeSaidAnyMoreItEndsAllTheSame) {
  AddPod("worker-0");
  Write("worker-0", 100, "one");
  sink_ = std::make_shared<ThrowingSink>();
  Open({.follow = true});
  EXPECT_TRUE(sink_->ended);
}

TEST_F(LogStreamTest, WhenTheClientGoesEverythingStops) {
  AddPod("worker-0");
  Open({.follow = true});
  sink_->gone = true;
  Write("worker-0", 100, "a");
  Run();
  EXPECT_EQ(logs_.following("worker-0"), 0);
}

TEST_F(LogStreamTest, ASilentStreamSaysThatItIsThere) {
  AddPod("worker-0");
  Open({.follow = true});
  const size_t before = sink_->text.size();
  Run(3 * LogStream::kHeartbeat);
  EXPECT_EQ(sink_->text.substr(before), "\n\n");
}

TEST_F(LogStreamTest, ADownloadIsPlainText) {
  AddPod("worker-0");
  Write("worker-0", 100, "a \"b\"");
  Open({.plain = true});
  EXPECT_EQ(sink_->text, "# worker-0 begin\n2026-11-21T05:46:40.1Z worker-0 a \"b\"\n");
}

// Bursts within a second, instants that lines share, windows and chunks of any size, a client of
// any speed: against one sorted list.
TEST_F(LogStreamTest, AnyLogsInAnyWindowsAreTheSortedListOfTheirLines) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    SimExecutor executor({.seed = seed, .in_order = true});
    FakeLogs logs(executor);
    logs.chunk_bytes = 1 + random.Below(5'000);
    LogPods pods;
    struct Wanted {
      std::string order;
      size_t source;
      std::string text;
    };
    std::vector<Wanted> wanted;
    const size_t replicas = 1 + random.Below(5);
    for (size_t r = 0; r < replicas; ++r) {
      const std::string name = "worker-" + std::to_string(r);
      pods.pods.push_back({.uid = name, .ns = "ns", .name = name, .replica = name,
                           .state = LogPod::State::kRunning});
      int64_t at = static_cast<int64_t>(random.Below(3'000)) + 10'000;
      std::string order;
      const uint64_t lines = random.Below(1'500);
      for (uint64_t i = 0; i < lines; ++i) {
        at += random.Below(10) == 0 ? random.Below(900) : random.Below(2);
        const std::string text =
            name + ":" + std::to_string(i) + std::string(random.Below(300), 'x');
        logs.Write(name, Time(at) + " " + text);
        order = std::max(order, Time(at));
        wanted.push_back({order, r, text});
      }
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& a, const auto& b) { return a.order < b.order; });
    auto sink = std::make_shared<FakeSink>();
    sink->slow = true;
    LogStream stream({.executor = executor, .callers = logs, .pods = [&] { return pods; }},
                     {.window_bytes = 2'000 + random.Below(20'000)});
    stream.Open(sink);
    for (int i = 0; i < 100'000 && !sink->ended; ++i) {
      executor.RunUntil(executor.clock().Now() + 20ms);
      sink->Take(random.Below(200'000));
    }
    ASSERT_TRUE(sink->ended);
    std::vector<std::string> got;
    size_t read = 0;
    for (size_t end; (end = sink->text.find('\n', read)) != std::string::npos; read = end + 1) {
      if (end == read) continue;
      const json record = json::parse(sink->text.substr(read, end - read));
      if (record.contains("l")) got.push_back(record["l"]);
    }
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i].text) << i;
  }
}

}  // namespace
}  // namespace taas::dashboard
