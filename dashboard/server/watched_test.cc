#include "dashboard/server/watched.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kGpu[] = "nvidia.com/gpu";

json Job() {
  return R"({"metadata": {"name": "m", "namespace": "ml", "uid": "u", "resourceVersion": "5",
      "creationTimestamp": "2026-11-21T05:54:17Z",
      "labels": {"team": "a", "kueue.x-k8s.io/queue-name": "q"},
      "annotations": {"taas.dev/owner": "ann"}},
    "spec": {"suspend": true, "ttlSecondsAfterFinished": 60,
             "roles": {"worker": {"replicas": 3, "gpus": 2, "elastic": {"maxReplicas": 8}},
                       "chief": {},
                       "later": {"replicas": 9}}},
    "status": {"state": "Running", "message": "why", "attempt": 2}})"_json;
}

TEST(WatchedJobTest, WhatListsShowIsRead) {
  const auto job = ReadJob(JobKind::kTrainingJob, Job().dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->key(), "trainingjobs/ml/m");
  EXPECT_EQ(job->owner, "ann");
  EXPECT_EQ(job->queue, "q");
  EXPECT_TRUE(job->suspend);
  EXPECT_EQ(job->ttl_seconds, 60);
  ASSERT_EQ(job->roles.size(), 2);
  EXPECT_EQ(job->roles[0].name, "chief");
  EXPECT_EQ(job->roles[0].desired, 1);
  EXPECT_EQ(job->roles[1].desired, 3);
  EXPECT_EQ(job->roles[1].gpus, 2);
  EXPECT_EQ(job->roles[0].elastic, std::nullopt);
  EXPECT_EQ(job->roles[1].elastic, (ElasticSpec{.min_replicas = 1, .max_replicas = 8}));
  EXPECT_EQ(job->status.message, "why");
  EXPECT_THAT(job->flaw, IsEmpty());
}

TEST(WatchedJobTest, ATfJobIsReadInBothDialectsAndWithAnyCase) {
  const auto flat = ReadJob(JobKind::kTfJob, R"({"metadata": {"name": "m", "namespace": "ml"},
      "spec": {"tfReplicaSpecs": {"MASTER": {}, "Ps": {"replicas": 2, "template": {"spec":
        {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}}},
        "ttlSecondsAfterFinished": 7}})");
  ASSERT_THAT(flat, IsOk());
  EXPECT_EQ(flat->roles[0].name, "master");
  EXPECT_EQ(flat->roles[1].key, "Ps");
  EXPECT_EQ(flat->roles[1].gpus, 4);
  EXPECT_EQ(flat->ttl_seconds, 7);
  const auto policy = ReadJob(JobKind::kTfJob, R"({"metadata": {"name": "m"},
      "spec": {"runPolicy": {"suspend": true}, "tfReplicaSpecs": {}}})");
  EXPECT_TRUE(policy->suspend);
}

// Symptom: a page that stays empty since one object is not as its schema says.
TEST(WatchedJobTest, OfNonsenseWhatCanBeReadIsShownAndTheRestIsSaid) {
  json job = Job();
  job["status"]["attempt"] = "two";
  const auto flawed = ReadJob(JobKind::kTrainingJob, job.dump());
  ASSERT_THAT(flawed, IsOk());
  EXPECT_THAT(flawed->flaw, HasSubstr("status.attempt"));
  for (const char* part : {"/spec", "/status", "/metadata/labels", "/metadata/annotations",
                           "/spec/roles", "/spec/roles/worker", "/spec/roles/worker/replicas",
                           "/spec/roles/worker/elastic", "/spec/roles/worker/elastic/maxReplicas",
                           "/metadata/creationTimestamp", "/spec/ttlSecondsAfterFinished"}) {
    for (const json& nonsense : {json(nullptr), json(-7), json("<script>"), json::array({1}),
                                 json(1e300), json::object({{"a", 1}})}) {
      json odd = Job();
      odd[json::json_pointer(part)] = nonsense;
      EXPECT_THAT(ReadJob(JobKind::kTrainingJob, odd.dump()), IsOk()) << odd;
      EXPECT_THAT(ReadJob(JobKind::kTfJob, odd.dump()), IsOk()) << odd;
    }
  }
  for (const char* text : {"", "[]", "{}", "null", R"({"metadata": {"name": 5}})", "{"}) {
    EXPECT_FALSE(ReadJob(JobKind::kTrainingJob, text).ok()) << text;
  }
}

TEST(WatchedPodTest, GpusAreCountedAndTheirIdsTakenWhereTheClusterSaysThem) {
  const auto pod = ReadPod(R"({"metadata": {"name": "p", "namespace": "ml"},
    "spec": {"nodeName": "n", "containers": [
      {"name": "trainer", "resources": {"limits": {"nvidia.com/gpu": "2"}}},
      {"name": "side", "resources": {"requests": {"nvidia.com/gpu": 1, "cpu": "1"}}},
      {"name": "none"}]},
    "status": {"phase": "Running", "containerStatuses": [
      {"name": "trainer", "allocatedResourcesStatus": [
        {"name": "other", "resources": [{"resourceID": "x"}]},
        {"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1", "health": "Healthy"},
                                                 {"resourceID": "GPU-2", "health": "Unhealthy"},
                                                 {"health": "Healthy"}]}]}]}})", kGpu);
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->gpus, 3);
  EXPECT_THAT(pod->devices, ElementsAre("GPU-1", "GPU-2"));
  EXPECT_THAT(pod->unhealthy, ElementsAre("GPU-2"));
}

TEST(WatchedPodTest, ItsStatusPageIsWhereItsEnvironmentSays) {
  const auto pod_with = [](const std::string& port) {
    return ReadPod(R"({"metadata": {"name": "p", "labels": {"taas.dev/job-name": "m"}}, "spec":
      {"containers": [{"name": "trainer", "env": [{"name": "A", "value": "7"},
      {"name": "TAAS_STATUS_PORT", "value": ")" + port + R"("}]}]}})", kGpu)->status_port;
  };
  EXPECT_EQ(pod_with("2223"), 2223);
  EXPECT_EQ(pod_with("99999"), 0);
  EXPECT_EQ(pod_with("x"), 0);
}

TEST(WatchedPodTest, APodWithoutStatusIsOne) {
  const auto pod = ReadPod(R"({"metadata": {"name": "p", "namespace": "ml"}})", kGpu);
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->gpus, 0);
}

TEST(WatchedNodeTest, ANodeSaysWhatItHasAndWhetherItTakesPods) {
  const auto node = ReadNode(R"({"metadata": {"name": "n", "labels": {
      "nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81559"}},
    "spec": {"unschedulable": true},
    "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "7"},
               "conditions": [{"type": "Ready", "status": "True"}]}})", kGpu);
  ASSERT_THAT(node, IsOk());
  EXPECT_TRUE(node->ready);
  EXPECT_FALSE(node->schedulable);
  EXPECT_EQ(node->product, "H100");
  EXPECT_EQ(node->memory_mib, 81559);
  EXPECT_EQ(node->capacity, 8);
  EXPECT_EQ(node->allocatable, 7);
  EXPECT_THAT(ReadNode(R"({"metadata": {"name": "n"}, "status": 7})", kGpu), IsOk());
}

TEST(WatchedNodeTest, ANodeThatSaysNonsenseHasAtMostWhatCanBeCounted) {
  const auto node = ReadNode(R"({"metadata": {"name": "n"}, "status": {
    "capacity": {"nvidia.com/gpu": "4294967297"}, "allocatable": {"nvidia.com/gpu": "-3"}}})",
                             kGpu);
  ASSERT_THAT(node, IsOk());
  EXPECT_EQ(node->capacity, kCountMax);
  EXPECT_EQ(node->allocatable, 0);
}

TEST(WatchedEventTest, BothFormsOfEventsAreRead) {
  const auto old = ReadEvent(R"({"metadata": {"name": "e", "namespace": "ml"}, "type": "Warning",
    "involvedObject": {"kind": "Pod", "name": "p", "uid": "u"}, "reason": "Failed",
    "message": "pull", "count": 4, "lastTimestamp": "2026-11-21T05:54:17Z"})");
  ASSERT_THAT(old, IsOk());
  EXPECT_TRUE(old->warning);
  EXPECT_EQ(old->count, 4);
  EXPECT_EQ(FormatRfc3339(old->at), "2026-11-21T05:54:17Z");
  const auto later = ReadEvent(R"({"metadata": {"name": "e", "namespace": "ml"}, "type": "Normal",
    "eventTime": "2026-11-21T05:54:17.123456Z",
    "series": {"count": 9, "lastObservedTime": "2026-11-21T06:00:00.000000Z"}})");
  EXPECT_EQ(later->count, 9);
  EXPECT_EQ(FormatRfc3339(later->at), "2026-11-21T06:00:00Z");
  const auto long_one = ReadEvent(
      json{{"metadata", {{"name", "e"}}}, {"message", std::string(100'000, 'x')}}.dump());
  EXPECT_LT(long_one->message.size(), 3'000);
}

// Symptom: of a job that trains on text the page showed no perplexity, while its trainer's /status
// and log had one.
TEST(WatchedJobTest, TheLastEvaluationOfATextHasAPerplexity) {
  const auto perplexity = [](const std::string& format, const std::string& evaluation) {
    const auto job = ReadJob(JobKind::kTrainingJob,
                             R"({"metadata": {"name": "a", "namespace": "b", "uid": "c"},
                                 "spec": {"trainer": {"data": {"format": ")" +
                                 format + R"("}}}, "status": {"progress": {"step": 600)" +
                                 evaluation + "}}}");
    EXPECT_THAT(job, IsOk());
    EXPECT_EQ(job->flaw, "");
    return job->perplexity();
  };
  const std::string evaluation = R"(, "evaluation": {"step": 600, "loss": 0.3991, "examples": 9})";
  EXPECT_NEAR(perplexity("text", evaluation).value_or(0), 1.4905, 1e-4);
  EXPECT_EQ(perplexity("idx", evaluation), std::nullopt) << "a classifier's loss is of classes";
  EXPECT_EQ(perplexity("text", ""), std::nullopt);
  EXPECT_EQ(perplexity("text", R"(, "evaluation": {"step": 1, "examples": 9})"), std::nullopt);
  EXPECT_EQ(perplexity("text", R"(, "evaluation": {"step": 1, "loss": 1000, "examples": 9})"),
            std::nullopt)
      << "it is no finite number";
}

TEST(WatchedJobTest, EventFilesOfTheBundledTrainerAreInAVolumeOfTheJob) {
  const auto place = [](const std::string& dir, const std::string& volumes) {
    const auto job = ReadJob(JobKind::kTrainingJob,
                             R"({"metadata": {"name": "a", "namespace": "b", "uid": "c"},
                                 "spec": {"trainer": {"summaries": {"dir": ")" +
                                 dir + R"("}}, "volumes": )" + volumes + "}}");
    EXPECT_THAT(job, IsOk());
    const auto& found = job->summaries;
    return found.has_value() ? found->claim + "|" + found->host_path + "|" + found->below : "none";
  };
  const std::string volumes =
      R"([{"mountPath": "/out", "source": {"persistentVolumeClaim": {"claimName": "claim"}}},
          {"mountPath": "/out/deep/", "source": {"hostPath": {"path": "/disk"}}},
          {"mountPath": "/empty", "source": {"emptyDir": {}}}, {}, 7])";
  EXPECT_EQ(place("/out/logs/a", volumes), "claim||logs/a");
  EXPECT_EQ(place("/out", volumes), "claim||");
  EXPECT_EQ(place("/out/deep/logs", volumes), "|/disk|logs");
  EXPECT_EQ(place("/output", volumes), "none");
  EXPECT_EQ(place("/empty/logs", volumes), "none");
  EXPECT_EQ(place("/out/../etc", volumes), "none");
  EXPECT_EQ(place("", volumes), "none");
  EXPECT_EQ(place("/out", "7"), "none");
}

TEST(WatchedJobTest, CheckpointsOfTheBundledTrainerAreInAVolumeOfTheJobOrInNone) {
  const auto read = [](const std::string& dir) {
    const auto job = ReadJob(JobKind::kTrainingJob,
                             R"({"metadata": {"name": "a", "namespace": "b", "uid": "c"},
                                 "spec": {"trainer": {"checkpoint": {"dir": ")" + dir + R"("}},
                                 "volumes": [{"mountPath": "/out", "source":
                                   {"persistentVolumeClaim": {"claimName": "claim"}}}]}})");
    EXPECT_THAT(job, IsOk());
    return *job;
  };
  EXPECT_EQ(read("/out/ckpt").checkpoint_dir, "/out/ckpt");
  ASSERT_TRUE(read("/out/ckpt").checkpoints.has_value());
  EXPECT_EQ(read("/out/ckpt").checkpoints->claim, "claim");
  EXPECT_EQ(read("/out/ckpt").checkpoints->below, "ckpt");
  EXPECT_EQ(read("/tmp/ckpt").checkpoint_dir, "/tmp/ckpt");
  EXPECT_FALSE(read("/tmp/ckpt").checkpoints.has_value());
}

}  // namespace
}  // namespace taas::dashboard
