#include "trainer/summary/sampled_tensors.h"

#include <span>
#include <string>

namespace taas {
namespace {

// Without numbers where they cannot be read.
Sample::Tensor Sampled(const std::string& tag, const TensorRef& from, size_t stride) {
  Sample::Tensor tensor{tag, {}};
  std::vector<float> room;
  const std::span<const float> values =
      OnHost(from, &room).value_or(std::span<const float>());
  if (stride == 1 || values.size() <= kSampledWhole) {
    tensor.values.assign(values.begin(), values.end());
    return tensor;
  }
  tensor.values.reserve((values.size() + stride - 1) / stride);
  for (size_t at = 0; at < values.size(); at += stride) tensor.values.push_back(values[at]);
  return tensor;
}

}  // namespace

std::vector<Sample::Tensor> SampledTensors(Session& session, size_t numbers_max) {
  size_t total = 0;
  for (const VariableInfo& variable : session.variables()) {
    total += variable.count * (variable.trainable ? 2 : 1);
  }
  const size_t stride = (total + numbers_max - 1) / numbers_max;
  std::vector<Sample::Tensor> tensors;
  for (size_t i = 0; i < session.variables().size(); ++i) {
    const VariableInfo& variable = session.variables()[i];
    tensors.push_back(Sampled(variable.name, session.variable(i), stride));
    if (!variable.trainable) continue;
    tensors.push_back(Sampled("gradients/" + variable.name, session.gradient(i), stride));
  }
  return tensors;
}

}  // namespace taas
