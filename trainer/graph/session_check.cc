// Where a number that is none came from.

#include <span>
#include <string>
#include <vector>

#include "operator/base/finite.h"
#include "trainer/graph/session_state.h"

namespace taas {

namespace {

// What of `tensor` is no number; "" if all are.
std::string BadNumber(const TensorRef& tensor) {
  std::vector<float> room;
  const absl::StatusOr<std::span<const float>> values = OnHost(tensor, &room);
  return values.ok() ? FirstNonFinite(*values) : "cannot be read: " + values.status().ToString();
}

}  // namespace

std::string Session::FirstNonFinite() {
  State& state = *state_;
  for (const auto& [name, value] : state.inputs) {
    if (state.TypeOf(value).dtype != DType::kFloat32) continue;
    const std::span<const float> values = FloatInput(name);
    const size_t width = values.size() / static_cast<size_t>(batch());
    for (int64_t example = 0; example < batch(); ++example) {
      const std::string bad =
          taas::FirstNonFinite(values.subspan(static_cast<size_t>(example) * width, width));
      if (bad.empty()) continue;
      return "input " + name + ": " + bad + " of example " + std::to_string(example) +
             " of the batch";
    }
  }
  for (size_t i = 0; i < state.variables.size(); ++i) {
    const std::string bad = BadNumber(variable(i));
    if (!bad.empty()) return "variable " + state.variables[i].name + ": " + bad;
  }
  const Fault none;
  if (const absl::Status reset =
          state.device.Copy(&state.device_block()->fault, &none, sizeof(Fault));
      !reset.ok()) {
    return "the fault of a step cannot be reset: " + std::string(reset.message());
  }
  for (size_t i = 0; i < state.steps.size(); ++i) {
    const RunnableStep& step = state.steps[i];
    if (!step.forward) continue;
    const absl::Status status = state.runner->RunOne(
        static_cast<int>(i), {.threads = state.options.threads, .block = state.device_block()});
    const NodeId id = state.schedule.steps[i].node;
    const std::string of = "op " + state.StepText(id) + ": ";
    if (!status.ok()) return of + std::string(status.message());
    Fault fault;
    const absl::Status read =
        state.device.Copy(&fault, &state.device_block()->fault, sizeof(Fault));
    if (!read.ok()) return of + std::string(read.message());
    if (fault.found()) return of + FaultText(fault);
    const std::vector<TensorType> types = state.OutputTypes(id);
    for (size_t output = 0; output < types.size(); ++output) {
      if (types[output].dtype != DType::kFloat32) continue;
      const std::string bad =
          BadNumber({state.device, step.outputs[output], DType::kFloat32,
                     static_cast<size_t>(types[output].shape.count())});
      if (!bad.empty()) return of + bad + ", of finite inputs";
    }
  }
  return "";
}

}  // namespace taas
