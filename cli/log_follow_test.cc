#include "cli/log_follow.h"

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
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string PodJson(const std::string& role, const std::string& uid, const std::string& phase,
                    int version) {
  return R"({"metadata":{"namespace":"ns","name":"j-)" + role + R"(-0","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) +
         R"(","labels":{"taas.dev/job-name":"j","taas.dev/index":"0","taas.dev/role":")" + role +
         R"("}},"status":{"phase":")" + phase + R"("}})";
}
// As it is from the moment that it was told to go.
std::string GoingPodJson(const std::string& role, const std::string& uid, int version) {
  std::string json = PodJson(role, uid, "Running", version);
  return json.insert(json.find(R"("uid")"), R"("deletionTimestamp":"2026-11-21T06:00:00Z",)");
}
std::string JobJson(const std::string& state, int version) {
  return R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"ns",)"
         R"("name":"j","uid":"uj","resourceVersion":")" +
         std::to_string(version) +
         R"("},"spec":{"trainer":{},"roles":{"worker":{"replicas":1}}},"status":{"state":")" +
         state + R"("}})";
}
HttpReply List(const std::string& item) {
  return {.code = 200, .body = R"({"metadata":{"resourceVersion":"10"},"items":[)" + item + "]}"};
}
std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

class LogFollowTest : public testing::Test {
 protected:
  // The pods and the job at the start; the watches are streams 0 and 1.
  void Start(const std::string& pod, const std::string& job) {
    follow_.Start();
    transport_.Reply(List(pod));
    Run();
    transport_.Reply(List(job));
    Run();
    ASSERT_THAT(transport_.waiting(), 0u);
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  FakeTransport::ServerStream& Find(const std::string& part) {
    return transport_.FindStream(part);
  }
  void Pod(const std::string& type, const std::string& json) {
    auto& watch = Find("/pods?");
    if (!pods_open_) watch.Open(200);
    pods_open_ = true;
    watch.Send(Event(type, json));
    Run();
  }
  void Job(const std::string& json) {
    auto& watch = Find("/trainingjobs?");
    watch.Open(200);
    watch.Send(Event("MODIFIED", json));
    Run();
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  bool pods_open_ = false;
  std::vector<std::string> lines_;
  std::optional<absl::Status> done_;
  LogFollow follow_{transport_,
                    executor_,
                    random_,
                    {.ns = "ns", .job = "j"},
                    [this](const std::string& replica, std::string_view line) {
                      lines_.push_back(replica + " " + std::string(line));
                    },
                    [this](const absl::Status& status) { done_ = status; }};
};

TEST_F(LogFollowTest, LinesComeAsTheyAreWrittenAndTheEndWaitsForTheLastOne) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/pods/j-worker-0/log");
  EXPECT_THAT(log.request.path, AllOf(HasSubstr("follow=true"), HasSubstr("timestamps=true")));
  log.Open(200);
  log.Send("2026-11-21T05:54:17Z step 1\n2026-11-21T05:54:18Z ste");
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 step 1"));
  Job(JobJson("Succeeded", 20));
  Pod("MODIFIED", PodJson("worker", "u1", "Succeeded", 21));
  EXPECT_FALSE(done_.has_value());  // The log is still being read.
  log.Send("p 2");
  log.End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 step 1", "worker-0 step 2"));
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

TEST_F(LogFollowTest, ItWaitsForPodsToStartAndGoesOnWithTheSuccessorOfAPod) {
  Start(PodJson("worker", "u1", "Pending", 3), JobJson("Pending", 4));
  EXPECT_EQ(transport_.streams(), 2u);
  Pod("MODIFIED", PodJson("worker", "u1", "Running", 11));
  auto& first = Find("/log");
  first.Open(200);
  first.Send("2026-11-21T05:54:17Z first\n");
  Pod("MODIFIED", PodJson("worker", "u1", "Failed", 12));
  first.End();
  Run();
  Pod("DELETED", PodJson("worker", "u1", "Failed", 13));
  Pod("ADDED", PodJson("worker", "u2", "Running", 14));
  auto& second = Find("/log");
  ASSERT_NE(&first, &second);
  second.Open(200);
  second.Send("2026-11-21T05:54:19Z second\n");
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 first", "worker-0 second"));
  EXPECT_FALSE(done_.has_value());
}

TEST_F(LogFollowTest, ALostConnectionIsMadeAgainAndNoLineComesTwice) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& first = Find("/log");
  first.Open(200);
  first.Send("2026-11-21T05:54:17.1Z a\n2026-11-21T05:54:17.2Z b\n");
  first.End(absl::UnavailableError("reset"));
  Run(1s);
  auto& second = Find("/log");
  ASSERT_NE(&first, &second);
  EXPECT_THAT(second.request.path, HasSubstr("sinceTime=2026-11-21T05%3A54%3A17Z"));
  second.Open(200);
  second.Send("2026-11-21T05:54:17.1Z a\n2026-11-21T05:54:17.2Z b\n2026-11-21T05:54:17.3Z c\n");
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 a", "worker-0 b", "worker-0 c"));
}

TEST_F(LogFollowTest, ADeletedJobIsTheEndAndSaysSo) {
  Start("", JobJson("Running", 4));
  auto& watch = Find("/trainingjobs?");
  watch.Open(200);
  watch.Send(Event("DELETED", JobJson("Running", 20)));
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, StatusIs(absl::StatusCode::kNotFound, HasSubstr("ns/j")));
}

TEST_F(LogFollowTest, ALogThatCannotBeReadDoesNotKeepTheCommandForEver) {
  Start(PodJson("worker", "u1", "Failed", 3), JobJson("Failed", 4));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(done_.has_value());
    Find("/log").Open(500);
    Find("/log").End();
    Run(1s);
  }
  EXPECT_TRUE(done_.has_value());
}

// `taas logs -f` of a TFJob never came back: cleanPodPolicy None leaves its ps in server.join().
TEST_F(LogFollowTest, APodThatRunsOnAfterTheEndOfTheJobDoesNotKeepTheCommand) {
  Start(PodJson("ps", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  log.Send("2026-11-21T05:54:17Z serves\n");
  Run(1min);
  EXPECT_FALSE(done_.has_value());
  Job(JobJson("Succeeded", 20));
  EXPECT_FALSE(done_.has_value()) << "it may still be deleted";
  log.Send("2026-11-21T05:54:18Z serves on\n");
  Run(5s);
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
  EXPECT_THAT(lines_, ElementsAre("ps-0 serves", "ps-0 serves on"));
}

TEST_F(LogFollowTest, WhatAPodWritesOnItsWayOutIsWaitedFor) {
  Start(PodJson("ps", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  Job(JobJson("Succeeded", 20));
  Pod("MODIFIED", GoingPodJson("ps", "u1", 21));
  Run(20s);
  EXPECT_FALSE(done_.has_value());
  log.Send("2026-11-21T05:54:17Z saved\n");
  Pod("DELETED", GoingPodJson("ps", "u1", 22));
  log.End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("ps-0 saved"));
  EXPECT_TRUE(done_.has_value());
}

// `taas submit` of a job with ttlSecondsAfterFinished 0 ended with 3, not found.
TEST_F(LogFollowTest, AJobThatIsDeletedAfterItsEndHasEnded) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  Job(JobJson("Succeeded", 20));
  Find("/trainingjobs?").Send(Event("DELETED", JobJson("Succeeded", 21)));
  Pod("DELETED", PodJson("worker", "u1", "Succeeded", 22));
  log.End();
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

}  // namespace
}  // namespace taas
