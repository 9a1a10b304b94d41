#include "trainer/replica/host_model.h"

#include "operator/base/status.h"

namespace taas {

HostModel::HostModel(Session& session) : session_(session) {
  const auto see = [this](const TensorRef& tensor) -> std::span<float> {
    if (tensor.empty()) return {};
    if (tensor.host_sees()) return tensor.host();
    return copies_.emplace_back(tensor.count());
  };
  copies_.reserve(2 * session.variables().size());
  for (size_t i = 0; i < session.variables().size(); ++i) {
    variables_.push_back(see(session.variable(i)));
    gradients_.push_back(see(session.gradient(i)));
  }
}

absl::Status HostModel::ReadGradients() {
  if (copies_.empty()) return absl::OkStatus();
  for (size_t i = 0; i < gradients_.size(); ++i) {
    if (gradients_[i].empty()) continue;
    RETURN_IF_ERROR(session_.gradient(i).Read(gradients_[i]));
  }
  return absl::OkStatus();
}

absl::Status HostModel::WriteVariables() {
  if (copies_.empty()) return absl::OkStatus();
  for (size_t i = 0; i < variables_.size(); ++i) {
    const VariableInfo& info = session_.variables()[i];
    if (!info.trainable && !info.decay) continue;
    RETURN_IF_ERROR(session_.variable(i).Write(variables_[i]));
  }
  return absl::OkStatus();
}

}  // namespace taas
