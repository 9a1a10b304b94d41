#include "operator/controller/controller_fixture.h"

#include <utility>

namespace taas {

using std::chrono::milliseconds;
using std::chrono::seconds;

SimCluster::SimCluster(uint64_t seed, AddressScheme scheme)
    : executor_({.seed = seed}), random_(seed), scheme_(scheme) {
  script_ = [](const std::string&, int, milliseconds) { return std::nullopt; };
  api_.set_on_crash([this] { CrashOperator(); });
  StartOperator();
  TickKubelets();
}

SimCluster::~SimCluster() = default;

void SimCluster::StartOperator() {
  controller_ = std::make_unique<Controller>(
      api_, executor_, random_, poll_, ports_, metrics_,
      Controller::Options{.trainer_image = "taas/trainer:test",
                          .addresses = {.scheme = scheme_},
                          .gang = gang_,
                          .adopt = adopt_,
                          .plan = [this](const Snapshot& snapshot) {
                            before_plan_(snapshot);
                            return PlanJob(snapshot);
                          }});
  controller_->Start();
}

// What a supervisor does: the process is back after a second.
void SimCluster::CrashOperator() {
  api_.Disconnect();
  controller_.reset();
  executor_.PostAfter(seconds(1), [this] { StartOperator(); });
}

void SimCluster::RestartWith(GangOptions gang, bool adopt) {
  api_.Disconnect();
  controller_.reset();
  gang_ = std::move(gang);
  adopt_ = adopt;
  StartOperator();
}

void SimCluster::CreateJob(Roles roles, Json trainer_extra, const std::string& name) {
  Json role_map = Json::object();
  if (roles.chiefs > 0) role_map["chief"]["replicas"] = roles.chiefs;
  if (roles.ps > 0) role_map["ps"]["replicas"] = roles.ps;
  if (roles.workers > 0) role_map["worker"]["replicas"] = roles.workers;
  if (roles.evaluators > 0) role_map["evaluator"]["replicas"] = roles.evaluators;
  Json trainer = {{"model", {{"name", "mlp"}, {"hidden", {500}}}}, {"maxSteps", 2000}};
  trainer.update(trainer_extra);
  api_.Put("trainingjobs", {{"apiVersion", "taas.dev/v1"},
                            {"kind", "TrainingJob"},
                            {"metadata", {{"name", name}}},
                            {"spec", {{"trainer", trainer}, {"roles", role_map}}}});
}

void SimCluster::CreateTfJob(Roles roles, const std::string& policy, Json spec,
                             const std::string& name) {
  const Json container = {{"name", "tensorflow"}, {"image", "own/image:1"}};
  const Json pod_template = {{"spec", {{"containers", Json::array({container})}}}};
  Json specs = Json::object();
  const auto add = [&](const char* role, int replicas) {
    if (replicas == 0) return;
    specs[role] = {
        {"replicas", replicas}, {"restartPolicy", policy}, {"template", pod_template}};
  };
  add("Chief", roles.chiefs);
  add("PS", roles.ps);
  add("Worker", roles.workers);
  add("Evaluator", roles.evaluators);
  Json whole = {{"tfReplicaSpecs", specs}};
  whole.merge_patch(spec);
  api_.Put("tfjobs", {{"apiVersion", "kubeflow.org/v1"},
                      {"kind", "TFJob"},
                      {"metadata", {{"name", name}}},
                      {"spec", whole}});
}

void SimCluster::EditSpec(const Json& change) {
  Json job = Job();
  job["spec"].merge_patch(change);
  job["metadata"]["generation"] = job["metadata"]["generation"].get<int>() + 1;
  api_.Put(ResourceOfJob(), std::move(job));
}

void SimCluster::RunFor(milliseconds time) { executor_.RunUntil(executor_.clock().Now() + time); }

bool SimCluster::RunUntil(const std::function<bool()>& done, seconds limit) {
  return executor_.RunUntil(executor_.clock().Now() + limit, done);
}

bool SimCluster::RunUntilState(const std::string& state) {
  // As readers do where the CRD drops what it does not know.
  const auto now = [this] {
    const Json status = Status();
    const Json conditions = status.value("conditions", Json::array());
    const std::string last = conditions.empty() ? "" : conditions.back().value("type", "");
    return status.value("state", last);
  };
  return RunUntil([&] { return now() == state; }, seconds(600));
}

std::string SimCluster::ResourceOfJob() const {
  return api_.Find("tfjobs", "mnist") != nullptr ? "tfjobs" : "trainingjobs";
}

SimCluster::Json SimCluster::Job() const {
  const Json* job = api_.Find(ResourceOfJob(), "mnist");
  return job == nullptr ? Json::object() : *job;
}

SimCluster::Json SimCluster::Ledger() const {
  const Json job = Job();
  const auto text = job.value("/metadata/annotations/taas.dev~1ledger"_json_pointer, "{}");
  return Json::parse(text);
}

std::string SimCluster::PhaseOf(const std::string& pod) const {
  const Json* found = api_.Find("pods", pod);
  return found == nullptr ? "" : found->value("/status/phase"_json_pointer, "");
}

void SimCluster::TickKubelets() {
  for (const std::string& name : api_.Names("pods")) TickPod(name);
  for (const std::string& name : api_.Names("podgroups")) TickPodGroup(name);
  executor_.PostAfter(milliseconds(100), [this] { TickKubelets(); });
}

void SimCluster::TickPod(const std::string& name) {
  const Json& seen = *api_.Find("pods", name);
  if (seen["metadata"].contains("deletionTimestamp")) return;
  const std::string phase = PhaseOf(name);
  const std::string uid = seen["metadata"]["uid"];
  const bool starts = random_.Below(3) == 0 && name != unschedulable_;
  const std::string number =
      seen.value("/metadata/labels/taas.dev~1pod-number"_json_pointer, "1");
  if (phase == "Pending" && starts) {
    const std::optional<Json> refused = refusal_(name, std::stoi(number));
    if (!refused.has_value()) return StartContainer(seen);
    Json pod = seen;
    pod["spec"]["nodeName"] = "node-a";
    pod["status"] = *refused;
    api_.Put("pods", std::move(pod));
    return;
  }
  if (phase != "Running") return;
  const auto ran =
      std::chrono::duration_cast<milliseconds>(executor_.clock().Now() - started_[uid]);
  const std::optional<int> code = script_(name, std::stoi(number), ran);
  if (code.has_value()) EndContainer(seen, *code, ran);
}

void SimCluster::TickPodGroup(const std::string& name) {
  Json group = *api_.Find("podgroups", name);
  if (group.value("/status/phase"_json_pointer, "") == gang_phase_) return;
  group["status"]["phase"] = gang_phase_;
  api_.Put("podgroups", std::move(group));
}

// To which its environment refers, and which is not there.
std::string SimCluster::MissingConfigMapOf(const Json& pod) const {
  for (const Json& item : pod["spec"]["containers"][0].value("env", Json::array())) {
    const auto name = item.value("/valueFrom/configMapKeyRef/name"_json_pointer, "");
    if (!name.empty() && api_.Find("configmaps", name) == nullptr) return name;
  }
  return "";
}

void SimCluster::StartContainer(Json pod) {
  if (const std::string missing = MissingConfigMapOf(pod); !missing.empty()) {
    Json container = ContainerOf(pod);
    container["state"] = {{"waiting",
                           {{"reason", "CreateContainerConfigError"},
                            {"message", "configmap \"" + missing + "\" not found"}}}};
    const Json status = {{"phase", "Pending"}, {"containerStatuses", {container}}};
    if (pod.value("status", Json()) == status) return;
    pod["status"] = status;
    api_.Put("pods", std::move(pod));
    return;
  }
  started_[pod["metadata"]["uid"]] = executor_.clock().Now();
  Json container = ContainerOf(pod);
  container["state"] = {
      {"running", {{"startedAt", FormatRfc3339(executor_.clock().WallNow())}}}};
  pod["spec"]["nodeName"] = "node-a";
  pod["status"] = {
      {"phase", "Running"}, {"podIP", "10.0.0.9"}, {"containerStatuses", {container}}};
  api_.Put("pods", std::move(pod));
}

// Starts it again where the pod's policy says so, as a kubelet does.
void SimCluster::EndContainer(Json pod, int code, milliseconds ran) {
  const Clock::WallTime now = executor_.clock().WallNow();
  const std::string said = code == 0 ? R"({"message":"done","step":2000})" : "it broke";
  const Json ended = {{"terminated",
                       {{"exitCode", code},
                        {"reason", code == 0 ? "Completed" : "Error"},
                        {"message", said},
                        {"startedAt", FormatRfc3339(now - ran)},
                        {"finishedAt", FormatRfc3339(now)}}}};
  Json container = ContainerOf(pod);
  const std::string policy = pod["spec"].value("restartPolicy", "Always");
  if (policy == "Always" || (policy == "OnFailure" && code != 0)) {
    started_[pod["metadata"]["uid"]] = executor_.clock().Now();
    container["restartCount"] = container["restartCount"].get<int>() + 1;
    container["lastState"] = ended;
    container["state"] = {{"running", {{"startedAt", FormatRfc3339(now)}}}};
  } else {
    container["state"] = ended;
    pod["status"]["phase"] = code == 0 ? "Succeeded" : "Failed";
  }
  pod["status"]["containerStatuses"] = {container};
  api_.Put("pods", std::move(pod));
}

// Its status so far.
SimCluster::Json SimCluster::ContainerOf(const Json& pod) {
  const auto path = "/status/containerStatuses/0"_json_pointer;
  if (pod.contains(path)) return pod.at(path);
  const Json& spec = pod["spec"]["containers"][0];
  return {{"name", spec["name"]}, {"image", spec["image"]}, {"restartCount", 0}};
}

void SimCluster::ScriptedPoll::Get(const std::string&, int32_t, const std::string&, Done done) {
  ++cluster_.polls_;
  const std::string body = cluster_.report_;
  cluster_.executor_.Post([body, done = std::move(done)] {
    if (body.empty()) {
      done(absl::UnavailableError("connection refused"));
    } else {
      done(body);
    }
  });
}

std::vector<int32_t> SimCluster::CountingPorts::Take(int32_t count, const std::set<int32_t>&) {
  std::vector<int32_t> ports;
  for (int32_t i = 0; i < count; ++i) ports.push_back(next_++);
  return ports;
}

}  // namespace taas
