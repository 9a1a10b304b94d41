#include "operator/controller/metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsTest, AJobIsInOneStateAtATime) {
  Metrics metrics;
  const JobState pending = JobState::kPending;
  const JobState running = JobState::kRunning;
  metrics.MoveJob({JobKind::kTfJob, "ml"}, nullptr, &pending);
  metrics.MoveJob({JobKind::kTfJob, "ml"}, &pending, &running);
  const std::string jobs = "taas_jobs{job_namespace=\"ml\",kind=\"TFJob\",state=";
  EXPECT_THAT(metrics.Text(), HasSubstr(jobs + "\"Pending\"} 0"));
  EXPECT_THAT(metrics.Text(), HasSubstr(jobs + "\"Running\"} 1"));
}

TEST(MetricsTest, RestartsAreCountedByKindAndCauseAndRequestsByVerbAndCode) {
  Metrics metrics;
  const JobState running = JobState::kRunning;
  metrics.MoveJob({JobKind::kTrainingJob, "ml"}, nullptr, &running);
  metrics.CountRestart({JobKind::kTrainingJob, "ml"}, RestartCause::kKilled, 2);
  metrics.CountRequest(Verb::kPost, 409);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_restarts_total{cause=\"killed\","
                                        "job_namespace=\"ml\",kind=\"TrainingJob\"} 2"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_api_requests_total{code=\"409\",verb=\"POST\"} 1"));
}

// Symptom: nobody could tell whose jobs wait or fail: no series named a namespace.
TEST(MetricsTest, EachNamespaceWithJobsHasItsSeriesUntilItsLastJobLeaves) {
  Metrics metrics;
  const JobState failed = JobState::kFailed;
  const JobScope team{JobKind::kTrainingJob, "team-a"};
  const JobScope other{JobKind::kTrainingJob, "team-b"};
  metrics.MoveJob(other, nullptr, &failed);
  metrics.MoveJob(team, nullptr, &failed);
  metrics.MoveJob(team, nullptr, &failed);
  metrics.MoveGpus(team, 4, 2);
  metrics.MoveGpuSums(team, {}, {.told = 1, .measured = 1, .hottest_c = 60});
  metrics.MoveRankSums(team, {}, {.ranks = 2});
  metrics.CountRestart(team, RestartCause::kOutOfMemory, 1);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_held{job_namespace=\"team-a\","));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_job_pending_seconds_max{job_namespace=\"team-a\","));
  metrics.MoveGpuSums(team, {.told = 1, .measured = 1, .hottest_c = 60}, {});
  metrics.MoveRankSums(team, {.ranks = 2}, {});
  metrics.MoveGpus(team, -4, -2);
  metrics.MoveJob(team, &failed, nullptr);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_gpus_held{job_namespace=\"team-a\","));
  metrics.MoveJob(team, &failed, nullptr);
  metrics.CountRestart(team, RestartCause::kOutOfMemory, 1);  // An answer that comes late.
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("team-a")));
  EXPECT_THAT(metrics.Text(), HasSubstr("job_namespace=\"team-b\""));
}

TEST(MetricsTest, WhoLeadsIsOneAndAStandbyZero) {
  Metrics metrics;
  EXPECT_THAT(metrics.Text(), HasSubstr("\ntaas_operator_leader 0\n"));
  metrics.SetLeader(true);
  EXPECT_THAT(metrics.Text(), HasSubstr("\ntaas_operator_leader 1\n"));
}

}  // namespace
}  // namespace taas
