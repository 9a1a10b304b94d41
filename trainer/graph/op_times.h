// When the ops of a run ran by the clock of their device, for a StepTrace: moments around each op
// are recorded with it, and read when the run has ended, so that nobody waits in between.
//
// An op lasts from the moment before its first kernel to that after its last. Where the host
// launches more slowly than the device computes, that holds the device's waits within the op, too.
// The device's times are brought to the host's by one moment at the beginning of a run, which the
// host looks at its clock before: an op may stand some microseconds early.
//
// Ownership: owns its events; the device outlives it. Threads: Begin and Tell one at a time and not
// while a run goes on; Launch from the threads of the run, each op from one. Errors: those of
// launches and of the device.
//
//   const auto times = OpTimes::Make(device, steps.size());
//   RETURN_IF_ERROR(times->Begin(stream, *track));
//   …; RETURN_IF_ERROR(times->Launch(stream, /*op=*/3, /*thread=*/0, launch));
//   …; RETURN_IF_ERROR(times->Tell(*track));

#ifndef TRAINER_GRAPH_OP_TIMES_H_
#define TRAINER_GRAPH_OP_TIMES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "trainer/graph/device.h"
#include "trainer/graph/step_trace.h"

namespace taas {

class OpTimes {
 public:
  // Null where the device has no clock of its own.
  static std::unique_ptr<OpTimes> Make(Device& device, size_t ops);

  // Waits for what `stream` does.
  absl::Status Begin(Stream& stream, const StepTrace::Track& track);
  // `launch` launches into `stream`.
  absl::Status Launch(Stream& stream, int op, int thread,
                      absl::FunctionRef<absl::Status()> launch);
  // Records the ops of this run, all of which have ended.
  absl::Status Tell(StepTrace::Track& track) const;

 private:
  struct Op {
    std::unique_ptr<TimedEvent> begin, end;
    int thread = 0;
    bool ran = false;
  };

  OpTimes() = default;

  std::unique_ptr<TimedEvent> base_;
  Clock::Time begun_{};  // By the host's clock.
  std::vector<Op> ops_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_OP_TIMES_H_
