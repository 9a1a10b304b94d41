#include "operator/controller/metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::HasSubstr;

TEST(MetricsTest, AJobIsInOneStateAtATime) {
  Metrics metrics;
  const JobState pending = JobState::kPending;
  const JobState running = JobState::kRunning;
  metrics.MoveJob(JobKind::kTfJob, nullptr, &pending);
  metrics.MoveJob(JobKind::kTfJob, &pending, &running);
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_jobs{kind=\"TFJob\",state=\"Pending\"} 0"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_jobs{kind=\"TFJob\",state=\"Running\"} 1"));
}

TEST(MetricsTest, RestartsAreCountedByKindAndCauseAndRequestsByVerbAndCode) {
  Metrics metrics;
  metrics.CountRestart(JobKind::kTrainingJob, RestartCause::kKilled, 2);
  metrics.CountRequest(Verb::kPost, 409);
  EXPECT_THAT(metrics.Text(),
              HasSubstr("taas_restarts_total{cause=\"killed\",kind=\"TrainingJob\"} 2"));
  EXPECT_THAT(metrics.Text(), HasSubstr("taas_api_requests_total{code=\"409\",verb=\"POST\"} 1"));
}

TEST(MetricsTest, WhoLeadsIsOneAndAStandbyZero) {
  Metrics metrics;
  EXPECT_THAT(metrics.Text(), HasSubstr("\ntaas_operator_leader 0\n"));
  metrics.SetLeader(true);
  EXPECT_THAT(metrics.Text(), HasSubstr("\ntaas_operator_leader 1\n"));
}

}  // namespace
}  // namespace taas
