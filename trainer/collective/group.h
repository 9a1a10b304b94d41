// The ranks of one epoch, as one of them sees them: a link to each, over which exchanges are run.
// Which bytes go, and what follows from a failure, is mover.h's; a group waits.
//
// Whoever waits spins for a moment, since a peer on an idle core answers sooner than a sleeper
// wakes, and then sleeps in poll.
//
// Ownership: owns its links. Threads: Run and RunBeside from one at a time; Abort from any. Errors:
// Unavailable, naming the rank, for a peer that has gone; Aborted after Abort; an exchange's own.
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
#include <vector>

#include "absl/status/status.h"
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
  // Ends what is under way, and everything after it, here and on every peer.
  void Abort();
  // Whose link broke first, if that is why Run failed.
  std::optional<int> lost() const { return lost_; }

 private:
  absl::Status RunWith(Exchange& exchange, bool spins);
  absl::Status Drive(Exchange& exchange, bool spins);
  absl::Status Await(Exchange& exchange);

  const Place place_;
  const bool spins_;
  const std::function<void(std::optional<int>)> on_wait_;
  Mover mover_;
  const int abort_event_;  // An eventfd, readable from Abort on.
  std::atomic<bool> aborted_ = false;
  std::optional<int> lost_;
  std::vector<pollfd> polled_;
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_GROUP_H_
