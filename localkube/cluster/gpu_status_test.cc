// What a pod's status says of the GPU slots that its containers have, as a dashboard reads it.

#include "localkube/cluster/local_cluster_fixture.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/kubectl_process.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSays[] = "echo slots=$CUDA_VISIBLE_DEVICES; ";

class GpuStatusTest : public LocalClusterTest {
 protected:
  GpuStatusTest() { options_.fake_gpus = {.count = 3, .gibibytes = 80}; }

  static Json Container(const std::string& name, const std::string& script, int gpus) {
    return {{"name", name},
            {"image", "own"},
            {"command", {"/bin/sh", "-c", script}},
            {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}};
  }
  static Json GpuPod(const std::string& name, const std::string& script, int gpus) {
    Json pod = Pod(name, script);
    pod["spec"]["containers"][0] = Container("c", script, gpus);
    return pod;
  }
  // The healthy devices of a container.
  std::vector<std::string> Devices(const std::string& pod, size_t container = 0) {
    std::vector<std::string> ids;
    const Json statuses = Get(pod)["status"].value("containerStatuses", Json::array());
    if (container >= statuses.size()) return ids;
    const Json resources = statuses[container].value("allocatedResourcesStatus", Json::array());
    for (const Json& resource : resources) {
      EXPECT_EQ(resource["name"], "nvidia.com/gpu");
      for (const Json& device : resource["resources"]) {
        EXPECT_EQ(device["health"], "Healthy");
        ids.push_back(device["resourceID"]);
      }
    }
    return ids;
  }
};

TEST_F(GpuStatusTest, ItNamesTheSlotsOfEachContainerAsItsEnvironmentDoes) {
  Start();
  Json pod = GpuPod("a", std::string(kSays) + "exec sleep 1000", 1);
  pod["spec"]["containers"].push_back(Container("two", "exec sleep 1000", 2));
  pod["spec"]["containers"].push_back(
      {{"name", "none"}, {"image", "own"}, {"command", {"/bin/sleep", "1000"}}});
  Create(pod);
  AwaitPhase("a", "Running");
  EXPECT_THAT(Devices("a", 0), ElementsAre("0"));
  EXPECT_THAT(Devices("a", 1), ElementsAre("1", "2"));
  EXPECT_THAT(Devices("a", 2), IsEmpty());
  Await("the log", [&] { return ReadLog("a").find("slots=0\n") != std::string::npos; });
}

TEST_F(GpuStatusTest, ItStaysOverARestartOfTheClusterAndAfterThePodsEnd) {
  Start();
  Create(GpuPod("ended", "true", 1));
  AwaitPhase("ended", "Succeeded");
  EXPECT_THAT(Devices("ended"), ElementsAre("0"));
  Create(GpuPod("runs", "while [ ! -e " + options_.dir + "/go ]; do sleep 0.05; done", 2));
  AwaitPhase("runs", "Running");
  EXPECT_THAT(Devices("runs"), ElementsAre("0", "1")) << "the slot of the one that has ended";
  cluster_.reset();
  Start();
  // Whose first slot is free is known to the new node, and it says the same of both.
  Create(GpuPod("next", "exec sleep 1000", 1));
  AwaitPhase("next", "Running");
  EXPECT_THAT(Devices("next"), ElementsAre("2"));
  ASSERT_THAT(disk_.WriteAtomically(options_.dir + "/go", ""), IsOk());
  AwaitPhase("runs", "Succeeded");
  EXPECT_THAT(Devices("runs"), ElementsAre("0", "1"));
  EXPECT_THAT(Devices("ended"), ElementsAre("0"));
}

TEST_F(GpuStatusTest, KubectlShowsIt) {
  std::string program;
  ASSERT_NO_FATAL_FAILURE(Kubectl::Find(&program));
  Start();
  Create(GpuPod("a", "exec sleep 1000", 2));
  AwaitPhase("a", "Running");
  int code = -1;
  Kubectl kubectl(program, options_.dir, cluster_->kubeconfig(), {"get", "pod", "a", "-o", "yaml"});
  const std::string yaml = kubectl.Finish(&code);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(yaml, HasSubstr("  - allocatedResourcesStatus:\n"
                              "    - name: nvidia.com/gpu\n"
                              "      resources:\n"
                              "      - health: Healthy\n"
                              "        resourceID: \"0\"\n"
                              "      - health: Healthy\n"
                              "        resourceID: \"1\"\n"));
}

}  // namespace
}  // namespace taas::localkube
