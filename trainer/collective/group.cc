#include "trainer/collective/group.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas::collective {

Group::Group(Options options)
    : options_(std::move(options)), abort_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(abort_event_ >= 0) << "an eventfd";
  CHECK(options_.links.size() == static_cast<size_t>(options_.place.ranks)) << "a link per rank";
  polled_.reserve(options_.links.size() + 1);
}

Group::~Group() { close(abort_event_); }

absl::Status Group::Run(Exchange& exchange) {
  if (broken_) return absl::FailedPreconditionError("all-reduce in a group that has failed before");
  absl::Status status = Drive(exchange);
  if (status.ok()) return status;
  broken_ = true;
  for (const auto& link : options_.links) {
    if (link != nullptr) link->Close();
  }
  // Peers that close because of it may be seen before the reason.
  return aborted_ ? absl::AbortedError("all-reduce: aborted") : status;
}

void Group::Abort() {
  aborted_ = true;
  const uint64_t one = 1;
  // It can only fail when it is readable already.
  [[maybe_unused]] const ssize_t written = write(abort_event_, &one, sizeof(one));
}

absl::Status Group::Drive(Exchange& exchange) {
  auto idle_since = std::chrono::steady_clock::time_point::max();
  while (!exchange.done()) {
    if (aborted_) return absl::AbortedError("all-reduce: aborted");
    ASSIGN_OR_RETURN(const bool moved, Move(exchange));
    if (moved) {
      idle_since = std::chrono::steady_clock::time_point::max();
      continue;
    }
    if (options_.spins) {
      const auto now = std::chrono::steady_clock::now();
      if (idle_since > now) idle_since = now;
      if (now - idle_since < kSpinMax) continue;
    }
    RETURN_IF_ERROR(Await(exchange));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Group::Move(Exchange& exchange) {
  bool any = false;
  for (const int peer : exchange.peers()) {
    ASSIGN_OR_RETURN(const bool moved, MoveWith(exchange, peer, link(peer)));
    any |= moved;
  }
  return any;
}

absl::StatusOr<bool> Group::MoveWith(Exchange& exchange, int peer, Link& link) {
  bool any = false;
  if (const auto bytes = exchange.ToSend(peer); !bytes.empty()) {
    ASSIGN_OR_RETURN(const size_t sent, link.Send(bytes));
    if (sent > 0) {
      exchange.Sent(peer, sent);
      any = true;
    }
  }
  if (const auto into = exchange.ToReceive(peer); !into.empty()) {
    ASSIGN_OR_RETURN(const size_t received, link.Receive(into));
    if (received > 0) {
      RETURN_IF_ERROR(exchange.Received(peer, received));
      any = true;
    }
  }
  return any;
}

absl::Status Group::Await(Exchange& exchange) {
  polled_.assign(1, {abort_event_, POLLIN, 0});
  for (const int peer : exchange.peers()) {
    const Link::Wanted wanted{.send = !exchange.ToSend(peer).empty(),
                              .receive = !exchange.ToReceive(peer).empty()};
    if (wanted.send || wanted.receive) polled_.push_back(link(peer).Sleep(wanted));
  }
  // What came before the sleep was announced wakes nobody.
  const absl::StatusOr<bool> moved = Move(exchange);
  if (moved.ok() && !*moved && !exchange.done()) {
    options_.on_wait(exchange.waits_for());
    poll(polled_.data(), polled_.size(), /*timeout=*/-1);
    options_.on_wait(std::nullopt);
  }
  for (const int peer : exchange.peers()) link(peer).Wake();
  return moved.status();
}

}  // namespace taas::collective
