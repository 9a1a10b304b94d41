// A process of a ring's job in a simulation: the cores that a real one has (rank_core.h,
// ring_core.h, desk_core.h, epoch_watch.h, mover.h, meeting_book.h), and in place of its threads,
// sockets and calls what events and the network of a test give.
//
// Ownership: shared, since events hold it until they come; borrows the world. Threads: one. Errors:
// what the world's ledger finds.
//
//   auto process = std::make_shared<SimProcess>(world, SimProcess::Options{.host = 2, .pod = 1});
//   process->Start();

#ifndef TRAINER_RING_TESTING_SIM_PROCESS_H_
#define TRAINER_RING_TESTING_SIM_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer/cluster/membership.h"
#include "trainer/collective/link.h"
#include "trainer/collective/meeting_book.h"
#include "trainer/collective/mover.h"
#include "trainer/ring/desk_core.h"
#include "trainer/ring/epoch_watch.h"
#include "trainer/ring/rank_core.h"
#include "trainer/ring/ring_core.h"
#include "trainer/ring/testing/ledger.h"
#include "trainer/ring/testing/tiny_model.h"
#include "trainer/ring/testing/world.h"

namespace taas::sim {

class SimProcess : public std::enable_shared_from_this<SimProcess> {
 public:
  struct Options {
    int host = 0;  // 0: the chief.
    int64_t pod = 1;
  };
  SimProcess(World& world, const Options& options);

  void Start();
  // The kernel closes what it has.
  void Die();
  // It does nothing for so long (SIGSTOP).
  void Freeze(Clock::Duration duration);

  bool dead() const { return dead_; }
  int host() const { return host_; }
  int64_t pod() const { return pod_; }
  std::string name() const;
  const std::string& address() const { return address_; }
  const RankCore& core() const { return rank_; }

  // What it is at, for who reads why something is broken.
  std::string Words() const;

  // `what` in this process, which may be frozen, dead or gone by then.
  static void In(const std::weak_ptr<SimProcess>& process, const std::function<void()>& what);

 private:
  // The answer to a call.
  struct Reply {
    enum class Verdict : uint8_t { kKnown, kJoinAgain, kSuperseded, kLater, kRefused };
    Verdict verdict = Verdict::kKnown;
    EpochWatch::Reply watched;
    std::optional<Epoch> epoch;
    int64_t chief = 0;
    std::string sentence;
  };
  using Answer = std::function<void(const Reply&)>;
  using Then = std::function<void()>;
  // A heartbeat that is held.
  struct Held {
    Roster::Caller caller;
    uint64_t seen_view;
    uint64_t number;
    Answer answer;
  };

  void At(Clock::Duration delay, Then what);
  bool Reaches(Phase phase);

  // sim_process_calls.cc: the chief's desk, and a worker's calls to it.
  void Call(Clock::Duration patience, std::function<void(SimProcess& chief, Answer answer)> serve,
            std::function<void(const Reply* reply)> back);
  void ServeJoin(const wire::JoinRequest& request, const Answer& answer);
  void ServeBeat(const Roster::Caller& caller, const std::optional<DeskCore::Waiting>& waiting,
                 uint64_t seen_view, const Answer& answer);
  void ServeLeave(const Roster::Caller& caller, const Answer& answer);
  Reply ReplyTo(const Roster::Caller& caller);
  void Look();
  void Settle();
  wire::Identity Identity() const;
  void JoinChief(Then then);
  void Heartbeat();
  void AskEpoch();
  void Learn(const Reply& reply, uint64_t asked_start, const Then& then);
  void TakeOwnEpoch();
  void Finish();
  void Leave();

  // sim_process.cc: the rank.
  void Proceed();
  void BeginModel();
  void Enter();
  void CallRank(int rank);
  void ServeRank(uint32_t epoch, int rank, const std::weak_ptr<SimProcess>& caller);
  void TakeCallers();
  void BeginStep();
  void ComputeBucket(size_t bucket);
  void Begin();
  void BeginMean();
  void WakeSoon();
  void Exchange();
  Phase PhaseAtBegin() const;
  Phase PhaseInExchange(bool entering) const;
  void Exchanged(const absl::Status& status);
  void EnterEnds(const absl::Status& status);
  void StepEnds(const absl::Status& status);
  void OnOver(uint32_t epoch);
  void Exit(int code);

  World& world_;
  const int host_;
  const int64_t pod_;
  const std::string address_;
  bool dead_ = false;
  Clock::Time frozen_until_{};
  std::deque<Then> deferred_;

  TinyModel model_;
  RankCore rank_;
  RingCore ring_;
  collective::MeetingBook<std::unique_ptr<collective::Link>> book_;
  std::optional<collective::Mover> mover_;
  collective::Exchange* exchange_ = nullptr;
  // Of a step that is computed: what has become of the exchanges beside it.
  bool computes_ = false;
  absl::Status beside_;
  bool woken_ = false;
  uint32_t over_ = 0;
  uint64_t entering_ = 0;  // Counts attempts, for what comes late.
  std::vector<std::unique_ptr<collective::Link>> links_;
  RankCore::Turn turn_;
  Ledger::Own own_;
  EpochName epoch_name_;

  std::optional<DeskCore> desk_;
  std::vector<Held> held_;
  uint64_t held_number_ = 0;
  std::vector<std::function<void()>> when_dead_;
  uint32_t formed_ = 0;
  bool farewell_ = false;

  uint64_t start_ = 0;
  EpochWatch watch_;
  bool done_ = false, outlasts_ = false, awaits_ = false, joining_ = false;
  std::vector<Then> when_joined_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_SIM_PROCESS_H_
