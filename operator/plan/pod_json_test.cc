#include "operator/plan/pod_json.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using nlohmann::json;

PodSpec WorkerOf(Snapshot& now) {
  for (const Step& step : PlanJob(now).steps) {
    if (const auto* create = std::get_if<CreatePod>(&step)) return create->pod;
  }
  ADD_FAILURE() << "no pod planned";
  return {};
}

TEST(PodJsonTest, ThePodIsOwnedRestrictedAndReachable) {
  Snapshot now = StartedJob({.workers = 1});
  const json pod = json::parse(*PodJson(WorkerOf(now)));
  EXPECT_EQ(pod["metadata"]["name"], "mnist-worker-0");
  EXPECT_EQ(pod["metadata"]["labels"]["taas.dev/job-uid"], "uid-1");
  EXPECT_EQ(pod["metadata"]["ownerReferences"],
            json::parse(R"([{"apiVersion":"taas.dev/v1","kind":"TrainingJob","name":"mnist",
                             "uid":"uid-1","controller":true,"blockOwnerDeletion":true}])"));
  const json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["automountServiceAccountToken"], false);
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 30);
  EXPECT_EQ(spec["hostname"], "mnist-worker-0");
  EXPECT_EQ(spec["subdomain"], "mnist");
  EXPECT_EQ(spec["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
  ASSERT_EQ(spec["containers"].size(), 1u);
  const json& container = spec["containers"][0];
  EXPECT_EQ(container["name"], "trainer");
  EXPECT_EQ(container["terminationMessagePolicy"], "File");
  EXPECT_EQ(container["securityContext"],
            json::parse(R"({"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,
                            "capabilities":{"drop":["ALL"]}})"));
  EXPECT_EQ(container["ports"],
            json::parse(R"([{"name":"taas","containerPort":2222,"protocol":"TCP"},
                            {"name":"taas-status","containerPort":2223,"protocol":"TCP"}])"));
  EXPECT_EQ(container["env"][0]["name"], "TF_CONFIG");
  EXPECT_EQ(spec["tolerations"].size(), 2u);
  EXPECT_EQ(spec["tolerations"][0]["tolerationSeconds"], 60);
  EXPECT_FALSE(spec.contains("affinity"));
}

TEST(PodJsonTest, VolumesKeepTheirSourceAsItWasWritten) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.volumes = {{.name = "data", .mount_path = "/data", .read_only = true,
                           .source = R"({"persistentVolumeClaim":{"claimName":"mnist"}})"}};
  const json pod = json::parse(*PodJson(WorkerOf(now)));
  EXPECT_EQ(pod["spec"]["volumes"],
            json::parse(R"([{"name":"data","persistentVolumeClaim":{"claimName":"mnist"}}])"));
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"],
            json::parse(R"([{"name":"data","mountPath":"/data","readOnly":true}])"));
}

TEST(PodJsonTest, AVolumeSourceThatIsNoObjectIsAnErrorThatNamesTheVolume) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.volumes = {{.name = "data", .mount_path = "/data", .source = "7"}};
  EXPECT_NE(PodJson(WorkerOf(now)).status().message().find("volume data"), std::string::npos);
}

TEST(PodJsonTest, NodesThatAreCalledBadAreAvoided) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).avoid_nodes = {"node-a"};
  const json pod = json::parse(*PodJson(WorkerOf(now)));
  const json& terms = pod["spec"]["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  EXPECT_EQ(terms, json::parse(R"([{"matchExpressions":[{"key":"kubernetes.io/hostname",
                                    "operator":"NotIn","values":["node-a"]}]}])"));
}

TEST(ServiceJsonTest, TheServiceIsHeadlessAndPublishesPodsThatAreNotReady) {
  Snapshot now = StartedJob({.workers = 1});
  now.services.clear();
  const Plan plan = PlanJob(now);
  const auto* create = std::get_if<CreateService>(&plan.steps[0]);
  ASSERT_NE(create, nullptr);
  const json service = json::parse(ServiceJson(*create));
  EXPECT_EQ(service["spec"]["clusterIP"], "None");
  EXPECT_EQ(service["spec"]["publishNotReadyAddresses"], true);
  EXPECT_EQ(service["spec"]["selector"], json::parse(R"({"taas.dev/job-name":"mnist"})"));
  EXPECT_EQ(service["spec"]["ports"].size(), 2u);
  EXPECT_EQ(service["metadata"]["labels"]["taas.dev/job-name"], "mnist");
}

}  // namespace
}  // namespace taas
