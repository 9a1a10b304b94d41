// Objects that one user has made so that the operator should be of no use to the others, or so that
// her own job should be out of its hands.

#include <fstream>
#include <string>

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kTheirJobsPath[] = "/apis/taas.dev/v1/namespaces/team-a/trainingjobs";

json JobOf(const std::string& name) {
  json job = json::parse(R"({"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
      "spec": {"roles": {"worker": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "trainer", "image": "i", "command": ["train"]}]}}}}}})");
  job["metadata"]["name"] = name;
  return job;
}

// As large as etcd takes one, nearly all of it environment.
json LargeJob(const std::string& name) {
  json job = JobOf(name);
  job["spec"]["suspend"] = true;
  json& container = job["spec"]["roles"]["worker"]["template"]["spec"]["containers"][0];
  for (int i = 0; i < 1'260; ++i) {
    container["env"].push_back(
        {{"name", "E" + std::to_string(i)}, {"value", std::string(900, 'v')}});
  }
  return job;
}

// Of its own, without the pages of its file.
long PrivateMegabytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    long kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes / 1024;
  }
  return -1;
}

class HostileTest : public OperatorFixture, public testing::WithParamInterface<ServerKind> {
 protected:
  std::string StateOf(const std::string& job) {
    const json found = Call("GET", std::string(kTrainingJobsPath) + "/" + job);
    return found.value("/status/state"_json_pointer, "");
  }
};

// Symptom: 120 jobs of 1.2 MB in one namespace, and an operator that began again listed the same
// page for ever, for nobody's jobs.
TEST_P(HostileTest, LargeJobsOfOneUserDoNotKeepTheOthersFromBeingWorkedOn) {
  ASSERT_NO_FATAL_FAILURE(BeginServer(GetParam()));
  Call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team-a"}})");
  for (int i = 0; i < 60; ++i) {
    const json made = Call("POST", kTheirJobsPath, LargeJob("big-" + std::to_string(i)).dump());
    ASSERT_EQ(made.value("kind", ""), "TrainingJob") << made.dump().substr(0, 1000);
  }
  ASSERT_EQ(Call("POST", kTrainingJobsPath, JobOf("small").dump()).value("kind", ""),
            "TrainingJob");
  StartOperator();
  EXPECT_TRUE(AwaitPod("small-worker-0"));
  const std::string last = std::string(kTheirJobsPath) + "/big-59";
  EXPECT_TRUE(Await([&] {
    return Call("GET", last).value("/status/state"_json_pointer, "") == "Suspended";
  }));
  // All that they are would be 72 MB.
  EXPECT_LT(PrivateMegabytes(operator_->pid()), 60);
}

// Symptom: a job in whose status such a number stood ran on in spite of `suspend`.
TEST_P(HostileTest, AJobWhoseStatusHasTheLargestNumberIsSuspended) {
  ASSERT_NO_FATAL_FAILURE(Begin(GetParam()));
  ASSERT_EQ(Call("POST", kTrainingJobsPath, JobOf("edge").dump()).value("kind", ""),
            "TrainingJob");
  ASSERT_TRUE(AwaitPod("edge-worker-0"));
  Run("edge-worker-0");
  ASSERT_TRUE(Await([&] { return StateOf("edge") == "Running"; }));
  const std::string path = std::string(kTrainingJobsPath) + "/edge";
  Patch(path + "/status", json::parse(R"({"status":{"progress":{"step":1,"maxSteps":1,
      "percent":0,"etaSeconds":9223372036854775807}}})"));
  Patch(path, {{"spec", {{"suspend", true}}}});
  EXPECT_TRUE(Await([&] { return StateOf("edge") == "Suspended"; })) << Call("GET", path).dump(1);
  EXPECT_TRUE(Await([&] { return NamesOf(kPodsPath, "edge").empty(); }));
  EXPECT_THAT(Call("GET", path).dump(), Not(HasSubstr("cannot be read")));
}

INSTANTIATE_TEST_SUITE_P(Servers, HostileTest, testing::Values(kKubeApiServer, kLocalCluster),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
