#include "trainer/graph/session.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/device_name.h"
#include "trainer/graph/fusion.h"
#include "trainer/graph/gradients.h"
#include "trainer/graph/initializer.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/memory_plan.h"
#include "trainer/graph/schedule.h"
#include "trainer/kernels/cpu/cpu_kernels.h"

namespace taas {
namespace {

using Kind = ScheduledBuffer::Kind;

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

// Zeroed, aligned for any vector register.
Memory Allocate(size_t bytes) {
  constexpr size_t kAlignment = MemoryPlan::kAlignment;
  const size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  CHECK(memory != nullptr) << "no memory for " << rounded << " bytes of tensors";
  std::memset(memory.get(), 0, rounded);
  return memory;
}

struct Step {
  ScheduledStep scheduled;
  Kernel kernel;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
};

}  // namespace

struct Session::State {
  State(const Graph& source, SessionOptions given) : graph(source), options(std::move(given)) {}

  absl::Status ResolveRoots();
  absl::Status MakeGradients();
  absl::Status MakeSteps();
  absl::Status MakeStep(const ScheduledStep& scheduled);
  void MakeMemory();
  void PlaceArena();
  void Bind(int buffer, void* memory);

  int BufferOf(Value value) const { return schedule.buffer_of.at(value); }
  // `count` elements at the buffer of `value`.
  template <typename T>
  std::span<T> Elements(Value value) const {
    const TensorType& type = TypeOf(value);
    return {static_cast<T*>(data[static_cast<size_t>(BufferOf(value))]),
            static_cast<size_t>(type.shape.count())};
  }
  TensorType TypeOf(Value value) const {
    TensorType type = graph.type(value);
    type.shape = type.shape.WithBatch(options.batch);
    return type;
  }
  std::string DeviceOf(const Node& node) const {
    if (!node.device.empty()) return node.device;
    return options.device.empty() ? "/device:CPU:0" : options.device;
  }
  Value InputNamed(std::string_view name, DType dtype) const;
  Value FetchNamed(std::string_view name, DType dtype) const;
  void BindInput(std::string_view name, DType dtype, const void* memory, size_t count);

  Graph graph;
  SessionOptions options;
  std::vector<Node> nodes;  // Of the graph, after fusion.
  Schedule schedule;
  std::vector<Step> steps;
  std::vector<void*> data;  // Per buffer of the schedule.
  std::vector<Memory> owned;
  MemoryReport memory;
  int64_t step = 0;

  std::optional<Value> loss;
  std::map<std::string, Value, std::less<>> fetches;
  std::map<std::string, Value, std::less<>> inputs;
  std::vector<VariableInfo> variables;
  std::vector<Value> variable_values;
  std::vector<Value> gradients;  // Per variable; invalid where it is not trainable.
};

absl::Status Session::State::ResolveRoots() {
  if (options.batch < 1) {
    return absl::InvalidArgumentError("the batch size is " + std::to_string(options.batch) +
                                      ", it must be at least 1");
  }
  if (!options.loss.empty()) {
    ASSIGN_OR_RETURN(loss, graph.Find(options.loss));
    if (graph.type(*loss) != TensorType{}) {
      return absl::InvalidArgumentError("the loss \"" + options.loss + "\" is " +
                                        graph.type(*loss).ToString() + ", not a float32 scalar");
    }
  }
  for (const std::string& name : options.fetches) {
    ASSIGN_OR_RETURN(const Value value, graph.Find(name));
    fetches[name] = value;
  }
  for (size_t id = 0; id < graph.nodes().size(); ++id) {
    if (graph.nodes()[id].op != "Input") continue;
    inputs[graph.nodes()[id].name] = {static_cast<NodeId>(id), 0};
  }
  variable_values = graph.Variables();
  for (const Value value : variable_values) {
    const Node& node = graph.node(value);
    const Shape& shape = node.outputs[0].shape;
    const size_t count = static_cast<size_t>(shape.count());
    variables.push_back({node.name, shape, count, count * sizeof(float), node.trainable});
  }
  return absl::OkStatus();
}

// Adds gradient nodes, such that each gradient is the output of an op and no two are one value:
// then each can have a buffer of its own.
absl::Status Session::State::MakeGradients() {
  gradients.resize(variable_values.size());
  if (!loss.has_value() || !options.trainable) return absl::OkStatus();
  std::vector<Value> trainable;
  for (const Value value : variable_values) {
    if (graph.node(value).trainable) trainable.push_back(value);
  }
  ASSIGN_OR_RETURN(const std::vector<Value> found,
                   AddGradients(&graph, *loss, trainable, options.loss_scale));
  size_t next = 0;
  for (size_t i = 0; i < variable_values.size(); ++i) {
    if (!graph.node(variable_values[i]).trainable) continue;
    Value gradient = found[next++];
    const Node& node = graph.node(gradient);
    const bool own_buffer = !node.inputs.empty() && !graph.ops().Find(node.op)->is_view &&
                            std::ranges::count(gradients, gradient) == 0;
    if (!own_buffer) gradient = graph.Add("Identity", "gradients/Identity", {gradient});
    gradients[i] = gradient;
  }
  return graph.status();
}

absl::Status Session::State::MakeSteps() {
  ScheduleRequest request{.ops = graph.ops(), .nodes = nodes, .batch = options.batch};
  if (loss.has_value()) request.forward.push_back(*loss);
  for (const auto& [name, value] : fetches) request.forward.push_back(value);
  for (const Value gradient : gradients) {
    if (gradient.valid()) request.gradients.push_back(gradient);
  }
  if (loss.has_value() && options.trainable && options.updates) request.updates = graph.updates();
  nodes = graph.nodes();
  std::vector<Value> kept = request.forward;
  kept.insert(kept.end(), request.gradients.begin(), request.gradients.end());
  kept.insert(kept.end(), request.updates.begin(), request.updates.end());
  FuseNodes(&nodes, kept);
  request.nodes = nodes;
  schedule = MakeSchedule(request);
  for (const ScheduledStep& scheduled : schedule.steps) RETURN_IF_ERROR(MakeStep(scheduled));
  return absl::OkStatus();
}

absl::Status Session::State::MakeStep(const ScheduledStep& scheduled) {
  const Node& node = nodes[static_cast<size_t>(scheduled.node)];
  const std::string place = "place " + node.name + " (" + node.op + ")";
  absl::StatusOr<DeviceName> device = DeviceName::Parse(DeviceOf(node));
  if (!device.ok()) return Annotate(device.status(), place);
  std::vector<TensorType> types;
  for (const Value input : node.inputs) types.push_back(TypeOf(input));
  std::vector<TensorType> outputs;
  for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
    outputs.push_back(TypeOf({scheduled.node, i}));
  }
  const KernelRegistry& kernels =
      options.kernels != nullptr ? *options.kernels : StandardKernels();
  const KernelFactory* factory = kernels.Find(node.op, device->type, types[0].dtype);
  if (factory == nullptr) {
    return absl::InvalidArgumentError(place + ": this program has no kernel of it for " +
                                      device->type + ":" + std::to_string(device->index) +
                                      " and " + std::string(NameOf(types[0].dtype)) +
                                      "; use CPU:0");
  }
  if (device->index < 0 || device->index >= options.cpu_devices) {
    return absl::InvalidArgumentError(place + ": there is no " + device->type + ":" +
                                      std::to_string(device->index) + ", this process has " +
                                      std::to_string(options.cpu_devices) + " of CPU");
  }
  absl::StatusOr<Kernel> kernel = (*factory)({.attributes = node.attributes,
                                                .inputs = types,
                                                .outputs = outputs,
                                                .name = node.name,
                                                .seed = options.seed,
                                                .threads = options.threads});
  if (!kernel.ok()) return Annotate(kernel.status(), place);
  steps.push_back({.scheduled = scheduled, .kernel = *std::move(kernel)});
  return absl::OkStatus();
}

void Session::State::MakeMemory() {
  data.resize(schedule.buffers.size(), nullptr);
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const ScheduledBuffer& buffer = schedule.buffers[i];
    if (buffer.kind == Kind::kArena) continue;
    owned.push_back(Allocate(buffer.bytes));
    data[i] = owned.back().get();
    if (buffer.kind == Kind::kInput) memory.input_bytes += buffer.bytes;
    if (buffer.kind == Kind::kVariable) memory.variable_bytes += buffer.bytes;
    if (buffer.kind == Kind::kGradient) memory.gradient_bytes += buffer.bytes;
    if (buffer.kind != Kind::kConstant) continue;
    const Node& node = nodes[static_cast<size_t>(buffer.value.node)];
    std::ranges::fill(Elements<float>(buffer.value),
                      static_cast<float>(node.attributes.Number("value")));
  }
  PlaceArena();
  for (Step& step : steps) {
    for (const int buffer : step.scheduled.inputs) {
      step.inputs.push_back(data[static_cast<size_t>(buffer)]);
    }
    for (const int buffer : step.scheduled.outputs) {
      step.outputs.push_back(data[static_cast<size_t>(buffer)]);
    }
  }
}

// Intermediate tensors and the kernels' scratch memory.
void Session::State::PlaceArena() {
  std::vector<Lifetime> lifetimes;
  std::vector<void**> places;
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const ScheduledBuffer& buffer = schedule.buffers[i];
    if (buffer.kind != Kind::kArena) continue;
    lifetimes.push_back({buffer.bytes, buffer.first, buffer.last});
    places.push_back(&data[i]);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kernel.scratch_bytes == 0) continue;
    lifetimes.push_back({steps[i].kernel.scratch_bytes, static_cast<int>(i), static_cast<int>(i)});
    places.push_back(&steps[i].scratch);
  }
  const MemoryPlan plan = PlanMemory(lifetimes);
  owned.push_back(Allocate(plan.bytes));
  for (size_t i = 0; i < places.size(); ++i) *places[i] = owned.back().get() + plan.offsets[i];
  memory.arena_bytes = plan.bytes;
  memory.unshared_bytes = schedule.unshared_bytes;
}

void Session::State::Bind(int buffer, void* pointer) {
  data[static_cast<size_t>(buffer)] = pointer;
  for (Step& step : steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.scheduled.inputs[i] == buffer) step.inputs[i] = pointer;
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.scheduled.outputs[i] == buffer) step.outputs[i] = pointer;
    }
  }
}

Value Session::State::InputNamed(std::string_view name, DType dtype) const {
  const auto found = inputs.find(name);
  CHECK(found != inputs.end()) << "the graph has no input " << name;
  CHECK(graph.type(found->second).dtype == dtype)
      << "input " << name << " is " << graph.type(found->second).ToString();
  return found->second;
}

Value Session::State::FetchNamed(std::string_view name, DType dtype) const {
  const auto found = fetches.find(name);
  CHECK(found != fetches.end()) << name << " is not one of the session's fetches";
  CHECK(graph.type(found->second).dtype == dtype)
      << "output " << name << " is " << graph.type(found->second).ToString();
  return found->second;
}

void Session::State::BindInput(std::string_view name, DType dtype, const void* pointer,
                               size_t count) {
  const Value input = InputNamed(name, dtype);
  CHECK(count == static_cast<size_t>(TypeOf(input).shape.count()))
      << "bind input " << name << ": " << count << " elements for " << TypeOf(input).ToString();
  // No step writes to an input: the schedule never reuses a leaf's buffer.
  Bind(BufferOf(input), const_cast<void*>(pointer));
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::Compile(const Graph& graph,
                                                          SessionOptions options) {
  RETURN_IF_ERROR(graph.status()).With("compile the graph");
  auto state = std::make_unique<State>(graph, std::move(options));
  RETURN_IF_ERROR(state->ResolveRoots()).With("compile the graph");
  RETURN_IF_ERROR(state->MakeGradients()).With("compile the graph");
  RETURN_IF_ERROR(state->MakeSteps()).With("compile the graph");
  state->MakeMemory();
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
  for (const Step& step : state_->steps) {
    if (kind == RunKind::kForward && !step.scheduled.forward) continue;
    absl::Status status = step.kernel.run({.inputs = step.inputs,
                                           .outputs = step.outputs,
                                           .scratch = step.scratch,
                                           .threads = state_->options.threads,
                                           .step = state_->step});
    if (status.ok()) continue;
    const Node& node = state_->nodes[static_cast<size_t>(step.scheduled.node)];
    return Annotate(status, "run " + node.name + " (" + node.op + ")");
  }
  return absl::OkStatus();
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
MemoryReport Session::memory() const { return state_->memory; }

OpCost Session::cost(RunKind kind) const {
  OpCost sum;
  for (const Step& step : state_->steps) {
    if (kind == RunKind::kForward && !step.scheduled.forward) continue;
    const Node& node = state_->nodes[static_cast<size_t>(step.scheduled.node)];
    std::vector<TensorType> types;
    for (const Value input : node.inputs) types.push_back(state_->TypeOf(input));
    std::vector<TensorType> outputs;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      outputs.push_back(state_->TypeOf({step.scheduled.node, i}));
    }
    const OpCost cost =
        state_->graph.ops().Find(node.op)->cost({types, node.attributes}, outputs);
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  }
  return sum;
}

std::string Session::Describe(RunKind kind) const {
  std::string text;
  for (const Step& step : state_->steps) {
    if (kind == RunKind::kForward && !step.scheduled.forward) continue;
    const Node& node = state_->nodes[static_cast<size_t>(step.scheduled.node)];
    text += node.name + ": (" + node.op + ") " +
            state_->DeviceOf(node) + " " +
            state_->TypeOf({step.scheduled.node, 0}).ToString() + "\n";
  }
  return text;
}

}  // namespace taas
