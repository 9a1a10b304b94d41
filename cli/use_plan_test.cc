#include "cli/use_plan.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Of one worker, with a claim at /out and a folder that ends with its pod at /tmp.
json JobJson() {
  return json::parse(R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
      "metadata":{"namespace":"team","name":"mnist","uid":"u","resourceVersion":"5"},
      "spec":{"trainer":{"model":{"name":"softmax"},"checkpoint":{"dir":"/out/ckpt"}},
        "roles":{"worker":{"replicas":1}},
        "volumes":[
          {"name":"out","mountPath":"/out",
           "source":{"persistentVolumeClaim":{"claimName":"mnist-out"}}},
          {"name":"data","mountPath":"/data","readOnly":true,
           "source":{"persistentVolumeClaim":{"claimName":"mnist-data"}}},
          {"name":"tmp","mountPath":"/tmp","source":{"emptyDir":{}}}]}})");
}

SeenJob Seen(const json& job, JobKind kind = JobKind::kTrainingJob) {
  const absl::StatusOr<SeenJob> seen = ReadSeenJob(kind, job.dump());
  EXPECT_THAT(seen.status(), IsOk());
  return seen.ok() ? *seen : SeenJob();
}

const UseVerb& VerbOf(const std::string& name) {
  for (const UseVerb& verb : UseVerbs()) {
    if (verb.name == name) return verb;
  }
  ADD_FAILURE() << "there is no verb " << name;
  return UseVerbs().front();
}

absl::StatusOr<UsePlan> Plan(const std::string& verb, const UseFlags& flags = {},
                             const UseFacts& facts = {.suffix = "x7k2p", .image = "i:1"},
                             const json& job = JobJson()) {
  return PlanUse(VerbOf(verb), Seen(job), flags, facts);
}

json Arguments(const absl::StatusOr<UsePlan>& plan) {
  EXPECT_THAT(plan.status(), IsOk());
  if (!plan.ok()) return json();
  return json::parse(plan->pod)["spec"]["containers"][0]["args"];
}

TEST(UsePlanTest, EachVerbIsOneOfTheTrainersWithItsFlags) {
  EXPECT_EQ(Arguments(Plan("eval")), json::parse(R"(["eval","--checkpoint","/out/ckpt"])"));
  EXPECT_EQ(Arguments(Plan("eval", {.output = "json"})),
            json::parse(R"(["eval","--checkpoint","/out/ckpt","--output","json"])"));
  EXPECT_EQ(Arguments(Plan("eval", {.input_path = "/d/x", .labels_path = "/d/y"})),
            json::parse(R"(["eval","--checkpoint","/out/ckpt","--input","/d/x","--labels",
                            "/d/y"])"));
  EXPECT_EQ(Arguments(Plan("predict")), json::parse(R"(["predict","--checkpoint","/out/ckpt"])"));
  EXPECT_EQ(Arguments(Plan("predict", {.input_path = "/data/x"})),
            json::parse(R"(["predict","--checkpoint","/out/ckpt","--input","/data/x"])"));
  EXPECT_EQ(Arguments(Plan("export", {.format = "safetensors", .to = "/out/m", .bfloat16 = true})),
            json::parse(R"(["export","--checkpoint","/out/ckpt","--format","safetensors",
                            "--to","/out/m","--bfloat16"])"));
  EXPECT_EQ(Arguments(Plan("generate", {.output = "json",
                                        .input_path = "/data/part.txt",
                                        .length = 9,
                                        .temperature = 0.5})),
            json::parse(R"(["generate","--checkpoint","/out/ckpt","--input","/data/part.txt",
                            "--length","9","--temperature","0.5","--output","json"])"));
  EXPECT_EQ(Arguments(Plan("eval", {.checkpoint = "/out/ckpt/model.ckpt-7"})),
            json::parse(R"(["eval","--checkpoint","/out/ckpt/model.ckpt-7"])"));
}

TEST(UsePlanTest, ThePodHasItsNameImageAndDeadline) {
  const auto plan = Plan("eval", {}, {.suffix = "x7k2p", .image = "i:1", .deadline_seconds = 90});
  ASSERT_THAT(plan.status(), IsOk());
  EXPECT_EQ(plan->ns, "team");
  EXPECT_EQ(plan->name, "mnist-eval-x7k2p");
  EXPECT_EQ(plan->container, "trainer");
  EXPECT_EQ(plan->config_map, "");
  const json pod = json::parse(plan->pod);
  EXPECT_EQ(pod["metadata"]["name"], "mnist-eval-x7k2p");
  EXPECT_EQ(pod["spec"]["activeDeadlineSeconds"], 90);
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "i:1");
  const auto other = Plan("eval", {.image = "mine:2"});
  EXPECT_EQ(json::parse(other->pod)["spec"]["containers"][0]["image"], "mine:2");
}

TEST(UsePlanTest, ExamplesOfThisMachineComeInAConfigMapThatThePodMounts) {
  const auto input = InputOf("/home/me/my rows.txt", std::string("\0\xff 1", 4));
  ASSERT_THAT(input.status(), IsOk());
  EXPECT_EQ(input->name, "my_rows.txt");
  const auto plan = Plan("predict", {}, {.suffix = "x7k2p", .image = "i", .input = *input});
  EXPECT_EQ(Arguments(plan), json::parse(R"(["predict","--checkpoint","/out/ckpt",
                                             "--input","/taas-input/my_rows.txt"])"));
  const json map = json::parse(plan->config_map);
  EXPECT_EQ(map["kind"], "ConfigMap");
  EXPECT_EQ(map["metadata"]["name"], plan->name);
  EXPECT_EQ(map["metadata"]["labels"]["taas.dev/use-of"], "mnist");
  EXPECT_EQ(map["binaryData"], json::parse(R"({"my_rows.txt":"AP8gMQ=="})"));
  EXPECT_EQ(json::parse(plan->pod)["spec"]["volumes"].back()["configMap"]["name"], plan->name);
}

TEST(UsePlanTest, AFileIsNamedAsAConfigMapTakesIt) {
  EXPECT_EQ(InputOf("-", "1")->name, "examples");
  EXPECT_EQ(InputOf("..", "1")->name, "examples");
  EXPECT_EQ(InputOf("/", "1")->name, "examples");
  EXPECT_EQ(InputOf(std::string(300, 'a'), "1")->name, "examples");
  EXPECT_EQ(InputOf("t10k-images.gz", "1")->name, "t10k-images.gz");
}

TEST(UsePlanTest, MoreExamplesThanAConfigMapTakesAreToBeOnAVolume) {
  EXPECT_THAT(InputOf("a", std::string(kUseInputBytesMax, '1')).status(), IsOk());
  EXPECT_THAT(InputOf("a", std::string(kUseInputBytesMax + 1, '1')).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--input a"), HasSubstr("1048576"),
                             HasSubstr("--input-path"))));
}

TEST(UsePlanTest, JobsWhoseModelCannotBeUsedAreRefusedWithTheReason) {
  EXPECT_THAT(CheckUse(VerbOf("eval"), Seen(JobJson())), IsOk());
  json own = JobJson();
  own["spec"].erase("trainer");
  own["spec"]["roles"]["worker"]["template"] =
      json::parse(R"({"spec":{"containers":[{"name":"trainer","image":"me/own"}]}})");
  EXPECT_THAT(CheckUse(VerbOf("predict"), Seen(own)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("job team/mnist runs an image of its own"),
                             HasSubstr("`taas predict`"),
                             HasSubstr("`taas-trainer predict --checkpoint DIR"))));
  // Symptom: a pod was made, to say that a model of language predicts no class.
  json text = JobJson();
  text["spec"]["trainer"]["data"]["format"] = "text";
  EXPECT_THAT(CheckUse(VerbOf("predict"), Seen(text)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("`taas generate mnist --prompt TEXT`")));
  EXPECT_THAT(CheckUse(VerbOf("generate"), Seen(text)), IsOk());
  json only_ps = JobJson();
  only_ps["spec"]["roles"] = json::parse(R"({"ps":{"replicas":1}})");
  EXPECT_THAT(CheckUse(VerbOf("eval"), Seen(only_ps)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("neither a chief")));
  json unreadable = JobJson();
  unreadable["spec"]["roles"]["worker"]["replicas"] = "many";
  EXPECT_THAT(CheckUse(VerbOf("eval"), Seen(unreadable)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("replicas")));
}

TEST(UsePlanTest, ATFJobOfTheBundledTrainerIsUsedAsItsTemplateHasIt) {
  json job = json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"namespace":"team","name":"old","uid":"u","resourceVersion":"5"},
      "spec":{"tfReplicaSpecs":{"Worker":{"template":{"spec":{
        "containers":[{"name":"tensorflow","image":"taas/trainer:1","command":["taas-trainer"],
          "env":[{"name":"OUT","value":"/out"},
                 {"name":"TAAS_TRAINER","value":"{\"checkpoint\":{\"dir\":\"/out/ckpt\"}}"}],
          "volumeMounts":[{"name":"out","mountPath":"/out"}]}],
        "volumes":[{"name":"out","persistentVolumeClaim":{"claimName":"old-out"}}]}}}}}})");
  const auto plan = [&job] {
    return PlanUse(VerbOf("eval"), Seen(job, JobKind::kTfJob), {}, {.suffix = "x", .image = "i"});
  };
  EXPECT_THAT(CheckUse(VerbOf("eval"), Seen(job, JobKind::kTfJob)), IsOk());
  EXPECT_EQ(Arguments(plan()), json::parse(R"(["eval","--checkpoint","/out/ckpt"])"));
  const json pod = json::parse(plan()->pod);
  const json& container = pod["spec"]["containers"][0];
  EXPECT_EQ(container["image"], "taas/trainer:1");
  EXPECT_EQ(container["command"], json::array({"taas-trainer"}));
  EXPECT_FALSE(container.contains("securityContext")) << "the template has none";
  EXPECT_FALSE(pod["spec"].contains("securityContext"));
  // Behind what it may refer to.
  EXPECT_EQ(container["env"].back()["name"], "TAAS_TRAINER");
  EXPECT_EQ(container["env"][container["env"].size() - 2]["name"], "OUT");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["kind"], "TFJob");
  for (const json& variable : container["env"]) EXPECT_NE(variable["name"], "TF_CONFIG");
  json& spec = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"];
  spec["volumes"][0] = json::parse(R"({"name":"out","emptyDir":{}})");
  EXPECT_THAT(plan().status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("volumes of the template")));
  spec["containers"][0]["env"][1]["value"] = "{}";
  EXPECT_THAT(plan().status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("set checkpoint.dir in TAAS_TRAINER")));
}

struct Refusal {
  const char* why;
  std::string dir;  // Of checkpoints; empty: none.
  UseFlags flags;
  std::vector<const char*> said;
};

TEST(UsePlanTest, WhatIsNotThereAnyMoreIsRefusedWithWhatToDo) {
  const Refusal refusals[] = {
      {"no checkpoints", "", {}, {"keeps no checkpoints", "spec.trainer.checkpoint.dir"}},
      {"emptyDir", "/tmp/ckpt", {}, {"/tmp/ckpt", "volume tmp ends with its pod",
                                     "persistentVolumeClaim"}},
      {"no volume", "/ckpt", {}, {"/ckpt", "it is on no volume"}},
      {"relative", "ckpt", {}, {"it is on no volume"}},
      {"a flag", "/out", {.checkpoint = "/tmp/a"}, {"--checkpoint /tmp/a", "volume tmp"}},
      {"to no volume", "/out", {.to = "/export"}, {"--to /export", "no volume",
                                                   "choose a path in /out"}},
      {"to emptyDir", "/out", {.to = "/tmp/m"}, {"--to /tmp/m", "ends with the pod"}},
      {"read-only", "/out", {.to = "/data/m"}, {"volume data", "read-only"}},
  };
  for (const Refusal& refusal : refusals) {
    json job = JobJson();
    job["spec"]["trainer"]["checkpoint"] = {{"dir", refusal.dir}};
    if (refusal.dir.empty()) job["spec"]["trainer"].erase("checkpoint");
    const auto plan = Plan("export", refusal.flags, {.suffix = "x", .image = "i"}, job);
    ASSERT_FALSE(plan.ok()) << refusal.why;
    for (const char* said : refusal.said) {
      EXPECT_THAT(std::string(plan.status().message()), HasSubstr(said)) << refusal.why;
    }
  }
}

// `taas eval` said that they had ended with the pod while they lay on the machine.
TEST(UsePlanTest, OnALocalClusterAPathOnNoVolumeIsTheMachinesOwn) {
  json job = JobJson();
  job["spec"]["trainer"]["checkpoint"] = {{"dir", "/ckpt"}};
  const UseFacts facts{.suffix = "x", .image = "i", .local = true};
  EXPECT_THAT(Plan("eval", {}, facts, job).status(), IsOk());
  job["spec"]["trainer"]["checkpoint"] = {{"dir", "/tmp/ckpt"}};
  EXPECT_FALSE(Plan("eval", {}, facts, job).ok()) << "an emptyDir ends with its pod";
}

TEST(UsePlanTest, AnImageIsLackedWhereNeitherJobNorTemplateNamesOne) {
  EXPECT_TRUE(LacksImage(Seen(JobJson())));
  json of_job = JobJson();
  of_job["spec"]["trainer"]["image"] = "me/trainer";
  EXPECT_FALSE(LacksImage(Seen(of_job)));
  json of_template = JobJson();
  of_template["spec"]["roles"]["worker"]["template"] =
      json::parse(R"({"spec":{"containers":[{"name":"trainer","image":"me/trainer"}]}})");
  EXPECT_FALSE(LacksImage(Seen(of_template)));
}

}  // namespace
}  // namespace taas
