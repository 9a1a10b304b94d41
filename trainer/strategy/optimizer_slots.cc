#include "trainer/strategy/optimizer_slots.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace taas {

OptimizerSlots::OptimizerSlots(const Optimizer& optimizer, Session& session)
    : optimizer_(optimizer),
      values_(optimizer.slots().size()),
      in_(values_.size()),
      out_(values_.size()) {
  for (size_t slot = 0; slot < values_.size(); ++slot) {
    const float start = optimizer_.slot_start(slot);
    for (const VariableInfo& variable : session.variables()) {
      values_[slot].emplace_back(variable.trainable ? variable.count : 0, start);
    }
  }
  const auto average = optimizer_.average_slot();
  if (!average) return;
  for (size_t i = 0; i < session.variables().size(); ++i) {
    if (!session.variables()[i].trainable) continue;
    std::copy_n(session.variable(i).begin(), session.variable(i).size(),
                values_[*average][i].begin());
  }
}

void OptimizerSlots::Apply(Session& session, int64_t step) {
  for (size_t i = 0; i < session.variables().size(); ++i) {
    if (!session.variables()[i].trainable) continue;
    for (size_t slot = 0; slot < values_.size(); ++slot) in_[slot] = out_[slot] = values_[slot][i];
    optimizer_.Apply({.gradient = session.gradient(i),
                      .in = session.variable(i),
                      .out = session.variable(i),
                      .slots_in = in_,
                      .slots_out = out_,
                      .step = step,
                      .rows = session.gradient_rows(i),
                      .threads = session.threads()});
  }
}

void OptimizerSlots::Restore(std::vector<Snapshot::Tensors> values) {
  CHECK(values.size() == values_.size())
      << "restore " << values.size() << " slots of " << values_.size();
  values_ = std::move(values);
}

std::vector<std::span<float>> OptimizerSlots::Evaluated(Session& session) {
  std::vector<std::span<float>> evaluated;
  const auto average = optimizer_.average_slot();
  for (size_t i = 0; i < session.variables().size(); ++i) {
    const bool averaged = average.has_value() && session.variables()[i].trainable;
    evaluated.push_back(averaged ? std::span<float>(values_[*average][i]) : session.variable(i));
  }
  return evaluated;
}

}  // namespace taas
