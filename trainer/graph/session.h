// A graph made ready to run: batch size fixed, gradients added, kernels chosen, memory laid out
// once.
//
// A run allocates nothing of ours (the GEMM library takes its packing buffers itself). Variables
// and gradients lie in a ModelState, inputs in memory of the host; all other tensors share one
// arena, reused by lifetime. Tensors are handed out as references: the host may not see them.
//
// Ownership: the session owns its buffers and threads; memory that it is told to use stays the
// caller's, must outlive its use and overlaps no other buffer; a trace and the runtime's devices
// and kernels are borrowed. Threads: one at a time.
// Several sessions may run at once, also of one graph and with shared variables that nobody writes
// meanwhile. Errors: Compile says what it cannot place, find or differentiate; Run returns what a
// kernel found wrong with the data (a label out of range). Unknown names and indexes in the
// accessors are programmer errors (CHECK).
//
//   ASSIGN_OR_RETURN(auto session, Session::Compile(runtime, graph, {.loss = "loss"}));
//   RETURN_IF_ERROR(session->InitializeVariables(/*seed=*/1));
//   RETURN_IF_ERROR(session->Run(RunKind::kTrain));  // then loss() and gradient(i) hold the answer

#ifndef TRAINER_GRAPH_SESSION_H_
#define TRAINER_GRAPH_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/graph/model_state.h"
#include "trainer/graph/op_cost.h"
#include "trainer/graph/step_block.h"
#include "trainer/graph/step_rest.h"
#include "trainer/graph/tensor_ref.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

class Graph;
class StepTrace;
struct Runtime;

enum class RunKind : uint8_t {
  kForward,  // The loss and the fetches.
  kTrain,    // And the gradients of all trainable variables, and the graph's updates.
  kStep,     // And what was appended for a whole step: the update of an optimizer.
};

struct SessionOptions {
  int64_t batch = 1;
  // A float scalar of the graph; "" = no loss, forward only.
  std::string loss;
  // Values to keep until the next run, by name ("logits", "xentropy:1").
  std::vector<std::string> fetches;
  // Whether gradients are added; needs a loss.
  bool trainable = true;
  // Whether kTrain runs compute the graph's updates. Of several sessions with shared variables one
  // does.
  bool updates = true;
  // Of what ops draw at random, such as dropout; with the step it decides every number.
  uint64_t seed = 0;
  // Gradients are of this times the loss: small ones stay above the smallest number of a narrow
  // type (Micikevicius et al. 2018). Whoever applies them divides by it; loss() is as it is.
  float loss_scale = 1;
  // Threads inside one op. More than one pays only for large matrices.
  int threads = 1;
  // Whether ops that nobody else reads are merged into one kernel. The bits are the same, but for
  // gradients of an L2 loss, which are rounded once less.
  bool fuse = true;
  // The bits do not depend on `threads`: ops of which a library would split a sum among threads
  // compute it in fixed parts, or with one thread. Without it the same number of threads gives the
  // same bits. Nothing depends on inter_op_threads in either case.
  bool deterministic = false;
  // How many ops that do not need each other run at the same time, each with `threads` threads. The
  // results are the same bits.
  int inter_op_threads = 1;
  // Whether gradients of tables that are only looked up in list their rows, which costs what the
  // batch looks up and not what the table has. The bits are the same, but of a table with several
  // lookups, whose gradients are added row by row instead of lookup by lookup.
  bool list_rows = true;
  // All inputs are bound before each run: where the device does not see memory of the host, none is
  // taken for them there.
  bool binds_inputs = false;
  // In what kernels multiply, where they can: bfloat16 rounds the factors of products (of matrices,
  // convolutions, LSTMs, attention) and adds up in float32. All tensors stay float32.
  Precision products = Precision::kFloat32;
  // Who this process is, for nodes that name a job and a task.
  std::string job = "localhost";
  int task = 0;
  // The device of the session, and of nodes that name none: "/device:CPU:1"; "" is the first.
  std::string device;
  // An op whose device is not there runs on the session's, instead of being refused.
  bool soft_placement = false;
  // Where the gradients of what is trained lie, on a device whose memory the host sees.
  GradientMemory gradient_memory;
  // Null: nothing is recorded. `trace_name` is what the file calls this session.
  StepTrace* trace = nullptr;
  std::string trace_name;
};

// A node as it is run.
struct OpInfo {
  std::string name;
  std::string op;  // "Fused(Mul Tanh)" of a chain.
  std::vector<std::string> inputs;  // "name" or "name:1".
  std::string device;               // "/job:localhost/replica:0/task:0/device:CPU:0".
  std::vector<TensorType> outputs;  // Without an open dimension.
  Attributes attributes;
  OpCost cost;
  bool runs = true;  // Not of leaves and views, which have no kernel.
  Precision products = Precision::kFloat32;  // In what its kernel multiplies.

  // The op, and its precision where it is another than float32: "MatMul(bfloat16)".
  std::string Text() const;
};

// One of the gradients in the order in which they lie in ModelState::trained_gradients().
struct OrderedGradient {
  size_t variable = 0;
  size_t end = 0;  // Elements up to where the next begins.
  // Of the work of a kTrain run (flops and bytes), what is done when it and all before it are
  // there: rises to 1. The same in every process that has the graph.
  double done = 0;
};

// What the memory plan came to.
struct MemoryReport {
  size_t variable_bytes = 0;
  size_t gradient_bytes = 0;
  size_t input_bytes = 0;
  size_t arena_bytes = 0;       // The peak of all tensors in between, after reuse.
  size_t unshared_bytes = 0;    // What the arena would be without reuse.
};

class Session {
 public:
  // On one device of `runtime`, with its kernels.
  static absl::StatusOr<std::unique_ptr<Session>> Compile(const Runtime& runtime,
                                                          const Graph& graph,
                                                          SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // All variables of the graph in the order of their creation; `i` below is an index into it.
  const std::vector<VariableInfo>& variables() const;
  // Values and gradients, and room for an optimizer's slots.
  ModelState& model();
  // As kernels use it: in the ModelState, or what UseVariable said last.
  TensorRef variable(size_t i) const;
  // Of the last run with gradients. Empty for a variable that is not trainable.
  TensorRef gradient(size_t i) const;
  // The rows of the table in which the gradient is not zero, after a kTrain and until the next run
  // with gradients, which clears them. Nothing of a variable that is used in another way than by
  // Embedding.
  std::optional<GradientRows> gradient_rows(size_t i) const;
  // The same, for kernels: where ids and their number lie, both int32; null where it lists none.
  struct DeviceRows {
    const void* ids = nullptr;
    const void* count = nullptr;
  };
  DeviceRows device_rows(size_t i) const;
  // The caller has written other rows into gradient(i) too: `rows` are all, and its memory stays
  // as it is until the next kTrain run. Of a gradient that lists rows only.
  absl::Status SetGradientRows(size_t i, std::span<const int32_t> rows);
  // Of all that are trained, those that list rows last; empty where there are no gradients.
  std::vector<OrderedGradient> gradient_order() const;
  // In kTrain runs from now on `there` is told how many of gradient_order() are there and are not
  // used by the run any more: numbers that rise, one call at a time, by threads of the run. It is
  // told of none where they come with the end of the run only: the host does not see them or
  // launches ahead of the device, or what was appended to kTrain changes them. Null: nobody is
  // told.
  void WatchGradients(std::function<void(size_t count)> there);
  // Later runs have these values, as many as the variable has: read and written where they lie if
  // the device's kernels can, else copied, now.
  absl::Status UseVariable(size_t i, const TensorRef& values);
  // Sets all variables from their initializers.
  absl::Status InitializeVariables(uint64_t seed);

  bool HasInput(std::string_view name) const;
  // Of the host, to be filled before each run; kept between runs.
  std::span<float> FloatInput(std::string_view name);
  std::span<int32_t> Int32Input(std::string_view name);
  std::span<int64_t> Int64Input(std::string_view name);
  std::span<uint8_t> Uint8Input(std::string_view name);
  // The next run reads the input from there, and so do later ones where no step is launched ahead:
  // no copy of a batch that lies ready in memory. A device that does not see it copies from it.
  void BindInput(std::string_view name, std::span<const float> memory);
  void BindInput(std::string_view name, std::span<const int32_t> memory);
  void BindInput(std::string_view name, std::span<const int64_t> memory);
  void BindInput(std::string_view name, std::span<const uint8_t> memory);

  // Of later runs: what ops draw at random depends on it, so it is a batch's number.
  void SetStep(int64_t step);
  // Of the update that follows the next run.
  void SetUpdate(const UpdateScalars& update);
  // Where kernels that follow a run find both, and what it found wrong (step_block.h).
  StepBlock* device_block() const;
  absl::Status Run(RunKind kind);
  // A kStep in two halves: its launch, with the inputs as they are then, and its end, which tells
  // what Run would, of the oldest that was launched. Where the device goes on by itself so many
  // more may be launched before (0: none); the inputs of each are filled anew, all of them. A step
  // behind one that has a fault changes no variable: after AwaitStep has told of that, or of a loss
  // that is no number, all is as if no other had been launched, but for what updates of the graph
  // have moved. What a step leaves is to be looked at while none is under way.
  size_t steps_ahead() const;
  absl::Status LaunchStep();
  absl::Status AwaitStep();
  // That were launched and that nobody has awaited.
  size_t steps_under_way() const;
  // Waits for all of them and tells of none: what they have changed is as it is.
  absl::Status DropSteps();
  // Of runs of `kind`, kTrain or kStep: `rest` follows what was appended before; those of kTrain
  // come first in a kStep. Borrowed, until it is removed.
  void Append(RunKind kind, StepRest& rest);
  void Remove(StepRest& rest);
  // After a run whose loss is no number: runs forward once more, one op after the other, and names
  // the first input, variable or op where a number is not finite; "" if all are.
  std::string FirstNonFinite();

  // Of the last run.
  float loss() const;
  TensorRef loss_tensor() const;
  // `name` is one of the fetches, spelled as there.
  TensorRef output(std::string_view name) const;

  // The device on which it lies and runs, and what kernels there are for it.
  const Runtime& runtime() const;
  int64_t batch() const;
  int threads() const;  // Inside one op.
  MemoryReport memory() const;
  // All that it takes of its device, the slots of the moment among it.
  MemoryUses memory_uses() const;
  // Of one run: the sum over its ops.
  OpCost cost(RunKind kind) const;
  // All nodes that such a run needs, in the order of execution, and all inputs and variables.
  std::vector<OpInfo> ops(RunKind kind) const;
  // In the words of TensorFlow's log_device_placement: which hardware each device is, and of each
  // node "name: (Op): device".
  std::string DeviceMapping() const;
  std::string Placements() const;

  // For the sources of this class: session_state.h.
  struct State;
  explicit Session(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_SESSION_H_
