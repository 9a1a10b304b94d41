#include "trainer/graph/session_state.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/chain_fusion.h"
#include "trainer/graph/fusion.h"
#include "trainer/graph/gradients.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/memory_plan.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/graph/product_fusion.h"
#include "trainer/graph/row_gradients.h"

namespace taas {
namespace {

using Kind = ScheduledBuffer::Kind;

// With several threads, a buffer is given to another value only this many steps later per thread
// beside the first: steps near each other then seldom wait for each other's memory, and the arena
// stays far below one without reuse.
constexpr int kReuseDistance = 4;

// Space 0 is the arena; buffer i outside of it is space i + 1.
constexpr int kArenaSpace = 0;

}  // namespace

Session::State::State(Runtime computes_with, const Graph& source, SessionOptions given)
    : runtime(std::move(computes_with)),
      graph(source),
      options(std::move(given)),
      placement{.job = options.job,
                .task = options.task,
                .device = options.device,
                .soft = options.soft_placement,
                .runtime = runtime},
      device(*runtime.devices.at(placement.own())) {}

absl::Status Session::State::Compile() {
  RETURN_IF_ERROR(graph.status());
  RETURN_IF_ERROR(ResolveRoots());
  RETURN_IF_ERROR(MakeGradients());
  RETURN_IF_ERROR(MakeSteps());
  RETURN_IF_ERROR(PlaceLeaves());
  RETURN_IF_ERROR(MakeMemory());
  MakeRunner();
  return absl::OkStatus();
}

absl::Status Session::State::ResolveRoots() {
  if (options.batch < 1) {
    return absl::InvalidArgumentError("the batch size is " + std::to_string(options.batch) +
                                      ", it must be at least 1");
  }
  if (options.threads < 1 || options.inter_op_threads < 1) {
    return absl::InvalidArgumentError("threads: " + std::to_string(options.threads) +
                                      " inside an op and " +
                                      std::to_string(options.inter_op_threads) +
                                      " beside each other, both must be at least 1");
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
  for (const Value value : graph.updates()) {
    const Node& update = graph.node(value);
    const auto moved = std::ranges::find(variable_values, update.inputs[0]);
    variables[static_cast<size_t>(moved - variable_values.begin())].decay =
        update.attributes.Number("decay");
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
  ListGradientRows(&request);
  if (options.fuse) Fuse(&request);
  request.nodes = nodes;
  schedule = MakeSchedule(request);
  for (const ScheduledStep& scheduled : schedule.steps) RETURN_IF_ERROR(MakeStep(scheduled));
  return absl::OkStatus();
}

void Session::State::ListGradientRows(ScheduleRequest* request) {
  row_lists.resize(gradients.size());
  if (!options.list_rows) return;
  const ListRowsOptions listing{
      .ops = graph.ops(), .batch = options.batch, .can_run = [this](const Node& listed) {
        return CanRun(listed);
      }};
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].valid()) continue;
    const NodeId id = gradients[i].node;
    if (!ListRows(nodes, &nodes[static_cast<size_t>(id)], listing)) continue;
    row_lists[i].listed = true;
    // Buffers of their own, that keep what is in them from run to run.
    for (const int output : {1, 2}) request->gradients.push_back({id, output});
  }
}

void Session::State::Fuse(ScheduleRequest* request) {
  std::vector<Value> fixed = request->forward;
  fixed.insert(fixed.end(), request->updates.begin(), request->updates.end());
  const auto kept = [&] {
    std::vector<Value> all = fixed;
    all.insert(all.end(), request->gradients.begin(), request->gradients.end());
    return all;
  };
  const auto can_run = [this](const Node& merged) {
    return graph.ops().Find(merged.op) != nullptr && CanRun(merged);
  };
  const std::vector<Value> updated = Updated(request->updates);
  FuseNodes(&nodes, kept(), can_run, updated);
  for (const auto& [from, to] : FuseProducts(&nodes, {.kept = fixed,
                                                      .gradients = request->gradients,
                                                      .updated = updated,
                                                      .can_run = can_run})) {
    std::ranges::replace(request->gradients, from, to);
    std::ranges::replace(gradients, from, to);
  }
  FuseChains(&nodes, {.kept = kept(), .updated = updated, .can_run = can_run});
}

std::vector<Value> Session::State::Updated(const std::vector<Value>& updates) const {
  std::vector<Value> updated;
  for (const Value update : updates) updated.push_back(NodeAt(update.node).inputs[0]);
  for (size_t id = 0; id < nodes.size(); ++id) {
    if (IsView(nodes[id]) && std::ranges::count(updated, nodes[id].inputs[0]) > 0) {
      updated.push_back({static_cast<NodeId>(id), 0});
    }
  }
  return updated;
}

bool Session::State::CanRun(const Node& node) const {
  return runtime.kernels.Find(node.op, runtime.type(), DType::kFloat32) != nullptr;
}

absl::StatusOr<DeviceName> Session::State::Place(const Node& node,
                                                 std::optional<DType> dtype) const {
  ASSIGN_OR_RETURN(DeviceName name, PlaceNode(node, dtype, placement));
  if (runtime.devices[static_cast<size_t>(name.index)] == &device) return name;
  return absl::InvalidArgumentError("place " + node.name + " (" + node.op + "): it asks for " +
                                    node.device +
                                    ", and a session lies on one device: tensors are not copied "
                                    "to another one");
}

// Leaves and views have no kernel, and must be in this process too.
absl::Status Session::State::PlaceLeaves() {
  for (size_t id = 0; id < nodes.size(); ++id) {
    const NodeId node_id = static_cast<NodeId>(id);
    if (!schedule.buffer_of.contains({node_id, 0}) || devices.contains(node_id)) continue;
    ASSIGN_OR_RETURN(const DeviceName device, Place(nodes[id], std::nullopt));
    devices.emplace(node_id, device);
  }
  return absl::OkStatus();
}

absl::Status Session::State::MakeStep(const ScheduledStep& scheduled) {
  const Node& node = NodeAt(scheduled.node);
  const std::vector<TensorType> types = InputTypes(node);
  ASSIGN_OR_RETURN(const DeviceName name, Place(node, types[0].dtype));
  devices.emplace(scheduled.node, name);
  const std::vector<TensorType> outputs = OutputTypes(scheduled.node);
  const KernelFactory* factory = runtime.kernels.Find(node.op, name.type, types[0].dtype);
  absl::StatusOr<Kernel> kernel = (*factory)({.attributes = node.attributes,
                                              .inputs = types,
                                              .outputs = outputs,
                                              .name = node.name,
                                              .seed = options.seed,
                                              .threads = options.threads,
                                              .deterministic = options.deterministic,
                                              .products = options.products,
                                              .device = &device});
  if (!kernel.ok()) {
    return Annotate(kernel.status(), "place " + node.name + " (" + node.op + ")");
  }
  products.emplace(scheduled.node, kernel->products);
  steps.push_back({.forward = scheduled.forward, .kernel = *std::move(kernel)});
  return absl::OkStatus();
}

absl::Status Session::State::MakeModelState() {
  ModelState::Options wanted{.gradients = false};
  for (const ScheduledStep& scheduled : schedule.steps) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i].valid() && gradients[i].node == scheduled.node) wanted.order.push_back(i);
    }
  }
  wanted.gradients = !wanted.order.empty();
  // One that the run goes on to read is not there before it has. Those that list rows come last:
  // nobody sends these as they lie.
  std::ranges::stable_sort(wanted.order, {}, [this](size_t variable) {
    return std::pair(row_lists[variable].listed, StepsWithGradient(variable).back());
  });
  gradient_order = wanted.order;
  sizes.gradients = wanted.gradients;
  if (device.host_sees_memory()) wanted.gradient_memory = options.gradient_memory;
  ASSIGN_OR_RETURN(model, ModelState::Make(device, variables, std::move(wanted)));
  sizes.elements = model->elements();
  sizes.trained_elements = model->trained_elements();
  for (size_t i = 0; i < variables.size(); ++i) {
    data[static_cast<size_t>(BufferOf(variable_values[i]))] = model->value(i).data();
    if (!gradients[i].valid()) continue;
    data[static_cast<size_t>(BufferOf(gradients[i]))] = model->gradient(i).data();
  }
  return absl::OkStatus();
}

absl::Status Session::State::MakeMemory() {
  data.resize(schedule.buffers.size(), nullptr);
  ASSIGN_OR_RETURN(block_memory, AllocateFor(device, MemoryUse::kOther, sizeof(StepBlock)));
  sizes.other_bytes = sizeof(StepBlock);
  RETURN_IF_ERROR(MakeModelState());
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const ScheduledBuffer& buffer = schedule.buffers[i];
    if (buffer.kind == Kind::kInput) memory.input_bytes += buffer.bytes;
    if (buffer.kind == Kind::kVariable) memory.variable_bytes += buffer.bytes;
    if (buffer.kind == Kind::kGradient) memory.gradient_bytes += buffer.bytes;
    if (buffer.kind == Kind::kArena || data[i] != nullptr) continue;
    const bool is_input = buffer.kind == Kind::kInput;
    ASSIGN_OR_RETURN(Buffer made,
                     AllocateFor(device, is_input ? MemoryUse::kInputs : MemoryUse::kOther,
                                 buffer.bytes));
    (is_input ? sizes.input_bytes : sizes.other_bytes) += buffer.bytes;
    owned.push_back(std::move(made));
    data[i] = owned.back().data();
    if (buffer.kind != Kind::kConstant) continue;
    const Node& node = NodeAt(buffer.value.node);
    RETURN_IF_ERROR(
        Tensor(buffer.value).Fill(static_cast<float>(node.attributes.Number("value"))));
  }
  RETURN_IF_ERROR(MakeTurns());
  RETURN_IF_ERROR(PlaceArena());
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const int buffer : schedule.steps[i].inputs) {
      steps[i].inputs.push_back(data[static_cast<size_t>(buffer)]);
    }
    for (const int buffer : schedule.steps[i].outputs) {
      steps[i].outputs.push_back(data[static_cast<size_t>(buffer)]);
    }
  }
  return absl::OkStatus();
}

// Intermediate tensors and the kernels' scratch memory.
absl::Status Session::State::PlaceArena() {
  std::vector<Lifetime> lifetimes;
  std::vector<size_t*> places;
  const int distance = kReuseDistance * (options.inter_op_threads - 1);
  const auto add = [&](size_t bytes, int first, int last, size_t* place) {
    const int kept = last > ScheduledBuffer::kForever - distance ? last : last + distance;
    lifetimes.push_back({bytes, first, kept});
    places.push_back(place);
  };
  offsets.resize(schedule.buffers.size());
  scratch_offsets.resize(steps.size());
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const ScheduledBuffer& buffer = schedule.buffers[i];
    if (buffer.kind == Kind::kArena) add(buffer.bytes, buffer.first, buffer.last, &offsets[i]);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const int at = static_cast<int>(i);
    if (steps[i].kernel.scratch_bytes > 0) {
      add(steps[i].kernel.scratch_bytes, at, at, &scratch_offsets[i]);
    }
  }
  const MemoryPlan plan = PlanMemory(lifetimes, device.alignment());
  ASSIGN_OR_RETURN(Buffer made, AllocateFor(device, MemoryUse::kActivations, plan.bytes));
  sizes.arena_bytes = plan.bytes;
  owned.push_back(std::move(made));
  std::byte* const arena = owned.back().data();
  for (size_t i = 0; i < places.size(); ++i) *places[i] = plan.offsets[i];
  for (size_t i = 0; i < data.size(); ++i) {
    if (schedule.buffers[i].kind == Kind::kArena) data[i] = arena + offsets[i];
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kernel.scratch_bytes > 0) steps[i].scratch = arena + scratch_offsets[i];
  }
  memory.arena_bytes = plan.bytes;
  memory.unshared_bytes = schedule.unshared_bytes;
  return absl::OkStatus();
}

void Session::State::MakeRunner() {
  std::vector<std::vector<MemoryAccess>> accesses(steps.size());
  for (size_t i = 0; i < steps.size() && options.inter_op_threads > 1; ++i) {
    const auto add = [&](int index, bool writes) {
      const ScheduledBuffer& buffer = schedule.buffers[static_cast<size_t>(index)];
      if (buffer.kind == Kind::kArena) {
        const size_t begin = offsets[static_cast<size_t>(index)];
        accesses[i].push_back({kArenaSpace, begin, begin + buffer.bytes, writes});
      } else {
        accesses[i].push_back({index + 1, 0, buffer.bytes, writes});
      }
    };
    for (const int buffer : schedule.steps[i].inputs) add(buffer, false);
    for (const int buffer : schedule.steps[i].outputs) add(buffer, true);
    const size_t scratch = steps[i].kernel.scratch_bytes;
    if (scratch == 0) continue;
    accesses[i].push_back({kArenaSpace, scratch_offsets[i], scratch_offsets[i] + scratch, true});
  }
  runner = std::make_unique<StepRunner>(device, steps, accesses, options.inter_op_threads);
  if (options.trace == nullptr) return;
  runner->PrepareTrace();
  std::vector<TracedOp> ops;
  for (const ScheduledStep& scheduled : schedule.steps) {
    const OpInfo info = InfoOf(scheduled.node);
    ops.push_back({info.name, info.Text(), info.outputs[0].ToString(), info.device, info.cost.flops,
                   info.cost.bytes});
  }
  TracedOp rest{.name = "clip and update", .op = "Rest"};
  if (!ops.empty()) rest.device = ops.back().device;
  ops.push_back(std::move(rest));
  trace = options.trace->AddTrack(options.trace_name, std::move(ops), options.inter_op_threads);
}

std::vector<int> Session::State::StepsWithGradient(size_t variable) const {
  const int buffer = BufferOf(gradients[variable]);
  std::vector<int> found;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduledStep& step = schedule.steps[i];
    const bool uses = std::ranges::count(step.inputs, buffer) > 0 ||
                      std::ranges::count(step.outputs, buffer) > 0;
    if (uses) found.push_back(static_cast<int>(i));
  }
  return found;
}

GradientWatch::Uses Session::State::GradientUses() const {
  GradientWatch::Uses uses;
  for (const size_t variable : gradient_order) uses.push_back(StepsWithGradient(variable));
  return uses;
}

std::vector<TensorType> Session::State::InputTypes(const Node& node) const {
  std::vector<TensorType> types;
  for (const Value input : node.inputs) types.push_back(TypeOf(input));
  return types;
}

std::vector<TensorType> Session::State::OutputTypes(NodeId id) const {
  std::vector<TensorType> types;
  for (int i = 0; i < static_cast<int>(NodeAt(id).outputs.size()); ++i) {
    types.push_back(TypeOf({id, i}));
  }
  return types;
}

std::string Session::State::StepText(NodeId id) const {
  return NodeAt(id).name + " (" + NodeAt(id).op + ")";
}

bool Session::State::IsView(const Node& node) const {
  const OpDefinition* const op = graph.ops().Find(node.op);
  return op != nullptr && op->is_view;
}

OpCost Session::State::CostOf(NodeId id) const {
  const Node& node = NodeAt(id);
  if (node.inputs.empty() || IsView(node)) return {};
  const std::vector<TensorType> types = InputTypes(node);
  return graph.ops().Find(node.op)->cost({types, node.attributes}, OutputTypes(id));
}

OpInfo Session::State::InfoOf(NodeId id) const {
  const Node& node = NodeAt(id);
  OpInfo info{.name = node.name,
              .op = node.op,
              .device = devices.at(id).ToString(),
              .outputs = OutputTypes(id),
              .attributes = node.attributes,
              .cost = CostOf(id),
              .runs = !node.inputs.empty() && !IsView(node)};
  if (info.runs) info.products = products.at(id);
  if (node.op == "Fused") info.op += "(" + node.attributes.Text("ops") + ")";
  for (const Value input : node.inputs) info.inputs.push_back(graph.NameOf(input));
  return info;
}

void Session::State::Bind(int buffer, void* pointer) {
  if (data[static_cast<size_t>(buffer)] == pointer) return;
  runner->Forget();
  data[static_cast<size_t>(buffer)] = pointer;
  for (size_t at = 0; at < steps.size(); ++at) {
    const ScheduledStep& scheduled = schedule.steps[at];
    for (size_t i = 0; i < scheduled.inputs.size(); ++i) {
      if (scheduled.inputs[i] == buffer) steps[at].inputs[i] = pointer;
    }
    for (size_t i = 0; i < scheduled.outputs.size(); ++i) {
      if (scheduled.outputs[i] == buffer) steps[at].outputs[i] = pointer;
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

void Session::State::BindInput(std::string_view name, DType dtype, const void* pointer,
                               size_t count) {
  const Value input = InputNamed(name, dtype);
  CHECK(count == static_cast<size_t>(TypeOf(input).shape.count()))
      << "bind input " << name << ": " << count << " elements for " << TypeOf(input).ToString();
  // No step writes to an input: the schedule never reuses a leaf's buffer.
  void* const memory_of_caller = const_cast<void*>(pointer);
  turns[filled].inputs[BufferOf(input)] = memory_of_caller;
  if (device.host_sees_memory()) Bind(BufferOf(input), memory_of_caller);
}

}  // namespace taas
