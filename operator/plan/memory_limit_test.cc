#include "operator/plan/memory_limit.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

Job JobWith(RoleSpec worker, JobKind kind = JobKind::kTrainingJob) {
  Job job;
  job.kind = kind;
  job.spec.roles[Role::kWorker] = std::move(worker);
  return job;
}

// Symptom: `exit code 137 (OOMKilled)` again and again, and no word on what to change.
TEST(MemoryLimitTest, TheFieldThatSetsTheLimitIsNamed) {
  RoleSpec worker;
  worker.resources = R"({"limits": {"memory": "40Mi"}})";
  EXPECT_EQ(HowToRaiseMemory(JobWith(worker), Role::kWorker),
            ": limit 40Mi: raise spec.roles.worker.resources.limits.memory");
  worker.container = 1;
  worker.pod_template = R"({"spec": {"containers": [{"name": "a"}, {"name": "trainer"}]}})";
  EXPECT_EQ(HowToRaiseMemory(JobWith(worker), Role::kWorker),
            ": limit 40Mi: raise spec.roles.worker.resources.limits.memory");
  worker.pod_template = R"({"spec": {"containers": [{"name": "a"}, {"name": "trainer",
      "resources": {"limits": {"memory": 41943040}}}]}})";
  const std::string of_template = ".template.spec.containers[1].resources.limits.memory";
  EXPECT_EQ(HowToRaiseMemory(JobWith(worker), Role::kWorker),
            ": limit 41943040: raise spec.roles.worker" + of_template);
  EXPECT_EQ(HowToRaiseMemory(JobWith(worker, JobKind::kTfJob), Role::kWorker),
            ": limit 41943040: raise spec.tfReplicaSpecs.Worker" + of_template);
}

TEST(MemoryLimitTest, WhereTheManifestSetsNoneNoFieldIsNamed) {
  EXPECT_EQ(HowToRaiseMemory(JobWith({}), Role::kWorker), "");
  EXPECT_EQ(HowToRaiseMemory(JobWith({}), Role::kPs), "");
  RoleSpec worker;
  worker.resources = R"({"requests": {"memory": "40Mi"}})";
  worker.pod_template = "{";
  worker.container = 0;
  EXPECT_EQ(HowToRaiseMemory(JobWith(worker), Role::kWorker), "");
}

}  // namespace
}  // namespace taas
