// Lets writes to the API server pass only while this process may lead.
//
// The elector opens the gate up to the end of its claim, each time it has renewed its lease; past
// that moment the gate is shut without anybody's doing, also in a process that was frozen meanwhile
// and knows nothing yet. The transport asks twice: when a write is given to it, and on its I/O
// thread directly before the body leaves. Reads always pass.
//
// Ownership: the clock must outlive it; it outlives the passes that it gave. Threads: all methods
// are safe from any thread. Errors: Aborted, with a sentence, for a write that may not pass.
//
//   WriteGate gate(clock);
//   gate.OpenUntil(sent + renew_limit);
//   ASSIGN_OR_RETURN(const WriteGate::Pass pass, gate.Enter());   // Kept while it is under way.

#ifndef OPERATOR_KUBE_WRITE_GATE_H_
#define OPERATOR_KUBE_WRITE_GATE_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"

namespace taas {

class WriteGate {
 public:
  // Counts one write as under way as long as it exists.
  class Pass {
   public:
    Pass() = default;

   private:
    friend class WriteGate;
    struct Leave {
      void operator()(WriteGate* gate) const { gate->LeaveOne(); }
    };
    explicit Pass(WriteGate* gate) : gate_(gate) {}
    std::unique_ptr<WriteGate, Leave> gate_;
  };

  // Shut until OpenUntil is called.
  explicit WriteGate(const Clock& clock) : clock_(clock) {}

  // Open up to `end`, and not at it. No effect after Shut.
  void OpenUntil(Clock::Time end);
  // For good: whoever led once and does not any more ends.
  void Shut();

  absl::Status Check() const;
  absl::StatusOr<Pass> Enter();

  // When it shuts, or has shut, by itself.
  Clock::Time end() const;
  int under_way() const;

 private:
  void LeaveOne();
  absl::Status CheckLocked() const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  Clock::Time end_ = Clock::Time::min();
  bool shut_ = false;
  int under_way_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_WRITE_GATE_H_
