#include "trainer/graph/session.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/initializer.h"
#include "trainer/graph/session_state.h"

namespace taas {

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::Compile(const Runtime& runtime,
                                                          const Graph& graph,
                                                          SessionOptions options) {
  auto state = std::make_unique<State>(runtime, graph, std::move(options));
  RETURN_IF_ERROR(state->Compile()).With("compile the graph");
  return std::make_unique<Session>(std::move(state));
}

const std::vector<VariableInfo>& Session::variables() const { return state_->variables; }

ModelState& Session::model() { return *state_->model; }

TensorRef Session::variable(size_t i) const {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  return state_->Tensor(state_->variable_values[i]);
}

TensorRef Session::gradient(size_t i) const { return state_->model->gradient(i); }

std::optional<GradientRows> Session::gradient_rows(size_t i) const {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  const State::RowList& list = state_->row_lists[i];
  if (!list.listed) return std::nullopt;
  return GradientRows{.width = static_cast<size_t>(state_->variables[i].shape.dim(1)),
                      .ids = list.set.value_or(list.ids)};
}

Session::DeviceRows Session::device_rows(size_t i) const {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  const State::RowList& list = state_->row_lists[i];
  if (!list.listed) return {};
  if (list.set) {
    const std::byte* const memory = list.set_memory.data();
    return {.ids = memory + state_->device.alignment(), .count = memory};
  }
  const NodeId node = state_->gradients[i].node;
  return {state_->Tensor({node, 1}).data(), state_->Tensor({node, 2}).data()};
}

absl::Status Session::SetGradientRows(size_t i, std::span<const int32_t> rows) {
  CHECK(i < state_->variables.size() && state_->row_lists[i].listed)
      << "set rows of gradient " << i << ", which lists none";
  State::RowList& list = state_->row_lists[i];
  const size_t head = state_->device.alignment();
  const auto table_rows = static_cast<size_t>(state_->variables[i].shape.dim(0));
  CHECK(rows.size() <= table_rows) << rows.size() << " rows of " << table_rows;
  if (list.set_memory.bytes() == 0) {
    // For all that there may be: kernels find it where it was in the step before.
    ASSIGN_OR_RETURN(list.set_memory,
                     AllocateFor(state_->device, MemoryUse::kOther,
                                 head + table_rows * sizeof(int32_t)));
  }
  std::byte* const memory = list.set_memory.data();
  const auto count = static_cast<int32_t>(rows.size());
  RETURN_IF_ERROR(
      TensorRef(state_->device, memory, DType::kInt32, 1).Write(std::span(&count, 1)));
  RETURN_IF_ERROR(
      TensorRef(state_->device, memory + head, DType::kInt32, rows.size()).Write(rows));
  list.set = rows;
  return absl::OkStatus();
}

std::vector<OrderedGradient> Session::gradient_order() const {
  const State& state = *state_;
  std::vector<double> done;  // By step.
  for (const ScheduledStep& step : state.schedule.steps) {
    const OpCost cost = state.CostOf(step.node);
    done.push_back((done.empty() ? 0 : done.back()) + cost.flops + cost.bytes);
  }
  const GradientWatch::Uses uses = state.GradientUses();
  std::vector<OrderedGradient> order;
  int last = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    last = std::max(last, uses[i].back());
    const bool ends = i + 1 == uses.size();
    order.push_back({.variable = state.gradient_order[i],
                     .end = ends ? state.model->trained_elements()
                                 : state.model->at(state.gradient_order[i + 1]),
                     .done = ends ? 1 : done[static_cast<size_t>(last)] / done.back()});
  }
  return order;
}

void Session::WatchGradients(std::function<void(size_t count)> there) {
  CHECK(state_->under_way.empty()) << "a step is under way";
  state_->watch = there == nullptr
                      ? nullptr
                      : std::make_unique<GradientWatch>(state_->GradientUses(),
                                                        state_->steps.size(), std::move(there));
}

absl::Status Session::UseVariable(size_t i, const TensorRef& values) {
  CHECK(i < state_->variables.size() && values.count() == state_->variables[i].count)
      << "use variable " << i << ": " << values.count() << " elements";
  const int buffer = state_->BufferOf(state_->variable_values[i]);
  const bool seen = state_->device.host_sees_memory() && values.host_sees();
  if (seen || values.device() == &state_->device) {
    state_->Bind(buffer, values.data());
    return absl::OkStatus();
  }
  state_->Bind(buffer, state_->model->value(i).data());
  return variable(i).CopyFrom(values);
}

absl::Status Session::InitializeVariables(uint64_t seed) {
  std::vector<float> room;
  for (size_t i = 0; i < state_->variables.size(); ++i) {
    const Node& node = state_->graph.node(state_->variable_values[i]);
    const TensorRef values = variable(i);
    if (values.host_sees()) {
      FillInitialValues(node.initializer, node.name, seed, values.host());
      continue;
    }
    room.assign(values.count(), 0);
    FillInitialValues(node.initializer, node.name, seed, room);
    RETURN_IF_ERROR(values.Write(room)).With("initialize variable " + node.name);
  }
  return absl::OkStatus();
}

void Session::Append(RunKind kind, StepRest& rest) {
  CHECK(kind != RunKind::kForward) << "nothing follows a forward run";
  std::vector<StepRest*>& all = state_->after_all;
  if (kind == RunKind::kTrain) {
    all.insert(all.begin() + std::ssize(state_->after_gradients), &rest);
    state_->after_gradients.push_back(&rest);
  } else {
    all.push_back(&rest);
  }
  state_->runner->Forget();
}

void Session::Remove(StepRest& rest) {
  std::erase(state_->after_gradients, &rest);
  std::erase(state_->after_all, &rest);
  state_->runner->Forget();
}

bool Session::HasInput(std::string_view name) const {
  return state_->inputs.find(name) != state_->inputs.end();
}

std::span<float> Session::FloatInput(std::string_view name) {
  return state_->Input<float>(name, DType::kFloat32);
}
std::span<int32_t> Session::Int32Input(std::string_view name) {
  return state_->Input<int32_t>(name, DType::kInt32);
}
std::span<int64_t> Session::Int64Input(std::string_view name) {
  return state_->Input<int64_t>(name, DType::kInt64);
}
std::span<uint8_t> Session::Uint8Input(std::string_view name) {
  return state_->Input<uint8_t>(name, DType::kUint8);
}

void Session::BindInput(std::string_view name, std::span<const float> memory) {
  state_->BindInput(name, DType::kFloat32, memory.data(), memory.size());
}
void Session::BindInput(std::string_view name, std::span<const int32_t> memory) {
  state_->BindInput(name, DType::kInt32, memory.data(), memory.size());
}
void Session::BindInput(std::string_view name, std::span<const int64_t> memory) {
  state_->BindInput(name, DType::kInt64, memory.data(), memory.size());
}
void Session::BindInput(std::string_view name, std::span<const uint8_t> memory) {
  state_->BindInput(name, DType::kUint8, memory.data(), memory.size());
}

void Session::SetStep(int64_t step) { state_->block.step = step; }
void Session::SetUpdate(const UpdateScalars& update) { state_->block.update = update; }
StepBlock* Session::device_block() const { return state_->device_block(); }

std::string OpInfo::Text() const {
  if (products == Precision::kFloat32) return op;
  return op + "(" + std::string(NameOf(products)) + ")";
}

float Session::loss() const {
  CHECK(state_->loss.has_value()) << "the session has no loss";
  return state_->loss_value;
}

TensorRef Session::loss_tensor() const {
  CHECK(state_->loss.has_value()) << "the session has no loss";
  return state_->Tensor(*state_->loss);
}

TensorRef Session::output(std::string_view name) const {
  const auto found = state_->fetches.find(name);
  CHECK(found != state_->fetches.end()) << name << " is not one of the session's fetches";
  return state_->Tensor(found->second);
}

const Runtime& Session::runtime() const { return state_->own_runtime; }
int64_t Session::batch() const { return state_->options.batch; }
int Session::threads() const { return state_->options.threads; }
MemoryReport Session::memory() const { return state_->memory; }

MemoryUses Session::memory_uses() const {
  MemorySizes sizes = state_->sizes;
  sizes.slots = state_->model->slots();
  return PlanUses(sizes);
}

std::vector<OpInfo> Session::ops(RunKind kind) const {
  const State& state = *state_;
  std::vector<bool> needed(state.nodes.size(), false);
  for (size_t id = 0; id < needed.size(); ++id) {
    // Callers fill them, also where nothing reads them.
    needed[id] = state.nodes[id].op == "Input" || state.nodes[id].op == "Variable";
  }
  for (const ScheduledStep& step : state.schedule.steps) {
    needed[static_cast<size_t>(step.node)] = kind != RunKind::kForward || step.forward;
  }
  // What a step reads, through views.
  for (size_t id = needed.size(); id-- > 0;) {
    for (const Value input : state.nodes[id].inputs) {
      if (needed[id]) needed[static_cast<size_t>(input.node)] = true;
    }
  }
  std::vector<OpInfo> infos;
  for (size_t id = 0; id < needed.size(); ++id) {
    if (needed[id]) infos.push_back(state.InfoOf(static_cast<NodeId>(id)));
  }
  return infos;
}

OpCost Session::cost(RunKind kind) const {
  OpCost sum;
  for (const ScheduledStep& step : state_->schedule.steps) {
    if (kind == RunKind::kForward && !step.forward) continue;
    const OpCost cost = state_->CostOf(step.node);
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  }
  return sum;
}

std::string Session::DeviceMapping() const { return state_->placement.DeviceMapping(); }

std::string Session::Placements() const {
  std::string text;
  for (const OpInfo& op : ops(state_->options.trainable ? RunKind::kTrain : RunKind::kForward)) {
    text += op.name + ": (" + op.op + "): " + op.device + "\n";
  }
  return text;
}

}  // namespace taas
