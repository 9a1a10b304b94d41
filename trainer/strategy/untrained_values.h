// What a training run changes without a gradient (the moving moments of batch normalization), for
// another thread that takes checkpoints.
//
// Parameter servers hold what is trained; the rest stays with each replica, and those of the chief
// are the job's. The chief's training thread shows them after each step, its coordinator takes them
// into a cut.
//
// Ownership: owns copies. Threads: any. Errors: none.
//
//   values.Publish(session);          // the training thread
//   values.CopyTo(&snapshot.values);  // the coordinator

#ifndef TRAINER_STRATEGY_UNTRAINED_VALUES_H_
#define TRAINER_STRATEGY_UNTRAINED_VALUES_H_

#include <cstddef>
#include <mutex>
#include <vector>

#include "trainer/graph/session.h"

namespace taas {

class UntrainedValues {
 public:
  // Of all variables of the session that are not trainable; nothing is done without one.
  void Publish(Session& session);
  // To the same places of `tensors`, which are in the session's order; as it was before the first
  // Publish.
  void CopyTo(std::vector<std::vector<float>>* tensors) const;

 private:
  struct Entry {
    size_t variable;
    std::vector<float> values;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace taas

#endif  // TRAINER_STRATEGY_UNTRAINED_VALUES_H_
