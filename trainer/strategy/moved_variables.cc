#include "trainer/strategy/moved_variables.h"

#include <algorithm>

namespace taas {

MovedVariables::MovedVariables(const Session& session) {
  for (size_t i = 0; i < session.variables().size(); ++i) {
    const VariableInfo& variable = session.variables()[i];
    if (variable.decay) parts_.push_back({i, std::vector<float>(variable.count)});
  }
}

std::vector<std::span<float>> MovedVariables::AddTo(std::vector<std::span<float>> gradients) {
  for (Part& part : parts_) gradients[part.variable] = part.values;
  return gradients;
}

void MovedVariables::Begin(Session& session) const {
  for (const Part& part : parts_) std::ranges::fill(session.variable(part.variable), 0.0f);
}

void MovedVariables::End(Session& session) {
  for (Part& part : parts_) {
    std::ranges::copy(session.variable(part.variable), part.values.begin());
  }
}

}  // namespace taas
