#include "trainer/replica/host_model.h"

#include "operator/base/status.h"

namespace taas {

HostModel::HostModel(Session& session) : session_(session) {
  copies_.reserve(2 * session.variables().size());
  const auto see = [this](const TensorRef& tensor) -> std::span<float> {
    if (tensor.empty()) return {};
    if (tensor.host_sees()) return tensor.host();
    return copies_.emplace_back(tensor.count());
  };
  for (size_t i = 0; i < session.variables().size(); ++i) {
    const VariableInfo& variable = session.variables()[i];
    variables_.push_back(see(session.variable(i)));
    if (variable.decay) {
      moved_.push_back(i);
      pushed_.push_back(copies_.emplace_back(variable.count));
    } else {
      pushed_.push_back(see(session.gradient(i)));
    }
  }
}

absl::Status HostModel::BeginStep() {
  for (const size_t i : moved_) RETURN_IF_ERROR(session_.variable(i).Fill(0));
  return absl::OkStatus();
}

absl::Status HostModel::EndStep() {
  for (const size_t i : moved_) RETURN_IF_ERROR(session_.variable(i).Read(pushed_[i]));
  for (size_t i = 0; i < pushed_.size(); ++i) {
    const TensorRef gradient = session_.gradient(i);
    if (gradient.empty() || gradient.host_sees()) continue;
    RETURN_IF_ERROR(gradient.Read(pushed_[i]));
  }
  return absl::OkStatus();
}

absl::Status HostModel::WriteVariables() {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const VariableInfo& info = session_.variables()[i];
    const TensorRef variable = session_.variable(i);
    if ((!info.trainable && !info.decay) || variable.host_sees()) continue;
    RETURN_IF_ERROR(variable.Write(variables_[i]));
  }
  return absl::OkStatus();
}

}  // namespace taas
