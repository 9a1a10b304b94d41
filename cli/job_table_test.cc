#include "cli/job_table.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

const Clock::WallTime kNow(1'800'000'000s);

Job Running() {
  Job job;
  job.meta = {.ns = "team", .name = "mnist", .creation_time = kNow - 200s};
  job.spec.roles[Role::kPs].replicas = 2;
  job.spec.roles[Role::kWorker].replicas = 3;
  job.spec.roles[Role::kWorker].gpus = 4;
  job.status.state = JobState::kRunning;
  job.status.observed_generation = 1;
  job.status.ready = "3/5";
  job.status.progress = Progress{.step = 1200, .max_steps = 2000, .percent = 60};
  job.status.restarts = {{RestartCause::kKilled, 2}, {RestartCause::kPreempted, 1}};
  return job;
}

TEST(JobTableTest, EachJobIsALineAndColumnsAreAligned) {
  Job fresh;
  fresh.meta = {.ns = "default", .name = "a-job-with-a-longer-name"};
  EXPECT_EQ(FormatJobTable({Running(), fresh}, kNow, {}),
            "NAME                       STATE     READY   STEP        PROGRESS   RESTARTS   AGE\n"
            "mnist                      Running   3/5     1200/2000   60%        3          3m\n"
            "a-job-with-a-longer-name   Pending   -       -           -          0          -\n");
  EXPECT_EQ(FormatJobTable({Running()}, kNow, {.with_namespace = true}).substr(0, 16),
            "NAMESPACE   NAME");
}

TEST(JobTableTest, TheWideTableHasKindReplicasGpusAndMessage) {
  Job job = Running();
  job.kind = JobKind::kTfJob;
  job.status.message = "ps-1 restarts";
  EXPECT_EQ(FormatJobTable({job}, kNow, {.wide = true, .headers = false}),
            "mnist   TFJob   Running   3/5   1200/2000   60%   3   3m   ps 2, worker 3   12   "
            "ps-1 restarts\n");
}

// A TFJob that had ended showed 0% for ever.
TEST(JobTableTest, WithoutAnAimThereIsNoShare) {
  Job job = Running();
  job.status.progress = Progress{.step = 2000};
  EXPECT_EQ(FormatJobTable({job}, kNow, {.headers = false}),
            "mnist   Running   3/5   2000   -   3   3m\n");
}

TEST(JobTableTest, AJobThatIsBeingDeletedSaysSo) {
  Job job = Running();
  job.meta.deletion_time = kNow;
  EXPECT_NE(FormatJobTable({job}, kNow, {}).find("Terminating"), std::string::npos);
  EXPECT_EQ(WhySentence(job), "mnist is being deleted.");
}

TEST(JobTableTest, AgesHaveOneUnit) {
  EXPECT_EQ(FormatAge(-5s), "0s");
  EXPECT_EQ(FormatAge(119s), "119s");
  EXPECT_EQ(FormatAge(120s), "2m");
  EXPECT_EQ(FormatAge(119min), "119m");
  EXPECT_EQ(FormatAge(47h), "47h");
  EXPECT_EQ(FormatAge(48h), "2d");
}

TEST(WhySentenceTest, TheMessageOfTheStatusIsTheReason) {
  Job job = Running();
  job.status.state = JobState::kPending;
  job.status.message = "worker-2 has no node: 0/1 nodes are available: 1 Insufficient cpu.";
  EXPECT_EQ(WhySentence(job),
            "mnist is pending: worker-2 has no node: 0/1 nodes are available: 1 Insufficient cpu.");
  job.status.state = JobState::kFailed;
  job.status.message = "worker-0 exited with 1";
  EXPECT_EQ(WhySentence(job), "mnist has failed: worker-0 exited with 1.");
}

// It said "is suspended: the job is suspended; it goes on when spec.suspend is false".
TEST(WhySentenceTest, ASuspendedJobSaysByWhichVerbItGoesOn) {
  Job job = Running();
  job.status.state = JobState::kSuspended;
  job.spec.suspend = true;
  job.status.message = "the job is suspended; it goes on when spec.suspend is false";
  EXPECT_EQ(WhySentence(job), "mnist is suspended; `taas resume mnist` lets it go on.");
  job.status.message = "the queue team-a has no quota left";
  EXPECT_EQ(WhySentence(job), "mnist is suspended: the queue team-a has no quota left.");
}

// `taas list` left it out.
TEST(JobTableTest, AJobWhoseStatusCannotBeReadIsALineLikeOthers) {
  SeenJob job = Running();
  job.status = {};
  job.status_known = false;
  job.unreadable = absl::InvalidArgumentError("decode TrainingJob default/mnist: status.x");
  const std::string table = FormatJobTable({job}, kNow, {.wide = true, .headers = false});
  EXPECT_EQ(table,
            "mnist   TrainingJob   Unreadable   -   -   -   -   3m   ps 2, worker 3   12   "
            "decode TrainingJob default/mnist: status.x\n");
  EXPECT_EQ(WhySentence(job),
            "mnist cannot be read: decode TrainingJob default/mnist: status.x.");
}

TEST(WhySentenceTest, ARunningJobSaysHowFarItIs) {
  EXPECT_EQ(WhySentence(Running()), "mnist is running: step 1200/2000 (60 %).");
}

TEST(WhySentenceTest, AJobThatNobodyHasLookedAtPointsToTheDoctor) {
  Job job;
  job.meta.name = "new";
  EXPECT_EQ(WhySentence(job),
            "new is pending: no operator has seen it yet; `taas doctor` says whether one runs.");
  EXPECT_EQ(WhySentence(job, "the operator works in a, not in b"),
            "new is pending: no operator has seen it yet; the operator works in a, not in b.");
}

TEST(WhySentenceTest, AStatusWithoutAMessageIsTakenFromItsLastCondition) {
  Job job;
  job.meta.name = "tf";
  job.status.state = JobState::kSuspended;
  job.status.conditions = {
      {.type = "Created", .status = true, .message = "TFJob tf is created."},
      {.type = "Suspended", .status = true, .message = "TFJob tf is suspended."},
      {.type = "Running", .status = false, .message = "not this"}};
  EXPECT_EQ(WhySentence(job), "tf is suspended: TFJob tf is suspended.");
}

}  // namespace
}  // namespace taas
