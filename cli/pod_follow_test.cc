#include "cli/pod_follow.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/fake_transport.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `state`: of the only container; empty: it has none yet.
std::string PodJson(const std::string& phase, const std::string& state, int version) {
  std::string status = R"({"phase":")" + phase + R"(")";
  if (!state.empty()) {
    status += R"(,"containerStatuses":[{"name":"trainer","state":)" + state + "}]";
  }
  return R"({"metadata":{"namespace":"ns","name":"p","uid":"u","resourceVersion":")" +
         std::to_string(10 + version) +
         R"("},"spec":{"containers":[{"name":"trainer"}]},"status":)" + status + "}}";
}
constexpr char kRunning[] = R"({"running":{"startedAt":"2026-11-21T05:54:16Z"}})";
std::string Ended(int code) {
  return R"({"terminated":{"exitCode":)" + std::to_string(code) +
         R"(,"reason":"Error","startedAt":"2026-11-21T05:54:16Z"}})";
}

class PodFollowTest : public testing::Test {
 protected:
  void Start(const std::string& pod) {
    follow_.Start();
    EXPECT_THAT(transport_.request().path, HasSubstr("fieldSelector=metadata.name%3Dp"));
    transport_.Reply(HttpReply{
        .code = 200, .body = R"({"metadata":{"resourceVersion":"11"},"items":[)" + pod + "]}"});
    Run();
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  void Pod(const std::string& type, const std::string& json) {
    auto& watch = transport_.FindStream("/pods?");
    if (!open_) watch.Open(200);
    open_ = true;
    watch.Send(R"({"type":")" + type + R"(","object":)" + json + "}\n");
    Run();
  }
  FakeTransport::ServerStream& Log() { return transport_.FindStream("/pods/p/log"); }
  void Write(const std::string& text) {
    Log().Open(200);
    Log().Send(text);
    Run();
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  bool open_ = false;
  std::vector<std::string> lines_;
  int changes_ = 0;
  std::optional<absl::StatusOr<taas::Pod>> done_;
  PodFollow follow_{transport_,
                    executor_,
                    random_,
                    {.ns = "ns", .pod = "p", .container = "trainer"},
                    {.print = [this](std::string_view line) { lines_.emplace_back(line); },
                     .changed = [this](const taas::Pod&) { ++changes_; },
                     .done = [this](const absl::StatusOr<taas::Pod>& pod) { done_ = pod; }}};
};

TEST_F(PodFollowTest, WhatItWritesComesAndThenHowItEnded) {
  Start(PodJson("Pending", "", 1));
  EXPECT_EQ(transport_.streams(), 1u) << "the watch alone";
  Pod("MODIFIED", PodJson("Running", kRunning, 2));
  Write("2026-11-21T05:54:17.1Z a\n2026-11-21T05:54:17.2Z b\n");
  Pod("MODIFIED", PodJson("Failed", Ended(3), 3));
  EXPECT_FALSE(done_.has_value()) << "its log is not read to the end";
  Log().Send("2026-11-21T05:54:17.3Z c");
  Log().End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("a", "b", "c"));
  ASSERT_TRUE(done_.has_value());
  ASSERT_THAT(done_->status(), IsOk());
  EXPECT_EQ((*done_)->exit_code, 3);
  EXPECT_EQ(changes_, 3);
}

TEST_F(PodFollowTest, ALogThatEndsBeforeThePodIsReadToItsEndWhenThatHasStopped) {
  Start(PodJson("Running", kRunning, 1));
  Write("2026-11-21T05:54:17.1Z a\n");
  Log().End();
  Run();
  EXPECT_FALSE(done_.has_value());
  Pod("MODIFIED", PodJson("Succeeded", Ended(0), 2));
  Write("2026-11-21T05:54:17.1Z a\n2026-11-21T05:54:17.2Z b\n");
  Log().End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("a", "b"));
  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->exit_code, 0);
}

TEST_F(PodFollowTest, APodThatNeverRanHasNoLogToWaitFor) {
  Start(PodJson("Pending", "", 1));
  Pod("MODIFIED", PodJson("Failed", "", 2));
  ASSERT_TRUE(done_.has_value());
  ASSERT_THAT(done_->status(), IsOk());
  EXPECT_FALSE((*done_)->exit_code.has_value());
  EXPECT_EQ(transport_.streams(), 1u);
}

TEST_F(PodFollowTest, AServerThatDoesNotEndALogKeepsNobody) {
  Start(PodJson("Running", kRunning, 1));
  Write("2026-11-21T05:54:17.1Z a\n");
  Pod("MODIFIED", PodJson("Succeeded", Ended(0), 2));
  Run(ContainerLog::kAnswer - 1s);
  EXPECT_FALSE(done_.has_value());
  Run(1s);
  EXPECT_TRUE(done_.has_value());
}

TEST_F(PodFollowTest, ALogThatIsGoneIsGivenUp) {
  Start(PodJson("Succeeded", Ended(0), 1));
  for (int i = 0; i < ContainerLog::kFailuresMax; ++i) {
    EXPECT_FALSE(done_.has_value());
    Log().Open(404);
    Log().End();
    Run(ContainerLog::kAgain);
  }
  EXPECT_TRUE(done_.has_value());
}

TEST_F(PodFollowTest, APodThatIsDeletedIsNotFound) {
  Start(PodJson("Running", kRunning, 1));
  Pod("DELETED", PodJson("Running", kRunning, 2));
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(done_->status(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("pod ns/p")));
}

TEST_F(PodFollowTest, APodThatIsGoneAtTheFirstLookIsNotFound) {
  Start("");
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(done_->status(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("deleted")));
}

TEST_F(PodFollowTest, WhoMayNotListPodsIsTold) {
  follow_.Start();
  transport_.Reply(HttpReply{
      .code = 403, .body = R"({"reason":"Forbidden","message":"no pods for you","code":403})"});
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(done_->status(),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("no pods for you")));
}

}  // namespace
}  // namespace taas
