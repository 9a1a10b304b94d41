#include "operator/plan/pod_json.h"

#include <map>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "operator/plan/limits.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "third_party/json.h"

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

// Symptoms: where all nodes that fit were called bad a replica was unschedulable for ever, and
// where a node's name is not that of its host it went there again.
TEST(PodJsonTest, NodesThatAreCalledBadAreAvoidedByNameAsLongAsOthersFit) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->bad_nodes = {{"node-a", now.now}, {"old", now.now - kBadNodeTime},
                               {"node-b", now.now}};
  now.job.spec.roles[Role::kWorker].pod_template = R"({"spec":{"affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{
        "matchExpressions":[{"key":"zone","operator":"In","values":["z"]}]}}]}},
      "containers":[{"name":"trainer"}]}})";
  now.job.spec.roles[Role::kWorker].container = 0;
  const json pod = json::parse(*PodJson(WorkerOf(now)));
  const json& affinity = pod["spec"]["affinity"]["nodeAffinity"];
  EXPECT_FALSE(affinity.contains("requiredDuringSchedulingIgnoredDuringExecution"));
  const json& terms = affinity["preferredDuringSchedulingIgnoredDuringExecution"];
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms[0]["weight"], 1);  // The user's own.
  EXPECT_EQ(terms[1], json::parse(R"({"weight":100,"preference":{"matchFields":[
      {"key":"metadata.name","operator":"NotIn","values":["node-a"]}]}})"));
  EXPECT_EQ(terms[2]["preference"]["matchFields"][0]["values"][0], "node-b");
}

// Symptom: a template that tolerates everything for ever was given 60 s for nodes that do not
// answer, which count because they are shorter.
TEST(PodJsonTest, ATolerationOfTheTemplateIsNotOverruledHoweverItIsWritten) {
  const auto tolerations = [](const std::string& users) {
    Snapshot now = StartedJob({.workers = 1});
    now.job.spec.roles[Role::kWorker].pod_template =
        R"({"spec":{"tolerations":)" + users + R"(,"containers":[{"name":"trainer"}]}})";
    now.job.spec.roles[Role::kWorker].container = 0;
    return json::parse(*PodJson(WorkerOf(now)))["spec"]["tolerations"].size();
  };
  EXPECT_EQ(tolerations(R"([{"operator":"Exists"}])"), 1u);
  EXPECT_EQ(tolerations(R"([{"key":"","operator":"Exists","effect":"NoExecute"}])"), 1u);
  EXPECT_EQ(tolerations(R"([{"key":null,"operator":"Exists","effect":null}])"), 1u);
  EXPECT_EQ(tolerations(R"([{"operator":"Exists","effect":"NoSchedule"}])"), 3u);
  EXPECT_EQ(tolerations(R"([{"key":"nvidia.com/gpu","operator":"Exists"}])"), 3u);
  EXPECT_EQ(tolerations(R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists",
                            "effect":"NoExecute","tolerationSeconds":5}])"), 2u);
  EXPECT_EQ(tolerations("null"), 2u);
}

json Merged(Snapshot& now) {
  const auto text = PodJson(WorkerOf(now));
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? json::parse(*text) : json();
}

const json* EnvOf(const json& pod, const std::string& name) {
  for (const json& item : pod["spec"]["containers"][0]["env"]) {
    if (item["name"] == name) return &item;
  }
  return nullptr;
}

TEST(PodJsonTest, TheTemplatesFieldsWinButForTheCommandAndWhatMakesThePodAReplica) {
  Snapshot now = StartedJob({.workers = 1});
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.pod_template = R"({
    "metadata":{"creationTimestamp":null,"labels":{"team":"ads","taas.dev/role":"boss"},
                "annotations":{"sidecar.istio.io/inject":"false"}},
    "spec":{"restartPolicy":"Always","nodeSelector":{"disk":"ssd"},"hostname":"mine",
            "terminationGracePeriodSeconds":5,
            "containers":[{"name":"sidecar","image":"s:1"},
                          {"name":"trainer","image":"mine:1","command":["sh"],"args":["-c"],
                           "workingDir":"/w","securityContext":{"privileged":true},
                           "env":[{"name":"A","value":"1"},{"name":"TAAS_TRAINER","value":"x"},
                                  {"name":"TF_CONFIG","value":"x"}]}]}})";
  role.container = 1;
  const json pod = Merged(now);
  EXPECT_EQ(pod["metadata"]["labels"]["team"], "ads");
  EXPECT_EQ(pod["metadata"]["labels"]["taas.dev/role"], "worker");
  EXPECT_EQ(pod["metadata"]["annotations"]["sidecar.istio.io/inject"], "false");
  EXPECT_TRUE(pod["metadata"]["annotations"].contains("taas.dev/bootstrap"));
  const json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["nodeSelector"]["disk"], "ssd");
  EXPECT_EQ(spec["hostname"], "mnist-worker-0");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 5);
  EXPECT_EQ(spec["containers"][0], json::parse(R"({"name":"sidecar","image":"s:1"})"));
  const json& container = spec["containers"][1];
  EXPECT_EQ(container["image"], "mine:1");
  EXPECT_FALSE(container.contains("command"));
  EXPECT_FALSE(container.contains("args"));
  EXPECT_EQ(container["workingDir"], "/w");
  EXPECT_EQ(container["securityContext"], json::parse(R"({"privileged":true})"));
  int trainer_configs = 0;
  for (const json& item : container["env"]) {
    if (item["name"] == "TAAS_TRAINER") ++trainer_configs;
    if (item["name"] == "TAAS_TRAINER" || item["name"] == "TF_CONFIG") {
      EXPECT_NE(item["value"], "x");
    }
  }
  EXPECT_EQ(trainer_configs, 1);
}

TEST(PodJsonTest, ATemplateWithoutTheTrainerIsGivenItBeforeItsSidecars) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.roles[Role::kWorker].pod_template =
      R"({"spec":{"containers":[{"name":"sidecar","image":"s:1"}]}})";
  const json pod = Merged(now);
  ASSERT_EQ(pod["spec"]["containers"].size(), 2u);
  EXPECT_EQ(pod["spec"]["containers"][0]["name"], "trainer");
}

TEST(PodJsonTest, AnImageOfTheUsersKeepsItsCommandAndItsSecurity) {
  Snapshot now = StartedTfJob({.workers = 2});
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.restart_policy = RestartPolicy::kOnFailure;
  role.pod_template = R"({"spec":{"containers":[{"name":"tensorflow","image":"user/tf:1",
      "command":["python","train.py"],"ports":[{"name":"tfjob-port","containerPort":2222}]}]}})";
  const json pod = Merged(now);
  const json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "OnFailure");
  EXPECT_FALSE(spec.contains("securityContext"));
  EXPECT_FALSE(spec.contains("automountServiceAccountToken"));
  EXPECT_FALSE(spec.contains("hostname"));
  const json& container = spec["containers"][0];
  EXPECT_EQ(container["command"], json::parse(R"(["python","train.py"])"));
  EXPECT_FALSE(container.contains("securityContext"));
  EXPECT_EQ(container["terminationMessagePolicy"], "FallbackToLogsOnError");
  EXPECT_EQ(container["ports"], json::parse(R"([{"name":"tfjob-port","containerPort":2222}])"));
  EXPECT_EQ(EnvOf(pod, "NVIDIA_VISIBLE_DEVICES"), nullptr);
  EXPECT_NE(EnvOf(pod, "TF_CONFIG"), nullptr);
}

// Symptom: of an init container that had failed the job told the exit code, and not what it had
// said.
TEST(PodJsonTest, WhatAFailedInitContainerSaidLastIsInThePodsStatus) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.job.spec.roles[Role::kWorker].pod_template = R"({"spec":{
      "initContainers":[{"name":"fetch","image":"me/fetch:1"},
                        {"name":"own","terminationMessagePolicy":"File"}],
      "containers":[{"name":"tensorflow","image":"user/tf:1"}]}})";
  const json inits = Merged(now)["spec"]["initContainers"];
  EXPECT_EQ(inits[0]["terminationMessagePolicy"], "FallbackToLogsOnError");
  EXPECT_EQ(inits[1]["terminationMessagePolicy"], "File") << "the template's fields win";
}

TEST(PodJsonTest, TheSecurityOfAnImageOfTheUsersIsWhatTheyWrote) {
  const char* const container = R"("image":"user/own:1","securityContext":{"runAsUser":0}}]}})";
  const std::string head = R"({"spec":{"securityContext":{"fsGroup":7},"containers":[{"name":)";
  Snapshot tf = StartedTfJob({.workers = 1});
  tf.job.spec.roles[Role::kWorker].pod_template = head + R"("tensorflow",)" + container;
  Snapshot training = StartedJob({.workers = 1});
  training.job.spec.bundled_trainer = false;
  training.job.spec.roles[Role::kWorker].container = 0;
  training.job.spec.roles[Role::kWorker].pod_template = head + R"("trainer",)" + container;
  for (Snapshot* now : {&tf, &training}) {
    const json spec = Merged(*now)["spec"];
    EXPECT_EQ(spec["securityContext"], json::parse(R"({"fsGroup":7})"));
    EXPECT_EQ(spec["containers"][0]["securityContext"], json::parse(R"({"runAsUser":0})"));
  }
}

TEST(PodJsonTest, GpusAreRequestedAndTheirTypeIsAnAffinityBesideTheUsersOwn) {
  Snapshot now = StartedJob({.workers = 1});
  now.gpu_resource = "example.com/gpu";
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.gpus = 2;
  role.gpu_type = "NVIDIA-H200";
  role.resources = R"({"limits":{"cpu":"4","memory":"8Gi"}})";
  role.container = 0;
  role.pod_template = R"({"spec":{
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]},
                              {"matchExpressions":[{"key":"b","operator":"Exists"}]}]}}},
      "containers":[{"name":"trainer","resources":{"limits":{"memory":"16Gi"}}}]}})";
  const json pod = Merged(now);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"],
            json::parse(R"({"limits":{"cpu":"4","memory":"16Gi","example.com/gpu":"2"},
                            "requests":{"example.com/gpu":"2"}})"));
  const json& terms = pod["spec"]["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2u);
  for (const json& term : terms) {
    ASSERT_EQ(term["matchExpressions"].size(), 2u);
    EXPECT_EQ(term["matchExpressions"][1],
              json::parse(R"({"key":"nvidia.com/gpu.product","operator":"In",
                              "values":["NVIDIA-H200"]})"));
  }
  EXPECT_EQ(EnvOf(pod, "NVIDIA_VISIBLE_DEVICES"), nullptr);
}

TEST(PodJsonTest, WhoHasGpusGetsTheImageForThemAndIsToldHowMany) {
  Snapshot now = StartedJob({.workers = 1});
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  const auto image_and_gpus = [&] {
    const json pod = Merged(now);
    const json* gpus = EnvOf(pod, "TAAS_GPUS");
    return pod["spec"]["containers"][0]["image"].get<std::string>() + " " +
           (gpus == nullptr ? "-" : (*gpus)["value"].get<std::string>());
  };
  role.gpus = 2;
  EXPECT_EQ(image_and_gpus(), "taas/trainer:test -") << "this operator has no image for GPUs";
  now.cuda_image = "taas/trainer-cuda:test";
  EXPECT_EQ(image_and_gpus(), "taas/trainer-cuda:test 2");
  role.env = R"([{"name":"TAAS_GPUS","value":"1"}])";
  EXPECT_EQ(image_and_gpus(), "taas/trainer-cuda:test 1") << "the user's value wins";
  role.env = "";
  role.gpus = 0;
  EXPECT_EQ(image_and_gpus(), "taas/trainer:test -");
  role.resources = R"({"limits":{"nvidia.com/mig-1g.5gb":"1","cpu":"4"}})";
  EXPECT_EQ(image_and_gpus(), "taas/trainer-cuda:test 1");
  role.resources = R"({"limits":{"nvidia.com/gpu":0}})";
  EXPECT_EQ(image_and_gpus(), "taas/trainer:test -");
  role.resources = R"({"limits":{"amd.com/gpu":1}})";
  EXPECT_EQ(image_and_gpus(), "taas/trainer:test -");
}

TEST(PodJsonTest, AnImageThatTheUserNamesStaysAlsoWhereThereAreGpus) {
  Snapshot now = StartedJob({.workers = 1});
  now.cuda_image = "taas/trainer-cuda:test";
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.gpus = 1;
  now.job.spec.trainer.image = "mine:1";
  json pod = Merged(now);
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "mine:1");
  EXPECT_EQ(EnvOf(pod, "TAAS_GPUS"), nullptr);
  now.job.spec.trainer.image = "";
  role.container = 0;
  role.pod_template = R"({"spec":{"containers":[{"name":"trainer","image":"mine:2"}]}})";
  pod = Merged(now);
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "mine:2");
  EXPECT_EQ(EnvOf(pod, "TAAS_GPUS"), nullptr);
  now.job.spec.bundled_trainer = false;
  role.pod_template = R"({"spec":{"containers":[{"name":"trainer"}]}})";
  pod = Merged(now);
  EXPECT_FALSE(pod["spec"]["containers"][0].contains("image"));
  EXPECT_EQ(EnvOf(pod, "TAAS_GPUS"), nullptr);
}

TEST(PodJsonTest, AParameterServerIsNotToldToComputeOnItsGpus) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.cuda_image = "taas/trainer-cuda:test";
  now.job.spec.roles[Role::kPs].gpus = 1;
  std::map<Role, json> pods;
  for (const Step& step : PlanJob(now).steps) {
    const auto* create = std::get_if<CreatePod>(&step);
    if (create != nullptr) pods[create->pod.role] = json::parse(*PodJson(create->pod));
  }
  EXPECT_EQ(pods[Role::kPs]["spec"]["containers"][0]["image"], "taas/trainer-cuda:test");
  EXPECT_EQ(EnvOf(pods[Role::kPs], "TAAS_GPUS"), nullptr);
  EXPECT_EQ(pods[Role::kWorker]["spec"]["containers"][0]["image"], "taas/trainer:test");
}

TEST(PodJsonTest, ARoleWithoutGpusSeesNoneUnlessTheUserSaysOtherwise) {
  Snapshot now = StartedJob({.workers = 1});
  json pod = Merged(now);
  ASSERT_NE(EnvOf(pod, "NVIDIA_VISIBLE_DEVICES"), nullptr);
  EXPECT_EQ((*EnvOf(pod, "NVIDIA_VISIBLE_DEVICES"))["value"], "void");
  EXPECT_EQ((*EnvOf(pod, "CUDA_VISIBLE_DEVICES"))["value"], "");
  now.job.spec.roles[Role::kWorker].env = R"([{"name":"CUDA_VISIBLE_DEVICES","value":"1"}])";
  pod = Merged(now);
  EXPECT_EQ((*EnvOf(pod, "CUDA_VISIBLE_DEVICES"))["value"], "1");
  EXPECT_EQ((*EnvOf(pod, "NVIDIA_VISIBLE_DEVICES"))["value"], "void");
}

TEST(PodJsonTest, TheRolesEnvReplacesTheTemplatesAndSourcesAreAdded) {
  Snapshot now = StartedJob({.workers = 1});
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.container = 0;
  role.pod_template = R"({"spec":{"containers":[{"name":"trainer","env":[{"name":"A","value":"1"},
      {"name":"B","value":"2"}],"envFrom":[{"secretRef":{"name":"s"}}]}]}})";
  role.env = R"([{"name":"A","value":"3"}])";
  role.env_from = R"([{"configMapRef":{"name":"c"}}])";
  const json pod = Merged(now);
  EXPECT_EQ((*EnvOf(pod, "A"))["value"], "3");
  EXPECT_EQ((*EnvOf(pod, "B"))["value"], "2");
  EXPECT_EQ(pod["spec"]["containers"][0]["envFrom"],
            json::parse(R"([{"secretRef":{"name":"s"}},{"configMapRef":{"name":"c"}}])"));
}

TEST(PodJsonTest, TheTemplatesVolumesMountsAndTolerationsStay) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.node_loss_seconds = 300;
  now.job.spec.volumes = {
      {.name = "data", .mount_path = "/data", .source = R"({"emptyDir":{}})"},
      {.name = "out", .mount_path = "/out", .source = R"({"emptyDir":{}})"}};
  RoleSpec& role = now.job.spec.roles[Role::kWorker];
  role.container = 0;
  role.pod_template = R"({"spec":{
      "tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists",
                      "effect":"NoExecute","tolerationSeconds":7},{"key":"gpu"}],
      "volumes":[{"name":"data","hostPath":{"path":"/d"}}],
      "containers":[{"name":"trainer","volumeMounts":[{"name":"x","mountPath":"/out"}]}]}})";
  const json pod = Merged(now);
  EXPECT_EQ(pod["spec"]["volumes"],
            json::parse(R"([{"name":"data","hostPath":{"path":"/d"}},
                            {"name":"out","emptyDir":{}}])"));
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"],
            json::parse(R"([{"name":"x","mountPath":"/out"},
                            {"name":"data","mountPath":"/data"}])"));
  const json& tolerations = pod["spec"]["tolerations"];
  ASSERT_EQ(tolerations.size(), 3u);
  EXPECT_EQ(tolerations[2]["key"], "node.kubernetes.io/not-ready");
  EXPECT_EQ(tolerations[2]["tolerationSeconds"], 300);
}

TEST(PodJsonTest, ATemplateThatCannotBeFollowedIsAnErrorThatNamesTheRole) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.roles[Role::kWorker].pod_template = R"({"spec":{"containers":{"name":"x"}}})";
  const auto text = PodJson(WorkerOf(now));
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.status().message().find("role worker"), std::string::npos);
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
  EXPECT_EQ(service["spec"]["selector"],
            json::parse(R"({"taas.dev/job-name":"mnist","taas.dev/job-uid":"uid-1"})"));
  EXPECT_EQ(service["spec"]["ports"].size(), 2u);
  EXPECT_EQ(service["metadata"]["labels"]["taas.dev/job-name"], "mnist");
  EXPECT_FALSE(service["metadata"].contains("annotations"));
}

TEST(ServiceJsonTest, TheEpochOfTheLeaderIsAnAnnotation) {
  Snapshot now = StartedJob({.workers = 1});
  now.services.clear();
  now.epoch = 4;
  const Plan plan = PlanJob(now);
  const json service = json::parse(ServiceJson(std::get<CreateService>(plan.steps.at(0))));
  EXPECT_EQ(service["metadata"]["annotations"]["taas.dev/epoch"], "4");
}

// "[json.exception.type_error.306] cannot use value() with number", of which field nobody knew.
TEST(PodJsonTest, ATemplateThatCannotBeFollowedIsToldWithItsFields) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.roles.at(Role::kWorker).pod_template = R"({"spec":{"volumes":[7]}})";
  const auto body = PodJson(WorkerOf(now));
  ASSERT_FALSE(body.ok());
  const std::string said(body.status().message());
  EXPECT_NE(said.find("spec.roles.worker.template.spec.volumes[0]: Invalid value: \"integer\""),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace taas
