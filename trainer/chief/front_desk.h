// Where replicas come to: answers their calls, lends batches, and tells them what is in force. Who
// leads the job (coordinator.h) changes what that is.
//
// Ownership: borrows the clock. Threads: the handler's methods on any, the WorkSource of the
// chief's own training on one other, the rest on any. All that it knows is behind one lock, which
// With holds. Errors: none of its own; after Fail, Next returns that error.
//
//   FrontDesk desk(clock, {.cluster = cluster, …});
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start(host, port, desk));
//   desk.With([&](FrontDesk::State& state) { state.Pause("ps-0 was told to stop"); });

#ifndef TRAINER_CHIEF_FRONT_DESK_H_
#define TRAINER_CHIEF_FRONT_DESK_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/batches/batch_leases.h"
#include "trainer/chief/roster.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/replica/work_source.h"

namespace taas {

class FrontDesk : public ChiefHandler, public WorkSource {
 public:
  struct State {
    explicit State(Roster::Options options) : roster(std::move(options)) {}

    Roster roster;
    BatchLeases leases;
    // What is in force.
    int64_t generation = 0;
    std::vector<std::string> shards;  // Of it, their addresses.
    std::set<Pusher> named;           // Whose pushes all of them take.
    int aggregate = 0;                // Gradients of one step; 0: asynchronous.
    bool ready = false;               // There is work.
    std::string waiting_for;
    int64_t seen_generation = 0;  // The highest that any process knows of.
    bool trained = false;         // All batches are committed.
    bool done = false;            // And all is kept.
    int64_t end_step = 0;         // Once done.
    absl::Status failure;         // Of this process.

    // There is nothing to do, and why.
    void Pause(const std::string& why) {
      ready = false;
      waiting_for = why;
      Announce();
    }
    void GoOn() {
      waiting_for.clear();
      ready = true;
      Announce();
    }
    // All who wait are told what is in force now,
    void Announce() {
      ++view;
      news = true;
    }
    // or look for themselves whether there is something for them.
    void Wake() { news = true; }

    uint64_t view = 1;
    bool news = false;
  };

  FrontDesk(const Clock& clock, Roster::Options options);
  // Ends what waits.
  ~FrontDesk() override;

  template <typename Use>
  auto With(Use use) {
    const Notice notice(*this);
    return use(state_);
  }
  // Until `so(state)`; at most for so long.
  template <typename So>
  void WaitUntil(std::chrono::milliseconds patience, So so) {
    Lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return so(std::as_const(state_)); });
  }

  // ChiefHandler.
  wire::JoinReply Join(const wire::JoinRequest& request) override;
  wire::BeatReply Beat(const wire::BeatRequest& request) override;
  void Leave(const wire::LeaveRequest& request) override;

  // WorkSource of the chief's own training.
  absl::StatusOr<Work> Next() override;
  bool StillCurrent(int64_t generation, const Pusher& pusher) override;
  // The chief's own training has ended with an error: the job ends with it, whatever its class.
  void Fail(const absl::Status& status);

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Holds the lock, and at its end tells those who wait if there is news.
  class Notice {
   public:
    explicit Notice(FrontDesk& desk) : desk_(desk), lock_(desk.mutex_) {}
    ~Notice() {
      if (std::exchange(desk_.state_.news, false)) desk_.changed_.notify_all();
    }
    Lock& lock() { return lock_; }

   private:
    FrontDesk& desk_;
    Lock lock_;
  };

  // With the lock held. True once all shards know of `pusher`, or if it is none that pushes.
  bool MayTrain(const Pusher& pusher) const;
  bool HasWork(const Pusher& pusher) const;
  void FillWork(const wire::BeatRequest& request, const Pusher& pusher, bool has_left,
                wire::BeatReply* reply);
  std::vector<int64_t> Lend(const Pusher& pusher, int wanted);

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_;
  bool closing_ = false;
  Clock::Time next_complaint_{};
};

}  // namespace taas

#endif  // TRAINER_CHIEF_FRONT_DESK_H_
