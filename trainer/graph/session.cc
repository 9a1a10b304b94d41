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

std::span<float> Session::variable(size_t i) {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  return state_->Elements<float>(state_->variable_values[i]);
}

std::span<float> Session::gradient(size_t i) {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  if (!state_->gradients[i].valid()) return {};
  return state_->Elements<float>(state_->gradients[i]);
}

std::optional<GradientRows> Session::gradient_rows(size_t i) const {
  CHECK(i < state_->variables.size()) << "there is no variable " << i;
  const State::RowList& list = state_->row_lists[i];
  if (!list.listed) return std::nullopt;
  const NodeId node = state_->gradients[i].node;
  const int32_t count = state_->Elements<int32_t>({node, 2})[0];
  const std::span<const int32_t> own = state_->Elements<int32_t>({node, 1});
  return GradientRows{.width = static_cast<size_t>(state_->variables[i].shape.dim(1)),
                      .ids = list.set.value_or(own.first(static_cast<size_t>(count)))};
}

void Session::SetGradientRows(size_t i, std::span<const int32_t> rows) {
  CHECK(i < state_->variables.size() && state_->row_lists[i].listed)
      << "set rows of gradient " << i << ", which lists none";
  state_->row_lists[i].set = rows;
}

void Session::BindVariable(size_t i, std::span<float> memory) {
  CHECK(i < state_->variables.size() && memory.size() == state_->variables[i].count)
      << "bind variable " << i << ": " << memory.size() << " elements";
  state_->Bind(state_->BufferOf(state_->variable_values[i]), memory.data());
}

void Session::BindGradient(size_t i, std::span<float> memory) {
  CHECK(i < state_->variables.size() && memory.size() == state_->variables[i].count &&
        state_->gradients[i].valid())
      << "bind gradient " << i << ": " << memory.size() << " elements";
  state_->Bind(state_->BufferOf(state_->gradients[i]), memory.data());
  if (!state_->row_lists[i].listed) return;
  std::ranges::fill(memory, 0.0f);
  state_->row_lists[i].set.reset();
  state_->Elements<int32_t>({state_->gradients[i].node, 2})[0] = 0;
}

void Session::InitializeVariables(uint64_t seed) {
  for (size_t i = 0; i < state_->variables.size(); ++i) {
    const Node& node = state_->graph.node(state_->variable_values[i]);
    FillInitialValues(node.initializer, node.name, seed, variable(i));
  }
}

bool Session::HasInput(std::string_view name) const {
  return state_->inputs.find(name) != state_->inputs.end();
}

std::span<float> Session::FloatInput(std::string_view name) {
  return state_->Elements<float>(state_->InputNamed(name, DType::kFloat32));
}

std::span<int32_t> Session::Int32Input(std::string_view name) {
  return state_->Elements<int32_t>(state_->InputNamed(name, DType::kInt32));
}

void Session::BindInput(std::string_view name, std::span<const float> memory) {
  state_->BindInput(name, DType::kFloat32, memory.data(), memory.size());
}

void Session::BindInput(std::string_view name, std::span<const int32_t> memory) {
  state_->BindInput(name, DType::kInt32, memory.data(), memory.size());
}

void Session::SetStep(int64_t step) { state_->step = step; }

absl::Status Session::Run(RunKind kind) {
  const bool forward = kind == RunKind::kForward;
  if (!forward) state_->ClearSetRows();
  StepArguments arguments{.threads = state_->options.threads, .step = state_->step};
  const bool counted = state_->trace != nullptr && !forward;
  if (counted && state_->trace->Begin()) arguments.trace = state_->trace;
  const StepFailure failure = state_->runner->Run(forward, arguments);
  if (counted) state_->trace->End();
  if (failure.status.ok()) return absl::OkStatus();
  if (failure.step < 0) return Annotate(failure.status, "run the graph");
  const ScheduledStep& failed = state_->schedule.steps[static_cast<size_t>(failure.step)];
  const Node& node = state_->NodeAt(failed.node);
  return Annotate(failure.status, "run " + node.name + " (" + node.op + ")");
}

std::string OpInfo::Text() const {
  if (products == Precision::kFloat32) return op;
  return op + "(" + std::string(NameOf(products)) + ")";
}

float Session::loss() const {
  CHECK(state_->loss.has_value()) << "the session has no loss";
  return state_->Elements<float>(*state_->loss)[0];
}

std::span<const float> Session::output(std::string_view name) const {
  return state_->Elements<float>(state_->FetchNamed(name, DType::kFloat32));
}

std::span<const int32_t> Session::Int32Output(std::string_view name) const {
  return state_->Elements<int32_t>(state_->FetchNamed(name, DType::kInt32));
}

int64_t Session::batch() const { return state_->options.batch; }
int Session::threads() const { return state_->options.threads; }
MemoryReport Session::memory() const { return state_->memory; }

std::vector<OpInfo> Session::ops(RunKind kind) const {
  const State& state = *state_;
  std::vector<bool> needed(state.nodes.size(), false);
  for (size_t id = 0; id < needed.size(); ++id) {
    // Callers fill them, also where nothing reads them.
    needed[id] = state.nodes[id].op == "Input" || state.nodes[id].op == "Variable";
  }
  for (const ScheduledStep& step : state.schedule.steps) {
    needed[static_cast<size_t>(step.node)] = kind == RunKind::kTrain || step.forward;
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
