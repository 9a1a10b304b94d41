#include "cli/submit_manifest.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

SubmitFlags OwnImage(JobKind kind) {
  SubmitFlags flags;
  flags.kind = kind;
  flags.name = "mnist";
  flags.image = "me/mnist:1";
  flags.command = {"python", "main.py", "--steps=10"};
  RoleOf(flags, Role::kChief).replicas = 1;
  RoleOf(flags, Role::kPs).replicas = 1;
  RoleOf(flags, Role::kWorker).replicas = 2;
  flags.gpus = 1;
  flags.cpu = "500m";
  RoleOf(flags, Role::kPs).cpu = "2";
  RoleOf(flags, Role::kPs).image = "me/ps:1";
  flags.env = {"MODE=fast=yes"};
  flags.data = {"claim:/data:ro"};
  flags.running_timeout = std::chrono::hours(1);
  flags.retry = 2;
  return flags;
}

Json Build(const SubmitFlags& flags) {
  const absl::StatusOr<std::string> text = BuildManifest(flags);
  EXPECT_THAT(text, IsOk());
  const Json json = Json::parse(text.value_or("{}"));
  EXPECT_EQ(FormatFieldErrors(Validate(flags.kind, json.dump())), "") << json.dump(2);
  return json;
}

TEST(SubmitManifestTest, ATrainingJobOfAnOwnImageHasATemplateForEachRole) {
  const Json job = Build(OwnImage(JobKind::kTrainingJob));
  EXPECT_EQ(job["apiVersion"], "taas.dev/v1");
  EXPECT_EQ(job["spec"]["activeDeadlineSeconds"], 3600);
  EXPECT_EQ(job["spec"]["backoffLimit"], 2);
  EXPECT_EQ(job["spec"]["volumes"], Json::parse(R"([{"name":"claim","mountPath":"/data",
      "readOnly":true,"source":{"persistentVolumeClaim":{"claimName":"claim"}}}])"));
  EXPECT_EQ(job["spec"]["roles"]["worker"], Json::parse(R"({"replicas":2,"gpus":1,
      "resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"500m"}},
      "env":[{"name":"MODE","value":"fast=yes"}],
      "template":{"spec":{"containers":[{"name":"trainer","image":"me/mnist:1",
          "command":["python","main.py","--steps=10"]}]}}})"));
  const Json& ps = job["spec"]["roles"]["ps"];
  EXPECT_FALSE(ps.contains("gpus")) << "parameter servers compute nothing";
  EXPECT_EQ(ps["template"]["spec"]["containers"][0]["image"], "me/ps:1");
  EXPECT_EQ(ps["resources"]["limits"]["cpu"], "2");
  EXPECT_FALSE(job["spec"]["roles"].contains("evaluator"));
}

TEST(SubmitManifestTest, ATfJobHasTheSameInItsOwnPlaces) {
  const Json job = Build(OwnImage(JobKind::kTfJob));
  EXPECT_EQ(job["kind"], "TFJob");
  EXPECT_EQ(job["spec"]["runPolicy"], Json::parse(R"({"backoffLimit":2,
      "activeDeadlineSeconds":3600,"cleanPodPolicy":"Running"})"));
  const Json& worker = job["spec"]["tfReplicaSpecs"]["Worker"];
  EXPECT_EQ(worker["replicas"], 2);
  const Json& container = worker["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["name"], "tensorflow");
  EXPECT_EQ(container["resources"]["limits"]["nvidia.com/gpu"], 1);
  EXPECT_EQ(container["volumeMounts"],
            Json::parse(R"([{"name":"claim","mountPath":"/data","readOnly":true}])"));
  EXPECT_EQ(worker["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
            "claim");
}

TEST(SubmitManifestTest, TheBundledTrainerIsDescribedByItsFlags) {
  SubmitFlags flags;
  flags.name = "mlp";
  flags.trainer.model = "mlp";
  flags.trainer.hidden = "500,100";
  flags.trainer.train_images = "/data/i.gz";
  flags.trainer.train_labels = "/data/l.gz";
  flags.trainer.strategy = "async";
  flags.trainer.learning_rate = 0.5;
  flags.trainer.steps = 200;
  RoleOf(flags, Role::kPs).replicas = 1;
  RoleOf(flags, Role::kWorker).replicas = 2;
  EXPECT_EQ(Build(flags)["spec"]["trainer"],
            Json::parse(R"({"model":{"name":"mlp","hidden":[500,100]},
                "data":{"format":"idx","train":{"images":"/data/i.gz","labels":"/data/l.gz"}},
                "strategy":{"type":"ParameterServer","mode":"Async"},
                "optimizer":{"learningRate":0.5},"maxSteps":200})"));
}

TEST(SubmitManifestTest, LabelsReachThePodsOfTheBundledTrainer) {
  SubmitFlags flags;
  flags.name = "mlp";
  flags.trainer.model = "mlp";
  flags.trainer.hidden = "10";
  flags.trainer.dataset = "generated";
  flags.trainer.strategy = "local";
  flags.trainer.steps = 10;
  flags.labels = {"team=vision"};
  RoleOf(flags, Role::kWorker).replicas = 1;
  EXPECT_EQ(Build(flags)["spec"]["roles"]["worker"]["template"],
            Json::parse(R"({"metadata":{"labels":{"team":"vision"}},"spec":{}})"));
}

TEST(SubmitManifestTest, OneWordWithBlanksIsForAShellAsInArena) {
  SubmitFlags flags = OwnImage(JobKind::kTrainingJob);
  flags.command = {"python main.py --steps 10"};
  const auto at = Json::json_pointer("/spec/roles/worker/template/spec/containers/0/command");
  EXPECT_EQ(Build(flags).at(at), Json({"sh", "-c", "python main.py --steps 10"}));
  flags.command = {"--data_dir=/data", "a b"};
  const Json args = Build(flags)["spec"]["roles"]["worker"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(args["args"], (Json{"--data_dir=/data", "a b"}));
  EXPECT_FALSE(args.contains("command"));
  flags.command = {"echo", "a b"};
  EXPECT_EQ(Build(flags).at(at), Json({"echo", "a b"}));
  flags.shell = "bash";
  EXPECT_EQ(Build(flags).at(at), Json({"bash", "-c", "echo a b"}));
}

TEST(SubmitManifestTest, SetReachesEveryField) {
  SubmitFlags flags = OwnImage(JobKind::kTrainingJob);
  flags.set = {"nodeLossSeconds=30", "spec.volumes[0].mountPath=/other",
               "metadata.labels.team=\"7\""};
  const Json job = Build(flags);
  EXPECT_EQ(job["spec"]["nodeLossSeconds"], 30);
  EXPECT_EQ(job["spec"]["volumes"][0]["mountPath"], "/other");
  EXPECT_EQ(job["metadata"]["labels"]["team"], "7");
}

TEST(SubmitManifestTest, PodFlagsReachEveryPod) {
  SubmitFlags flags = OwnImage(JobKind::kTfJob);
  flags.labels = {"team=vision"};
  flags.annotations = {"sidecar.istio.io/inject=false"};
  flags.selectors = {"zone=a"};
  RoleOf(flags, Role::kWorker).selectors = {"gpu=yes"};
  flags.tolerations = {"all", "spot", "dedicated=ml"};
  flags.priority = "high";
  flags.share_memory = "2Gi";
  flags.working_dir = "/src";
  const Json job = Build(flags);
  EXPECT_EQ(job["metadata"]["labels"]["team"], "vision");
  const Json& pod = job["spec"]["tfReplicaSpecs"]["Worker"]["template"];
  EXPECT_EQ(pod["metadata"]["annotations"]["sidecar.istio.io/inject"], "false");
  EXPECT_EQ(pod["spec"]["nodeSelector"], (Json{{"zone", "a"}, {"gpu", "yes"}}));
  EXPECT_EQ(pod["spec"]["tolerations"], Json::parse(R"([{"operator":"Exists"},
      {"key":"spot","operator":"Exists"},{"key":"dedicated","value":"ml"}])"));
  EXPECT_EQ(pod["spec"]["priorityClassName"], "high");
  EXPECT_EQ(pod["spec"]["volumes"][1]["emptyDir"]["sizeLimit"], "2Gi");
  EXPECT_EQ(pod["spec"]["containers"][0]["workingDir"], "/src");
}

SubmitFlags Bundled() {
  SubmitFlags flags;
  flags.name = "m";
  flags.trainer.model = "lenet";
  flags.trainer.dataset = "generated";
  flags.trainer.steps = 10;
  RoleOf(flags, Role::kWorker).replicas = 1;
  return flags;
}

// It was refused: "strategy ParameterServer needs at least one ps".
TEST(SubmitManifestTest, OneWorkerWithoutParameterServersTrainsInOneProcess) {
  SubmitFlags flags = Bundled();
  EXPECT_EQ(Build(flags)["spec"]["trainer"]["strategy"], Json({{"type", "Local"}}));
  RoleOf(flags, Role::kWorker).replicas = 0;
  RoleOf(flags, Role::kChief).replicas = 1;
  EXPECT_EQ(Build(flags)["spec"]["trainer"]["strategy"], Json({{"type", "Local"}}));
  RoleOf(flags, Role::kPs).replicas = 1;
  EXPECT_FALSE(Build(flags)["spec"]["trainer"].contains("strategy"));
}

TEST(SubmitManifestTest, SeveralReplicasWithoutParameterServersReduceTogether) {
  SubmitFlags flags = Bundled();
  RoleOf(flags, Role::kWorker).replicas = 3;
  flags.trainer.strategy = "allreduce";
  EXPECT_EQ(Build(flags)["spec"]["trainer"]["strategy"], Json({{"type", "AllReduce"}}));
  flags.trainer.strategy = "";
  flags.set = {"trainer.strategy={type: AllReduce, heartbeatSeconds: 5}"};
  EXPECT_EQ(Build(flags)["spec"]["trainer"]["strategy"]["heartbeatSeconds"], 5);
}

TEST(SubmitManifestTest, DataMayBeSetWithoutItsFlags) {
  SubmitFlags flags = Bundled();
  flags.trainer.dataset = "";
  flags.set = {"trainer.data={format: cifar10, train: {files: [/d/a]}}"};
  EXPECT_EQ(Build(flags)["spec"]["trainer"]["data"]["format"], "cifar10");
}

struct BadTrainer {
  const char* name;
  void (*change)(SubmitFlags& flags);
  std::vector<std::string> lines;
};
class SubmitTrainerRefusesTest : public testing::TestWithParam<BadTrainer> {};

TEST_P(SubmitTrainerRefusesTest, WithALineForEachFlag) {
  SubmitFlags flags = Bundled();
  GetParam().change(flags);
  std::string lines;
  for (const std::string& line : GetParam().lines) lines += (lines.empty() ? "" : "\n") + line;
  EXPECT_THAT(BuildManifest(flags), StatusIs(absl::StatusCode::kInvalidArgument, lines));
}

constexpr char kNoData[] =
    "--train-images: there is no data to train on: give --train-images and --train-labels, or "
    "--dataset generated for examples that are made up";
constexpr char kNoPs[] =
    "--ps: there are 2 training replicas and no parameter servers: give --ps 1, or --strategy "
    "allreduce, which needs none";

INSTANTIATE_TEST_SUITE_P(
    Table, SubmitTrainerRefusesTest,
    testing::Values(
        // It trained on made-up examples and reported an accuracy of 1.
        BadTrainer{"NoData", [](SubmitFlags& f) { f.trainer.dataset = ""; }, {kNoData}},
        // It got the sentence about parameter servers.
        BadTrainer{"NoSuchModel",
                   [](SubmitFlags& f) { f.trainer.model = "lent"; },
                   {"--model: Unsupported value: \"lent\": the bundled trainer knows gpt2, layers, "
                    "lenet, linear, lstm, mlp, resnet20, resnet50, softmax, wideDeep (did you mean "
                    "\"lenet\"?)"}},
        BadTrainer{"AllAtOnce",
                   [](SubmitFlags& f) {
                     f.trainer.optimizer = "adm";
                     f.trainer.dataset = "";
                     RoleOf(f, Role::kWorker).replicas = 2;
                   },
                   {"--optimizer: Unsupported value: \"adm\": the bundled trainer knows sgd, "
                    "momentum, adam, adamw, adagrad, rmsprop, ftrl (did you mean \"adam\"?)",
                    kNoData, kNoPs}},
        BadTrainer{"NobodyTrains",
                   [](SubmitFlags& f) { RoleOf(f, Role::kWorker).replicas = 0; },
                   {"--workers: nothing trains: give --workers N, or --chief"}},
        BadTrainer{"SyncWithoutPs",
                   [](SubmitFlags& f) { f.trainer.strategy = "sync"; },
                   {"--ps: --strategy async and sync need parameter servers: give --ps 1, or "
                    "--strategy allreduce, or with one worker --strategy local"}},
        BadTrainer{"LocalWithPs",
                   [](SubmitFlags& f) {
                     f.trainer.strategy = "local";
                     RoleOf(f, Role::kPs).replicas = 1;
                   },
                   {"--ps 1: --strategy local and allreduce have no parameter servers: leave out "
                    "--ps, or give --strategy async"}},
        BadTrainer{"LocalOfTwo",
                   [](SubmitFlags& f) {
                     f.trainer.strategy = "local";
                     RoleOf(f, Role::kWorker).replicas = 2;
                   },
                   {"--strategy local trains in one process, and there are 2 training replicas: "
                    "give --workers 1, or --strategy allreduce"}}),
    [](const auto& info) { return std::string(info.param.name); });

struct Bad {
  const char* name;
  void (*change)(SubmitFlags& flags);
  const char* words;
};
class SubmitManifestRefusesTest : public testing::TestWithParam<Bad> {};

TEST_P(SubmitManifestRefusesTest, WithTheFlagAndWhatItWants) {
  SubmitFlags flags = OwnImage(JobKind::kTfJob);
  GetParam().change(flags);
  EXPECT_THAT(BuildManifest(flags),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().words)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, SubmitManifestRefusesTest,
    testing::Values(
        Bad{"NoImage", [](SubmitFlags& f) { f.image = ""; }, "--image is needed"},
        Bad{"Env", [](SubmitFlags& f) { f.env = {"NAME"}; }, "--env NAME: write it as NAME=VALUE"},
        Bad{"Data", [](SubmitFlags& f) { f.data = {"claim"}; }, "--data claim"},
        Bad{"RelativeMount", [](SubmitFlags& f) { f.data = {"claim:data"}; }, "--data claim:data"},
        Bad{"ModelOfTfJob", [](SubmitFlags& f) { f.trainer.model = "mlp"; }, "--model: a TFJob"},
        Bad{"StartingTimeoutOfTfJob",
            [](SubmitFlags& f) { f.starting_timeout = std::chrono::seconds(5); },
            "--starting-timeout: a TFJob"},
        Bad{"ModelAndCommand",
            [](SubmitFlags& f) {
              f.kind = JobKind::kTrainingJob;
              f.trainer.model = "mlp";
            },
            "takes no command"},
        Bad{"SetWithoutValue", [](SubmitFlags& f) { f.set = {"a"}; }, "--set a: write PATH=VALUE"},
        Bad{"SetThroughAText", [](SubmitFlags& f) { f.set = {"metadata.name.x=1"}; },
            "there is no place \"metadata.name.x\""},
        Bad{"SetFarBeyondAList", [](SubmitFlags& f) { f.set = {"a[7]=1"}; },
            "there is no place \"spec.a[7]\""},
        // These were told of by the schema's pattern, twice.
        Bad{"Memory", [](SubmitFlags& f) { f.memory = "4Gb"; }, "--memory 4Gb: is no amount"},
        Bad{"CpuOfARole", [](SubmitFlags& f) { RoleOf(f, Role::kPs).cpu = "two"; },
            "--ps-cpu two: is no amount"},
        Bad{"ShareMemory", [](SubmitFlags& f) { f.share_memory = "1 Gi"; },
            "--share-memory 1 Gi: is no amount"},
        Bad{"SetWithBrokenYaml", [](SubmitFlags& f) { f.set = {"a=[1"}; }, "is not YAML"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
