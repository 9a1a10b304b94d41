#include "operator/plan/tf_config.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "operator/base/status_matchers.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::map<std::string, std::string> EnvOf(const Snapshot& now, Role role, int32_t index) {
  const AddressBook book(now.job, *now.job.ledger, now.addresses);
  const auto env = ReplicaEnvironment(now.job, *now.job.ledger, book, role, index);
  EXPECT_THAT(env, IsOk());
  return {env->begin(), env->end()};
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
                     {"TAAS_PS_HOSTS",
                      "mnist-ps-0.mnist.default.svc:2222,mnist-ps-1.mnist.default.svc:2222"},
                     {"TAAS_WORKER_HOSTS", "mnist-worker-0.mnist.default.svc:2222"},
                     {"TAAS_JOB_NAME", "worker"},
                     {"TAAS_TASK_INDEX", "0"},
                     {"TAAS_STATUS_PORT", "2223"},
                     {"TAAS_TRAINER", R"({"model":{"name":"mlp"}})"},
                     {"NVIDIA_VISIBLE_DEVICES", "void"},
                     {"CUDA_VISIBLE_DEVICES", ""}}));
}

TEST(TfConfigTest, ATextThatNoEnvironmentVariableHoldsIsRefusedWithItsSize) {
  const Snapshot now = StartedJob({.workers = 4000});
  const AddressBook book(now.job, *now.job.ledger, now.addresses);
  EXPECT_THAT(TfConfig(now.job, book, Role::kWorker, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 120000")));
}

}  // namespace
}  // namespace taas
