#include "e2e/contract_fixture.h"

#include <utility>

namespace taas {
namespace {

using nlohmann::json;

constexpr char kEventsPath[] = "/api/v1/namespaces/default/events";

json TemplateOf(bool tf, const JobText& text) {
  json container = {{"name", tf ? "tensorflow" : "trainer"}, {"image", "own/program:1"}};
  container.update(text.container);
  json spec = {{"containers", {container}}};
  // Others that a test writes stand behind the job's own.
  for (const auto& [key, value] : text.pod.items()) {
    if (key != "containers") {
      spec[key] = value;
      continue;
    }
    for (const json& other : value) spec["containers"].push_back(other);
  }
  return {{"metadata", text.metadata}, {"spec", std::move(spec)}};
}

json ManifestOf(const PlayedJob& job, const JobText& text) {
  json spec = text.spec;
  spec.update(job.WithPolicies(text.policies));
  json& roles = spec[job.tf ? "tfReplicaSpecs" : "roles"];
  for (const auto& [role, replicas] : text.roles) {
    const auto other = text.policies_of.find(role);
    roles[job.RoleKey(role)] = {
        {"replicas", replicas},
        {"restartPolicy", other == text.policies_of.end() ? text.policy : other->second},
        {"template", TemplateOf(job.tf, text)}};
  }
  return {{"apiVersion", job.tf ? "kubeflow.org/v1" : "taas.dev/v1"},
          {"kind", job.kind()},
          {"metadata", {{"name", job.name}}},
          {"spec", std::move(spec)}};
}

}  // namespace

std::unique_ptr<TestedServer> ContractFixture::lent_server_;
std::unique_ptr<Process> ContractFixture::lent_operator_;

std::vector<std::string> PlayedJob::Pods() const {
  std::vector<std::string> names;
  for (const auto& [role, replicas] : roles) {
    for (int i = 0; i < replicas; ++i) names.push_back(Pod(role, i));
  }
  return names;
}

std::string PlayedJob::RoleKey(const std::string& role) const {
  if (!tf) return role;
  if (role == "ps") return "PS";
  std::string key = role;
  key[0] = static_cast<char>(key[0] - ('a' - 'A'));
  return key;
}

json PlayedJob::WithPolicies(const json& policies) const {
  if (!tf) return policies;
  return {{"runPolicy", policies}};
}

json PlayedJob::WithRole(const std::string& role, const json& fields) const {
  return {{tf ? "tfReplicaSpecs" : "roles", {{RoleKey(role), fields}}}};
}

void ContractFixture::SetUp() {
  if (lent_server_ == nullptr) return Begin(kKubeApiServer);
  server_ = std::move(lent_server_);
  operator_ = std::move(lent_operator_);
}

void ContractFixture::TearDown() {
  // It was started once, so whoever runs has never crashed.
  if (operator_ != nullptr) {
    EXPECT_FALSE(operator_->ExitCode().has_value());
  }
  lent_server_ = std::move(server_);
  lent_operator_ = std::move(operator_);
}

void ContractFixture::TearDownTestSuite() {
  lent_operator_.reset();
  lent_server_.reset();
}

PlayedJob ContractFixture::StartOne(bool tf, const std::string& name, const JobText& text) {
  const PlayedJob job{.tf = tf, .name = name, .roles = text.roles};
  const std::string path = tf ? kTfJobsPath : kTrainingJobsPath;
  const json made =
      Call("POST", path + "?fieldValidation=Strict", ManifestOf(job, text).dump());
  EXPECT_EQ(made.value("kind", ""), job.kind()) << made.dump(1);
  return job;
}

Both ContractFixture::Start(const std::string& name, const JobText& text) {
  return {StartOne(false, "tj-" + name, text), StartOne(true, "tf-" + name, text)};
}

bool ContractFixture::RunPods(const PlayedJob& job) {
  for (const std::string& pod : job.Pods()) {
    if (!AwaitPod(pod)) return false;
    Run(pod);
  }
  return true;
}

Both ContractFixture::StartAndRun(const std::string& name, const JobText& text) {
  const Both jobs = Start(name, text);
  for (const PlayedJob& job : jobs) EXPECT_TRUE(RunPods(job)) << Told(job);
  for (const PlayedJob& job : jobs) EXPECT_TRUE(AwaitRunning(job)) << Told(job);
  return jobs;
}

json ContractFixture::StatusOf(const PlayedJob& job) {
  return Stored(job).value("status", json::object());
}

json ContractFixture::ConditionOf(const PlayedJob& job, const std::string& type) {
  for (const json& condition : StatusOf(job).value("conditions", json::array())) {
    if (condition.value("type", "") == type) return condition;
  }
  return json::object();
}

json ContractFixture::CountsOf(const PlayedJob& job, const std::string& role) {
  const json roles = StatusOf(job).value("replicaStatuses", json::object());
  return roles.value(job.RoleKey(role), json::object());
}

absl::Time ContractFixture::TimeOf(const json& object, const std::string& field) {
  absl::Time time;
  std::string error;
  const std::string text = object.value(field, "");
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &error))
      << field << " of " << object.dump(1) << ": " << error;
  return time;
}

json ContractFixture::SetPolicies(const PlayedJob& job, const json& policies) {
  return Patch(job.path(), {{"spec", job.WithPolicies(policies)}});
}

bool ContractFixture::AwaitState(const PlayedJob& job, const std::string& state) {
  return Await([&] { return StatusOf(job).value("state", "") == state; });
}

bool ContractFixture::AwaitRunning(const PlayedJob& job) {
  const std::string all = std::to_string(job.Pods().size());
  return Await([&] {
    const json status = StatusOf(job);
    return status.value("state", "") == "Running" && status.value("ready", "") == all + "/" + all;
  });
}

bool ContractFixture::AwaitMessage(const PlayedJob& job, const std::string& words) {
  return Await(
      [&] { return StatusOf(job).value("message", "").find(words) != std::string::npos; });
}

json ContractFixture::EventOf(const PlayedJob& job, const std::string& reason) {
  const json events =
      Call("GET", std::string(kEventsPath) + "?fieldSelector=involvedObject.name%3D" + job.name +
                      ",reason%3D" + reason);
  for (const json& event : events.value("items", json::array())) {
    if (event["involvedObject"].value("kind", "") == job.kind()) return event;
  }
  return json::object();
}

bool ContractFixture::AwaitEvent(const PlayedJob& job, const std::string& reason) {
  return Await([&] { return !EventOf(job, reason).empty(); });
}

std::string ContractFixture::UidOf(const std::string& pod) {
  return Pod(pod).value("/metadata/uid"_json_pointer, "");
}

std::map<std::string, std::string> ContractFixture::Environment(const std::string& pod) {
  std::map<std::string, std::string> found;
  const json container = Pod(pod).at("spec").at("containers").at(0);
  for (const json& variable : container.value("env", json::array())) {
    if (!variable.contains("valueFrom")) found[variable["name"]] = variable.value("value", "");
  }
  return found;
}

void ContractFixture::Bind(const std::string& pod, const std::string& node) {
  const json binding = {{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"name", pod}}},
                        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  const json answer = Call("POST", std::string(kPodsPath) + "/" + pod + "/binding", binding.dump());
  ASSERT_EQ(answer.value("status", ""), "Success") << answer.dump(1);
}

void ContractFixture::SetPodStatus(const std::string& pod, const json& status) {
  const json after =
      Patch(std::string(kPodsPath) + "/" + pod + "/status", {{"status", status}});
  ASSERT_EQ(after.value("kind", ""), "Pod") << after.dump(1);
}

}  // namespace taas
