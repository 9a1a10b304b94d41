#include "localkube/node/pod_run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class PodRunTest : public testing::Test {
 protected:
  PodRunTest() {
    context_.pod_dir = "/d/pods/u";
    context_.volumes_dir = "/d/volumes";
    context_.trainer_path = "/bin/taas-trainer";
    context_.node = {.cpu_milli = 8000, .memory_bytes = 1 << 30};
    pod_ = {
        {"metadata", {{"name", "a-worker-0"}, {"namespace", "ns"}, {"uid", "u"}}},
        {"spec",
         {{"nodeName", "local"},
          {"containers", Json::array({{{"name", "trainer"}, {"image", "taas/trainer:0.1.0"}}})}}}};
  }
  Json& container() { return pod_["spec"]["containers"][0]; }
  absl::StatusOr<ContainerRun> Plan(const std::string& name = "trainer") {
    return PlanRun(pod_, name, files_, context_, config_);
  }

  RunFiles files_{"/d/pods/u/containers/trainer/0"};
  RunContext context_;
  PodConfig config_;
  Json pod_;
};

TEST_F(PodRunTest, TheTrainersImageIsTheTrainerBesideThisProgram) {
  container()["args"] = {"--json-logs"};
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.argv, ElementsAre("/bin/taas-trainer", "--json-logs"));
  EXPECT_THAT(run->spec.env,
              Contains("TAAS_TERMINATION_LOG=/d/pods/u/containers/trainer/0/termination-log"));
  EXPECT_TRUE(IsTrainerImage("taas/trainer"));
  EXPECT_TRUE(IsTrainerImage("taas/trainer@sha256:0123"));
  EXPECT_TRUE(IsTrainerImage("taas/trainer-cuda:0.1.0"));
  EXPECT_FALSE(IsTrainerImage("registry:5000/taas/trainer"));
}

TEST_F(PodRunTest, AnotherImageRunsItsCommandOnThisMachine) {
  container()["image"] = "python:3.11";
  container()["command"] = {"/bin/sh", "-c"};
  container()["args"] = {"echo $(WHO) $$(WHO) $(NOBODY)"};
  container()["env"] = Json::array({{{"name", "WHO"}, {"value", "me"}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.argv, ElementsAre("/bin/sh", "-c", "echo me $(WHO) $(NOBODY)"));
}

TEST_F(PodRunTest, AnotherImageWithoutACommandIsRefused) {
  container()["image"] = "python:3.11";
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("container trainer: image python:3.11 has no command")));
}

// Of a misspelt spec.trainer.image a command was asked for.
TEST_F(PodRunTest, AnImageOfTheTrainersThatIsNoneIsToBeLeftOut) {
  container()["image"] = "me/trainr:latest";
  container()["env"] = Json::array({{{"name", "TAAS_TRAINER"}, {"value", "{}"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("not the bundled trainer's image: leave that field out")));
}

TEST_F(PodRunTest, EnvironmentTakesFieldsAndEarlierVariables) {
  context_.base_env = {{"PATH", "/usr/bin"}};
  container()["env"] = Json::array(
      {{{"name", "POD"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}},
       {{"name", "BOTH"}, {"value", "$(POD)@$(PATH)"}},
       {{"name", "PATH"}, {"value", "/own"}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.env, Contains("BOTH=a-worker-0@/usr/bin"));
  EXPECT_THAT(run->spec.env, Contains("PATH=/own"));
  EXPECT_THAT(run->spec.env, Not(Contains("PATH=/usr/bin")));
}

TEST_F(PodRunTest, VariablesComeFromConfigMapsSecretsAndResources) {
  config_.Add({ConfigKind::kConfigMap, "m"}, Json::parse(R"({"data":{"A":"1","B":"2"}})"));
  config_.Add({ConfigKind::kSecret, "s"}, Json::parse(R"({"data":{"k":"c2VjcmV0"}})"));
  container()["envFrom"] = Json::array({{{"prefix", "M_"}, {"configMapRef", {{"name", "m"}}}}});
  container()["resources"] = {{"limits", {{"memory", "64Mi"}}}};
  container()["env"] = Json::parse(R"([
      {"name":"M_B","value":"own"},
      {"name":"KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
      {"name":"NONE","valueFrom":{"configMapKeyRef":{"name":"m","key":"x","optional":true}}},
      {"name":"MEM","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}},
      {"name":"CPU","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}},
      {"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}])");
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  for (const char* want : {"M_A=1", "M_B=own", "KEY=secret", "MEM=64", "CPU=8", "NODE=local"}) {
    EXPECT_THAT(run->spec.env, Contains(want));
  }
  EXPECT_THAT(run->spec.env, Not(Contains(testing::StartsWith("NONE="))));
  EXPECT_EQ(run->spec.memory_bytes_max, 64 << 20);
}

TEST_F(PodRunTest, AnObjectOrKeyThatIsMissingMayStillCome) {
  container()["env"] = Json::parse(
      R"([{"name":"A","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}])");
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("configmap \"m\" not found")));
  config_.Add({ConfigKind::kConfigMap, "m"}, Json::object());
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("couldn't find key k in ConfigMap m")));
}

TEST_F(PodRunTest, LifecycleHooksAndSidecarsAreRefused) {
  container()["lifecycle"] = Json::parse(R"({"preStop":{"exec":{"command":["true"]}}})");
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lifecycle hooks")));
  container().erase("lifecycle");
  pod_["spec"]["initContainers"] =
      Json::array({{{"name", "side"}, {"image", "x"}, {"restartPolicy", "Always"}}});
  EXPECT_THAT(Plan("side"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a sidecar")));
  EXPECT_THAT(Plan("nobody"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nobody")));
}

TEST_F(PodRunTest, VolumesHoldTheKeysOfConfigMapsAndSecretsAndThePodsOwnFields) {
  config_.Add({ConfigKind::kConfigMap, "m"}, Json::parse(R"({"data":{"a.yaml":"x","b":"y"}})"));
  config_.Add({ConfigKind::kSecret, "s"}, Json::parse(R"({"data":{"key":"AAE="}})"));
  pod_["spec"]["volumes"] = Json::parse(R"([
      {"name":"m","configMap":{"name":"m","items":[{"key":"b","path":"sub/c"}]}},
      {"name":"s","secret":{"secretName":"s","defaultMode":256}},
      {"name":"p","projected":{"sources":[{"configMap":{"name":"m"}},{"downwardAPI":{"items":[
          {"path":"who","fieldRef":{"fieldPath":"metadata.name"}}]}}]}}])");
  container()["volumeMounts"] = Json::parse(R"([{"name":"m","mountPath":"/m"},
      {"name":"s","mountPath":"/s"},
      {"name":"p","mountPath":"/etc/a.yaml","subPath":"a.yaml"}])");
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  std::vector<std::string> files;
  for (const VolumeFile& file : run->files) files.push_back(file.path + "=" + file.data);
  EXPECT_THAT(files, ElementsAre("/d/pods/u/volumes/m/sub/c=y",
                                 "/d/pods/u/volumes/s/key=" + std::string("\0\1", 2),
                                 "/d/pods/u/volumes/p/a.yaml=x", "/d/pods/u/volumes/p/b=y",
                                 "/d/pods/u/volumes/p/who=a-worker-0"));
  EXPECT_EQ(run->files[1].mode, 0400);
  EXPECT_TRUE(run->spec.mounts[0].read_only);
  EXPECT_EQ(run->spec.mounts[2].source, "/d/pods/u/volumes/p/a.yaml");
  EXPECT_THAT(run->dirs, Not(Contains("/d/pods/u/volumes/p/a.yaml")));
}

TEST_F(PodRunTest, AKeyDoesNotLeaveItsVolume) {
  config_.Add({ConfigKind::kConfigMap, "m"}, Json::parse(R"({"data":{"b":"y"}})"));
  pod_["spec"]["volumes"] = Json::parse(
      R"([{"name":"m","configMap":{"name":"m","items":[{"key":"b","path":"../c"}]}}])");
  container()["volumeMounts"] = Json::array({{{"name", "m"}, {"mountPath", "/m"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("../c")));
}

TEST_F(PodRunTest, ClaimsAreDirectoriesOfTheClusterOrBoundOnes) {
  context_.volume_bindings = {{"bound", "/home/me/data"}, {"other/own", "/wrong"}};
  pod_["spec"]["volumes"] =
      Json::array({{{"name", "a"}, {"persistentVolumeClaim", {{"claimName", "own"}}}},
                   {{"name", "b"}, {"persistentVolumeClaim", {{"claimName", "bound"}}}},
                   {{"name", "c"}, {"emptyDir", Json::object()}}});
  container()["volumeMounts"] =
      Json::array({{{"name", "a"}, {"mountPath", "/out/"}},
                   {{"name", "b"}, {"mountPath", "/data"}, {"readOnly", true}, {"subPath", "x"}},
                   {{"name", "c"}, {"mountPath", "/scratch"}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  ASSERT_EQ(run->spec.mounts.size(), 3u);
  EXPECT_EQ(run->spec.mounts[0].source, "/d/volumes/ns/own");
  EXPECT_EQ(run->spec.mounts[0].target, "/out");
  EXPECT_FALSE(run->spec.mounts[0].read_only);
  EXPECT_EQ(run->spec.mounts[1].source, "/home/me/data/x");
  EXPECT_TRUE(run->spec.mounts[1].read_only);
  EXPECT_EQ(run->spec.mounts[2].source, "/d/pods/u/volumes/c");
  EXPECT_THAT(run->dirs,
              ElementsAre("/d/volumes/ns/own", "/home/me/data/x", "/d/pods/u/volumes/c"));
}

TEST_F(PodRunTest, ASubPathThatLeavesItsVolumeIsRefused) {
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"emptyDir", Json::object()}}});
  container()["volumeMounts"] =
      Json::array({{{"name", "c"}, {"mountPath", "/s"}, {"subPath", "a/../../b"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a/../../b")));
}

TEST_F(PodRunTest, UnsupportedVolumesAreRefusedByKind) {
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"nfs", {{"server", "x"}}}}});
  container()["volumeMounts"] = Json::array({{{"name", "c"}, {"mountPath", "/s"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("volume c: nfs is not supported")));
}

TEST_F(PodRunTest, WithoutMountNamespacesTheTrainersPathsAreTranslated) {
  context_.sandbox = false;
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"hostPath", {{"path", "/srv/mnist"}}}}});
  container()["volumeMounts"] = Json::array({{{"name", "c"}, {"mountPath", "/data"}}});
  container()["env"] = Json::array(
      {{{"name", "TAAS_TRAINER"},
        {"value", R"({"data":{"train":{"images":"/data/a.gz","labels":"/database/b"}}})"}}});
  container()["args"] = {"eval", "--checkpoint", "/data/out", "/data", "/database"};
  auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.argv, ElementsAre(_, "eval", "--checkpoint", "/srv/mnist/out",
                                          "/srv/mnist", "/database"));
  EXPECT_TRUE(run->spec.mounts.empty());
  EXPECT_THAT(run->spec.env,
              Contains("TAAS_TRAINER={\"data\":{\"train\":{\"images\":\"/srv/mnist/a.gz\","
                       "\"labels\":\"/database/b\"}}}"));
  container()["image"] = "python";
  container()["command"] = {"true"};
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("an image of your own cannot have volumes here")));
}

// Symptom: a pod of 3 KB took all memory of the machine, and took it again at each start of the
// cluster. What is made of a pod is bounded, wherever it is made.
TEST_F(PodRunTest, WhatGrowsBeyondWhatAProgramCanBeGivenIsRefused) {
  const auto refused = [&](const char* why) {
    EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  };
  Json& env = container()["env"];
  env = Json::array({{{"name", "A0"}, {"value", std::string(64, 'x')}}});
  for (int i = 1; i < 11; ++i) {
    const std::string before = "$(A" + std::to_string(i - 1) + ")";
    env.push_back({{"name", "A" + std::to_string(i)}, {"value", before + before}});
  }
  EXPECT_THAT(Plan(), IsOk()) << "64 KiB is what a program can be given";
  container()["args"] = {"$(A10)$(A10)"};
  refused("word 2 of its command");
  container()["args"] = Json::array();
  for (int i = 0; i < 40; ++i) container()["args"].push_back("$(A10)");
  refused("its command and environment together");
  container().erase("args");
  env.push_back({{"name", "A11"}, {"value", "$(A10)$(A10)"}});
  refused("the variable A11");
  env = Json::array();
  for (int i = 0; i < 50'000; ++i) {
    env.push_back({{"name", "B" + std::to_string(i)}, {"value", std::string(40, 'x')}});
  }
  refused("its command and environment together");
}

TEST_F(PodRunTest, AConfigMapThatIsNamedAThousandTimesIsNotCopiedAThousandTimes) {
  config_.Add({ConfigKind::kConfigMap, "m"},
              {{"data", {{"a", std::string(100'000, 'x')}, {"b", std::string(900'000, 'y')}}}});
  for (int i = 0; i < 1000; ++i) {
    container()["envFrom"].push_back(
        {{"prefix", "P" + std::to_string(i)}, {"configMapRef", {{"name", "m"}}}});
  }
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("P0b")));
  container().erase("envFrom");
  Json sources = Json::array();
  for (int i = 0; i < 1000; ++i) sources.push_back({{"configMap", {{"name", "m"}}}});
  pod_["spec"]["volumes"] =
      Json::array({{{"name", "v"}, {"projected", {{"sources", sources}}}}});
  container()["volumeMounts"] = Json::array({{{"name", "v"}, {"mountPath", "/m"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("67108864 bytes")));
}

// Symptom: a mount with subPathExpr got the whole volume, without a word.
TEST_F(PodRunTest, ASubPathMayNameVariables) {
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"emptyDir", Json::object()}}});
  Json& mount = container()["volumeMounts"][0];
  mount = {{"name", "c"}, {"mountPath", "/s"}, {"subPathExpr", "runs/$(WHO)"}};
  container()["env"] = Json::array({{{"name", "WHO"}, {"value", "me"}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_EQ(run->spec.mounts[0].source, "/d/pods/u/volumes/c/runs/me");
  for (const char* wrong : {"$(NOBODY)", "$(WHO)/../..", "/$(WHO)"}) {
    mount["subPathExpr"] = wrong;
    EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("container trainer")))
        << wrong;
  }
}

TEST_F(PodRunTest, GpuSlotsOverrideWhatTheTemplateSays) {
  context_.gpus = {1, 3};
  container()["resources"] = {{"limits", {{"nvidia.com/gpu", 1}}}};
  pod_["spec"]["containers"].push_back(
      {{"name", "second"},
       {"image", "x"},
       {"command", {"true"}},
       {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}});
  container()["env"] = Json::array({{{"name", "CUDA_VISIBLE_DEVICES"}, {"value", ""}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.env, Contains("CUDA_VISIBLE_DEVICES=1"));
  EXPECT_THAT(Plan("second")->spec.env, Contains("CUDA_VISIBLE_DEVICES=3"));
}

TEST_F(PodRunTest, TheTrainerComputesOnRealGpusAndOnTheProcessorWithSimulatedOnes) {
  const auto told = Contains(testing::StartsWith("TAAS_GPUS="));
  context_.gpus = {1, 3};
  container()["resources"] = {{"limits", {{"nvidia.com/gpu", 2}}}};
  EXPECT_THAT(Plan()->spec.env, Not(told)) << "simulated";
  context_.real_gpus = true;
  EXPECT_THAT(Plan()->spec.env, Contains("TAAS_GPUS=2"));
  container()["env"] = Json::array({{{"name", "TAAS_ROLE"}, {"value", "worker"}}});
  EXPECT_THAT(Plan()->spec.env, Contains("TAAS_GPUS=2"));
  container()["env"][0]["value"] = "ps";
  EXPECT_THAT(Plan()->spec.env, Not(told));
  container()["env"] = Json::array({{{"name", "TAAS_GPUS"}, {"value", ""}}});
  EXPECT_THAT(Plan()->spec.env, Contains("TAAS_GPUS=")) << "the user's value wins";
  container()["env"] = Json::array();
  container()["command"] = {"/bin/sh"};
  EXPECT_THAT(Plan()->spec.env, Not(told)) << "another program";
  container()["image"] = "python:3.11";
  EXPECT_THAT(Plan()->spec.env, Not(told));
  container().erase("command");
  container()["image"] = "taas/trainer:0.1.0";
  container()["resources"] = Json::object();
  EXPECT_THAT(Plan()->spec.env, Not(told)) << "no GPUs";
}

}  // namespace
}  // namespace taas::localkube
