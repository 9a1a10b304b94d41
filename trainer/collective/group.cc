#include "trainer/collective/group.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
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
      late_(options.late),
      on_late_(std::move(options.on_late)),
      mover_(std::move(options.links)),
      abort_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(abort_event_ >= 0) << "an eventfd";
  polled_.reserve(static_cast<size_t>(place_.ranks) + 1);
}

Group::~Group() { close(abort_event_); }

absl::Status Group::RunWith(Exchange& exchange, bool spins,
                            std::optional<std::chrono::nanoseconds> patience) {
  if (mover_.failed()) {
    return absl::FailedPreconditionError("all-reduce in a group that has failed before");
  }
  absl::Status status = Drive(exchange, spins, {.patience = patience});
  if (status.ok()) return status;
  mover_.Fail();
  // Peers that close because of it may be seen before the reason.
  if (aborted_) return absl::AbortedError("all-reduce: aborted");
  lost_ = absl::IsDeadlineExceeded(status) ? exchange.waits_for() : mover_.lost();
  return status;
}

absl::Status Group::Pause(std::chrono::microseconds duration) {
  if (mover_.failed()) {
    return absl::FailedPreconditionError("wait in a group that has failed before");
  }
  polled_.assign(1, {abort_event_, POLLIN, 0});
  WatchPeers();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  const timespec limit{seconds.count(), std::chrono::nanoseconds(duration - seconds).count()};
  ppoll(polled_.data(), polled_.size(), &limit, /*sigmask=*/nullptr);
  if (aborted_) {
    mover_.Fail();
    return absl::AbortedError("all-reduce: aborted");
  }
  absl::Status gone = LookAtPeers();
  if (!gone.ok()) {
    lost_ = mover_.lost();
    mover_.Fail();
  }
  return gone;
}

void Group::WatchPeers() {
  watched_.clear();
  for (int peer = 0; peer < place_.ranks; ++peer) {
    if (peer == place_.rank || mover_.link(peer).socket() < 0) continue;
    polled_.push_back({mover_.link(peer).socket(), POLLRDHUP, 0});
    watched_.push_back(peer);
  }
}

absl::Status Group::LookAtPeers() {
  const size_t first = polled_.size() - watched_.size();
  for (size_t i = 0; i < watched_.size(); ++i) {
    if ((polled_[first + i].revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) continue;
    mover_.Lose(watched_[i]);
    return absl::UnavailableError("wait with " + mover_.link(watched_[i]).peer() +
                                  ": it has closed the connection");
  }
  return absl::OkStatus();
}

void Group::Abort() {
  aborted_ = true;
  const uint64_t one = 1;
  // It can only fail when it is readable already.
  [[maybe_unused]] const ssize_t written = write(abort_event_, &one, sizeof(one));
}

absl::Status Group::Drive(Exchange& exchange, bool spins, Waiting waiting) {
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
    RETURN_IF_ERROR(Await(exchange, waiting));
  }
}

absl::StatusOr<int> Group::SleepOf(const Exchange& exchange, Waiting& waiting) {
  const bool tells = on_late_ != nullptr && !waiting.told;
  if (!tells && !waiting.patience) return -1;
  const auto now = std::chrono::steady_clock::now();
  if (!waiting.since) waiting.since = now;
  const std::optional<int> missing = exchange.waits_for();
  if (waiting.patience && now - *waiting.since >= *waiting.patience) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(*waiting.patience);
    return absl::DeadlineExceededError(
        (missing ? mover_.link(*missing).peer() + " has not come" : "it has not ended") +
        " within " + std::to_string(waited.count()) + " ms");
  }
  auto until = waiting.patience ? *waiting.since + *waiting.patience
                                : std::chrono::steady_clock::time_point::max();
  if (tells && now - *waiting.since >= late_) {
    waiting.told = true;
    if (missing) on_late_(mover_.link(*missing).peer());
  } else if (tells) {
    until = std::min(until, *waiting.since + late_);
  }
  if (until == std::chrono::steady_clock::time_point::max()) return -1;
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max(until - now, {})).count());
}

absl::Status Group::Await(Exchange& exchange, Waiting& waiting) {
  polled_.assign(1, {abort_event_, POLLIN, 0});
  for (const int peer : exchange.peers()) {
    // One that is gone is noticed by who looks again.
    const bool owes = exchange.done() && !mover_.link(peer).Settled().value_or(false);
    const Link::Wanted wanted{.send = owes || !exchange.ToSend(peer).empty(),
                              .receive = !exchange.ToReceive(peer).empty()};
    if (wanted.send || wanted.receive) polled_.push_back(mover_.link(peer).Sleep(wanted));
  }
  watched_.clear();
  if (waiting.patience) WatchPeers();
  // What came before the sleep was announced wakes nobody.
  const absl::StatusOr<bool> moved = mover_.Move(exchange);
  const bool over = exchange.done() && mover_.Settled(exchange).value_or(true);
  absl::Status status = moved.status();
  if (moved.ok() && !*moved && !over) {
    const absl::StatusOr<int> sleep = SleepOf(exchange, waiting);
    status = sleep.status();
    on_wait_(exchange.waits_for());
    if (sleep.ok()) {
      poll(polled_.data(), polled_.size(), *sleep);
      status = LookAtPeers();
    }
    on_wait_(std::nullopt);
  }
  for (const int peer : exchange.peers()) mover_.link(peer).Wake();
  return status;
}

}  // namespace taas::collective
