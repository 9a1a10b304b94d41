#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <future>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/comm/listener.h"
#include "trainer/status/status_board.h"
#include "trainer/status/status_server.h"
#include "trainer/status/step_log.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;
using namespace std::chrono_literals;

StatusBoard::Identity Me() {
  return {.job = "default/mnist", .uid = "7f0c", .role = "chief", .pod = 3, .start = "9f86",
          .max_steps = 2000, .batch_size = 100};
}

TEST(StatusBoardTest, JsonIsThatOfTheContract) {
  StatusBoard board(Me());
  board.SetState(RunState::kTraining);
  board.SetProgress({.step = 1200, .loss = 0.21, .examples_per_second = 20'000});
  board.SetEvaluation(
      {.step = 1200, .accuracy = 0.94, .loss = 0.2, .examples = 1000, .perplexity = 1.25});
  board.SetData("here", 9000);
  board.SetBuffers({.staged = 1, .staged_bytes = 40, .spare_bytes = 80, .versions = 2});
  board.SetPeers({{"ps", 0, "Joined", "127.0.0.1:1", "", "2026-11-21T05:54:17Z", 795260}});
  const json got = json::parse(board.Json());
  const json want = json::parse(R"({"job":"default/mnist","uid":"7f0c","role":"chief","index":0,
    "attempt":1,"incarnation":{"pod":3,"start":"9f86"},"state":"Training","message":"",
    "step":1200,"maxSteps":2000,"loss":0.21,"examplesPerSecond":20000.0,"etaSeconds":4,
    "evaluation":{"step":1200,"accuracy":0.94,"loss":0.2,"examples":1000,"perplexity":1.25},
    "data":{"source":"here","examples":9000},
    "buffers":{"staged":1,"stagedBytes":40,"spareBytes":80,"versions":2},
    "peers":[{"role":"ps","index":0,"state":"Joined","address":"127.0.0.1:1","error":"",
              "since":"2026-11-21T05:54:17Z","bytes":795260}]})");
  EXPECT_EQ(got, want) << got.dump(1);
}

TEST(StatusBoardTest, RateEndsWithTheTrainingAndIsKeptForTheTerminationMessage) {
  StatusBoard board(Me());
  board.SetState(RunState::kTraining);
  board.SetProgress({.step = 1200, .loss = 0.21, .examples_per_second = 20'000});
  board.SetState(RunState::kWaitingForPeers, "waiting for ps-1");
  const json waiting = json::parse(board.Json());
  EXPECT_EQ(waiting["examplesPerSecond"], 0);
  EXPECT_FALSE(waiting.contains("etaSeconds"));
  EXPECT_EQ(json::parse(board.TerminationJson("done"))["examplesPerSecond"], 20'000);
}

// Symptom: a job that was applied again with a checkpoint at its last step succeeded within a
// second and said not a word about having trained nothing.
TEST(StatusBoardTest, ACheckpointAtTheLastStepLeavesNothingToTrainAndThatIsSaid) {
  StatusBoard::Identity first = Me();
  first.attempt = first.pod = 1;
  StatusBoard before(first);
  before.SetResumed(1999);
  EXPECT_EQ(before.DoneMessage(), "done");
  before.SetResumed(2000);
  EXPECT_EQ(before.DoneMessage(), "done");
  StatusBoard board(first);
  board.SetResumed(2000);
  EXPECT_THAT(board.DoneMessage(),
              testing::StartsWith("nothing was left to train: the checkpoint that was found is of "
                                  "step 2000, and maxSteps is 2000"));
  board.SetState(RunState::kEvaluating);
  EXPECT_EQ(json::parse(board.Json())["message"], board.DoneMessage());
  // The process before this one may have trained to the end.
  StatusBoard::Identity second = first;
  second.pod = 2;
  StatusBoard successor(second);
  successor.SetResumed(2000);
  EXPECT_EQ(successor.DoneMessage(), "done");
}

TEST(StatusBoardTest, LossThatIsNoNumberIsLeftOut) {
  StatusBoard board(Me());
  board.SetProgress({.step = 1, .loss = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_FALSE(json::parse(board.Json()).contains("loss"));
}

TEST(StatusBoardTest, TerminationMessageFitsInto4096BytesWhateverItSays) {
  StatusBoard board(Me());
  for (const std::string& message :
       {std::string(10'000, 'x'), std::string(10'000, '\x01'), std::string(3'000, '"')}) {
    const std::string text = board.TerminationJson(message);
    EXPECT_LE(text.size(), 4096u);
    EXPECT_GT(text.size(), 2000u);
    EXPECT_EQ(json::parse(text)["step"], 0);
  }
}

TEST(StatusBoardTest, TerminationMessageReplacesAnEarlierOne) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/termination";
  WriteTermination(path, "a long first one");
  WriteTermination(path, "short");
  PosixFileSystem files;
  EXPECT_EQ(*files.ReadAll(path), "short");
}

int Connected(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

std::string Get(int port, const std::string& request) {
  // The raw text of one exchange; the server closes on "Connection: close".
  const int fd = Connected(port);
  EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[4096];
  for (ssize_t got; (got = read(fd, part, sizeof(part))) > 0;) answer.append(part, got);
  close(fd);
  return answer;
}

StatusServer::Pages TwoPages() {
  return {{"/status", {[](const std::string&) { return R"({"a":1})"; }}},
          {"/series",
           {[](const std::string& query) -> absl::StatusOr<std::string> {
              if (query == "bad") return absl::InvalidArgumentError("not \"bad\"");
              return "[" + query + "]";
            },
            "text/plain"}}};
}

TEST(StatusServerTest, PagesAreServedAndNothingElse) {
  const auto server = StatusServer::Start("127.0.0.1", 0, TwoPages());
  ASSERT_THAT(server, IsOk());
  const int port = (*server)->port();
  const std::string end = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_THAT(Get(port, "GET /status" + end), HasSubstr("\r\n\r\n{\"a\":1}"));
  EXPECT_THAT(Get(port, "GET /status?x" + end), HasSubstr("\r\n\r\n{\"a\":1}"));
  EXPECT_THAT(Get(port, "GET /series" + end), HasSubstr("\r\n\r\n[]"));
  EXPECT_THAT(Get(port, "GET /series" + end), HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(Get(port, "GET /series?since=5" + end), HasSubstr("\r\n\r\n[since=5]"));
  EXPECT_THAT(Get(port, "GET /series?bad" + end),
              testing::AllOf(HasSubstr("400"), HasSubstr(R"("not \"bad\"")")));
  EXPECT_THAT(Get(port, "GET /" + end),
              testing::AllOf(HasSubstr("404"), HasSubstr("/series, /status")));
  EXPECT_THAT(Get(port, "DELETE /status" + end), HasSubstr("405"));
  EXPECT_EQ(Get(port, "GET /" + std::string(10'000, 'x') + end), "");
}

// Symptom: a page of the web that a browser on the same machine showed could read /status and event
// files by a name of its own for 127.0.0.1.
TEST(StatusServerTest, WhoAsksForAnotherHostIsRefused) {
  const auto server =
      StatusServer::Start("127.0.0.1", 0, TwoPages(), {.others = {"gpu1.lab.example"}});
  ASSERT_THAT(server, IsOk());
  const auto asked_as = [&](const std::string& host) {
    return Get((*server)->port(),
               "GET /status HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  };
  for (const char* host : {"127.0.0.1:2223", "localhost", "mnist-chief-0.ns.svc:2223",
                           "gpu1.lab.example:2223"}) {
    EXPECT_THAT(asked_as(host), HasSubstr("\r\n\r\n{\"a\":1}")) << host;
  }
  EXPECT_THAT(asked_as("evil.example:2223"),
              testing::AllOf(HasSubstr("421"), HasSubstr("by its address"),
                             testing::Not(HasSubstr("{\"a\":1}"))));
}

// Symptom: whatever was thrown while a page was made ended the replica.
TEST(StatusServerTest, APageThatThrowsIsAnsweredWith500AndTheOthersGoOn) {
  StatusServer::Pages pages = TwoPages();
  for (const bool reads_disk : {false, true}) {
    pages[reads_disk ? "/disk" : "/bad"] = {
        .body = [](const std::string&) -> absl::StatusOr<std::string> { throw std::bad_alloc(); },
        .reads_disk = reads_disk};
  }
  const auto server = StatusServer::Start("127.0.0.1", 0, pages);
  ASSERT_THAT(server, IsOk());
  const std::string end = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_THAT(Get((*server)->port(), "GET /bad" + end), HasSubstr("500"));
  EXPECT_THAT(Get((*server)->port(), "GET /disk" + end), HasSubstr("500"));
  EXPECT_THAT(Get((*server)->port(), "GET /status" + end), HasSubstr("\r\n\r\n{\"a\":1}"));
}

// Symptom: who kept 32 connections open, and said nothing on them, kept the operator from its poll.
TEST(StatusServerTest, ConnectionsThatSayNothingKeepNobodyOut) {
  const auto server = StatusServer::Start("127.0.0.1", 0, TwoPages());
  ASSERT_THAT(server, IsOk());
  std::vector<int> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(Connected((*server)->port()));
    if (i % 20 != 19) continue;
    EXPECT_THAT(Get((*server)->port(),
                    "GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
                HasSubstr("\r\n\r\n{\"a\":1}"))
        << "after " << i + 1;
  }
  for (const int fd : silent) close(fd);
}

// Symptom: a chief whose summaries lay on a volume that hung looked dead to the operator, though it
// trained.
TEST(StatusServerTest, PageThatWaitsForADiskKeepsNobodyFromTheOthers) {
  std::promise<void> disk_is_back;
  const std::shared_future<void> back = disk_is_back.get_future().share();
  std::atomic<int> asked{0};
  StatusServer::Pages pages = TwoPages();
  pages["/events"] = {.body = [&](const std::string&) -> absl::StatusOr<std::string> {
                        ++asked;
                        back.wait();
                        return "files";
                      },
                      .reads_disk = true};
  const auto server = StatusServer::Start("127.0.0.1", 0, pages);
  ASSERT_THAT(server, IsOk());
  const int port = (*server)->port();
  const std::string end = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  std::vector<std::string> answers(40);
  std::vector<std::thread> readers;
  for (std::string& answer : answers) {
    readers.emplace_back([&answer, port, end] { answer = Get(port, "GET /events" + end); });
  }
  while (asked == 0) std::this_thread::yield();
  // Until it is let in: more called at once than there are connections.
  std::string status;
  while (status.empty()) status = Get(port, "GET /status" + end);
  EXPECT_THAT(status, HasSubstr("\r\n\r\n{\"a\":1}"));
  disk_is_back.set_value();
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(answers, testing::Contains(HasSubstr("\r\n\r\nfiles")));
  EXPECT_THAT(answers, testing::Contains(HasSubstr("503")));
}

TEST(StatusServerTest, PortInUseIsNamed) {
  const auto first = StatusServer::Start("127.0.0.1", 0, TwoPages());
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(StatusServer::Start("127.0.0.1", (*first)->port(), TwoPages()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr(std::to_string((*first)->port()))));
}

class StepLogTest : public testing::Test {
 protected:
  StepLogTest() { EXPECT_EQ(pipe2(pipe_, O_NONBLOCK), 0); }
  ~StepLogTest() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  std::string Text() {
    char text[4096];
    const ssize_t got = read(pipe_[0], text, sizeof(text));
    return got > 0 ? std::string(text, static_cast<size_t>(got)) : "";
  }
  int pipe_[2];
  FakeClock clock_;
};

TEST_F(StepLogTest, LineIsTheClassicOne) {
  StepLog log(clock_, {.every = 10, .batch_size = 100, .max_steps = 100, .fd = pipe_[1]});
  log.Start(0);
  clock_.Advance(20ms);
  log.OnStep(9, 2.5);
  EXPECT_EQ(Text(), "");
  clock_.Advance(30ms);
  log.OnStep(10, 2.314);
  EXPECT_EQ(Text(), "step 10, loss = 2.31 (20000.0 examples/sec; 0.005 sec/batch)\n");
}

// Symptom: of a large model nothing was said for the minutes before the first line.
TEST_F(StepLogTest, AFirstStepThatTakesLongIsToldAtOnce) {
  StepLog log(clock_, {.every = 100, .batch_size = 1, .max_steps = 900, .fd = pipe_[1]});
  testing::internal::CaptureStderr();
  log.Start(0);
  clock_.Advance(4'200ms);
  log.OnStep(1, 5.5);
  clock_.Advance(4'200ms);
  log.OnStep(2, 5.5);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("step 1 took 4.2 s next line=\"step 100\""));
  EXPECT_THAT(said, testing::Not(HasSubstr("step 2")));
  EXPECT_EQ(Text(), "") << "scripts read these lines";
  StepLog quick(clock_, {.every = 100, .batch_size = 1, .max_steps = 900, .fd = pipe_[1]});
  testing::internal::CaptureStderr();
  quick.Start(0);
  clock_.Advance(40ms);
  quick.OnStep(1, 5.5);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Of a loss of 2e-5 each line said 0.00.
TEST_F(StepLogTest, ASmallLossHasThreeDigitsThatCount) {
  StepLog log(clock_, {.every = 1, .batch_size = 1, .max_steps = 9, .fd = pipe_[1]});
  log.Start(0);
  int64_t step = 0;
  for (const auto& [loss, text] :
       {std::pair(554.3, "554.30"), std::pair(0.8304, "0.830"), std::pair(0.0213, "0.0213"),
        std::pair(2.134e-5, "0.0000213"), std::pair(0.0, "0.00"), std::pair(-0.5, "-0.500")}) {
    clock_.Advance(1s);
    log.OnStep(++step, loss);
    EXPECT_THAT(Text(), HasSubstr("loss = " + std::string(text) + " ("));
  }
  log.OnEvaluation({.step = 9, .loss = 0.00012345, .examples = 7});
  EXPECT_THAT(Text(), HasSubstr("loss = 0.0001234"));
}

TEST_F(StepLogTest, AnEvaluationOfTokensHasAPerplexity) {
  StepLog log(clock_, {.every = 1, .batch_size = 1, .max_steps = 9, .json = true, .fd = pipe_[1]});
  log.OnEvaluation(
      {.step = 9, .accuracy = 0.5, .loss = 2, .examples = 7, .perplexity = 7.3890561});
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr(R"("perplexity":7.389)"));
  EXPECT_THAT(text, HasSubstr("evaluation at step 9: accuracy = 0.5000, perplexity = 7.3891, "
                              "loss = 2"));
}

TEST_F(StepLogTest, StepsOfOthersAreCountedAndALineIsNotMissedForThem) {
  StepLog log(clock_, {.every = 10, .batch_size = 1, .max_steps = 100, .fd = pipe_[1]});
  log.Start(0);
  clock_.Advance(1s);
  log.OnStep(12, 1.0);
  EXPECT_THAT(Text(), HasSubstr("step 12, "));
  log.OnStep(11, 1.0);
  log.OnStep(19, 1.0);
  EXPECT_EQ(Text(), "");
  clock_.Advance(1s);
  log.OnStep(100, 1.0);
  EXPECT_THAT(Text(), HasSubstr("step 100, "));
}

TEST_F(StepLogTest, JsonLineIsOneObjectBesideTheClassicLine) {
  StepLog log(clock_, {.every = 1, .batch_size = 4, .max_steps = 9, .json = true, .fd = pipe_[1]});
  log.Start(0);
  clock_.Advance(2s);
  log.OnStep(1, std::nan(""));
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("\nstep 1, loss = nan"));
  const json line = json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(line["step"], 1);
  EXPECT_EQ(line["examplesPerSecond"], 2.0);
  EXPECT_FALSE(line.contains("loss"));
}

TEST_F(StepLogTest, EveryStepIsToldAlsoWithoutALine) {
  std::vector<int64_t> told;
  StepLog log(clock_, {.every = 10, .max_steps = 100, .fd = pipe_[1],
                       .also = [&](int64_t step, double, double) { told.push_back(step); }});
  log.Start(0);
  for (const int64_t step : {1, 2, 10}) log.OnStep(step, 1.0);
  EXPECT_THAT(told, testing::ElementsAre(1, 2, 10));
}

TEST_F(StepLogTest, TerminalGetsABar) {
  StepLog log(clock_,
              {.every = 1, .batch_size = 1, .max_steps = 2, .terminal = true, .fd = pipe_[1]});
  log.Start(0);
  clock_.Advance(1s);
  log.OnStep(1, 0.5);
  EXPECT_THAT(Text(), HasSubstr("\r[####################                    ]  50%"));
}

RankShares Waits(double share) { return {.wait = share}; }

TEST(SlowestRankTest, IsTheOneThatWaitsLeastIfAnotherWaitsNotably) {
  const PeerStatus first{.role = "worker", .index = 0, .shares = Waits(0.3)};
  PeerStatus second{.role = "worker", .index = 1, .shares = Waits(0.02)};
  EXPECT_EQ(SlowestRank("chief-0", Waits(0.25), {first, second}), "worker-1");
  EXPECT_EQ(SlowestRank("chief-0", Waits(0.01), {first, second}), "chief-0");
  EXPECT_EQ(SlowestRank("chief-0", Waits(0.25), {first}), "") << "a twentieth is nothing";
  second.shares.reset();
  EXPECT_EQ(SlowestRank("chief-0", Waits(0.25), {first, second}), "") << "it has not said";
}

TEST(StatusBoardTest, WhatTheTimeOfRanksGoesToIsShownAndWhoIsSlowest) {
  StatusBoard board({.job = "default/mnist", .role = "chief"});
  EXPECT_FALSE(json::parse(board.Json()).contains("shares"));
  board.SetShares({.compute = 0.41234, .wait = 0.4, .exchange = 0.15, .hidden = 0.0456,
                   .bytes_per_step = 12});
  board.SetPeers({{.role = "worker", .index = 1, .shares = Waits(0.01)}});
  const json page = json::parse(board.Json());
  EXPECT_EQ(page["shares"], json({{"compute", 0.412}, {"wait", 0.4}, {"exchange", 0.15},
                                  {"hiddenExchange", 0.046}, {"bytesPerStep", 12}}));
  EXPECT_EQ(page["peers"][0]["shares"]["wait"], 0.01);
  EXPECT_EQ(page["slowest"], "worker-1");
}

TEST(StatusBoardTest, CheckpointsAreShownAsTheyAreInTheDirectory) {
  StatusBoard board({.job = "default/mnist", .role = "chief"});
  EXPECT_FALSE(json::parse(board.Json()).contains("checkpoints"));
  board.SetCheckpoints({{.step = 20, .bytes = 7, .saved_at = "2026-11-21T05:54:17Z"},
                        {.step = 10, .bytes = 5, .saved_at = ""}});
  EXPECT_EQ(json::parse(board.Json())["checkpoints"],
            json::parse(R"([{"step":20,"bytes":7,"savedAt":"2026-11-21T05:54:17Z"},
                            {"step":10,"bytes":5}])"));
  board.SetCheckpoints({});
  EXPECT_FALSE(json::parse(board.Json()).contains("checkpoints"));
}

}  // namespace
}  // namespace taas
