// What an optimizer keeps about the variables of a session, where one process holds all of it.
//
// Ownership: owns the slots; borrows the optimizer. Threads: one at a time. Errors: none.
//
//   OptimizerSlots slots(*optimizer, session);
//   slots.Apply(session, step);  // with the gradients of the session's last run

#ifndef TRAINER_STRATEGY_OPTIMIZER_SLOTS_H_
#define TRAINER_STRATEGY_OPTIMIZER_SLOTS_H_

#include <span>
#include <vector>

#include "trainer/graph/session.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/strategy/snapshot.h"

namespace taas {

class OptimizerSlots {
 public:
  // Of a model that is untrained: the optimizer's start of each slot, but for the averages, which
  // are the variables as they are.
  OptimizerSlots(const Optimizer& optimizer, Session& session);

  // Makes `step` of the session's variables.
  void Apply(Session& session, int64_t step);

  // By slot and variable, as in a Snapshot: to be saved, or to be set from what was saved.
  const std::vector<Snapshot::Tensors>& values() const { return values_; }
  void Restore(std::vector<Snapshot::Tensors> values);

  // What an evaluation is of: the averages where there are any, else the variables themselves.
  std::vector<std::span<float>> Evaluated(Session& session);

 private:
  const Optimizer& optimizer_;
  std::vector<Snapshot::Tensors> values_;
  // Of the slots of one variable: made once, so that a step allocates nothing.
  std::vector<std::span<const float>> in_;
  std::vector<std::span<float>> out_;
};

}  // namespace taas

#endif  // TRAINER_STRATEGY_OPTIMIZER_SLOTS_H_
