#include "operator/plan/cluster_map.h"

#include <algorithm>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/dialect.h"
#include "operator/base/status_matchers.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/pod_json.h"
#include "operator/plan/tf_config.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

constexpr JobShape kLarge{.chiefs = 1, .ps = 2, .workers = 300, .evaluators = 1};

std::optional<CreateConfigMap> MapOf(const Snapshot& now) {
  return ClusterMapOf(now.job, AddressBook(now.job, *now.job.ledger, now.addresses));
}

// TF_CONFIG of a pod's program: as a kubelet makes it of the pod and the ConfigMap.
std::string TfConfigIn(const json& pod, const CreateConfigMap& map) {
  std::map<std::string, std::string> seen;
  for (const json& item : pod["spec"]["containers"][0]["env"]) {
    std::string value = item.value("value", "");
    if (item.contains("valueFrom")) {
      const json& ref = item["valueFrom"]["configMapKeyRef"];
      EXPECT_EQ(ref["name"], map.name);
      EXPECT_EQ(ref["key"], map.key);
      value = map.value;
    }
    for (const auto& [name, earlier] : seen) {
      const std::string reference = "$(" + name + ")";
      const size_t at = value.find(reference);
      if (at != std::string::npos) value.replace(at, reference.size(), earlier);
    }
    seen[item["name"]] = value;
  }
  return seen.at("TF_CONFIG");
}

// The plan of a job whose ConfigMap is there: its pods by name, as JSON.
std::map<std::string, json> PodsOf(Snapshot now, const CreateConfigMap& map) {
  now.cluster_map = map.name;
  std::map<std::string, json> pods;
  for (const CreatePod& create : StepsOf<CreatePod>(PlanJob(now))) {
    const auto body = PodJson(create.pod);
    EXPECT_THAT(body, IsOk());
    pods[create.pod.name] = json::parse(*body);
  }
  return pods;
}

void ExpectSameTfConfig(const Snapshot& now) {
  const auto map = MapOf(now);
  ASSERT_TRUE(map.has_value());
  const AddressBook addresses(now.job, *now.job.ledger, now.addresses);
  const std::map<std::string, json> pods = PodsOf(now, *map);
  ASSERT_THAT(pods, SizeIs(304));
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t index = 0; index < spec.replicas; ++index) {
      const json& pod = pods.at(PodName(now.job, role, index));
      EXPECT_EQ(TfConfigIn(pod, *map), *TfConfig(now.job, addresses, role, index));
    }
  }
}

TEST(ClusterMapTest, ProgramsOfALargeJobSeeTheTextThatTheySawBefore) {
  Snapshot now = StartedJob(kLarge);
  ExpectSameTfConfig(now);
  for (const auto who : {EvaluatorInCluster::kNone, EvaluatorInCluster::kOwn,
                         EvaluatorInCluster::kAll}) {
    now.job.spec.evaluator_in_cluster = who;
    ExpectSameTfConfig(now);
  }
  ExpectSameTfConfig(StartedTfJob(kLarge));
}

// Symptom: the 1,000 pods of one job took 52 MB of the cluster's store, and the API server twice
// the time to take them.
TEST(ClusterMapTest, PodsDoNotGrowWithTheirJob) {
  const auto longest = [](const Snapshot& now) {
    size_t bytes = 0;
    for (const auto& [name, pod] : PodsOf(now, *MapOf(now))) {
      bytes = std::max(bytes, pod.dump().size());
    }
    return bytes;
  };
  EXPECT_LE(longest(StartedJob({.workers = 1600})), longest(StartedJob({.workers = 200})) + 64);
}

TEST(ClusterMapTest, NoPodIsMadeBeforeItsConfigMapIsThere) {
  Snapshot now = StartedJob(kLarge);
  Plan plan = PlanJob(now);
  const auto made = StepsOf<CreateConfigMap>(plan);
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_THAT(StepsOf<CreatePod>(plan), IsEmpty());
  now.cluster_map = made[0].name;
  plan = PlanJob(now);
  EXPECT_THAT(StepsOf<CreateConfigMap>(plan), IsEmpty());
  EXPECT_THAT(StepsOf<CreatePod>(plan), SizeIs(304));
}

TEST(ClusterMapTest, SmallJobsLocalOnesAndThoseOfDynamicWorkersHaveNone) {
  EXPECT_FALSE(MapOf(StartedJob({.chiefs = 1, .ps = 2, .workers = 100})).has_value());
  Snapshot local = StartedJob(kLarge);
  local.addresses.scheme = AddressScheme::kLoopback;
  EXPECT_FALSE(MapOf(local).has_value());
  Snapshot dynamic = StartedTfJob(kLarge);
  dynamic.job.spec.dynamic_worker = true;
  EXPECT_FALSE(MapOf(dynamic).has_value());
}

TEST(ClusterMapTest, EachSizeOfAJobHasItsOwnAndTwoJobsShareNone) {
  const Snapshot now = StartedJob(kLarge);
  const std::string name = MapOf(now)->name;
  EXPECT_EQ(MapOf(StartedJob(kLarge))->name, name);
  EXPECT_NE(MapOf(StartedJob({.chiefs = 1, .ps = 2, .workers = 301, .evaluators = 1}))->name,
            name);
  Snapshot successor = now;
  successor.job.meta.uid = "uid-2";
  EXPECT_NE(MapOf(successor)->name, name);
}

TEST(ClusterMapTest, WhereAllPodsAreThereItIsMadeAgainOnlyIfOneLacksIt) {
  Snapshot now = StartedJob({.workers = 300});
  const std::string name = MapOf(now)->name;
  for (int32_t i = 0; i < 300; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i));
    now.pods.back().cluster_map = name;
  }
  EXPECT_THAT(StepsOf<CreateConfigMap>(PlanJob(now)), IsEmpty());
  now.pods[7].phase = PodPhase::kPending;
  now.pods[7].waiting_reason = "CreateContainerConfigError";
  now.pods[7].waiting_message = "configmap \"settings\" not found";
  EXPECT_THAT(StepsOf<CreateConfigMap>(PlanJob(now)), IsEmpty());
  now.pods[7].waiting_message = "configmap \"" + name + "\" not found";
  EXPECT_THAT(StepsOf<CreateConfigMap>(PlanJob(now)), SizeIs(1));
  now.cluster_map = name;
  EXPECT_THAT(StepsOf<CreateConfigMap>(PlanJob(now)), IsEmpty());
}

TEST(ClusterMapTest, APodThatRunsWithItShowsThatItIsThere) {
  Snapshot now = StartedJob({.workers = 300, .evaluators = 1});
  const std::string name = MapOf(now)->name;
  now.pods.push_back(PodOf(now, Role::kWorker, 0));
  now.pods[0].cluster_map = name;
  EXPECT_TRUE(IsThere(now, name));
  EXPECT_FALSE(IsThere(now, "another"));
  now.pods[0].phase = PodPhase::kPending;
  EXPECT_FALSE(IsThere(now, name));
  now.pods[0] = PodOf(now, Role::kEvaluator, 0);
  now.pods[0].cluster_map = name;
  EXPECT_FALSE(IsThere(now, name)) << "evaluators may have their own";
}

TEST(ClusterMapTest, AtFirstALargeTfJobGetsItsListAndNothingElse) {
  Snapshot now = StartedTfJob(kLarge);
  now.services.clear();
  const Plan plan = PlanJob(now);
  EXPECT_THAT(plan.steps, SizeIs(1));
  EXPECT_THAT(StepsOf<CreateConfigMap>(plan), SizeIs(1));
}

TEST(ClusterMapTest, AllServicesOfALargeTfJobAreMadeBeforeItsFirstPod) {
  Snapshot now = StartedTfJob(kLarge);
  now.services.clear();
  now.cluster_map = MapOf(now)->name;
  const Plan plan = PlanJob(now);
  ASSERT_THAT(plan.steps, SizeIs(608));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    ASSERT_EQ(std::holds_alternative<CreateService>(plan.steps[i]), i < 304) << i;
  }
  // In the order of the replicas, in which they find each other.
  EXPECT_EQ(std::get<CreatePod>(plan.steps[304]).pod.name, "mnist-chief-0");
}

TEST(ClusterMapTest, ItBelongsToTheJobAndCannotBeChanged) {
  const Snapshot now = StartedJob(kLarge);
  const json object = json::parse(ConfigMapJson(*MapOf(now)));
  EXPECT_EQ(object["kind"], "ConfigMap");
  EXPECT_EQ(object["immutable"], true);
  EXPECT_EQ(object["metadata"]["labels"]["taas.dev/job-name"], "mnist");
  EXPECT_EQ(object["metadata"]["ownerReferences"],
            json::parse(R"([{"apiVersion":"taas.dev/v1","kind":"TrainingJob","name":"mnist",
                             "uid":"uid-1","controller":true,"blockOwnerDeletion":true}])"));
  EXPECT_EQ(json::parse(object["data"]["cluster"].get<std::string>())["worker"].size(), 300u);
}

}  // namespace
}  // namespace taas
