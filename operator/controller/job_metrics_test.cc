#include "operator/controller/job_metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr Clock::WallTime kCreated{seconds(1'800'000'000)};

Job NewJob() {
  Job job;
  job.meta.creation_time = kCreated;
  return job;
}

TEST(JobMetricsTest, AJobCountsInItsLastStateUntilItLeaves) {
  Metrics metrics;
  JobMetrics job;
  job.SetState(metrics, JobKind::kTfJob, JobState::kPending);
  job.SetState(metrics, JobKind::kTfJob, JobState::kRunning);
  job.SetState(metrics, JobKind::kTfJob, JobState::kRunning);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_jobs{kind=\"TFJob\",state=\"Pending\"} 0"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_jobs{kind=\"TFJob\",state=\"Running\"} 1"));
  job.Leave(metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_jobs{kind=\"TFJob\",state=\"Running\"} 0"));
}

TEST(JobMetricsTest, GpusAreAskedForUntilTheEndAndHeldByPods) {
  Metrics metrics;
  JobMetrics counted;
  Job job = NewJob();
  job.spec.roles[Role::kWorker] = {.replicas = 4, .gpus = 2};
  job.spec.roles[Role::kChief] = {.gpu_limit = 1};
  const auto set = [&](JobState state, int32_t held) {
    JobStatus status;
    status.state = state;
    status.gpus = held;
    counted.SetGpus(metrics, job, status);
  };
  set(JobState::kPending, 2);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_requested{kind=\"TrainingJob\"} 9\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_held{kind=\"TrainingJob\"} 2\n"));
  set(JobState::kRunning, 9);
  job.spec.roles[Role::kWorker].replicas = 1;
  set(JobState::kRunning, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_requested{kind=\"TrainingJob\"} 3\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_held{kind=\"TrainingJob\"} 3\n"));
  set(JobState::kSuspended, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_requested{kind=\"TrainingJob\"} 0\n"));
  set(JobState::kRunning, 3);
  counted.Leave(metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_requested{kind=\"TrainingJob\"} 0\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_held{kind=\"TrainingJob\"} 0\n"));
}

TEST(JobMetricsTest, ALaunchIsMeasuredOnce) {
  Metrics metrics;
  JobMetrics job;
  for (const int after : {2, 9}) {
    job.PodsMade(metrics, NewJob(), kCreated + seconds(after));
    job.AllRun(metrics, NewJob(), kCreated + seconds(after + 1));
  }
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_sum 2\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_count 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_sum 3\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 1\n"));
}

TEST(JobMetricsTest, ALaunchUnderAnEarlierOperatorIsNotMeasured) {
  Metrics metrics;
  JobMetrics counted;
  Job job = NewJob();
  job.status.start_time = kCreated;
  job.status.state = JobState::kRestarting;
  counted.PodsMade(metrics, job, kCreated + seconds(100));
  counted.AllRun(metrics, job, kCreated + seconds(100));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_count 0\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 0\n"));
}

TEST(JobMetricsTest, OnlyRestartsThatTheStoredLedgerDoesNotHaveAreNew) {
  Metrics metrics;
  Job job = NewJob();
  Ledger written;
  written.restarts = {{RestartCause::kKilled, 5}, {RestartCause::kUserError, 1}};
  CountRestarts(metrics, job, written);  // A ledger that was lost: nobody knows which are new.
  EXPECT_THAT(metrics.Text(), testing::Not(HasSubstr("cause=\"killed\",kind=\"TrainingJob\"} 5")));
  job.ledger.emplace().restarts = {{RestartCause::kKilled, 3}};
  CountRestarts(metrics, job, written);
  EXPECT_THAT(metrics.Text(), HasSubstr("cause=\"killed\",kind=\"TrainingJob\"} 2"));
  EXPECT_THAT(metrics.Text(), HasSubstr("cause=\"userError\",kind=\"TrainingJob\"} 1"));
}

}  // namespace
}  // namespace taas
