// The program taas-operator against a real etcd and kube-apiserver, and the same program against
// the API server of the local cluster. The test plays the kubelet.

#include <signal.h>

#include "e2e/operator_fixture.h"
#include "operator/api/manifest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using nlohmann::json;

class OperatorTest : public OperatorFixture, public testing::WithParamInterface<ServerKind> {
 protected:
  void SetUp() override { Begin(GetParam()); }

  // An object also before the operator has written it.
  json Status() {
    return Call("GET", std::string(kTrainingJobsPath) + "/mnist").value("status", json::object());
  }
  bool AwaitState(const std::string& state) {
    return Await([&] { return Status().value("state", "") == state; });
  }
  std::string NumberOf(const std::string& pod) {
    return Pod(pod).value("/metadata/labels/taas.dev~1pod-number"_json_pointer, "");
  }
};

TEST_P(OperatorTest, TheMainJobLivesThroughAKilledWorkerAndAKilledOperatorToItsEnd) {
  const auto yaml = files_.ReadAll("examples/mnist.yaml");
  ASSERT_THAT(yaml, IsOk());
  const auto documents = ManifestDocuments(*yaml);
  ASSERT_THAT(documents, IsOk());
  const std::string strictly = std::string(kTrainingJobsPath) + "?fieldValidation=Strict";
  ASSERT_EQ(Call("POST", strictly, documents->at(0))["kind"], "TrainingJob");

  const std::vector<std::string> pods = {"mnist-chief-0", "mnist-ps-0", "mnist-ps-1",
                                         "mnist-worker-0", "mnist-worker-1"};
  ASSERT_TRUE(Await([&] { return Call("GET", kPodsPath)["items"].size() == pods.size(); }));
  ASSERT_TRUE(AwaitState("Pending"));
  EXPECT_EQ(Call("GET", std::string(kServicesPath) + "/mnist")["spec"]["clusterIP"], "None");
  for (const std::string& pod : pods) Run(pod);
  ASSERT_TRUE(AwaitState("Running")) << Status().dump(1);

  // Both at once: the operator comes back to a worker that has ended meanwhile.
  ASSERT_THAT(operator_->Signal(SIGKILL), IsOk());
  ASSERT_THAT(operator_->Wait(kPatience), IsOk());
  End("mnist-worker-0", 137, "");
  StartOperator();
  ASSERT_TRUE(Await([&] { return NumberOf("mnist-worker-0") == "2"; })) << Status().dump(1);
  ASSERT_TRUE(AwaitState("Restarting"));
  Run("mnist-worker-0");
  ASSERT_TRUE(AwaitState("Running"));
  EXPECT_EQ(Status()["restarts"], json::parse(R"({"killed":1})"));
  for (const std::string& pod : pods) {
    EXPECT_EQ(NumberOf(pod), pod == "mnist-worker-0" ? "2" : "1") << pod;
  }

  End("mnist-chief-0", 0, R"({"message":"done","step":2000,"evaluation":{"accuracy":0.95}})");
  for (const std::string& pod : pods) {
    if (pod != "mnist-chief-0") End(pod, 0, "");
  }
  ASSERT_TRUE(AwaitState("Succeeded")) << Status().dump(1);
  EXPECT_EQ(Status()["progress"]["percent"], 100);
  EXPECT_EQ(Status()["progress"]["evaluation"]["accuracy"], 0.95);
  EXPECT_EQ(Call("GET", kPodsPath)["items"].size(), pods.size());

  ASSERT_THAT(operator_->Signal(SIGTERM), IsOk());
  const auto code = operator_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, OperatorTest, testing::Values(kKubeApiServer, kLocalCluster),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
