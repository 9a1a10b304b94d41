// A TFJob of another controller on a real kube-apiserver, which notes who wrote what: the operator
// leaves it alone, and takes it over when it is told to. The test plays that controller and the
// kubelet.

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kTfJob[] = R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
    "metadata":{"name":"old"},
    "spec":{"tfReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[
      {"name":"tensorflow","image":"own/image:1"}]}}}}}})";

class TakeoverTest : public OperatorFixture {
 protected:
  // As training-operator has it when a job runs.
  void BeginWithItsJob() {
    ASSERT_NO_FATAL_FAILURE(BeginServer(kKubeApiServer));
    const json job = Call("POST", kTfJobsPath, kTfJob);
    ASSERT_EQ(job.value("kind", ""), "TFJob") << job.dump(1);
    const std::string now = FormatRfc3339(clock_.WallNow());
    const auto condition = [&](const char* type) {
      return json{{"type", type}, {"status", "True"}, {"reason", std::string("TFJob") + type},
                  {"message", ""}, {"lastUpdateTime", now}, {"lastTransitionTime", now}};
    };
    const json status = {{"startTime", now},
                         {"conditions", {condition("Created"), condition("Running")}},
                         {"replicaStatuses", {{"Worker", {{"active", 2}}}}}};
    const json after =
        Patch(std::string(kTfJobsPath) + "/old/status?fieldManager=manager", {{"status", status}});
    ASSERT_EQ(after.value("kind", ""), "TFJob") << after.dump(1);
    for (const char* name : {"old-worker-0", "old-worker-1"}) MakePodAndService(name, job);
    StartOperator();
  }
  void MakePodAndService(const std::string& name, const json& job) {
    const json metadata = {
        {"name", name},
        {"labels", {{"training.kubeflow.org/job-name", "old"}}},
        {"ownerReferences",
         {{{"apiVersion", "kubeflow.org/v1"}, {"kind", "TFJob"}, {"name", "old"},
           {"uid", job["metadata"]["uid"]}, {"controller", true}, {"blockOwnerDeletion", true}}}}};
    const json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata},
                      {"spec", {{"restartPolicy", "Never"},
                                {"containers", {{{"name", "tensorflow"},
                                                 {"image", "own/image:1"}}}}}}};
    const json service = {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", metadata},
                          {"spec", {{"clusterIP", "None"},
                                    {"ports", {{{"name", "tfjob-port"}, {"port", 2222}}}}}}};
    ASSERT_EQ(Call("POST", kPodsPath, pod.dump()).value("kind", ""), "Pod");
    ASSERT_EQ(Call("POST", kServicesPath, service.dump()).value("kind", ""), "Service");
    Run(name);
  }
  json Job() { return Call("GET", std::string(kTfJobsPath) + "/old"); }
  json Conditions() { return Job()["status"].value("conditions", json::array()); }
  bool AwaitRefused() {
    return Await([&] {
      const json conditions = Conditions();
      return !conditions.empty() && conditions[0]["type"] == "Refused";
    });
  }
  std::string UidOf(const std::string& pod) {
    return Pod(pod).value("/metadata/uid"_json_pointer, "");
  }
};

TEST_F(TakeoverTest, ItIsLeftAloneAndThenTakenOverWithThePodsThatItHas) {
  ASSERT_NO_FATAL_FAILURE(BeginWithItsJob());
  ASSERT_TRUE(AwaitRefused()) << Job().dump(1);
  EXPECT_EQ(Conditions().back()["type"], "Running") << "readers take the last one";
  EXPECT_THAT(Job()["status"]["message"].get<std::string>(),
              HasSubstr("another controller of TFJobs, manager"));
  EXPECT_FALSE(Job()["metadata"].contains("annotations")) << Job().dump(1);
  const std::string uid = UidOf("old-worker-1");

  ASSERT_NO_FATAL_FAILURE(RestartOperator({"--adopt"}));
  ASSERT_TRUE(Await([&] { return NamesOf(kPodsPath, "old").size() == 2; })) << Job().dump(1);
  ASSERT_TRUE(Await([&] { return NamesOf(kServicesPath, "old").size() == 2; })) << Job().dump(1);
  EXPECT_EQ(UidOf("old-worker-1"), uid);
  ASSERT_TRUE(Await([&] { return Conditions()[0]["type"] == "Created"; })) << Job().dump(1);
  EXPECT_EQ(Conditions().back()["type"], "Running");

  // It stays ours without the flag, and its end is its end.
  ASSERT_NO_FATAL_FAILURE(RestartOperator({}));
  End("old-worker-0", 0);
  EXPECT_TRUE(Await([&] { return Conditions().back()["type"] == "Succeeded"; })) << Job().dump(1);
  EXPECT_EQ(UidOf("old-worker-1"), uid);
}

TEST_F(TakeoverTest, AControllerThatComesBackIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(BeginWithItsJob());
  ASSERT_TRUE(AwaitRefused()) << Job().dump(1);
  ASSERT_NO_FATAL_FAILURE(RestartOperator({"--adopt"}));
  ASSERT_TRUE(Await([&] { return NamesOf(kPodsPath, "old").size() == 2; })) << Job().dump(1);
  ASSERT_NO_FATAL_FAILURE(RestartOperator({}));
  // The server's times have whole seconds, so its first write may be of the second before.
  int active = 2;
  EXPECT_TRUE(Await([&] {
    Patch(std::string(kTfJobsPath) + "/old/status?fieldManager=manager",
          {{"status", {{"replicaStatuses", {{"Worker", {{"active", ++active}}}}}}}});
    return Conditions()[0]["type"] == "Refused";
  })) << Job().dump(1);
}

}  // namespace
}  // namespace taas
