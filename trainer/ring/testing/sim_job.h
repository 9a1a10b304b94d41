// A job of simulated processes, the operator that starts another for each that is killed, and who
// kills them: at a moment of a kind that the seed chooses, the chief as the others.
//
// Ownership: owns all. Threads: one. Errors: in ledger().broken(), with what happened before.
//
//   SimJob job(seed, shape, {.kills = 25});
//   job.Run();
//   EXPECT_EQ(job.ledger().broken(), "");

#ifndef TRAINER_RING_TESTING_SIM_JOB_H_
#define TRAINER_RING_TESTING_SIM_JOB_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "trainer/ring/testing/events.h"
#include "trainer/ring/testing/ledger.h"
#include "trainer/ring/testing/network.h"
#include "trainer/ring/testing/sim_process.h"
#include "trainer/ring/testing/world.h"

namespace taas::sim {

struct Faults {
  int kills = 0;
  // Of what else happens between two kills: cuts, silence, frozen processes, slow messages.
  double others = 0.4;
};

class SimJob : public World {
 public:
  // By whether it was the chief's and the phase.
  using Killed = std::map<std::pair<bool, Phase>, int>;

  SimJob(uint64_t seed, const JobShape& shape, const Faults& faults);
  ~SimJob() override;

  // Until the job has ended, or something is broken.
  void Run();
  const Ledger& result() const { return ledger_; }
  int kills() const { return kills_; }
  const Killed& killed() const { return killed_; }
  Clock::Duration took() const { return events_.now() - Clock::Time(); }
  uint64_t events_ran() const { return events_.ran(); }
  // The last things that happened.
  std::string story() const;

  Events& events() override { return events_; }
  Network& network() override { return network_; }
  Random& random() override { return random_; }
  Ledger& ledger() override { return ledger_; }
  const JobShape& shape() const override { return shape_; }
  std::optional<Checkpoint>& checkpoint() override { return checkpoint_; }
  std::shared_ptr<SimProcess> AtAddress(const std::string& address) override;
  std::shared_ptr<SimProcess> Chief() override { return processes_[0]; }
  void Reaches(SimProcess& process, Phase phase) override;
  void Exits(SimProcess& process, int code) override;
  void Tell(const std::string& what) override;

 private:
  // The next kill: of the chief, or of the first other one that comes there, where that is for the
  // n-th time from now.
  struct Plan {
    bool chief = false;
    Phase phase = Phase::kStarts;
    int times = 1;
    uint64_t number = 0;
  };

  void StartProcess(int host);
  // A chief was killed when it had told some of the end, no checkpoint is kept, and nobody has the
  // model any more: there is no help for it.
  bool HasLostItsEnd() const;
  void PlanFault();
  void PlanKill();
  void Kill(SimProcess& process, Phase phase, bool planned);
  void OtherFault();
  int AnyHost() { return static_cast<int>(random_.Below(static_cast<uint64_t>(shape_.replicas))); }

  const JobShape shape_;
  const Faults faults_;
  SeededRandom random_;
  Events events_;
  Network network_;
  Ledger ledger_;
  std::optional<Checkpoint> checkpoint_;
  std::vector<std::shared_ptr<SimProcess>> processes_;  // By host.
  std::map<std::string, std::shared_ptr<SimProcess>> by_address_;
  std::vector<int64_t> pods_;
  std::vector<bool> completed_;
  std::optional<Plan> plan_;
  std::optional<Plan> end_plan_;  // For the end of the job, whenever it comes.
  uint64_t plans_ = 0;
  int kills_ = 0;
  Killed killed_;
  std::optional<Clock::Time> last_fault_;
  bool ended_ = false;
  std::deque<std::string> story_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_SIM_JOB_H_
