#include "operator/plan/template_mark.h"

#include "gtest/gtest.h"
#include "operator/base/hash.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

TEST(TemplateMarkTest, AMarkIsOfTheTemplateAndOfAllThatThePodAsksFor) {
  Snapshot now = NewJob({.workers = 1});
  RoleSpec& worker = now.job.spec.roles.at(Role::kWorker);
  worker.gpus = 2;
  worker.pod_template =
      R"({"spec":{"containers":[{"name":"log","resources":{"requests":{"cpu":"500m"}}}]}})";
  const TemplateMark mark = MarkOf(now, Role::kWorker);
  EXPECT_EQ(mark.hash, StableHash(worker.pod_template));
  EXPECT_EQ(mark.requests, R"({"cpu":"500m","nvidia.com/gpu":"2"})");
}

TEST(TemplateMarkTest, MoreIsMoreOfAnything) {
  const std::string of_two = R"({"cpu":"2","nvidia.com/gpu":"1"})";
  EXPECT_FALSE(AsksForMore(of_two, of_two));
  EXPECT_FALSE(AsksForMore(R"({"cpu":"2000m"})", of_two)) << "the same in other words";
  EXPECT_FALSE(AsksForMore("", of_two));
  EXPECT_TRUE(AsksForMore(R"({"cpu":"2001m"})", of_two));
  EXPECT_TRUE(AsksForMore(R"({"cpu":"1","memory":"1"})", of_two));
  EXPECT_TRUE(AsksForMore(of_two, ""));
  // Whoever may edit a pod may write anything there.
  for (const char* nonsense : {"7", "{", R"(["cpu"])", R"({"cpu":9})", R"({"cpu":"x"})"}) {
    EXPECT_FALSE(AsksForMore(nonsense, of_two)) << nonsense;
  }
}

// Symptom: the template was hashed once for each pair of pods.
TEST(TemplateMarkTest, TheTemplateOfARoleIsReadOnceForAllItsPods) {
  Snapshot now = NewJob({.ps = 1, .workers = 1'000});
  for (int i = 0; i < 1'000; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i));
    now.pods.back().template_hash = 1;
    now.pods.back().requests = i == 0 ? R"({"cpu":"x"})" : R"({"cpu":"1"})";
  }
  now.pods[1].meta.deletion_time = now.now;
  now.pods[2].owner_uid = "of an earlier job";
  now.pods.push_back(PodOf(now, Role::kEvaluator, 0));  // A role that is gone.
  now.pods.back().template_hash = 1;
  TemplateChange change(now);
  EXPECT_EQ(change.reads(), 0);
  EXPECT_EQ(change.HoldsMore(), 997);
  for (const Pod& pod : now.pods) EXPECT_EQ(change.IsOld(pod), pod.role == Role::kWorker);
  EXPECT_EQ(change.HoldsMore(), 997);
  EXPECT_EQ(change.reads(), 1);
}

}  // namespace
}  // namespace taas
