// Where the ranks of an all-reduce come to: the chief, which is rank 0, says who trains together.
// What it decides is desk_core.h's; this serves calls, waits, and looks at the time.
//
// Ownership: borrows the clock; owns a thread that looks at the time. Threads: the handler's
// methods on any, Next from one, the rest from any; `on_over` is called with the desk's lock held.
// Errors: none of its own; Cancelled from Next once it closes.
//
//   RingDesk desk(clock, {.roster = …, .address = address, .min = 2, .max = 4,
//                         .on_over = [&](uint32_t) { ring.Abort(); }});
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start(host, port, desk));

#ifndef TRAINER_RING_RING_DESK_H_
#define TRAINER_RING_RING_DESK_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/chief/roster.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/ring/desk_core.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/epoch_source.h"
#include "trainer/status/status_board.h"

namespace taas {

class RingDesk : public ChiefHandler, public EpochSource {
 public:
  struct Options {
    Roster::Options roster;
    std::string address;  // Where the chief meets others.
    // Ranks of an epoch, with the chief; where they differ the job is elastic: it goes on with
    // whoever is here, and takes in who comes.
    size_t min = 1, max = 1;
    int64_t max_steps = std::numeric_limits<int64_t>::max();
    // For those that the job begins with, once enough are there.
    Clock::Duration gather_max = std::chrono::seconds(30);
    // The chief's own part in this epoch is to end.
    std::function<void(uint32_t epoch)> on_over = [](uint32_t) {};
    // While the chief's own rank waits for an epoch, every now and then: for what.
    std::function<void(const std::string& why)> on_wait = [](const std::string&) {};
    // Whether this process was told to stop.
    std::function<bool()> stopped = [] { return false; };
  };
  RingDesk(const Clock& clock, Options options);
  ~RingDesk() override;

  // ChiefHandler.
  wire::JoinReply Join(const wire::JoinRequest& request) override;
  wire::BeatReply Beat(const wire::BeatRequest& request) override;
  void Leave(const wire::LeaveRequest& request) override;

  // EpochSource of the chief's own rank.
  absl::StatusOr<std::optional<Epoch>> Next(const Standing& standing,
                                            std::optional<int> lost) override;
  void Outlast() override;

  // All is trained and kept: everybody is told, and leaves.
  void Finish(int64_t step);
  // Whether all ranks of the last epoch have left; waits for it at most so long.
  bool AwaitFarewell(std::chrono::milliseconds patience);
  // "" while an epoch is in force.
  std::string waiting_for();
  std::vector<PeerStatus> Peers();
  // Ends what waits, before whoever serves the calls ends.
  void Close();

 private:
  // With the lock held: what the core has decided is carried out.
  void CarryOut();
  void Watch();

  const Clock& clock_;
  const Options options_;
  const std::chrono::milliseconds beat_hold_;
  std::mutex mutex_;
  std::condition_variable changed_;
  DeskCore core_;
  uint64_t told_view_ = 0;
  bool closing_ = false;
  std::thread watch_;
};

}  // namespace taas

#endif  // TRAINER_RING_RING_DESK_H_
