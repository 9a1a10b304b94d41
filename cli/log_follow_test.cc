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

// A pod with an init container in this state, as JSON, whose main container waits for it.
std::string InitPodJson(const std::string& phase, const std::string& state, int version) {
  std::string json = PodJson("worker", "u1", phase, version);
  json.insert(json.size() - 2, R"(,"initContainerStatuses":[{"name":"fetch","state":)" + state +
                                   R"(}],"containerStatuses":[{"name":"trainer","state":)"
                                   R"({"waiting":{"reason":"PodInitializing"}}}])");
  return json.insert(1, R"("spec":{"initContainers":[{"name":"fetch"}],)"
                        R"("containers":[{"name":"trainer"}]},)");
}
std::string StartedPodJson(const std::string& phase, int version) {
  std::string json = PodJson("worker", "u1", phase, version);
  return json.insert(1, R"("spec":{"initContainers":[{"name":"fetch"}],)"
                        R"("containers":[{"name":"trainer"}]},)");
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
  }
  // The pods are asked for once more when the job is over.
  void ListPodsAgain(const std::string& pods) {
    ASSERT_EQ(transport_.waiting(), 1u);
    EXPECT_THAT(transport_.request().path, HasSubstr("/pods?"));
    transport_.Reply(HttpReply{
        .code = 200, .body = R"({"metadata":{"resourceVersion":"50"},"items":[)" + pods + "]}"});
    pods_open_ = false;
    Run();
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
    JobEvent("MODIFIED", json);
  }
  void JobEvent(const std::string& type, const std::string& json) {
    auto& watch = Find("/trainingjobs?");
    if (!jobs_open_) watch.Open(200);
    jobs_open_ = true;
    watch.Send(Event(type, json));
    Run();
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  bool pods_open_ = false;
  bool jobs_open_ = false;
  std::vector<std::string> lines_;
  std::optional<absl::Status> done_;
  LogFollow follow_{transport_,
                    executor_,
                    random_,
                    {.ns = "ns", .job = "j", .filter = {.uid = "uj"}},
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
  ListPodsAgain(PodJson("worker", "u1", "Succeeded", 21));
  EXPECT_FALSE(done_.has_value());  // The log is still being read.
  log.Send("p 2");
  log.End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 step 1", "worker-0 step 2"));
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

// Symptom: of an init container that ran, and of one that failed, nothing was shown.
TEST_F(LogFollowTest, AnInitContainersLogIsFollowedAndThenTheMainOnes) {
  Start(InitPodJson("Pending", R"({"running":{"startedAt":"2026-11-21T05:54:16Z"}})", 3),
        JobJson("Pending", 4));
  auto& init = Find("/log");
  EXPECT_THAT(init.request.path, HasSubstr("container=fetch"));
  init.Open(200);
  init.Send("2026-11-21T05:54:17Z downloading\n");
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0/fetch downloading"));
  Pod("MODIFIED", StartedPodJson("Running", 11));
  auto& main = Find("container=trainer");
  init.Send("2026-11-21T05:54:18Z downloaded\n");
  init.End();
  main.Open(200);
  main.Send("2026-11-21T05:54:19Z step 1\n");
  Run(10s);
  EXPECT_THAT(lines_, ElementsAre("worker-0/fetch downloading", "worker-0/fetch downloaded",
                                  "worker-0 step 1"));
  Job(JobJson("Succeeded", 20));
  ListPodsAgain(StartedPodJson("Succeeded", 21));
  main.End();
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

TEST_F(LogFollowTest, OfAPodWhoseInitContainerFailedItsLogIsRead) {
  Start(InitPodJson("Failed", R"({"terminated":{"exitCode":4}})", 3), JobJson("Failed", 4));
  auto& log = Find("/log");
  EXPECT_THAT(log.request.path, HasSubstr("container=fetch"));
  log.Open(200);
  log.Send("2026-11-21T05:54:17Z bucket gs://x not found\n");
  log.End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0/fetch bucket gs://x not found"));
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
  JobEvent("DELETED", JobJson("Running", 20));
  EXPECT_FALSE(done_.has_value()) << "its pods may have more to say";
  ListPodsAgain("");
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, StatusIs(absl::StatusCode::kNotFound, HasSubstr("ns/j")));
}

// `taas submit` and `taas logs -f` ended with 3, "was deleted", while the job ran, in a namespace
// with other jobs.
TEST_F(LogFollowTest, OtherJobsOfTheListAreNotTakenForTheWholeOfIt) {
  std::string other = JobJson("Running", 3);
  other.replace(other.find(R"("name":"j")"), 10, R"("name":"a")");
  Start("", other + "," + JobJson("Running", 4));
  Run(1min);
  EXPECT_FALSE(done_.has_value());
}

TEST_F(LogFollowTest, AnotherJobOfTheSameNameIsNotThisOne) {
  Start("", JobJson("Running", 4));
  std::string successor = JobJson("Running", 20);
  successor.replace(successor.find(R"("uid":"uj")"), 10, R"("uid":"u2")");
  Job(successor);
  ListPodsAgain("");
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, StatusIs(absl::StatusCode::kNotFound, HasSubstr("ns/j was deleted")));
}

// `taas submit` never returned: the server kept the log of a pod open that had been deleted.
TEST_F(LogFollowTest, ALogThatItsServerNeverEndsIsGivenUpWhenTheJobIsOver) {
  Start(PodJson("ps", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  log.Send("2026-11-21T05:54:17Z serves\n");
  Pod("DELETED", PodJson("ps", "u1", "Running", 19));
  Run(1min);
  EXPECT_FALSE(done_.has_value()) << "the job goes on";
  Job(JobJson("Failed", 20));
  ListPodsAgain("");
  Run(LogFollow::kAfterEnd + 100ms);
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
  EXPECT_THAT(lines_, ElementsAre("ps-0 serves"));
}

TEST_F(LogFollowTest, WhatAPodThatHasStoppedWroteIsReadToItsEndHoweverLongThatTakes) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  Job(JobJson("Succeeded", 20));
  ListPodsAgain(PodJson("worker", "u1", "Succeeded", 21));
  for (int i = 0; i < 10; ++i) {
    Run(1s);
    EXPECT_FALSE(done_.has_value()) << i;
    log.Send("2026-11-21T05:54:17Z line " + std::to_string(i) + "\n");
  }
  log.End();
  Run();
  EXPECT_EQ(lines_.size(), 10u);
  EXPECT_TRUE(done_.has_value());
}

TEST_F(LogFollowTest, PodsThatTheWatchHasNotToldOfYetAreReadToo) {
  Start("", JobJson("Running", 4));
  Job(JobJson("Succeeded", 20));
  ListPodsAgain(PodJson("worker", "u1", "Succeeded", 19));
  EXPECT_FALSE(done_.has_value());
  auto& log = Find("/log");
  log.Open(200);
  log.Send("2026-11-21T05:54:17Z short\n");
  log.End();
  Run();
  EXPECT_THAT(lines_, ElementsAre("worker-0 short"));
  EXPECT_TRUE(done_.has_value());
}

// It tried again for ever, and said nothing.
TEST_F(LogFollowTest, WhoMayNotListPodsIsTold) {
  follow_.Start();
  transport_.Reply(
      HttpReply{.code = 403, .body = R"({"reason":"Forbidden","message":"no","code":403})"});
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("403 Forbidden")));
}

// `taas logs -f` ended a second after the job where the log had ended before the pod had.
TEST_F(LogFollowTest, ALogThatEndsBeforeItsPodIsReadAgainWhenThePodHasEnded) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& first = Find("/log");
  first.Open(200);
  first.Send("2026-11-21T05:54:17Z a\n");
  first.End();
  Run(100ms);
  Pod("MODIFIED", PodJson("worker", "u1", "Succeeded", 12));
  auto& second = Find("/log");
  ASSERT_NE(&first, &second);
  second.Open(200);
  second.Send("2026-11-21T05:54:17Z a\n2026-11-21T05:54:18Z b\n");
  second.End();
  Job(JobJson("Succeeded", 20));
  ListPodsAgain(PodJson("worker", "u1", "Succeeded", 12));
  EXPECT_THAT(lines_, ElementsAre("worker-0 a", "worker-0 b"));
  EXPECT_TRUE(done_.has_value());
}

TEST_F(LogFollowTest, AServerThatDoesNotListThePodsDoesNotKeepTheCommand) {
  Start("", JobJson("Running", 4));
  Job(JobJson("Succeeded", 20));
  ASSERT_EQ(transport_.waiting(), 1u);
  Run(LogFollow::kAfterEnd + 100ms);
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

// `taas logs -f` gave up a job with a number in its status that could not be read.
TEST_F(LogFollowTest, AJobThatCannotBeReadIsFollowedAndNotTakenForDeleted) {
  std::string unreadable = JobJson("Running", 4);
  unreadable.insert(unreadable.find(R"("state")"), R"("attempt":"x",)");
  Start("", unreadable);
  Run(1min);
  EXPECT_FALSE(done_.has_value());
  Job(JobJson("Failed", 20));
  ListPodsAgain("");
  EXPECT_TRUE(done_.has_value());
}

TEST_F(LogFollowTest, ALogThatCannotBeReadDoesNotKeepTheCommandForEver) {
  Start(PodJson("worker", "u1", "Failed", 3), JobJson("Failed", 4));
  ListPodsAgain(PodJson("worker", "u1", "Failed", 3));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(done_.has_value());
    auto& log = Find("/log");
    log.Open(500);
    log.End();
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
  ListPodsAgain(PodJson("ps", "u1", "Running", 3));
  EXPECT_FALSE(done_.has_value()) << "it may still be deleted";
  Run(1s);
  log.Send("2026-11-21T05:54:18Z serves on\n");
  Run(1s);
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
  EXPECT_THAT(lines_, ElementsAre("ps-0 serves", "ps-0 serves on"));
}

// The job's result is known: whoever waits for it is not kept by the grace of a pod.
TEST_F(LogFollowTest, WhatAPodWritesOnItsWayOutIsWaitedForAMoment) {
  Start(PodJson("ps", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  Job(JobJson("Succeeded", 20));
  ListPodsAgain(GoingPodJson("ps", "u1", 21));
  Run(1s);
  EXPECT_FALSE(done_.has_value());
  log.Send("2026-11-21T05:54:17Z saved\n");
  Run();
  EXPECT_THAT(lines_, ElementsAre("ps-0 saved"));
  Run(1s);
  EXPECT_TRUE(done_.has_value());
}

// `taas submit` of a job with ttlSecondsAfterFinished 0 ended with 3, not found.
TEST_F(LogFollowTest, AJobThatIsDeletedAfterItsEndHasEnded) {
  Start(PodJson("worker", "u1", "Running", 3), JobJson("Running", 4));
  auto& log = Find("/log");
  log.Open(200);
  Job(JobJson("Succeeded", 20));
  JobEvent("DELETED", JobJson("Succeeded", 21));
  ListPodsAgain("");
  log.End();
  Run();
  ASSERT_TRUE(done_.has_value());
  EXPECT_THAT(*done_, IsOk());
}

}  // namespace
}  // namespace taas
