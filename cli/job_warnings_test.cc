#include "cli/job_warnings.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

Json TrainingJob() {
  return Json::parse(R"({
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "a"},
    "spec": {
      "trainer": {
        "model": {"name": "mlp", "hidden": [10]},
        "data": {"format": "csv", "csv": {"labelColumn": "y"}, "train": {"files": ["/data/a.csv"]}},
        "strategy": {"type": "ParameterServer"},
        "checkpoint": {"dir": "/out/ckpt"}, "maxSteps": 10},
      "roles": {"chief": {"replicas": 1}, "ps": {}, "worker": {"replicas": 2}},
      "volumes": [
        {"name": "data", "mountPath": "/data", "source": {"emptyDir": {}}},
        {"name": "out", "mountPath": "/out", "roles": ["chief"], "source": {"emptyDir": {}}}]}})");
}

std::vector<std::string> Of(const Json& job) {
  return JobWarnings(JobKind::kTrainingJob, job.dump());
}

TEST(JobWarningsTest, AJobWhoseRolesSeeWhatTheyUseHasNone) {
  EXPECT_THAT(Of(TrainingJob()), IsEmpty());
  EXPECT_THAT(JobWarnings(JobKind::kTrainingJob, "no json"), IsEmpty());
  EXPECT_THAT(JobWarnings(JobKind::kTrainingJob, R"({"spec": {"trainer": 1}})"), IsEmpty());
}

// A job trained, and nobody had said that its checkpoints were on no volume.
TEST(JobWarningsTest, PathsOnNoVolumeOfTheirRoleAreTold) {
  Json job = TrainingJob();
  Json& trainer = job["spec"]["trainer"];
  trainer["checkpoint"]["dir"] = "/tmp/ckpt";
  trainer["summaries"] = {{"dir", "/outside"}};
  trainer["export"] = {{"dir", "/out"}, {"format", "safetensors"}};
  trainer["data"]["train"]["files"] = {"/data/a.csv", "/dta/b.csv"};
  trainer["data"]["test"]["files"] = {"/dta/t.csv"};
  EXPECT_THAT(
      Of(job),
      ElementsAre(AllOf(HasSubstr("spec.trainer.checkpoint.dir: /tmp/ckpt is on no volume of role "
                                  "chief"),
                        HasSubstr("ends with its pod")),
                  HasSubstr("spec.trainer.summaries.dir: /outside"),
                  AllOf(HasSubstr("spec.trainer.data.train.files[1]: /dta/b.csv"),
                        HasSubstr("does not see it")),
                  HasSubstr("spec.trainer.data.test.files[0]: /dta/t.csv")));
  // An image of one's own may bring its data, not keep its checkpoints.
  trainer["image"] = "me/trainer";
  EXPECT_EQ(Of(job).size(), 2u);
}

TEST(JobWarningsTest, WhoUsesAPathMustSeeItAndATemplateMayMountIt) {
  Json job = TrainingJob();
  job["spec"]["roles"]["evaluator"] = {{"replicas", 1}};
  EXPECT_THAT(Of(job), ElementsAre(HasSubstr("/out/ckpt is on no volume of role evaluator")));
  job["spec"]["roles"]["evaluator"]["template"] = Json::parse(
      R"({"spec": {"containers": [{"name": "trainer", "volumeMounts": [
           {"name": "v", "mountPath": "/out/"}]}]}})");
  EXPECT_THAT(Of(job), IsEmpty());
  job["spec"]["roles"].erase("chief");
  EXPECT_THAT(Of(job), ElementsAre(HasSubstr("role worker")));
  job["spec"]["volumes"][0]["roles"] = {"ps"};
  EXPECT_EQ(Of(job).size(), 2u);
}

// With made-up GPUs `towers: 2` beside `gpus: 4` trained; on real ones it is refused.
TEST(JobWarningsTest, GpusThatTheTrainerWouldRefuseAreTold) {
  Json job = TrainingJob();
  Json& roles = job["spec"]["roles"];
  roles["worker"]["gpus"] = 1;
  EXPECT_THAT(Of(job), IsEmpty());
  roles["worker"]["gpus"] = 4;
  EXPECT_THAT(Of(job), ElementsAre(AllOf(HasSubstr("spec.roles.worker.gpus: 4 with strategy "
                                                   "ParameterServer"),
                                         HasSubstr("set gpus: 1 and more workers"))));
  job["spec"]["trainer"]["strategy"] = {{"type", "Towers"}, {"towers", 2}};
  EXPECT_THAT(Of(job), ElementsAre(HasSubstr("both are to be the same")));
  job["spec"]["trainer"]["strategy"]["towers"] = 4;
  EXPECT_THAT(Of(job), IsEmpty());
}

Json TfJobWith(const std::string& configuration) {
  Json job = Json::parse(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "a"},
    "spec": {"tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [
      {"name": "tensorflow", "image": "taas/trainer", "env": [{"name": "A", "value": "b"},
       {"name": "TAAS_TRAINER"}]}]}}}}}})");
  job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["env"][1]["value"] =
      configuration;
  return job;
}

// A model that there is not was found out by the pods, one after the other.
TEST(JobWarningsTest, TheConfigurationInATfJobIsLookedAt) {
  const auto of = [](const std::string& configuration) {
    return JobWarnings(JobKind::kTfJob, TfJobWith(configuration).dump());
  };
  const std::string rest = R"("data": {"format": "generated"}, "maxSteps": 10})";
  EXPECT_THAT(of(R"({"model": {"name": "softmax"}, )" + rest), IsEmpty());
  EXPECT_THAT(of(R"({"model": {"name": "softmx"}, )" + rest),
              ElementsAre(AllOf(HasSubstr("containers[0].env[1].value (TAAS_TRAINER)"),
                                HasSubstr("did you mean \"softmax\"?"))));
  EXPECT_THAT(of(R"({"model": {"name": "softmax"}, "maxStep": 10, )" + rest),
              ElementsAre(HasSubstr("did you mean \"maxSteps\"?")));
  EXPECT_THAT(of("{"), ElementsAre(HasSubstr("is no JSON object")));
}

}  // namespace
}  // namespace taas
