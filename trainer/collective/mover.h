// The links of one epoch, and the bytes of its exchanges that can go over them now. It never waits:
// whoever waits (group.h, or a network of a test) asks again when a link may have news.
//
// What has failed is of no use any more: all links are closed then, so that every peer notices,
// whatever it waits for.
//
// Ownership: owns its links. Threads: one at a time. Errors: Unavailable, naming the peer, for one
// that has gone; an exchange's own; FailedPrecondition after any.
//
//   Mover mover(std::move(links));
//   ASSIGN_OR_RETURN(const bool moved, mover.Move(exchange));

#ifndef TRAINER_COLLECTIVE_MOVER_H_
#define TRAINER_COLLECTIVE_MOVER_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/link.h"

namespace taas::collective {

class Mover {
 public:
  // By rank; none at the own place.
  explicit Mover(std::vector<std::unique_ptr<Link>> links) : links_(std::move(links)) {}

  // Whether a byte was moved.
  absl::StatusOr<bool> Move(Exchange& exchange);
  // Whether peers have taken all that was lent to them. An exchange that is done is over then, and
  // its vector may be changed.
  absl::StatusOr<bool> Settled(const Exchange& exchange);
  // Closes all links.
  void Fail();
  bool failed() const { return failed_; }
  // Whoever waits has seen that this one has gone.
  void Lose(int peer) { lost_ = peer; }
  // Whose link broke, if that is why it failed: it has gone, or has failed before.
  std::optional<int> lost() const { return lost_; }
  Link& link(int peer) { return *links_[static_cast<size_t>(peer)]; }

 private:
  absl::StatusOr<bool> MoveWith(Exchange& exchange, int peer);

  std::vector<std::unique_ptr<Link>> links_;
  bool failed_ = false;
  std::optional<int> lost_;
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_MOVER_H_
