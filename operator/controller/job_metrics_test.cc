#include "operator/controller/job_metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr Clock::WallTime kCreated{seconds(1'800'000'000)};

const JobScope kTfJobs{JobKind::kTfJob, "team-a"};

// A job that stays, so that what is shown of the namespace does.
void KeepNamespace(Metrics& metrics) {
  const JobState failed = JobState::kFailed;
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    metrics.MoveJob({kind, kTfJobs.ns}, nullptr, &failed);
  }
}

// A line of what is served: "taas_jobs" and "state=\"Running\"" of kTfJobs or as `kind` says.
std::string Line(const std::string& name, const std::string& value, const std::string& more = "",
                 const std::string& kind = "TrainingJob") {
  return name + "{job_namespace=\"team-a\",kind=\"" + kind + "\"" + more + "} " + value + "\n";
}

Job NewJob() {
  Job job;
  job.meta.ns = "team-a";
  job.meta.creation_time = kCreated;
  return job;
}

TEST(JobMetricsTest, AJobCountsInItsLastStateUntilItLeaves) {
  Metrics metrics;
  KeepNamespace(metrics);
  JobMetrics job;
  job.SetState(metrics, kTfJobs, JobState::kPending, kCreated);
  job.SetState(metrics, kTfJobs, JobState::kRunning, kCreated);
  job.SetState(metrics, kTfJobs, JobState::kRunning, kCreated);
  const auto line = [](const std::string& state, const std::string& value) {
    return Line("taas_jobs", value, ",state=\"" + state + "\"", "TFJob");
  };
  EXPECT_THAT(metrics.Text(), HasSubstr(line("Pending", "0")));
  EXPECT_THAT(metrics.Text(), HasSubstr(line("Running", "1")));
  job.Leave(metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr(line("Running", "0")));
}

TEST(JobMetricsTest, GpusAreAskedForUntilTheEndAndHeldByPods) {
  Metrics metrics;
  KeepNamespace(metrics);
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
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_requested", "9")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_held", "2")));
  set(JobState::kRunning, 9);
  job.spec.roles[Role::kWorker].replicas = 1;
  set(JobState::kRunning, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_requested", "3")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_held", "3")));
  set(JobState::kSuspended, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_requested", "0")));
  set(JobState::kRunning, 3);
  counted.Leave(metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_requested", "0")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_gpus_held", "0")));
}

TEST(JobMetricsTest, WhatTrainersTellOfGpusIsAddedUpUntilTheEnd) {
  Metrics metrics;
  KeepNamespace(metrics);
  JobMetrics one, other;
  const Job job = NewJob();
  JobStatus status;
  status.state = JobState::kRunning;
  GpuSums cool{.told = 2, .measured = 2, .busy_thousandths = 1500, .memory_used_mib = 1,
               .memory_total_mib = 4, .power_milliwatts = 500'500,
               .power_limit_milliwatts = 1'400'000, .ecc_errors = 3, .with_ecc_errors = 1,
               .hottest_c = 50};
  cool.throttled = {1, 0, 0, 2, 0, 0};
  const GpuSums hot{.told = 1, .measured = 1, .busy_thousandths = 100, .hottest_c = 80};
  one.SetGpuSums(metrics, job, status, &cool);
  other.SetGpuSums(metrics, job, status, &hot);
  const auto expect = [&](const std::string& name, const std::string& value) {
    EXPECT_THAT(metrics.Text(), HasSubstr(Line(name, value)));
  };
  expect("taas_gpus_measured", "3");
  expect("taas_gpus_busy", "1.6");
  expect("taas_gpu_memory_used_bytes", "1048576");
  expect("taas_gpu_memory_bytes", "4194304");
  expect("taas_gpu_power_watts", "500.5");
  expect("taas_gpu_power_limit_watts", "1400");
  expect("taas_gpu_temperature_celsius_max", "80");
  expect("taas_gpu_ecc_errors", "3");
  expect("taas_gpus_with_ecc_errors", "1");
  EXPECT_THAT(metrics.Text(),
              HasSubstr(Line("taas_gpus_throttled", "2", ",reason=\"Heat\"")));
  other.SetGpuSums(metrics, job, status, nullptr);
  expect("taas_gpus_measured", "2");
  expect("taas_gpu_temperature_celsius_max", "50");
  status.state = JobState::kSucceeded;
  one.SetGpuSums(metrics, job, status, &cool);
  expect("taas_gpus_measured", "0");
  expect("taas_gpus_busy", "0");
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("taas_gpu_temperature_celsius_max{")));
  status.state = JobState::kRunning;
  one.SetGpuSums(metrics, job, status, &cool);
  one.Leave(metrics);
  expect("taas_gpus_measured", "0");
}

TEST(JobMetricsTest, WhatRanksTellOfTheirTimeIsAddedUpUntilTheEnd) {
  Metrics metrics;
  KeepNamespace(metrics);
  JobMetrics one, other;
  const Job job = NewJob();
  JobStatus status;
  status.state = JobState::kRunning;
  const RankTimes uneven{
      .ranks = {{.role = Role::kChief, .compute = 0.4, .wait = 0.4, .exchange = 0.15,
                 .hidden = 0.2, .bytes_per_step = 1'000},
                {.role = Role::kWorker, .compute = 0.75, .wait = 0.05, .exchange = 0.15,
                 .hidden = 0.1, .bytes_per_step = 1'000}},
      .slowest = "worker-0"};
  const RankTimes even{.ranks = {{.role = Role::kChief, .compute = 0.5}}};
  one.SetRankTimes(metrics, job, status, &uneven);
  other.SetRankTimes(metrics, job, status, &even);
  const auto expect = [&](const std::string& name, const std::string& value) {
    EXPECT_THAT(metrics.Text(), HasSubstr(Line(name, value)));
  };
  const auto part = [&](const std::string& name, const std::string& value) {
    const std::string label = ",part=\"" + name + "\"";
    EXPECT_THAT(metrics.Text(), HasSubstr(Line("taas_rank_time_shares", value, label)));
  };
  expect("taas_ranks_measured", "3");
  expect("taas_rank_step_bytes", "2000");
  expect("taas_jobs_with_slowest_rank", "1");
  part("compute", "1.65");
  part("wait", "0.45");
  part("exchange", "0.3");
  part("hiddenExchange", "0.3");
  other.SetRankTimes(metrics, job, status, nullptr);
  expect("taas_ranks_measured", "2");
  status.state = JobState::kFailed;
  one.SetRankTimes(metrics, job, status, &uneven);
  expect("taas_ranks_measured", "0");
  expect("taas_jobs_with_slowest_rank", "0");
  part("compute", "0");
  status.state = JobState::kRunning;
  one.SetRankTimes(metrics, job, status, &uneven);
  expect("taas_jobs_with_slowest_rank", "1");
  one.Leave(metrics);
  expect("taas_ranks_measured", "0");
  expect("taas_jobs_with_slowest_rank", "0");
}

JobStatus StatusOf(JobState state, int32_t running) {
  JobStatus status;
  status.state = state;
  status.replica_statuses[Role::kChief] = {.desired = 1, .ready = 1};
  status.replica_statuses[Role::kWorker] = {.desired = 3, .ready = running, .succeeded = 1};
  return status;
}

TEST(JobMetricsTest, ALaunchIsMeasuredOnceAndEndsWhenAllRun) {
  Metrics metrics;
  JobMetrics job;
  job.Hear(NewJob(), kCreated + milliseconds(250));
  for (const int after : {2, 9}) {
    job.PodMade(metrics, kCreated + seconds(after));
    job.Launched(metrics, StatusOf(JobState::kRunning, 1), kCreated + seconds(after + 1));
  }
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_sum 1.75\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_count 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 0\n"));
  for (const int after : {20, 90}) {
    job.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(after));
  }
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_sum 19.75\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 1\n"));
}

TEST(JobMetricsTest, AJobThatIsHeardOfLateIsMeasuredFromItsCreation) {
  Metrics metrics;
  JobMetrics job;
  job.Hear(NewJob(), kCreated + seconds(60));  // There was no operator for a minute.
  job.PodMade(metrics, kCreated + seconds(61));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_sum 60\n"));
}

TEST(JobMetricsTest, ALaunchUnderAnEarlierOperatorIsNotMeasured) {
  Metrics metrics;
  JobMetrics counted;
  Job job = NewJob();
  job.ledger.emplace();
  counted.Hear(job, kCreated + seconds(99));
  counted.PodMade(metrics, kCreated + seconds(100));
  counted.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(100));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_count 0\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 0\n"));
}

// Symptom: each job that was taken over counted as one that needed days to start.
TEST(JobMetricsTest, AJobOfAnotherControllerHasNoLaunchOfOurs) {
  Metrics metrics;
  JobMetrics begun, taken;
  Job job = NewJob();
  taken.Hear(job, kCreated);  // The other one takes it before we make a pod.
  taken.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(9));
  job.status.start_time = kCreated;
  begun.Hear(job, kCreated + seconds(100'000));
  begun.PodMade(metrics, kCreated + seconds(100'001));
  begun.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(100'002));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_count 0\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_count 0\n"));
}

TEST(JobMetricsTest, ASuspensionIsNoPartOfALaunch) {
  Metrics metrics;
  JobMetrics job;
  job.Hear(NewJob(), kCreated);
  job.PodMade(metrics, kCreated + seconds(1));
  job.SetState(metrics, kTfJobs, JobState::kSuspended, kCreated + seconds(2));
  job.SetState(metrics, kTfJobs, JobState::kPending, kCreated + seconds(1000));
  job.PodMade(metrics, kCreated + seconds(1003));
  job.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(1010));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_first_pod_seconds_sum 4\n"));  // 1 and 3.
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_all_pods_seconds_sum 10\n"));
}

// Symptom: a job that never started was in no histogram of start times, so no alert told of it.
TEST(JobMetricsTest, TheJobThatWaitsLongestForItsPodsIsMeasuredWhileItWaits) {
  Metrics metrics;
  KeepNamespace(metrics);
  JobMetrics old, young;
  Job job = NewJob();
  const auto expect = [&](int now, const std::string& value) {
    EXPECT_THAT(metrics.Text(kCreated + seconds(now)),
                HasSubstr(Line("taas_job_pending_seconds_max", value, "", "TFJob")));
  };
  const auto wait = [&](JobMetrics& one, const JobStatus& status, int now) {
    one.SetWaiting(metrics, kTfJobs, status, kCreated + seconds(now));
  };
  old.Hear(job, kCreated + milliseconds(500));
  wait(old, StatusOf(JobState::kPending, 0), 3);
  job.meta.creation_time = kCreated + seconds(100);
  young.Hear(job, kCreated + seconds(100));
  wait(young, StatusOf(JobState::kPending, 0), 100);
  expect(2000, "1999.5");
  wait(old, StatusOf(JobState::kRunning, 1), 2000);
  expect(3000, "2999.5");  // It trains without a worker.
  old.PodMade(metrics, kCreated + seconds(4));
  old.Launched(metrics, StatusOf(JobState::kRunning, 2), kCreated + seconds(3000));
  wait(old, StatusOf(JobState::kRunning, 2), 3000);
  expect(3000, "2900");
  wait(old, StatusOf(JobState::kRestarting, 1), 4000);
  young.Leave(metrics);
  expect(4010, "10");
  wait(old, StatusOf(JobState::kSuspended, 0), 4020);
  expect(9000, "0");
}

TEST(JobMetricsTest, AJobThatWaitedUnderAnEarlierOperatorHasWaitedSinceItsStart) {
  Metrics metrics;
  JobMetrics counted;
  Job job = NewJob();
  job.ledger.emplace();
  counted.Hear(job, kCreated + seconds(5000));
  JobStatus status = StatusOf(JobState::kPending, 0);
  status.start_time = kCreated;
  counted.SetWaiting(metrics, ScopeOf(job), status, kCreated + seconds(5000));
  EXPECT_THAT(metrics.Text(kCreated + seconds(5000)),
              HasSubstr(Line("taas_job_pending_seconds_max", "5000")));
}

TEST(JobMetricsTest, OnlyRestartsThatTheStoredLedgerDoesNotHaveAreNew) {
  Metrics metrics;
  KeepNamespace(metrics);
  Job job = NewJob();
  const std::string labels = "job_namespace=\"team-a\",kind=\"TrainingJob\"} ";
  const std::string killed = "cause=\"killed\"," + labels;
  Ledger written;
  written.restarts = {{RestartCause::kKilled, 5}, {RestartCause::kUserError, 1}};
  CountRestarts(metrics, job, written);  // A ledger that was lost: nobody knows which are new.
  EXPECT_THAT(metrics.Text(), Not(HasSubstr(killed + "5")));
  job.ledger.emplace().restarts = {{RestartCause::kKilled, 3}};
  CountRestarts(metrics, job, written);
  EXPECT_THAT(metrics.Text(), HasSubstr(killed + "2"));
  EXPECT_THAT(metrics.Text(), HasSubstr("cause=\"userError\"," + labels + "1"));
}

}  // namespace
}  // namespace taas
