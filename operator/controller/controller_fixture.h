// A cluster in virtual time: an API server in memory, pods that run by a script, and an operator
// that can be killed and comes back.
//
// Ownership: the test's. Threads: one. Errors: as test failures.
//
//   SimCluster cluster(seed);
//   cluster.CreateJob({.ps = 1, .workers = 1});
//   cluster.RunUntilState("Succeeded");

#ifndef OPERATOR_CONTROLLER_CONTROLLER_FIXTURE_H_
#define OPERATOR_CONTROLLER_CONTROLLER_FIXTURE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/controller/controller.h"
#include "operator/controller/fake_api.h"
#include "third_party/json.h"

namespace taas {

class SimCluster {
 public:
  using Json = nlohmann::json;
  struct Roles {
    int chiefs = 0;
    int ps = 0;
    int workers = 0;
    int evaluators = 0;
  };
  // What a process does: its exit code, or nothing while it runs. `ran` counts from its start.
  using Script = std::function<std::optional<int>(const std::string& pod, int pod_number,
                                                  std::chrono::milliseconds ran)>;

  explicit SimCluster(uint64_t seed, AddressScheme scheme = AddressScheme::kDns);
  ~SimCluster();

  void CreateJob(Roles roles, Json trainer_extra = Json::object(),
                 const std::string& name = "mnist");
  // As users of the old operator write it: own images, every role with `policy`. `spec` is merged
  // into the spec.
  void CreateTfJob(Roles roles, const std::string& policy = "Never", Json spec = Json::object(),
                   const std::string& name = "mnist");
  // Merges `change` into the spec of the job mnist, as a user's edit.
  void EditSpec(const Json& change);
  // Takes effect at once; asked before each plan.
  void set_before_plan(std::function<void(const Snapshot&)> call) {
    before_plan_ = std::move(call);
  }
  void set_script(Script script) { script_ = std::move(script); }
  // What a node says of a pod instead of starting it: a status; nothing: it starts it.
  using Refusal = std::function<std::optional<Json>(const std::string& pod, int pod_number)>;
  void set_refusal(Refusal refusal) { refusal_ = std::move(refusal); }
  // No node has room for this pod; empty: all have a place.
  void set_unschedulable(std::string pod) { unschedulable_ = std::move(pod); }
  // What the chief answers to GET /status.
  void set_report(std::string json) { report_ = std::move(json); }
  int polls() const { return polls_; }
  void CrashOperator();
  // The operator ends and starts again with these flags.
  void RestartWith(GangOptions gang, bool adopt = false);
  // What Volcano says of PodGroups, from the next second on.
  void set_gang_phase(std::string phase) { gang_phase_ = std::move(phase); }

  void RunFor(std::chrono::milliseconds time);
  bool RunUntil(const std::function<bool()>& done, std::chrono::seconds limit);
  bool RunUntilState(const std::string& state);

  // Of the only job mnist, whatever its kind.
  std::string ResourceOfJob() const;
  Json Job() const;
  Json Status() const { return Job().value("status", Json::object()); }
  Json Ledger() const;
  std::string PhaseOf(const std::string& pod) const;

  FakeApi& api() { return api_; }
  SimExecutor& executor() { return executor_; }
  Metrics& metrics() { return metrics_; }

 private:
  class ScriptedPoll : public PollTransport {
   public:
    explicit ScriptedPoll(SimCluster& cluster) : cluster_(cluster) {}
    void Get(const std::string& host, int32_t port, const std::string& path, Done done) override;

   private:
    SimCluster& cluster_;
  };
  class CountingPorts : public PortSource {
   public:
    std::vector<int32_t> Take(int32_t count, const std::set<int32_t>& in_use) override;

   private:
    int32_t next_ = 20'000;
  };

  void StartOperator();
  void TickKubelets();
  void TickPod(const std::string& name);
  void TickPodGroup(const std::string& name);
  std::string MissingConfigMapOf(const Json& pod) const;
  void StartContainer(Json pod);
  void EndContainer(Json pod, int code, std::chrono::milliseconds ran);
  static Json ContainerOf(const Json& pod);

  SimExecutor executor_;
  SeededRandom random_;
  FakeApi api_{executor_, random_};
  ScriptedPoll poll_{*this};
  CountingPorts ports_;
  Metrics metrics_;
  const AddressScheme scheme_;
  Script script_;
  std::function<void(const Snapshot&)> before_plan_ = [](const Snapshot&) {};
  Refusal refusal_ = [](const std::string&, int) { return std::nullopt; };
  std::string report_;
  std::string unschedulable_;
  std::string gang_phase_ = "Inqueue";
  GangOptions gang_;
  bool adopt_ = false;
  int polls_ = 0;
  std::map<std::string, Clock::Time> started_;  // By pod uid.
  std::unique_ptr<Controller> controller_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CONTROLLER_FIXTURE_H_
