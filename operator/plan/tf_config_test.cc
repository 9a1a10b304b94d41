#include "operator/plan/tf_config.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "operator/plan/plan_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::map<std::string, std::string> EnvOf(const Snapshot& now, Role role, int32_t index) {
  const AddressBook book(now.job, *now.job.ledger, now.addresses);
  const auto env = ReplicaEnvironment(now.job, *now.job.ledger, book, role, index, {});
  EXPECT_THAT(env, IsOk());
  // Found once for all replicas, the list of them is the same to each.
  const ClusterText once{.config_map = "", .common = CommonCluster(now.job, book)};
  const auto same = ReplicaEnvironment(now.job, *now.job.ledger, book, role, index, once);
  EXPECT_THAT(same, IsOk());
  EXPECT_EQ(*same, *env);
  std::map<std::string, std::string> values;
  for (const EnvVariable& variable : *env) values[variable.name] = variable.value;
  return values;
}

TEST(TfConfigTest, NamesEveryReplicaAndWhoTheReaderIs) {
  const Snapshot now = StartedJob({.chiefs = 1, .ps = 2, .workers = 1});
  const auto env = EnvOf(now, Role::kPs, 1);
  EXPECT_EQ(json::parse(env.at("TF_CONFIG")), json::parse(R"({
    "cluster":{"chief":["mnist-chief-0.mnist.default.svc:2222"],
               "ps":["mnist-ps-0.mnist.default.svc:2222","mnist-ps-1.mnist.default.svc:2222"],
               "worker":["mnist-worker-0.mnist.default.svc:2222"]},
    "task":{"type":"ps","index":1},"environment":"cloud"})"));
}

TEST(TfConfigTest, TheEnvironmentIsThatOfTheContract) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 2, .workers = 1});
  EntryOf(now, Role::kWorker, 0).pod_number = 3;
  now.job.ledger->attempt = 2;
  auto env = EnvOf(now, Role::kWorker, 0);
  env.erase("TF_CONFIG");
  EXPECT_EQ(env, (std::map<std::string, std::string>{
                     {"TAAS_JOB", "default/mnist"},
                     {"TAAS_JOB_UID", "uid-1"},
                     {"TAAS_ROLE", "worker"},
                     {"TAAS_INDEX", "0"},
                     {"TAAS_ATTEMPT", "2"},
                     {"TAAS_POD_NUMBER", "3"},
                     {"TAAS_CHIEF_HOSTS", "mnist-chief-0.mnist.default.svc:2222"},
                     {"TAAS_JOB_NAME", "worker"},
                     {"TAAS_TASK_INDEX", "0"},
                     {"TAAS_STATUS_PORT", "2223"},
                     {"TAAS_TRAINER", R"({"model":{"name":"mlp"}})"}}));
}

// Of a job of a thousand replicas each list would be as long as TF_CONFIG, in each pod.
TEST(TfConfigTest, ListsOfHostsAreForThoseWhoNameThem) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 2, .workers = 1});
  now.job.spec.roles[Role::kWorker].pod_template =
      R"json({"spec":{"containers":[{"args":["--ps_hosts=$(TAAS_PS_HOSTS)"]}]}})json";
  now.job.spec.roles[Role::kChief].env =
      R"json([{"name":"WORKERS","value":"$(TAAS_WORKER_HOSTS)"}])json";
  auto env = EnvOf(now, Role::kWorker, 0);
  EXPECT_EQ(env["TAAS_PS_HOSTS"],
            "mnist-ps-0.mnist.default.svc:2222,mnist-ps-1.mnist.default.svc:2222");
  EXPECT_EQ(env.count("TAAS_WORKER_HOSTS"), 0u);
  env = EnvOf(now, Role::kChief, 0);
  EXPECT_EQ(env.count("TAAS_PS_HOSTS"), 0u);
  EXPECT_EQ(env["TAAS_WORKER_HOSTS"], "mnist-worker-0.mnist.default.svc:2222");
  EXPECT_EQ(EnvOf(now, Role::kPs, 0).count("TAAS_WORKER_HOSTS"), 0u);
}

TEST(TfConfigTest, WhatTfConfigLeavesOutIsListed) {
  Snapshot sparse = StartedTfJob({.ps = 1, .workers = 2});
  sparse.job.spec.dynamic_worker = true;
  EXPECT_EQ(EnvOf(sparse, Role::kWorker, 1)["TAAS_WORKER_HOSTS"],
            "mnist-worker-0.default.svc:2222,mnist-worker-1.default.svc:2222");
  const Snapshot single = StartedTfJob({.workers = 1});
  EXPECT_EQ(EnvOf(single, Role::kWorker, 0)["TAAS_WORKER_HOSTS"],
            "mnist-worker-0.default.svc:2222");
}

TEST(TfConfigTest, TheTrainersConfigurationIsTheBundledTrainersOnly) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.bundled_trainer = false;
  EXPECT_EQ(EnvOf(now, Role::kWorker, 0).count("TAAS_TRAINER"), 0u);
}

TEST(TfConfigTest, ElasticWorkersAreToldTheirBounds) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 2});
  EXPECT_FALSE(EnvOf(now, Role::kChief, 0).contains("TAAS_ELASTIC_WORKERS"));
  now.job.spec.roles[Role::kWorker].elastic = ElasticSpec{2, 8};
  EXPECT_EQ(EnvOf(now, Role::kChief, 0)["TAAS_ELASTIC_WORKERS"], "2:8");
  EXPECT_EQ(EnvOf(now, Role::kWorker, 1)["TAAS_ELASTIC_WORKERS"], "2:8");
}

TEST(TfConfigTest, ThePortsOfTheRolesAndOfTheNetworkStandInTheAddresses) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.job.spec.port = 3333;
  now.job.spec.roles[Role::kPs].port = 4444;
  const json cluster = json::parse(EnvOf(now, Role::kPs, 0).at("TF_CONFIG"))["cluster"];
  EXPECT_EQ(cluster["ps"][0], "mnist-ps-0.mnist.default.svc:4444");
  EXPECT_EQ(cluster["worker"][0], "mnist-worker-0.mnist.default.svc:3333");
}

struct EvaluatorCase {
  const char* name;
  EvaluatorInCluster mode;
  bool to_evaluator;
  bool to_worker;
};
class EvaluatorInClusterTest : public testing::TestWithParam<EvaluatorCase> {};
TEST_P(EvaluatorInClusterTest, SaysWhoIsToldOfTheEvaluator) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 1, .evaluators = 1});
  now.job.spec.evaluator_in_cluster = GetParam().mode;
  const auto told = [&](Role role) {
    const json config = json::parse(EnvOf(now, role, 0).at("TF_CONFIG"));
    EXPECT_EQ(config["cluster"]["chief"].size(), 1u);
    return config["cluster"].contains("evaluator");
  };
  EXPECT_EQ(told(Role::kEvaluator), GetParam().to_evaluator);
  EXPECT_EQ(told(Role::kWorker), GetParam().to_worker);
}
INSTANTIATE_TEST_SUITE_P(
    Table, EvaluatorInClusterTest,
    testing::Values(EvaluatorCase{"Own", EvaluatorInCluster::kOwn, true, false},
                    EvaluatorCase{"All", EvaluatorInCluster::kAll, true, true},
                    EvaluatorCase{"None", EvaluatorInCluster::kNone, false, false}),
    [](const auto& info) { return std::string(info.param.name); });

// The texts that programs have been given under TFJobs, to the byte.
TEST(TfJobTfConfigTest, TheFullFormHasItsKeysInTheOrderOfTheirNames) {
  Snapshot now = StartedTfJob({.chiefs = 1, .ps = 1, .workers = 1, .evaluators = 1});
  EXPECT_EQ(EnvOf(now, Role::kWorker, 0).at("TF_CONFIG"),
            R"({"cluster":{"chief":["mnist-chief-0.default.svc:2222"],)"
            R"("evaluator":["mnist-evaluator-0.default.svc:2222"],)"
            R"("ps":["mnist-ps-0.default.svc:2222"],"worker":["mnist-worker-0.default.svc:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
}

TEST(TfJobTfConfigTest, AMasterIsCalledSoAndTheDomainIsAppended) {
  Snapshot now = StartedTfJob({.chiefs = 1, .workers = 1});
  now.job.spec.chief_is_master = true;
  now.addresses.cluster_domain = "corp.example";
  EXPECT_EQ(EnvOf(now, Role::kChief, 0).at("TF_CONFIG"),
            R"({"cluster":{"master":["mnist-master-0.default.svc.corp.example:2222"],)"
            R"("worker":["mnist-worker-0.default.svc.corp.example:2222"]},)"
            R"("task":{"type":"master","index":0},"environment":"cloud"})");
}

TEST(TfJobTfConfigTest, AJobOfOneReplicaHasNone) {
  EXPECT_EQ(EnvOf(StartedTfJob({.workers = 1}), Role::kWorker, 0).count("TF_CONFIG"), 0u);
  EXPECT_EQ(EnvOf(StartedTfJob({.workers = 2}), Role::kWorker, 0).count("TF_CONFIG"), 1u);
  EXPECT_EQ(EnvOf(StartedJob({.workers = 1}), Role::kWorker, 0).count("TF_CONFIG"), 1u);
}

TEST(TfJobTfConfigTest, DynamicWorkersAreToldOfThemselvesAndTheParameterServers) {
  Snapshot now = StartedTfJob({.chiefs = 1, .ps = 2, .workers = 2});
  now.job.spec.dynamic_worker = true;
  EXPECT_EQ(EnvOf(now, Role::kWorker, 1).at("TF_CONFIG"),
            R"({"cluster":{"worker":{"1":"mnist-worker-1.default.svc:2222"},)"
            R"("ps":["mnist-ps-0.default.svc:2222","mnist-ps-1.default.svc:2222"]},)"
            R"("task":{"type":"worker","index":1}})");
  EXPECT_EQ(EnvOf(now, Role::kPs, 0).at("TF_CONFIG"),
            R"({"cluster":{"worker":{},"ps":["mnist-ps-0.default.svc:2222"]},)"
            R"("task":{"type":"ps","index":0}})");
}

// Symptom: parameter server 1 looked for the second entry of a list of one; the chief of such a job
// was given an empty cluster.
TEST(TfJobTfConfigTest, UnderDynamicWorkersEachParameterServerAndTheChiefFindThemselves) {
  Snapshot now = StartedTfJob({.chiefs = 1, .ps = 2, .workers = 1});
  now.job.spec.dynamic_worker = true;
  EXPECT_EQ(EnvOf(now, Role::kPs, 1).at("TF_CONFIG"),
            R"({"cluster":{"worker":{},"ps":{"1":"mnist-ps-1.default.svc:2222"}},)"
            R"("task":{"type":"ps","index":1}})");
  EXPECT_EQ(EnvOf(now, Role::kChief, 0).at("TF_CONFIG"),
            R"({"cluster":{"worker":{},"ps":["mnist-ps-0.default.svc:2222",)"
            R"("mnist-ps-1.default.svc:2222"],"chief":["mnist-chief-0.default.svc:2222"]},)"
            R"("task":{"type":"chief","index":0}})");
}

// Symptom: worker 0, whose TF_CONFIG names no chief, led the training beside the real one.
TEST(TfJobTfConfigTest, UnderDynamicWorkersTheChiefsAddressStandsBesideTfConfig) {
  Snapshot now = StartedTfJob({.chiefs = 1, .ps = 1, .workers = 1});
  now.job.spec.dynamic_worker = true;
  now.job.spec.chief_is_master = true;
  for (const Role role : {Role::kPs, Role::kWorker}) {
    EXPECT_EQ(EnvOf(now, role, 0).at("TAAS_CHIEF_HOSTS"), "mnist-master-0.default.svc:2222");
  }
  Snapshot without = StartedTfJob({.ps = 1, .workers = 2});
  without.job.spec.dynamic_worker = true;
  EXPECT_EQ(EnvOf(without, Role::kWorker, 0).count("TAAS_CHIEF_HOSTS"), 0u);
}

TEST(TfJobTfConfigTest, WithOneServicePerJobTheNamesAreThoseOfATrainingJob) {
  Snapshot now = StartedTfJob({.workers = 2});
  now.addresses.service_per_job = true;
  const json cluster = json::parse(EnvOf(now, Role::kWorker, 0).at("TF_CONFIG"))["cluster"];
  EXPECT_EQ(cluster["worker"], json({"mnist-worker-0.mnist.default.svc:2222",
                                     "mnist-worker-1.mnist.default.svc:2222"}));
}

TEST(TfJobTfConfigTest, OnTheLocalClusterEachReplicaHasItsOwnPort) {
  Snapshot now = StartedTfJob({.workers = 2});
  now.addresses.scheme = AddressScheme::kLoopback;
  EntryOf(now, Role::kWorker, 0).port = 20001;
  EntryOf(now, Role::kWorker, 1).port = 20003;
  EXPECT_EQ(EnvOf(now, Role::kWorker, 1).at("TF_CONFIG"),
            R"({"cluster":{"worker":["127.0.0.1:20001","127.0.0.1:20003"]},)"
            R"("task":{"type":"worker","index":1},"environment":"cloud"})");
}

// Symptom: the whole text was written at each look at a job, only to learn its length.
TEST(TfConfigTest, WhatSurelyFitsDoesAndWhatDoesNotFitIsNeverSaidTo) {
  for (const int32_t workers : {1, 100, 2000, 2200, 2300, 2400, 2500, 2600, 4000}) {
    const Snapshot now = StartedJob({.workers = workers});
    const AddressBook book(now.job, *now.job.ledger, now.addresses);
    const bool surely = SurelyHoldsTfConfig(now.job, book);
    const bool fits = TfConfig(now.job, book, Role::kWorker, workers - 1).ok();
    EXPECT_TRUE(fits || !surely) << workers;
    EXPECT_EQ(surely, workers <= 2000 || (surely && workers < 4000)) << workers;
  }
}

TEST(TfConfigTest, ATextThatNoEnvironmentVariableHoldsIsRefusedWithItsSize) {
  const Snapshot now = StartedJob({.workers = 4000});
  const AddressBook book(now.job, *now.job.ledger, now.addresses);
  EXPECT_THAT(TfConfig(now.job, book, Role::kWorker, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 120000")));
}

}  // namespace
}  // namespace taas
