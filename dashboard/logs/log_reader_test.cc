#include "dashboard/logs/log_reader.h"

#include <new>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using State = LogReader::State;

constexpr char kSecond[] = "2026-11-21T05:54:";

std::string Line(const std::string& second, const std::string& text) {
  return kSecond + second + "Z " + text + "\n";
}

class LogReaderTest : public testing::Test {
 protected:
  LogReader& Make(LogReader::Options options, LogPod::State state = LogPod::State::kRunning) {
    options.token = "hers";
    if (options.window_bytes == LogReader::Options().window_bytes) options.window_bytes = 4'000;
    reader_ = std::make_unique<LogReader>(
        transport_, executor_,
        LogPod{.uid = "u", .ns = "ns", .name = "p", .replica = "worker-0", .container = "trainer",
               .state = state, .message = state == LogPod::State::kEnded ? "exit code 0" : ""},
        std::move(options),
        LogReader::Calls{.entry =
                             [this](const LogEntry& entry) {
                               if (entry.line.text == "throw") throw std::bad_alloc();
                               static const char* kNotes[] = {"", "begin ", "end ", "error "};
                               out_.push_back(kNotes[static_cast<int>(entry.note)] +
                                              entry.line.text);
                             },
                         .changed = [this] { ++changes_; },
                         .failed = [this] { ++failures_; }});
    return *reader_;
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  // Answers the latest request.
  void Answer(const std::string& body, int code = 200) {
    transport_.stream().Open(code);
    transport_.stream().Send(body);
    transport_.stream().End();
    Run();
  }
  const std::string& path() { return transport_.stream().request.path; }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  std::vector<std::string> out_;
  int changes_ = 0;
  int failures_ = 0;
  std::unique_ptr<LogReader> reader_;
};

TEST_F(LogReaderTest, ALogThatFitsIsOneRequestWithTheCallersToken) {
  Make({}).Fetch();
  EXPECT_EQ(transport_.stream().request.bearer_token, "hers");
  EXPECT_THAT(path(), AllOf(HasSubstr("/api/v1/namespaces/ns/pods/p/log?container=trainer"),
                            HasSubstr("timestamps=true"), HasSubstr("limitBytes=4000"),
                            Not(HasSubstr("follow")), Not(HasSubstr("tailLines")),
                            Not(HasSubstr("sinceTime")), Not(HasSubstr("previous"))));
  Answer(Line("17.1", "a") + Line("17.2", "b") + kSecond + "17.3Z unfinished");
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "b", "unfinished"));
  EXPECT_EQ(reader_->state(), State::kDone);
  EXPECT_EQ(changes_, 1);
}

// Symptom: what threw while a log was read ended the dashboard for everybody.
TEST_F(LogReaderTest, WhatThrowsIsSaidOnceAndNoMoreComes) {
  Make({}).Fetch();
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17.1", "a") + Line("17.2", "throw") + Line("17.3", "b"));
  transport_.stream().Send(Line("17.4", "throw"));
  transport_.stream().End();
  Run();
  EXPECT_THAT(out_, ElementsAre("begin ", "a"));
  EXPECT_EQ(failures_, 1);
  EXPECT_EQ(changes_, 0);
}

TEST_F(LogReaderTest, TheNextWindowGoesOnWhereTheLastOneWasCut) {
  Make({.tail = 500}).Fetch();
  EXPECT_THAT(path(), HasSubstr("tailLines=500"));
  std::string window = Line("16.5", "first");
  while (window.size() < 3'900) window += Line("17.5", "many");
  Answer(window + Line("17.6", "last").substr(0, 24));
  EXPECT_EQ(reader_->state(), State::kIdle);
  const size_t before = out_.size();
  EXPECT_EQ(out_.back(), "many");

  reader_->Fetch();
  // What comes again is known: this much more is asked for.
  const size_t again = window.size() - Line("16.5", "first").size();
  EXPECT_THAT(path(), AllOf(HasSubstr("sinceTime=2026-11-21T05%3A54%3A17Z"),
                            HasSubstr("limitBytes=" + std::to_string(4'000 + again)),
                            Not(HasSubstr("tailLines"))));
  Answer(window.substr(Line("16.5", "first").size()) + Line("17.6", "last"));
  EXPECT_EQ(out_.size(), before + 1);
  EXPECT_EQ(out_.back(), "last");
}

// One second had more lines than a window: the same window came again and again.
TEST_F(LogReaderTest, AWindowThatBringsNothingNewGrows) {
  Make({}).Fetch();
  Answer(Line("17.1", "a") + kSecond + "17.2Z " + std::string(5'000, 'x'));
  EXPECT_EQ(out_.back(), "a");
  size_t limit = 0;
  for (int window = 0; window < 3; ++window) {
    ASSERT_EQ(reader_->state(), State::kIdle);
    reader_->Fetch();
    const size_t at = path().find("limitBytes=") + 11;
    const size_t now = std::stoul(path().substr(at));
    EXPECT_GT(now, limit);
    limit = now;
    Answer((Line("17.1", "a") + kSecond + "17.2Z " + std::string(50'000, 'x')).substr(0, limit));
  }
  reader_->Fetch();
  Answer(Line("17.1", "a") + Line("17.2", std::string(9'000, 'x')) + Line("18", "b"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", std::string(9'000, 'x'), "b"));
}

TEST_F(LogReaderTest, ASecondThatIsLargerThanAnyWindowIsSkippedAndANoteSaysSo) {
  Make({.window_bytes_max = 16'000}).Fetch();
  Answer(Line("17.1", "a") + std::string(4'000, '#'));
  for (int window = 0; window < 10 && out_.back().rfind("error", 0) != 0; ++window) {
    reader_->Fetch();
    Answer((Line("17.1", "a") + std::string(40'000, '#')).substr(0, 16'000));
  }
  EXPECT_THAT(out_.back(), AllOf(HasSubstr("error read the log of pod ns/p: more than 16000"),
                                 HasSubstr("2026-11-21T05:54:17Z")));
  ASSERT_EQ(reader_->state(), State::kIdle);
  reader_->Fetch();
  EXPECT_THAT(path(), HasSubstr("sinceTime=2026-11-21T05%3A54%3A18Z"));
  Answer(Line("18", "b"));
  EXPECT_EQ(out_.back(), "b");
}

TEST_F(LogReaderTest, LinesWithoutTimesComeOnceAndNeverForEver) {
  Make({.window_bytes_max = 16'000}).Fetch();
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "no time\n";
  for (int window = 0; window < 10 && reader_->state() != State::kDone; ++window) {
    if (window > 0) reader_->Fetch();
    const size_t at = path().find("limitBytes=") + 11;
    Answer(text.substr(0, std::stoul(path().substr(at))));
  }
  EXPECT_EQ(reader_->state(), State::kDone);
  EXPECT_THAT(out_.back(), HasSubstr("have no time"));
  EXPECT_EQ(out_.size(), 1 + 4'000 / 8 + 1);
}

TEST_F(LogReaderTest, OfOneWindowNoMoreIsKeptThanTwiceItsSize) {
  Make({}).Fetch();
  transport_.stream().Open(200);
  for (int i = 0; i < 100; ++i) {
    transport_.stream().Send(Line(std::to_string(10 + i / 10) + ".1", std::string(200, 'x')));
  }
  Run();
  EXPECT_TRUE(transport_.stream().gone());
  EXPECT_EQ(reader_->state(), State::kIdle);
  EXPECT_LT(out_.size(), 45u);
}

TEST_F(LogReaderTest, OnlyLinesSinceTheTimeThatWasAskedForCount) {
  Make({.since = "2026-11-21T05:54:17.500000000"}).Fetch();
  EXPECT_THAT(path(), HasSubstr("sinceTime=2026-11-21T05%3A54%3A17Z"));
  Answer(Line("17.4", "before") + Line("17.5", "at") + Line("18", "after"));
  EXPECT_THAT(out_, ElementsAre("begin ", "at", "after"));
}

TEST_F(LogReaderTest, ARefusalIsANoteAndTheEnd) {
  for (const auto& [code, text] : {std::pair{403, "may not"}, {404, "not found"}, {400, "bad"}}) {
    out_.clear();
    Make({}).Fetch();
    Answer(R"({"kind":"Status","reason":"R","message":")" + std::string(text) + "\"}", code);
    EXPECT_EQ(reader_->state(), State::kDone);
    ASSERT_EQ(out_.size(), 1u);
    EXPECT_THAT(out_[0], AllOf(HasSubstr("error read the log of pod ns/p"), HasSubstr(text)));
    EXPECT_FALSE(reader_->unauthenticated());
  }
  Make({.follow = true}).Fetch();
  Answer("", 401);
  EXPECT_TRUE(reader_->unauthenticated());
}

TEST_F(LogReaderTest, AServerThatDoesNotAnswerIsAskedAgainAndThenItIsSaid) {
  Make({}).Fetch();
  for (int i = 1; i <= LogReader::kFailuresMax; ++i) {
    EXPECT_EQ(transport_.streams(), static_cast<size_t>(i));
    transport_.stream().End(absl::UnavailableError("no connection"));
    Run(LogReader::kAgainMax);
  }
  EXPECT_EQ(reader_->state(), State::kDone);
  EXPECT_THAT(out_, ElementsAre("error read the log of pod ns/p: no connection"));
}

TEST_F(LogReaderTest, AWindowThatBrokeOffGoesOnAfterItsLastLine) {
  Make({.tail = 10}).Fetch();
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17.1", "a") + Line("17.2", "b") + "2026-11");
  transport_.stream().End(absl::UnavailableError("lost"));
  Run(LogReader::kAgain);
  EXPECT_THAT(path(), HasSubstr("sinceTime=2026-11-21T05%3A54%3A17Z"));
  Answer(Line("17.1", "a") + Line("17.2", "b") + Line("17.3", "c"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "b", "c"));
}

TEST_F(LogReaderTest, WhatIsFollowedGoesOnAfterALostConnectionAndNotesSaySo) {
  LogReader& reader = Make({.follow = true});
  reader.Fetch();
  Answer(Line("17.1", "a"));
  ASSERT_EQ(reader.state(), State::kAtEnd);
  reader.Follow();
  EXPECT_THAT(path(), AllOf(HasSubstr("follow=true"), HasSubstr("sinceTime="),
                            Not(HasSubstr("limitBytes"))));
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17.1", "a") + Line("18", "b") + kSecond + "19Z unfin");
  transport_.stream().End(absl::UnavailableError("lost"));
  Run();
  Run(LogReader::kAgain);
  Answer(Line("18", "b") + Line("19", "unfinished"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "b",
                                "error read the log of pod ns/p: lost; it is asked for again",
                                "begin ", "unfinished"));
}

TEST_F(LogReaderTest, AContainerThatStartsAgainIsWaitedForWithoutANote) {
  LogReader& reader = Make({.follow = true});
  reader.Follow();
  Answer(Line("17", "a"));
  for (int i = 0; i < 3; ++i) {
    Run(LogReader::kAgainMax);
    Answer(R"({"kind":"Status","reason":"BadRequest","message":"is waiting to start"})", 400);
  }
  Run(LogReader::kAgainMax);
  Answer(Line("37", "b"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "b"));
}

// The end of a pod may be known before its last lines have been read.
TEST_F(LogReaderTest, AfterThePodsEndItsLogIsReadOnceMoreToItsEnd) {
  LogReader& reader = Make({.follow = true});
  reader.Follow();
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17", "a"));
  Run();
  LogPod pod = reader.pod();
  pod.state = LogPod::State::kEnded;
  pod.message = "exit code 1";
  reader.SetPod(pod);
  transport_.stream().End();
  Run(LogReader::kAgain);
  Answer(Line("17", "a") + Line("18", "last words"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "last words", "end exit code 1"));
  EXPECT_EQ(reader.state(), State::kDone);
}

TEST_F(LogReaderTest, APodThatIsGoneEndsItsLogEvenWhereItsNodeSaysNothing) {
  LogReader& reader = Make({.follow = true});
  reader.Follow();
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17", "a"));
  Run();
  reader.SetGone();
  Run(LogReader::kGoneMax);
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "end the pod was deleted"));
  EXPECT_TRUE(transport_.stream().gone());
}

TEST_F(LogReaderTest, APodThatHasEndedIsReadToItsEndAndFollowedNoMore) {
  Make({.follow = true}, LogPod::State::kEnded).Fetch();
  Answer(Line("17", "a"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "end exit code 0"));
  EXPECT_EQ(reader_->state(), State::kDone);
}

TEST_F(LogReaderTest, ThePreviousContainerIsAskedForByName) {
  Make({.previous = true}).Fetch();
  EXPECT_THAT(path(), HasSubstr("previous=true"));
}

TEST_F(LogReaderTest, AReaderThatRestsGoesOnWhereItWas) {
  LogReader& reader = Make({.follow = true});
  reader.Follow();
  transport_.stream().Open(200);
  transport_.stream().Send(Line("17", "a"));
  Run();
  reader.Rest();
  EXPECT_TRUE(transport_.stream().gone());
  EXPECT_EQ(reader.state(), State::kIdle);
  reader.Fetch();
  Answer(Line("17", "a") + Line("18", "b"));
  EXPECT_THAT(out_, ElementsAre("begin ", "a", "b"));
  EXPECT_EQ(reader.state(), State::kAtEnd);
}

TEST_F(LogReaderTest, OfALongLineTheBeginningComes) {
  Make({.window_bytes = 1 << 20}).Fetch();
  Answer(Line("17", std::string(kLogLineBytesMax + 5'000, 'x')));
  EXPECT_THAT(out_, Contains(HasSubstr("bytes]")));
  EXPECT_LT(out_.back().size(), kLogLineBytesMax + 100);
}

}  // namespace
}  // namespace taas::dashboard
