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
    : place_(options.place),
      spins_(options.spins),
      on_wait_(std::move(options.on_wait)),
      mover_(std::move(options.links)),
      abort_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(abort_event_ >= 0) << "an eventfd";
  polled_.reserve(static_cast<size_t>(place_.ranks) + 1);
}

Group::~Group() { close(abort_event_); }

absl::Status Group::RunWith(Exchange& exchange, bool spins) {
  if (mover_.failed()) {
    return absl::FailedPreconditionError("all-reduce in a group that has failed before");
  }
  absl::Status status = Drive(exchange, spins);
  if (status.ok()) return status;
  mover_.Fail();
  // Peers that close because of it may be seen before the reason.
  if (aborted_) return absl::AbortedError("all-reduce: aborted");
  lost_ = mover_.lost();
  return status;
}

void Group::Abort() {
  aborted_ = true;
  const uint64_t one = 1;
  // It can only fail when it is readable already.
  [[maybe_unused]] const ssize_t written = write(abort_event_, &one, sizeof(one));
}

absl::Status Group::Drive(Exchange& exchange, bool spins) {
  auto idle_since = std::chrono::steady_clock::time_point::max();
  for (;;) {
    if (exchange.done()) {
      ASSIGN_OR_RETURN(const bool settled, mover_.Settled(exchange));
      if (settled) return absl::OkStatus();
    }
    if (aborted_) return absl::AbortedError("all-reduce: aborted");
    ASSIGN_OR_RETURN(const bool moved, mover_.Move(exchange));
    if (moved) {
      idle_since = std::chrono::steady_clock::time_point::max();
      continue;
    }
    if (spins) {
      const auto now = std::chrono::steady_clock::now();
      if (idle_since > now) idle_since = now;
      if (now - idle_since < kSpinMax) continue;
    }
    RETURN_IF_ERROR(Await(exchange));
  }
}

absl::Status Group::Await(Exchange& exchange) {
  polled_.assign(1, {abort_event_, POLLIN, 0});
  for (const int peer : exchange.peers()) {
    // One that is gone is noticed by who looks again.
    const bool owes = exchange.done() && !mover_.link(peer).Settled().value_or(false);
    const Link::Wanted wanted{.send = owes || !exchange.ToSend(peer).empty(),
                              .receive = !exchange.ToReceive(peer).empty()};
    if (wanted.send || wanted.receive) polled_.push_back(mover_.link(peer).Sleep(wanted));
  }
  // What came before the sleep was announced wakes nobody.
  const absl::StatusOr<bool> moved = mover_.Move(exchange);
  const bool over = exchange.done() && mover_.Settled(exchange).value_or(true);
  if (moved.ok() && !*moved && !over) {
    on_wait_(exchange.waits_for());
    poll(polled_.data(), polled_.size(), /*timeout=*/-1);
    on_wait_(std::nullopt);
  }
  for (const int peer : exchange.peers()) mover_.link(peer).Wake();
  return moved.status();
}

}  // namespace taas::collective
