#include "operator/kube/write_gate.h"

#include <algorithm>

namespace taas {

void WriteGate::OpenUntil(Clock::Time end) {
  std::lock_guard lock(mutex_);
  end_ = std::max(end_, end);
}

void WriteGate::Shut() {
  std::lock_guard lock(mutex_);
  shut_ = true;
}

absl::Status WriteGate::CheckLocked() const {
  if (shut_) {
    return absl::AbortedError("the write gate is shut: this process has given up its lease");
  }
  if (end_ == Clock::Time::min()) {
    return absl::AbortedError("the write gate is shut: this process does not hold the lease");
  }
  if (clock_.Now() >= end_) {
    return absl::AbortedError("the write gate is shut: the lease was not renewed in time");
  }
  return absl::OkStatus();
}

absl::Status WriteGate::Check() const {
  std::lock_guard lock(mutex_);
  return CheckLocked();
}

absl::StatusOr<WriteGate::Pass> WriteGate::Enter() {
  std::lock_guard lock(mutex_);
  absl::Status open = CheckLocked();
  if (!open.ok()) return open;
  ++under_way_;
  return Pass(this);
}

void WriteGate::LeaveOne() {
  std::lock_guard lock(mutex_);
  --under_way_;
}

Clock::Time WriteGate::end() const {
  std::lock_guard lock(mutex_);
  return end_;
}

int WriteGate::under_way() const {
  std::lock_guard lock(mutex_);
  return under_way_;
}

}  // namespace taas
