// An election in virtual time: a server that keeps one Lease, and processes that can freeze, die,
// lose their network and have clocks of their own.
//
// The server follows kube-apiserver where it matters: versions and uids are preconditions, a PUT of
// what does not exist makes it, a GET is a quorum read.
//
// Ownership: the test's. Threads: one. Errors: none.
//
//   LeaseWorld world(seed);
//   Candidate& a = world.Add("a");
//   world.RunUntil([&] { return a.leads(); }, 5s);

#ifndef OPERATOR_KUBE_LEASE_FIXTURE_H_
#define OPERATOR_KUBE_LEASE_FIXTURE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/lease_elector.h"
#include "third_party/json.h"

namespace taas {

// A process of the simulation. Its clock may run fast or slow, its wall clock may be anything.
class SimProcess : public Executor {
 public:
  SimProcess(SimExecutor& world, double rate) : world_(world), clock_(world.clock(), rate) {}

  void Post(Task task) override { PostAfter(Clock::Duration::zero(), std::move(task)); }
  TimerId PostAfter(Clock::Duration delay, Task task) override;
  bool Cancel(TimerId id) override { return tasks_.erase(id) > 0; }
  const Clock& clock() const override { return clock_; }

  // SIGSTOP and SIGCONT: what becomes due meanwhile runs afterwards.
  void Freeze() { frozen_ = true; }
  void Thaw();
  // SIGKILL.
  void Kill() {
    tasks_.clear();
    dead_ = true;
  }
  bool runs() const { return !frozen_ && !dead_; }
  void set_wall_offset(Clock::Duration offset) { clock_.offset = offset; }

 private:
  struct SkewedClock : Clock {
    SkewedClock(const Clock& world, double rate) : world(world), rate(rate) {}
    Time Now() const override {
      return Time(std::chrono::duration_cast<Duration>(world.Now().time_since_epoch() * rate));
    }
    WallTime WallNow() const override { return world.WallNow() + offset; }
    void SleepUntil(Time) const override {}
    const Clock& world;
    const double rate;
    Duration offset{0};
  };
  struct Waiting {
    Task task;
    bool due = false;
  };
  void RunDue(TimerId id);

  SimExecutor& world_;
  SkewedClock clock_;
  std::map<TimerId, Waiting> tasks_;
  TimerId last_id_ = 0;
  bool frozen_ = false;
  bool dead_ = false;
};

class LeaseServer {
 public:
  using Json = nlohmann::json;

  HttpReply Handle(const HttpRequest& request);

  // Null: it is not there.
  const Json& object() const { return object_; }
  std::string holder() const;
  int64_t transitions() const;
  // By hand: as kubectl does.
  void Edit(const Json& change);
  void Delete() { object_ = Json(); }
  // Back to an earlier state, its version included, as after a restore of etcd.
  void Restore(Json object);
  // A holder that is no process of this world.
  void Put(const std::string& holder, int seconds, int64_t transitions);

  // The bodies of events that were made, by name.
  const std::map<std::string, Json>& events() const { return events_; }

  int gets() const { return gets_; }
  int writes() const { return writes_; }

 private:
  HttpReply Store(Json object);

  Json object_;
  std::map<std::string, Json> events_;
  int64_t version_ = 100;
  int64_t last_uid_ = 0;
  int gets_ = 0;
  int writes_ = 0;
};

// A process's way to the server.
class LeaseLink : public KubeTransport {
 public:
  struct Faults {
    bool cut = false;             // Connections are refused.
    bool hangs = false;           // Requests leave and never arrive.
    bool loses_replies = false;   // They arrive, and no answer comes back.
    int answers = 0;              // Instead of the server: this code.
    double random_loss = 0;       // Each of the two ways is lost so often.
    std::chrono::milliseconds delay_max{5};
  };
  LeaseLink(LeaseServer& server, SimExecutor& world, SimProcess& process, Random& random)
      : server_(server), world_(world), process_(process), random_(random) {}

  void Do(HttpRequest request, OnReply done) override;
  std::unique_ptr<StreamHandle> Stream(HttpRequest, StreamCalls) override { return nullptr; }
  Faults& faults() { return faults_; }

 private:
  std::chrono::milliseconds Delay();

  LeaseServer& server_;
  SimExecutor& world_;
  SimProcess& process_;
  Random& random_;
  Faults faults_;
};

// One candidate, and what its elector told it.
struct Candidate {
  Candidate(const std::string& name, LeaseServer& server, SimExecutor& world, Random& random,
            LeaseTimes times, double rate);

  bool leads() const { return elector.state().leads; }
  void Release();

  SimProcess process;
  LeaseLink link;
  WriteGate gate;
  int64_t known_epoch = 0;
  int64_t epoch = 0;  // 0: it has not led.
  std::vector<std::string> lost;
  std::vector<absl::Status> released;
  LeaseElector elector;
};

struct LeaseWorld {
  explicit LeaseWorld(uint64_t seed = 1) : executor({.seed = seed}), random(seed) {}

  // Started.
  Candidate& Add(const std::string& name, LeaseTimes times = {}, double rate = 1);
  void RunFor(Clock::Duration time) { executor.RunUntil(executor.clock().Now() + time); }
  bool RunUntil(const std::function<bool()>& done, Clock::Duration limit) {
    return executor.RunUntil(executor.clock().Now() + limit, done);
  }
  Clock::Time now() const { return executor.clock().Now(); }

  // First, so that nothing that waits in the executor outlives what it speaks of.
  std::vector<std::unique_ptr<Candidate>> candidates;
  SimExecutor executor;
  SeededRandom random;
  LeaseServer server;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_LEASE_FIXTURE_H_
