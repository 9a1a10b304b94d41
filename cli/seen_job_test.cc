#include "cli/seen_job.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

std::string JobText(const std::string& spec, const std::string& status,
                    const std::string& annotation = R"("")") {
  return R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"ns",)"
         R"("name":"evil","uid":"u1","resourceVersion":"7","annotations":{"taas.dev/ledger":)" +
         annotation + R"(}},"spec":)" + spec + R"(,"status":)" + status + "}";
}
constexpr char kSpec[] = R"({"trainer":{},"roles":{"worker":{"replicas":3}},"suspend":true})";

// A program's /status said "etaSeconds": 9223372036854775807; then `taas list` left its job out,
// and `taas suspend` and `taas delete` failed with the decoder's error.
TEST(SeenJobTest, AJobWhoseStatusCannotBeReadIsThereWithItsSpec) {
  for (const char* status :
       {R"({"state":"Running","progress":{"etaSeconds":9223372036854775807999}})",
        R"({"state":"Sleeping"})", R"({"attempt":"one"})", R"([])"}) {
    const auto job = ReadSeenJob(JobKind::kTrainingJob, JobText(kSpec, status));
    ASSERT_THAT(job, IsOk()) << status;
    EXPECT_EQ(job->meta.uid, "u1");
    EXPECT_THAT(std::string(job->unreadable.message()), HasSubstr("status"));
    EXPECT_TRUE(job->spec_known);
    EXPECT_TRUE(job->spec.suspend);
    EXPECT_FALSE(job->status_known);
    EXPECT_EQ(job->StateName(), "Unreadable");
    EXPECT_FALSE(job->HasEnded());
  }
}

TEST(SeenJobTest, AJobWhoseSpecCannotBeReadIsThereWithItsState) {
  for (const char* spec : {R"({"roles":{"worker":{"replicas":"many"}}})", "7", "{}"}) {
    const auto job =
        ReadSeenJob(JobKind::kTrainingJob, JobText(spec, R"({"state":"Failed"})"));
    ASSERT_THAT(job, IsOk()) << spec;
    EXPECT_FALSE(job->unreadable.ok());
    EXPECT_FALSE(job->spec_known);
    EXPECT_EQ(job->StateName(), "Failed");
    EXPECT_TRUE(job->HasEnded());
  }
}

TEST(SeenJobTest, ALedgerThatCannotBeReadHidesNothing) {
  const auto job =
      ReadSeenJob(JobKind::kTrainingJob, JobText(kSpec, R"({"state":"Running"})", R"("{broken")"));
  ASSERT_THAT(job, IsOk());
  EXPECT_FALSE(job->unreadable.ok());
  EXPECT_TRUE(job->spec_known);
  EXPECT_EQ(job->StateName(), "Running");
}

TEST(SeenJobTest, OfOneThatIsNestedTooDeepTheMetadataIsThere) {
  const std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
  const auto job = ReadSeenJob(JobKind::kTrainingJob,
                               JobText(R"({"roles":)" + deep + "}", R"({"state":"Running"})"));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->meta.name, "evil");
  EXPECT_FALSE(job->spec_known);
}

// `taas eval` of a TFJob with the bundled trainer said that it ran an image of its own.
TEST(SeenJobTest, ATFJobThatConfiguresTheBundledTrainerIsOneOfIt) {
  const auto with = [](const std::string& env, const std::string& more = "") {
    return ReadSeenJob(JobKind::kTfJob,
                       R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",)"
                       R"("metadata":{"namespace":"ns","name":"old","uid":"u1",)"
                       R"("resourceVersion":"7"},"spec":{"tfReplicaSpecs":{)"
                       R"("PS":{"template":{"spec":{"containers":[{"name":"tensorflow"}]}}},)"
                       R"("Worker":{"template":{"spec":{"containers":[{"name":"sidecar"},)"
                       R"({"name":"tensorflow","image":"taas/trainer:1","env":)" +
                           env + more + "}]}}}}}}");
  };
  const auto job = with(
      R"([{"name":"A"},{"name":"TAAS_TRAINER","value":"{\"checkpoint\":{\"dir\":\"/out\"}}"}])");
  ASSERT_THAT(job, IsOk());
  EXPECT_TRUE(job->spec.bundled_trainer);
  EXPECT_EQ(job->spec.trainer.checkpoint_dir, "/out");
  EXPECT_EQ(job->spec.trainer.config, R"({"checkpoint":{"dir":"/out"}})");
  // Of several Kubernetes takes the last.
  const std::string twice =
      R"([{"name":"TAAS_TRAINER","value":"{}"},)"
      R"({"name":"TAAS_TRAINER","value":"{\"checkpoint\":{\"dir\":\"/last\"}}"}])";
  EXPECT_EQ(with(twice)->spec.trainer.checkpoint_dir, "/last");
  EXPECT_TRUE(with(twice, R"(,"command":["/bin/taas-trainer"])")->spec.bundled_trainer);
  // Flags win over the variable, which says little then.
  for (const char* flags : {R"(,"args":["--log_dir=/out"])",
                            R"(,"command":["sh","-c","taas-trainer --max_steps=9"])"}) {
    EXPECT_FALSE(with(twice, flags)->spec.bundled_trainer) << flags;
  }
  for (const char* env :
       {"[]", R"([{"name":"TAAS_TRAINER","value":"{"}])",
        R"([{"name":"TAAS_TRAINER","value":"7"}])",
        R"([{"name":"TAAS_TRAINER","valueFrom":{"configMapKeyRef":{"name":"a","key":"b"}}}])"}) {
    const auto other = with(env);
    ASSERT_THAT(other, IsOk()) << env;
    EXPECT_FALSE(other->spec.bundled_trainer) << env;
    EXPECT_EQ(other->spec.trainer.config, "") << env;
  }
}

TEST(SeenJobTest, WhatIsNoObjectIsAnError) {
  EXPECT_FALSE(ReadSeenJob(JobKind::kTrainingJob, "[]").ok());
  EXPECT_FALSE(ReadSeenJob(JobKind::kTfJob, "{}").ok());
}

}  // namespace
}  // namespace taas
