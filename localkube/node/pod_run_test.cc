#include "localkube/node/pod_run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class PodRunTest : public testing::Test {
 protected:
  PodRunTest() {
    context_.pod_dir = "/d/pods/u";
    context_.volumes_dir = "/d/volumes";
    context_.trainer_path = "/bin/taas-trainer";
    context_.node_name = "local";
    pod_ = {
        {"metadata", {{"name", "a-worker-0"}, {"namespace", "ns"}, {"uid", "u"}}},
        {"spec",
         {{"containers", Json::array({{{"name", "trainer"}, {"image", "taas/trainer:0.1.0"}}})}}}};
  }
  Json& container() { return pod_["spec"]["containers"][0]; }
  absl::StatusOr<ContainerRun> Plan() { return PlanRun(pod_, "trainer", files_, context_); }

  RunFiles files_{"/d/pods/u/containers/trainer/0"};
  RunContext context_;
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
  EXPECT_THAT(run->spec.env, testing::Not(Contains("PATH=/usr/bin")));
}

TEST_F(PodRunTest, SecretsAndConfigMapsAreRefusedByName) {
  container()["env"] = Json::array(
      {{{"name", "KEY"}, {"valueFrom", {{"secretKeyRef", {{"name", "s"}, {"key", "k"}}}}}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("env KEY: secretKeyRef is not supported")));
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
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"secret", {{"secretName", "x"}}}}});
  container()["volumeMounts"] = Json::array({{{"name", "c"}, {"mountPath", "/s"}}});
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("volume c: secret is not supported")));
}

TEST_F(PodRunTest, WithoutMountNamespacesTheTrainersPathsAreTranslated) {
  context_.sandbox = false;
  pod_["spec"]["volumes"] = Json::array({{{"name", "c"}, {"hostPath", {{"path", "/srv/mnist"}}}}});
  container()["volumeMounts"] = Json::array({{{"name", "c"}, {"mountPath", "/data"}}});
  container()["env"] = Json::array(
      {{{"name", "TAAS_TRAINER"},
        {"value", R"({"data":{"train":{"images":"/data/a.gz","labels":"/database/b"}}})"}}});
  auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_TRUE(run->spec.mounts.empty());
  EXPECT_THAT(run->spec.env,
              Contains("TAAS_TRAINER={\"data\":{\"train\":{\"images\":\"/srv/mnist/a.gz\","
                       "\"labels\":\"/database/b\"}}}"));
  container()["image"] = "python";
  container()["command"] = {"true"};
  EXPECT_THAT(Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("an image of your own cannot have volumes here")));
}

TEST_F(PodRunTest, GpuSlotsOverrideWhatTheTemplateSays) {
  context_.gpus = {1, 3};
  container()["env"] = Json::array({{{"name", "CUDA_VISIBLE_DEVICES"}, {"value", ""}}});
  const auto run = Plan();
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->spec.env, Contains("CUDA_VISIBLE_DEVICES=1,3"));
}

}  // namespace
}  // namespace taas::localkube
