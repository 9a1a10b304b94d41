// A job of each kind from one description, side by side on a real kube-apiserver with one operator,
// which all tests of a program share. The test plays the kubelet: a pod has no node but that of
// `Bind`, so a deletion is done at once.
//
// Ownership: server and operator are lent from one test to the next, and end with the last.
// Threads: one. Errors: as test failures.
//
//   class MyTest : public ContractFixture {};
//   const Both jobs = StartAndRun("done", {.roles = {{"worker", 2}}});
//   for (const PlayedJob& job : jobs) End(job.Pod("worker"), 0);
//   for (const PlayedJob& job : jobs) EXPECT_TRUE(AwaitState(job, "Succeeded")) << Told(job);

#ifndef E2E_CONTRACT_FIXTURE_H_
#define E2E_CONTRACT_FIXTURE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "e2e/operator_fixture.h"

namespace taas {

// What a user writes; names are those of a TrainingJob, for which a TFJob has its own places.
struct JobText {
  std::map<std::string, int> roles;       // Replicas.
  std::string policy = "Never";           // restartPolicy of all roles,
  std::map<std::string, std::string> policies_of;  // but for these.
  nlohmann::json policies = nlohmann::json::object();  // cleanPodPolicy, suspend …
  nlohmann::json pod = nlohmann::json::object();       // Fields of each pod's spec,
  nlohmann::json container = nlohmann::json::object();  // of its one container,
  nlohmann::json metadata = nlohmann::json::object();   // and of the template's metadata.
  nlohmann::json spec = nlohmann::json::object();       // More fields of the job's spec.
};

struct PlayedJob {
  bool tf = false;
  std::string name;
  std::map<std::string, int> roles;

  std::string kind() const { return tf ? "TFJob" : "TrainingJob"; }
  std::string path() const {
    return std::string(tf ? kTfJobsPath : kTrainingJobsPath) + "/" + name;
  }
  std::string Pod(const std::string& role, int index = 0) const {
    return name + "-" + role + "-" + std::to_string(index);
  }
  std::vector<std::string> Pods() const;
  // "worker", "Worker"
  std::string RoleKey(const std::string& role) const;
  // Of the stored job, as a merge patch.
  nlohmann::json WithPolicies(const nlohmann::json& policies) const;
  nlohmann::json WithRole(const std::string& role, const nlohmann::json& fields) const;
};
using Both = std::vector<PlayedJob>;

class ContractFixture : public OperatorFixture {
 protected:
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  // "tj-NAME" and "tf-NAME" are made.
  Both Start(const std::string& name, const JobText& text);
  PlayedJob StartOne(bool tf, const std::string& name, const JobText& text);
  // And all their pods run, which the operator knows.
  Both StartAndRun(const std::string& name, const JobText& text);
  bool RunPods(const PlayedJob& job);

  Json Stored(const PlayedJob& job) { return Call("GET", job.path()); }
  Json StatusOf(const PlayedJob& job);
  // For the messages of failures.
  std::string Told(const PlayedJob& job) { return job.name + ": " + StatusOf(job).dump(1); }
  // An object in any case.
  Json ConditionOf(const PlayedJob& job, const std::string& type);
  Json CountsOf(const PlayedJob& job, const std::string& role);
  // A field of the object, in whole seconds.
  absl::Time TimeOf(const Json& object, const std::string& field);
  Json SetPolicies(const PlayedJob& job, const Json& policies);
  bool AwaitState(const PlayedJob& job, const std::string& state);
  // Of each role's pods as many are ready as it has, and the job runs.
  bool AwaitRunning(const PlayedJob& job);
  bool AwaitMessage(const PlayedJob& job, const std::string& words);
  // Of the job itself; an object in any case.
  Json EventOf(const PlayedJob& job, const std::string& reason);
  bool AwaitEvent(const PlayedJob& job, const std::string& reason);

  std::string UidOf(const std::string& pod);
  // Of its container that gets TF_CONFIG, those with a value.
  std::map<std::string, std::string> Environment(const std::string& pod);
  void Bind(const std::string& pod, const std::string& node);
  // Any field of a pod's status.
  void SetPodStatus(const std::string& pod, const Json& status);

 private:
  static std::unique_ptr<TestedServer> lent_server_;
  static std::unique_ptr<Process> lent_operator_;
};

}  // namespace taas

#endif  // E2E_CONTRACT_FIXTURE_H_
