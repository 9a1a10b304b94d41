#include "trainer/collective/mover.h"

#include <cstddef>

#include "operator/base/status.h"

namespace taas::collective {

absl::StatusOr<bool> Mover::Move(Exchange& exchange) {
  if (failed_) return absl::FailedPreconditionError("all-reduce over links that failed before");
  bool any = false;
  for (const int peer : exchange.peers()) {
    const absl::StatusOr<bool> moved = MoveWith(exchange, peer);
    if (!moved.ok()) {
      if (absl::IsUnavailable(moved.status())) lost_ = peer;
      Fail();
      return moved;
    }
    any |= *moved;
  }
  return any;
}

absl::StatusOr<bool> Mover::Settled(const Exchange& exchange) {
  for (const int peer : exchange.peers()) {
    const absl::StatusOr<bool> settled = link(peer).Settled();
    if (settled.ok() && *settled) continue;
    if (absl::IsUnavailable(settled.status())) lost_ = peer;
    return settled;
  }
  return true;
}

void Mover::Fail() {
  failed_ = true;
  for (const auto& link : links_) {
    if (link != nullptr) link->Close();
  }
}

absl::StatusOr<bool> Mover::MoveWith(Exchange& exchange, int peer) {
  bool any = false;
  if (const auto bytes = exchange.ToSend(peer); !bytes.empty()) {
    ASSIGN_OR_RETURN(const size_t sent,
                     exchange.lends() ? link(peer).Lend(bytes) : link(peer).Send(bytes));
    if (sent > 0) {
      exchange.Sent(peer, sent);
      any = true;
    }
  }
  if (const auto into = exchange.ToReceive(peer); !into.empty()) {
    ASSIGN_OR_RETURN(const auto lies, link(peer).Peek());
    ASSIGN_OR_RETURN(const size_t used, exchange.Use(peer, lies));
    if (used > 0) {
      RETURN_IF_ERROR(link(peer).Taken(used));
      return true;
    }
    ASSIGN_OR_RETURN(const size_t received, link(peer).Receive(into));
    if (received > 0) {
      RETURN_IF_ERROR(exchange.Received(peer, received));
      any = true;
    }
  }
  return any;
}

}  // namespace taas::collective
