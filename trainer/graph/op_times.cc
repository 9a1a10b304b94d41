#include "trainer/graph/op_times.h"

#include <chrono>

#include "operator/base/status.h"

namespace taas {

std::unique_ptr<OpTimes> OpTimes::Make(Device& device, size_t ops) {
  std::unique_ptr<OpTimes> times(new OpTimes);
  times->base_ = device.MakeTimedEvent();
  if (times->base_ == nullptr) return nullptr;
  times->ops_.resize(ops);
  for (Op& op : times->ops_) {
    op.begin = device.MakeTimedEvent();
    op.end = device.MakeTimedEvent();
  }
  return times;
}

absl::Status OpTimes::Begin(Stream& stream, const StepTrace::Track& track) {
  for (Op& op : ops_) op.ran = false;
  RETURN_IF_ERROR(stream.Synchronize());
  begun_ = track.Now();
  RETURN_IF_ERROR(stream.Record(*base_));
  return base_->Synchronize();
}

absl::Status OpTimes::Launch(Stream& stream, int op, int thread,
                             absl::FunctionRef<absl::Status()> launch) {
  Op& its = ops_[static_cast<size_t>(op)];
  RETURN_IF_ERROR(stream.Record(*its.begin));
  RETURN_IF_ERROR(launch());
  RETURN_IF_ERROR(stream.Record(*its.end));
  its.thread = thread;
  its.ran = true;
  return absl::OkStatus();
}

absl::Status OpTimes::Tell(StepTrace::Track& track) const {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    if (!op.ran) continue;
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds begin, op.begin->Since(*base_));
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds end, op.end->Since(*base_));
    track.Record(op.thread, static_cast<int>(i), begun_ + begin, begun_ + end);
  }
  return absl::OkStatus();
}

}  // namespace taas
