#include "dashboard/maps/kueue_objects.h"

#include <gtest/gtest.h>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using State = KueueWorkload::State;

constexpr char kGpu[] = "nvidia.com/gpu";

Json ClusterQueueJson() {
  return Json::parse(R"({
    "metadata": {"name": "research", "uid": "u1", "resourceVersion": "7"},
    "spec": {"cohortName": "all", "queueingStrategy": "StrictFIFO", "stopPolicy": "None",
      "resourceGroups": [
        {"coveredResources": ["cpu"], "flavors": [
          {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "1500m"}]}]},
        {"coveredResources": ["nvidia.com/gpu"], "flavors": [
          {"name": "h100", "resources": [
            {"name": "nvidia.com/gpu", "nominalQuota": 16, "borrowingLimit": "8"}]}]}]},
    "status": {"admittedWorkloads": 3,
      "conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "Can"}],
      "flavorsUsage": [{"name": "h100", "resources": [
        {"name": "nvidia.com/gpu", "total": "17", "borrowed": "1"}]}],
      "flavorsReservation": [{"name": "h100", "resources": [
        {"name": "nvidia.com/gpu", "total": "20", "borrowed": "4"}]}]}})");
}

KueueQueue ClusterQueueOf(const Json& json) {
  const auto queue = ReadClusterQueue(json.dump());
  EXPECT_TRUE(queue.ok()) << queue.status();
  return queue.ok() ? *queue : KueueQueue();
}

KueueWorkload WorkloadOf(const Json& json) {
  const auto workload = ReadWorkload(json.dump(), kGpu);
  EXPECT_TRUE(workload.ok()) << workload.status();
  return workload.ok() ? *workload : KueueWorkload();
}

TEST(KueueObjectsTest, AClusterQueueHasItsQuotaAndWhatIsTakenOfIt) {
  const KueueQueue queue = ClusterQueueOf(ClusterQueueJson());
  EXPECT_EQ(queue.meta.name, "research");
  EXPECT_EQ(queue.meta.resource_version, "7");
  EXPECT_EQ(queue.cohort, "all");
  EXPECT_EQ(queue.strategy, "StrictFIFO");
  EXPECT_FALSE(queue.stopped);
  EXPECT_EQ(queue.inactive, "");
  EXPECT_EQ(queue.admitted, 3);
  ASSERT_EQ(queue.quotas.size(), 2u);
  EXPECT_EQ(queue.quotas[0].resource, "cpu");
  EXPECT_EQ(queue.quotas[0].nominal, 1500);
  EXPECT_EQ(queue.quotas[0].used, std::nullopt);
  EXPECT_EQ(queue.quotas[1].flavor, "h100");
  EXPECT_EQ(queue.quotas[1].nominal, 16'000);
  EXPECT_EQ(queue.quotas[1].borrowing_limit, 8'000);
  EXPECT_EQ(queue.quotas[1].used, 20'000) << "what is reserved is taken";
  EXPECT_EQ(queue.quotas[1].borrowed, 4'000);
}

TEST(KueueObjectsTest, FieldsOfTheEarlierVersionAreReadToo) {
  Json json = ClusterQueueJson();
  json["spec"].erase("cohortName");
  json["spec"]["cohort"] = "old";
  json["status"].erase("flavorsReservation");
  const KueueQueue queue = ClusterQueueOf(json);
  EXPECT_EQ(queue.cohort, "old");
  EXPECT_EQ(queue.quotas[1].used, 17'000);
  const auto local = ReadLocalQueue(R"({"metadata": {"name": "q", "namespace": "ml"},
      "spec": {"clusterQueue": "research"},
      "status": {"admittedWorkloads": 2, "flavorUsage": [
        {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "3"}]}]}})");
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_EQ(local->meta.ns, "ml");
  EXPECT_EQ(local->cluster_queue, "research");
  EXPECT_EQ(local->admitted, 2);
  ASSERT_EQ(local->quotas.size(), 1u);
  EXPECT_EQ(local->quotas[0].used, 3'000);
  EXPECT_EQ(local->quotas[0].nominal, std::nullopt);
}

TEST(KueueObjectsTest, AQueueThatAdmitsNothingSaysWhy) {
  Json json = ClusterQueueJson();
  json["spec"]["stopPolicy"] = "HoldAndDrain";
  json["status"]["conditions"][0] = {{"type", "Active"}, {"status", "False"},
                                     {"reason", "Stopped"}, {"message", "is stopped"}};
  const KueueQueue queue = ClusterQueueOf(json);
  EXPECT_TRUE(queue.stopped);
  EXPECT_EQ(queue.inactive, "is stopped");
}

Json WorkloadJson() {
  return Json::parse(R"({
    "metadata": {"name": "tfjob-a-1f2e3", "namespace": "ml", "resourceVersion": "9",
      "creationTimestamp": "2026-02-02T02:40:00Z",
      "ownerReferences": [{"kind": "TFJob", "name": "a", "uid": "ua", "controller": true}]},
    "spec": {"queueName": "team", "priority": 100, "active": true, "podSets": [
      {"name": "ps", "count": 2, "template": {"spec": {"containers": [{"resources": {}}]}}},
      {"name": "worker", "count": 4, "template": {"spec": {"containers": [
        {"resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": 2}}},
        {"resources": {"requests": {"nvidia.com/gpu": 1, "cpu": "1"}}}]}}}]},
    "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending",
      "message": "couldn't assign flavors: insufficient quota for nvidia.com/gpu"}]}})");
}

TEST(KueueObjectsTest, AWorkloadHasItsPlaceItsGpusAndItsReason) {
  const KueueWorkload workload = WorkloadOf(WorkloadJson());
  EXPECT_EQ(workload.queue, "team");
  EXPECT_EQ(workload.state, State::kWaiting);
  EXPECT_EQ(workload.priority, 100);
  EXPECT_EQ(workload.gpus, 12);
  EXPECT_EQ(workload.reason, "couldn't assign flavors: insufficient quota for nvidia.com/gpu");
  EXPECT_EQ(FormatRfc3339(workload.queued), "2026-02-02T02:40:00Z");
  ASSERT_EQ(workload.owners.size(), 1u);
  EXPECT_EQ(workload.owners[0].kind, "TFJob");
  EXPECT_EQ(workload.owners[0].uid, "ua");
  EXPECT_TRUE(workload.owners[0].controller);
}

struct StateCase {
  const char* conditions;
  bool active;
  State want;
  const char* reason;
};

TEST(KueueObjectsTest, WhereAWorkloadIsComesFromItsConditions) {
  const StateCase cases[] = {
      {"[]", true, State::kWaiting, ""},
      {R"([{"type": "QuotaReserved", "status": "True"}])", true, State::kReserved,
       "provision: no machine yet; budget"},
      {R"([{"type": "QuotaReserved", "status": "True"}, {"type": "Admitted", "status": "True"}])",
       true, State::kAdmitted, ""},
      {R"([{"type": "Admitted", "status": "True"}, {"type": "Finished", "status": "True"}])", true,
       State::kFinished, ""},
      {R"([{"type": "Finished", "status": "True"}])", false, State::kFinished, ""},
      {R"([{"type": "Evicted", "status": "True", "reason": "Deactivated", "message": "by hand"}])",
       false, State::kInactive, "by hand"},
      {R"([{"type": "Evicted", "status": "True", "reason": "Preempted"}])", true, State::kWaiting,
       "Preempted"},
      {R"([{"type": "QuotaReserved", "status": "False", "reason": "Inadmissible"}])", true,
       State::kWaiting, "Inadmissible"}};
  for (const StateCase& one : cases) {
    Json json = WorkloadJson();
    json["spec"]["active"] = one.active;
    json["status"] = {{"conditions", Json::parse(one.conditions)},
                      {"admissionChecks",
                       {{{"name", "provision"},
                         {"state", "Pending"},
                         {"message", "no machine yet"}},
                        {{"name", "ready"}, {"state", "Ready"}},
                        {{"name", "budget"}, {"state", "Retry"}}}}};
    const KueueWorkload workload = WorkloadOf(json);
    EXPECT_EQ(workload.state, one.want) << one.conditions;
    EXPECT_EQ(workload.reason, one.reason) << one.conditions;
  }
}

TEST(KueueObjectsTest, OneWhosePodsWereNotReadyInTimeGoesToTheEnd) {
  for (const char* reason : {"PodsReadyTimeout", "Preempted"}) {
    Json json = WorkloadJson();
    json["status"]["conditions"] = {{{"type", "Evicted"}, {"status", "True"}, {"reason", reason},
                                     {"lastTransitionTime", "2026-02-03T00:00:00Z"}}};
    const bool last = std::string(reason) == "PodsReadyTimeout";
    EXPECT_EQ(FormatRfc3339(WorkloadOf(json).queued),
              last ? "2026-02-03T00:00:00Z" : "2026-02-02T02:40:00Z");
  }
}

TEST(KueueObjectsTest, OnlyATextThatIsNoObjectWithANameIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"metadata\": 5}", "{\"metadata\": {\"name\": 5}}",
                           "{\"metadata\": {\"name\": \"a\"}"}) {
    EXPECT_FALSE(ReadClusterQueue(text).ok()) << text;
    EXPECT_FALSE(ReadLocalQueue(text).ok()) << text;
    EXPECT_FALSE(ReadWorkload(text, kGpu).ok()) << text;
  }
}

TEST(KueueObjectsTest, WhatIsNotAsTheSchemaSaysIsLeftOut) {
  for (const char* nonsense : {"null", "5", "-5", "\"x\"", "[]", "[5, null, []]", "{\"a\": 1}"}) {
    const Json value = Json::parse(nonsense);
    for (const char* key : {"resourceGroups", "cohortName", "stopPolicy", "podSets", "queueName",
                            "priority", "active"}) {
      const Json json = {{"metadata", {{"name", "a"}}}, {"spec", {{key, value}}}};
      EXPECT_TRUE(ReadClusterQueue(json.dump()).ok()) << json;
      EXPECT_TRUE(ReadWorkload(json.dump(), kGpu).ok()) << json;
    }
    for (const char* key : {"conditions", "flavorsReservation", "admittedWorkloads", "admission",
                            "admissionChecks"}) {
      const Json json = {{"metadata", {{"name", "a"}, {"ownerReferences", value}}},
                         {"status", {{key, value}}}};
      EXPECT_TRUE(ReadClusterQueue(json.dump()).ok()) << json;
      const auto workload = ReadWorkload(json.dump(), kGpu);
      EXPECT_EQ(workload.value_or(KueueWorkload()).state, State::kWaiting) << json;
    }
  }
}

TEST(KueueObjectsTest, NonsenseAmountsAreNotKnownAndCountsStayWithinBounds) {
  Json json = ClusterQueueJson();
  Json& quota = json["spec"]["resourceGroups"][1]["flavors"][0]["resources"][0];
  for (const char* amount : {"-3", "lots", "1e99", "", "0x10", "nan"}) {
    quota["nominalQuota"] = amount;
    EXPECT_EQ(ClusterQueueOf(json).quotas[1].nominal, std::nullopt) << amount;
  }
  json["status"]["admittedWorkloads"] = -7;
  EXPECT_EQ(ClusterQueueOf(json).admitted, 0);
  Json workload = WorkloadJson();
  workload["spec"]["priority"] = INT64_MAX;
  workload["spec"]["podSets"][1]["count"] = -4;
  EXPECT_EQ(WorkloadOf(workload).priority, INT32_MAX);
  EXPECT_EQ(WorkloadOf(workload).gpus, 0);
  workload["spec"]["podSets"][1]["count"] = UINT64_MAX;
  EXPECT_GE(WorkloadOf(workload).gpus, 0);
  workload["spec"]["podSets"][1]["count"] = INT32_MAX;
  EXPECT_EQ(WorkloadOf(workload).gpus, kCountMax);
}

TEST(KueueObjectsTest, OfEndlessListsTheFirstEntriesAreRead) {
  Json json = ClusterQueueJson();
  Json flavors = Json::array();
  for (int i = 0; i < 200; ++i) {
    Json resources = Json::array();
    for (int k = 0; k < 200; ++k) resources.push_back({{"name", "r" + std::to_string(k)}});
    flavors.push_back({{"name", "f" + std::to_string(i)}, {"resources", resources}});
  }
  json["status"]["flavorsReservation"] = flavors;
  EXPECT_EQ(ClusterQueueOf(json).quotas.size(), 256u);
  json["spec"]["resourceGroups"] = {{{"flavors", flavors}}};
  EXPECT_EQ(ClusterQueueOf(json).quotas.size(), 256u);
}

TEST(KueueObjectsTest, AMessageOfAMegabyteIsCut) {
  Json json = WorkloadJson();
  json["status"]["conditions"][0]["message"] = std::string(1'000'000, 'x');
  EXPECT_EQ(WorkloadOf(json).reason.size(), 2'048u);
  json["status"]["conditions"][0] = {{"type", "QuotaReserved"}, {"status", "True"}};
  json["status"]["admissionChecks"] = {{{"name", "a"}, {"message", std::string(1'000'000, 'x')}}};
  EXPECT_EQ(WorkloadOf(json).reason.size(), 2'048u);
}

}  // namespace
}  // namespace taas::dashboard
