// What a session consists of, and how it is made of a graph: a part of session.h that only its own
// sources see.
//
// Ownership, threads, errors: session.h's.
//
//   auto state = std::make_unique<Session::State>(runtime, graph, options);
//   RETURN_IF_ERROR(state->Compile());

#ifndef TRAINER_GRAPH_SESSION_STATE_H_
#define TRAINER_GRAPH_SESSION_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "trainer/graph/device.h"
#include "trainer/graph/gradient_watch.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/graph/model_state.h"
#include "trainer/graph/placement.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/schedule.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_block.h"
#include "trainer/graph/step_runner.h"
#include "trainer/graph/step_trace.h"

namespace taas {

struct Session::State {
  State(Runtime computes_with, const Graph& source, SessionOptions given);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The parts of it, in their order.
  absl::Status Compile();
  absl::Status ResolveRoots();
  absl::Status MakeGradients();
  absl::Status MakeSteps();
  // Of each gradient that can.
  void ListGradientRows(ScheduleRequest* request);
  // Also moves gradients to where they are made now.
  void Fuse(ScheduleRequest* request);
  // Variables that `updates` write, and the views of them.
  std::vector<Value> Updated(const std::vector<Value>& updates) const;
  // Where the node lies and runs: on `device`, by whichever of its names.
  absl::StatusOr<DeviceName> Place(const Node& node, std::optional<DType> dtype) const;
  // Whether there is a kernel for the node, whose first input is float32.
  bool CanRun(const Node& node) const;
  absl::Status PlaceLeaves();
  absl::Status MakeStep(const ScheduledStep& scheduled);
  absl::Status MakeMemory();
  // Of variables and gradients.
  absl::Status MakeModelState();
  absl::Status PlaceArena();
  void MakeRunner();
  // The steps that write or read the gradient of a variable, ascending.
  std::vector<int> StepsWithGradient(size_t variable) const;
  // By gradient, in their order.
  GradientWatch::Uses GradientUses() const;

  void Bind(int buffer, void* memory);
  // Zeroes the rows that callers have set, and forgets those of the run before.
  absl::Status ClearRows();
  // What the host gives a run, and is given by it.
  struct Turn {
    // Pinned, as inputs are.
    struct Memory {
      StepBlock block;
      Fault fault;
      float loss = 0;
    };
    Memory& its() const { return *reinterpret_cast<Memory*>(memory.data()); }

    Buffer memory;
    // Where the host has inputs, by buffer: the input's own memory if the host sees that.
    std::map<int, void*> inputs;
    // Where steps run while the host goes on: where the device has the inputs before the step
    // begins, and the moment from which on it has.
    std::map<int, void*> staged;
    std::unique_ptr<Event> arrived;
    std::unique_ptr<Event> ended;  // What the run gives lies in `memory`.
  };
  absl::Status MakeTurns();
  // Sends the inputs of `turn`, runs and reads back; where programs are launched it all may not
  // have begun when this returns.
  absl::Status Launch(RunKind kind, Turn& turn);
  // Into the memory of the device, what lies in that of the host: inputs and block. Those of a
  // whole step by a stream of their own, so that they cross while the step before computes.
  absl::Status SendInputs(RunKind kind, Turn& turn);
  absl::Status StageInputs(const Turn& turn);
  // Of a run that has ended.
  absl::Status TakeResults(const Turn& turn);
  // Of gradients that list them.
  absl::Status ReadRows();
  // None is under way any more after `failed`; that or, if there is one, the machine's fault.
  absl::Status Drop(absl::Status failed);
  // After the step of that turn nothing counts that was launched.
  absl::Status GoBackTo(size_t turn);
  StepBlock* device_block() const {
    return reinterpret_cast<StepBlock*>(block_memory.data());
  }
  int BufferOf(Value value) const { return schedule.buffer_of.at(value); }
  // All elements at the buffer of `value`.
  TensorRef Tensor(Value value) const {
    const TensorType& type = NodeAt(value.node).outputs[static_cast<size_t>(value.output)];
    return {device, data[static_cast<size_t>(BufferOf(value))], type.dtype,
            static_cast<size_t>(type.shape.CountWithBatch(options.batch))};
  }
  const Node& NodeAt(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  TensorType TypeOf(Value value) const {
    TensorType type = NodeAt(value.node).outputs[static_cast<size_t>(value.output)];
    type.shape = type.shape.WithBatch(options.batch);
    return type;
  }
  std::vector<TensorType> InputTypes(const Node& node) const;
  std::vector<TensorType> OutputTypes(NodeId id) const;
  OpCost CostOf(NodeId id) const;
  // "loss (SparseSoftmaxCrossEntropy)".
  std::string StepText(NodeId id) const;
  // Without a kernel: it lies where its input lies.
  bool IsView(const Node& node) const;
  OpInfo InfoOf(NodeId id) const;

  Value InputNamed(std::string_view name, DType dtype) const;
  // Where the host has it.
  template <typename T>
  std::span<T> Input(std::string_view name, DType dtype) const {
    const Value input = InputNamed(name, dtype);
    return {static_cast<T*>(turns[filled].inputs.at(BufferOf(input))), Tensor(input).count()};
  }
  void BindInput(std::string_view name, DType dtype, const void* memory, size_t count);

  const Runtime runtime;
  Graph graph;
  const SessionOptions options;
  const Placement placement;
  Device& device;  // On which all of it lies and runs.
  const Runtime own_runtime{{&device}, runtime.kernels};
  std::vector<Node> nodes;  // Of the graph, after fusion.
  std::map<NodeId, DeviceName> devices;
  std::map<NodeId, Precision> products;  // Of all that have a kernel.
  Schedule schedule;
  std::vector<RunnableStep> steps;  // One per step of the schedule.
  std::vector<void*> data;          // Per buffer of the schedule.
  std::vector<size_t> offsets;      // Per buffer: in the arena, if it lies there.
  std::vector<size_t> scratch_offsets;  // Per step.
  std::vector<Buffer> owned;
  MemoryReport memory;
  MemorySizes sizes;  // But for slots, which come later.
  StepTrace::Track* trace = nullptr;
  std::vector<StepRest*> after_gradients, after_all;  // The second begins with the first.
  StepBlock block;      // Of the next run,
  Buffer block_memory;  // and where kernels see it.
  // Two where steps run while the host goes on: one is filled while the other's is under way.
  std::vector<Turn> turns;
  std::unique_ptr<Stream> copies;  // Of inputs to where they are staged; null where none are.
  size_t filled = 0;              // That of the next run, or, if none is under way, of the last.
  std::vector<size_t> under_way;  // Turns of the steps that nobody has awaited, the oldest first.

  std::optional<Value> loss;
  std::map<std::string, Value, std::less<>> fetches;
  std::map<std::string, Value, std::less<>> inputs;
  std::vector<VariableInfo> variables;
  std::unique_ptr<ModelState> model;
  std::vector<Value> variable_values;
  std::vector<Value> gradients;  // Per variable; invalid where it is not trainable.
  // Variables that have one, in the order in which they lie in the model.
  std::vector<size_t> gradient_order;
  std::unique_ptr<GradientWatch> watch;  // Null: nobody wants to know.
  // Whether a gradient lists its rows, as outputs 1 and 2 of its node; or what a caller has set.
  struct RowList {
    bool listed = false;
    std::optional<std::span<const int32_t>> set{};
    Buffer set_memory{};  // Of the device: their number and, behind it, what `set` is.
    std::span<const int32_t> ids{};  // As the host sees them, after a run.
    std::vector<int32_t> room{};
  };
  float loss_value = 0;
  std::vector<RowList> row_lists;  // Per variable.
  std::unique_ptr<StepRunner> runner;  // Gone first: its streams may have work left.
};

}  // namespace taas

#endif  // TRAINER_GRAPH_SESSION_STATE_H_
