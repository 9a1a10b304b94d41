#include "trainer/replica/moved_variables.h"

#include "operator/base/status.h"

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

absl::Status MovedVariables::Begin(Session& session) const {
  for (const Part& part : parts_) RETURN_IF_ERROR(session.variable(part.variable).Fill(0));
  return absl::OkStatus();
}

absl::Status MovedVariables::End(Session& session) {
  for (Part& part : parts_) {
    RETURN_IF_ERROR(session.variable(part.variable).Read(std::span(part.values)));
  }
  return absl::OkStatus();
}

}  // namespace taas
