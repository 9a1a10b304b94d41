// The ranks of one epoch, as one of them sees them: a link to each, over which exchanges are run.
// Which bytes go, and what follows from a failure, is mover.h's; a group waits.
//
// Whoever waits spins for a moment, since a peer on an idle core answers sooner than a sleeper
// wakes, and then sleeps in poll.
//
// Ownership: owns its links. Threads: Run, RunBeside, RunWithin and Pause from one at a time; Abort
// from any. Errors: Unavailable, naming the rank, for a peer that has gone; DeadlineExceeded, which
// names it too, for one that did not come in time; Aborted after Abort; an exchange's own.
//
//   Group group({.place = {4, 1}, .links = std::move(links), .spins = true});
//   RETURN_IF_ERROR(group.Run(exchange));

#ifndef TRAINER_COLLECTIVE_GROUP_H_
#define TRAINER_COLLECTIVE_GROUP_H_

#include <poll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/link.h"
#include "trainer/collective/mover.h"
#include "trainer/collective/plan.h"

namespace taas::collective {

// A sleeper on an idle core wakes some 50 us later: to spin for longer than that gains nothing that
// sleeping loses.
constexpr std::chrono::microseconds kSpinMax{50};

class Group {
 public:
  struct Options {
    Place place;
    // By rank; none at the own place.
    std::vector<std::unique_ptr<Link>> links;
    // Not where ranks are more than cores: one that spins keeps the one that it waits for from
    // running.
    bool spins = false;
    // Told whom a wait is for, once it sleeps; nullopt when it is over.
    std::function<void(std::optional<int> rank)> on_wait = [](std::optional<int>) {};
    // Told, once in an exchange, for whom it has waited for `late`. Null: nobody is.
    std::chrono::nanoseconds late{};
    std::function<void(const std::string& peer)> on_late = nullptr;
  };
  explicit Group(Options options);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const Place& place() const { return place_; }
  // Until it is done, and others have taken what was lent of its vector: that may be changed then,
  // whatever Run returns. It was begun, and is for this place.
  absl::Status Run(Exchange& exchange) { return RunWith(exchange, spins_); }
  // The same beside what computes: whoever waits sleeps at once, and leaves the core to that.
  absl::Status RunBeside(Exchange& exchange) { return RunWith(exchange, /*spins=*/false); }
  // The same where nobody has to compute before it comes: who has not come within `patience` is
  // lost; and whoever goes meanwhile, also if it has come before.
  absl::Status RunWithin(Exchange& exchange, std::chrono::nanoseconds patience) {
    return RunWith(exchange, spins_, patience);
  }
  // Between exchanges, where something else than a peer is waited for: returns when so long has
  // passed, or as soon as a peer has gone or Abort was called, with that error.
  absl::Status Pause(std::chrono::microseconds duration);
  // Ends what is under way, and everything after it, here and on every peer.
  void Abort();
  // Whose link broke first, if that is why Run failed.
  std::optional<int> lost() const { return lost_; }

 private:
  // Of a Run that sleeps.
  struct Waiting {
    std::optional<std::chrono::nanoseconds> patience;
    std::optional<std::chrono::steady_clock::time_point> since{};
    bool told = false;
  };
  absl::Status RunWith(Exchange& exchange, bool spins,
                       std::optional<std::chrono::nanoseconds> patience = std::nullopt);
  absl::Status Drive(Exchange& exchange, bool spins, Waiting waiting);
  absl::Status Await(Exchange& exchange, Waiting& waiting);
  // Polls for the ends of all peers, behind what is polled.
  void WatchPeers();
  // The first of these that has come, as an error.
  absl::Status LookAtPeers();
  // How long poll may sleep, in its milliseconds; -1: until it is woken.
  absl::StatusOr<int> SleepOf(const Exchange& exchange, Waiting& waiting);

  const Place place_;
  const bool spins_;
  const std::function<void(std::optional<int>)> on_wait_;
  const std::chrono::nanoseconds late_;
  const std::function<void(const std::string&)> on_late_;
  Mover mover_;
  const int abort_event_;  // An eventfd, readable from Abort on.
  std::atomic<bool> aborted_ = false;
  std::optional<int> lost_;
  std::vector<pollfd> polled_;
  std::vector<int> watched_;  // The peers of the last of them.
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_GROUP_H_
