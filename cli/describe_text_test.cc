#include "cli/describe_text.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Clock::WallTime kNow(1'800'000'000s);

JobDescription Pending() {
  JobDescription out{.job = {}, .pods = {}, .events = {}, .now = kNow};
  out.job.meta = {.ns = "team", .name = "mnist", .uid = "u1", .creation_time = kNow - 300s};
  out.job.spec.roles[Role::kPs].replicas = 1;
  out.job.spec.roles[Role::kWorker].replicas = 2;
  out.job.status.state = JobState::kPending;
  out.job.status.ready = "1/3";
  out.job.status.message = "worker-0 has no node: 1 Insufficient cpu";
  out.job.status.restarts = {{RestartCause::kKilled, 2}};
  Pod ps;
  ps.meta.name = "mnist-ps-0";
  ps.role = Role::kPs;
  ps.index = 0;
  ps.phase = PodPhase::kRunning;
  ps.ready = true;
  ps.node = "n1";
  Pod worker;
  worker.meta.name = "mnist-worker-0";
  worker.role = Role::kWorker;
  worker.index = 0;
  worker.unschedulable_reason = "Unschedulable";
  worker.unschedulable_message = "0/1 nodes are available: 1 Insufficient cpu.";
  out.pods = {ps, worker};
  return out;
}

TEST(DescribeTextTest, TheFirstLineSaysWhyTheJobDoesNotRun) {
  EXPECT_THAT(DescribeText(Pending()),
              StartsWith("mnist is pending: worker-0 has no node: 1 Insufficient cpu.\n\nName:"));
}

TEST(DescribeTextTest, WhereTheCheckpointsLieIsSaid) {
  JobDescription trained = Pending();
  EXPECT_THAT(DescribeText(trained), Not(HasSubstr("Checkpoints:")));
  trained.checkpoints = CheckpointPlace{
      .dir = "/out", .volume = "claim o", .stays = true, .folder = "/home/me/o", .step = 7};
  EXPECT_THAT(DescribeText(trained), HasSubstr("Checkpoints:    /out on claim o, step 7\n"));
  EXPECT_THAT(DescribeText(trained), HasSubstr("Their folder:   /home/me/o\n"));
}

TEST(DescribeTextTest, EachReplicaIsALineAlsoWithoutAPod) {
  const std::string text = DescribeText(Pending());
  EXPECT_THAT(text, HasSubstr("  ps-0       Running         mnist-ps-0       n1     -      -\n"));
  EXPECT_THAT(text, HasSubstr("  worker-0   Unschedulable   mnist-worker-0   -      -      "
                              "0/1 nodes are available: 1 Insufficient cpu.\n"));
  EXPECT_THAT(text, HasSubstr("  worker-1   no pod\n"));
  EXPECT_THAT(text, HasSubstr("Restarts:    2 (killed 2)\n"));
}

// Symptom: of a program that had failed with a traceback the note was the first line of its log's
// end, which says nothing, and beside it one on its image.
TEST(DescribeTextTest, OfAFailureTheNoteIsTheLastLine) {
  JobDescription description = Pending();
  Pod& pod = description.pods[1];
  pod.phase = PodPhase::kFailed;
  pod.exit_code = 1;
  pod.message = "image \"python:3\" is not pulled";
  pod.termination_message = "INFO: using config\nTraceback:\n  main()\nValueError: bad shape\n\n";
  pod.unschedulable_message = "";
  EXPECT_THAT(DescribeText(description),
              HasSubstr("worker-0   Failed    mnist-worker-0   -      1      "
                        "ValueError: bad shape\n"));
}

// Symptom: of a pod whose init container had failed there was neither exit code nor note.
TEST(DescribeTextTest, AnInitContainerThatFailsIsNamedWithItsCodeAndLastLine) {
  JobDescription description = Pending();
  Pod& pod = description.pods[1];
  pod.phase = PodPhase::kFailed;
  pod.unschedulable_message = "";
  pod.init = std::make_shared<InitContainer>(
      InitContainer{.name = "fetch",
                    .exit_code = 4,
                    .termination_message = "resolving\nbucket gs://x not found\n"});
  EXPECT_THAT(DescribeText(description),
              HasSubstr("worker-0   Failed    mnist-worker-0   -      4      "
                        "init container fetch: bucket gs://x not found\n"));
}

TEST(DescribeTextTest, TheEndOfAProcessIsShownWithItsCodeAndWords) {
  JobDescription description = Pending();
  Pod& pod = description.pods[1];
  pod.phase = PodPhase::kFailed;
  pod.exit_code = 1;
  pod.termination_message = R"({"message":"open /data: no such file","step":0})";
  pod.unschedulable_message = "";
  EXPECT_THAT(DescribeText(description),
              HasSubstr("worker-0   Failed    mnist-worker-0   -      1      "
                        "open /data: no such file\n"));
}

// A regression was told to have an accuracy of 0.
TEST(DescribeTextTest, OfAnEvaluationWhatWasMeasuredIsShown) {
  JobDescription description = Pending();
  description.job.status.progress = Progress{
      .step = 9, .evaluation = Evaluation{.step = 8, .accuracy = 0.954, .loss = 0.25}};
  EXPECT_THAT(DescribeText(description), HasSubstr("accuracy 0.954, loss 0.25 at step 8\n"));
  description.job.status.progress->evaluation->accuracy.reset();
  EXPECT_THAT(DescribeText(description), HasSubstr("  loss 0.25 at step 8\n"));
}

TEST(DescribeTextTest, AnEvaluationOfATextHasAPerplexity) {
  JobDescription description = Pending();
  description.job.spec.trainer.config = R"({"data": {"format": "text"}})";
  description.job.status.progress =
      Progress{.step = 9, .evaluation = Evaluation{.step = 8, .accuracy = 0.5, .loss = 2}};
  EXPECT_THAT(DescribeText(description),
              HasSubstr("accuracy 0.5, perplexity 7.389, loss 2 at step 8\n"));
}

// Symptom: "mnist is running: step 0/600 (0 %)." of a job that had been killed six times.
TEST(DescribeTextTest, OfAJobThatRunsOutOfMemoryTheFirstLineSaysSo) {
  JobDescription description = Pending();
  description.job.spec.roles[Role::kWorker].resources = R"({"limits": {"memory": "1Gi"}})";
  description.job.status.state = JobState::kRunning;
  description.job.status.message.clear();
  description.job.status.progress = Progress{.step = 0, .max_steps = 600};
  description.job.status.restarts = {{RestartCause::kOutOfMemory, 6}};
  description.job.status.history = {
      {.cause = RestartCause::kOutOfMemory, .exit_code = 137, .time = kNow - 30s}};
  EXPECT_THAT(DescribeText(description),
              StartsWith("mnist: worker-0 ran out of memory 6 times (limit 1Gi), last 30s ago; "
                         "raise resources.limits.memory of its role, or give it less to hold "
                         "(batchSize, the model). Now mnist is running: step 0/600 (0 %).\n"));
  description.job.status.state = JobState::kFailed;
  EXPECT_THAT(DescribeText(description), StartsWith("mnist has failed"));
}

TEST(DescribeTextTest, HistoryConditionsAndEventsAreThereWhenThereAreAny) {
  JobDescription description = Pending();
  EXPECT_THAT(DescribeText(description),
              testing::AllOf(HasSubstr("Events: none"), Not(HasSubstr("Conditions:")),
                             Not(HasSubstr("newest last"))));
  description.job.status.history = {{.role = Role::kWorker,
                                     .index = 1,
                                     .pod_number = 2,
                                     .cause = RestartCause::kKilled,
                                     .exit_code = 137,
                                     .message = "killed",
                                     .node = "n1",
                                     .time = kNow - 30s}};
  description.job.status.conditions = {
      {.type = "Created", .status = true, .reason = "JobCreated", .message = "ok",
       .last_transition_time = kNow - 300s}};
  description.events = {{.reason = "Later", .message = "b", .time = kNow - 5s},
                        {.warning = true, .reason = "Sooner", .message = "a",
                         .object = "Pod/mnist-ps-0", .count = 3, .time = kNow - 9s}};
  const std::string text = DescribeText(description);
  EXPECT_THAT(text, HasSubstr("30s ago   worker-1   killed   137    1.2   n1     killed\n"));
  EXPECT_THAT(text, HasSubstr("Created   True     5m      JobCreated   ok\n"));
  EXPECT_THAT(text, HasSubstr("9s     Warning   Sooner x3   Pod/mnist-ps-0   a\n"
                              "  5s     Normal    Later       -                b\n"));
}

TEST(DescribeTextTest, OnlyTheNewestEventsAreShownAndTheRestIsCounted) {
  JobDescription description = Pending();
  for (int i = 0; i < 30; ++i) {
    description.events.push_back({.reason = "E" + std::to_string(i),
                                  .message = "m",
                                  .time = kNow + std::chrono::seconds(i)});
  }
  const std::string text = DescribeText(description);
  EXPECT_THAT(text, testing::AllOf(HasSubstr("(5 earlier ones are not shown)"), HasSubstr(" E29 "),
                                   Not(HasSubstr(" E4 "))));
}

TEST(ReadEventTest, EventsOfTheJobAndOfItsPodsAreTold) {
  const Job job = Pending().job;
  const auto event = [&](const std::string& uid) {
    return ReadEvent(R"({"type":"Warning","reason":"Killing","message":"m","count":2,)"
                     R"("lastTimestamp":"2027-01-15T08:00:00Z",)"
                     R"("involvedObject":{"kind":"Pod","name":"p","uid":")" + uid + R"("}})",
                     job, {"p1"});
  };
  ASSERT_TRUE(event("u1").has_value());
  EXPECT_EQ(event("u1")->object, "");
  ASSERT_TRUE(event("p1").has_value());
  EXPECT_EQ(event("p1")->object, "Pod/p");
  EXPECT_EQ(event("p1")->count, 2);
  EXPECT_EQ(event("p1")->time, kNow);
  // An earlier job of this name.
  EXPECT_FALSE(event("u0").has_value());
  EXPECT_FALSE(ReadEvent("[]", job, {}).has_value());
}

}  // namespace
}  // namespace taas
