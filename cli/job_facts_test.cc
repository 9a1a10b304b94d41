#include "cli/job_facts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/memory_limit.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

const Clock::WallTime kNow(1'800'000'000s);

Job Killed() {
  Job job;
  job.meta = {.ns = "default", .name = "med"};
  job.spec.roles[Role::kWorker].resources = R"({"limits": {"memory": "1Gi"}})";
  job.status.restarts = {{RestartCause::kOutOfMemory, 6}};
  job.status.history = {{.role = Role::kWorker,
                         .cause = RestartCause::kOutOfMemory,
                         .exit_code = 137,
                         .time = kNow - 12s}};
  return job;
}

TEST(JobFactsTest, AJobOfTextsHasAPerplexity) {
  Job job;
  job.spec.trainer.config = R"({"data": {"format": "text"}})";
  EXPECT_TRUE(LearnsTexts(job));
  EXPECT_NEAR(PerplexityOf(job, {.loss = 2}).value_or(0), 7.389, 1e-3);
  job.spec.trainer.config = R"({"data": {"format": "idx"}})";
  EXPECT_EQ(PerplexityOf(job, {.loss = 2}), std::nullopt);
  for (const char* broken : {"", "[]", R"({"data": 7})", R"({"data": {"format": 7}})"}) {
    job.spec.trainer.config = broken;
    EXPECT_FALSE(LearnsTexts(job)) << broken;
  }
}

TEST(JobFactsTest, TheLimitIsThatOfTheTemplateBeforeThatOfTheRole) {
  Job job = Killed();
  EXPECT_EQ(MemoryLimitOf(job, Role::kWorker), "1Gi");
  RoleSpec& worker = job.spec.roles[Role::kWorker];
  worker.container = 1;
  worker.pod_template = R"({"spec": {"containers": [
      {"name": "side", "resources": {"limits": {"memory": "1Mi"}}},
      {"name": "trainer", "resources": {"limits": {"memory": "2Gi"}}}]}})";
  EXPECT_EQ(MemoryLimitOf(job, Role::kWorker), "2Gi");
  EXPECT_EQ(MemoryLimitOf(job, Role::kChief), "");
}

TEST(JobFactsTest, OutOfMemoryIsSaidWhileItIsTheNewestRestart) {
  Job job = Killed();
  EXPECT_EQ(OutOfMemoryText(job, kNow),
            "worker-0 ran out of memory 6 times (limit 1Gi), last 12s ago");
  job.status.history.push_back({.cause = RestartCause::kPreempted, .time = kNow});
  EXPECT_EQ(OutOfMemoryText(job, kNow), "");
}

// Symptom: `taas logs` between two pods said "No pods of job default/med." and no more.
TEST(JobFactsTest, OfAPodThatIsGoneItsEndIsToldAndWhenTheNextComes) {
  Job job = Killed();
  const std::string ended = "worker-0 ended 12s ago (outOfMemory, exit code 137)";
  EXPECT_EQ(LastEndText(job, std::nullopt, -1, kNow), ended);
  job.ledger.emplace().replicas[Role::kWorker][0].not_before = kNow + 7'500ms;
  EXPECT_EQ(LastEndText(job, Role::kWorker, 0, kNow), ended + "; its next pod comes in 8 s");
  EXPECT_EQ(LastEndText(job, Role::kWorker, 0, kNow + 1h),
            "worker-0 ended 60m ago (outOfMemory, exit code 137)");
  EXPECT_EQ(LastEndText(job, Role::kWorker, 1, kNow), "");
  EXPECT_EQ(LastEndText(job, Role::kPs, -1, kNow), "");
}

}  // namespace
}  // namespace taas
