// A graph made ready to run: batch size fixed, gradients added, kernels chosen, memory laid out
// once.
//
// A run allocates nothing of ours (the GEMM library takes its packing buffers itself). Variables,
// gradients and inputs have buffers of their own, which a caller may replace by its own memory (a
// receive buffer, a mapped file) with the Bind methods; all other tensors share one arena, reused
// by lifetime.
//
// Ownership: the session owns its buffers; bound memory stays the caller's and must outlive its
// use. Threads: one at a time. Several sessions may run at once, also of one graph and with shared
// variables that nobody writes meanwhile. Errors: Compile says what it cannot place, find or
// differentiate; Run returns what a kernel found wrong with the data (a label out of range).
// Unknown names and indexes in the accessors are programmer errors (CHECK).
//
//   ASSIGN_OR_RETURN(auto session, Session::Compile(graph, {.batch = 100, .loss = "loss"}));
//   session->InitializeVariables(/*seed=*/1);
//   RETURN_IF_ERROR(session->Run(RunKind::kTrain));  // then loss() and gradient(i) hold the answer

#ifndef TRAINER_GRAPH_SESSION_H_
#define TRAINER_GRAPH_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/op_registry.h"

namespace taas {

class KernelRegistry;

enum class RunKind : uint8_t {
  kForward,  // The loss and the fetches.
  kTrain,    // And the gradients of all trainable variables, and the graph's updates.
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
  // How many CPU devices there are: virtual ones, all of the same processors and memory.
  int cpu_devices = 1;
  // Of nodes that name none: "/device:CPU:1"; "" is the first CPU.
  std::string device;
  // Null: the kernels of this tree.
  const KernelRegistry* kernels = nullptr;
};

struct VariableInfo {
  std::string name;
  Shape shape;
  size_t count = 0;
  size_t bytes = 0;
  bool trainable = true;
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
  static absl::StatusOr<std::unique_ptr<Session>> Compile(const Graph& graph,
                                                          SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // All variables of the graph in the order of their creation; `i` below is an index into it.
  const std::vector<VariableInfo>& variables() const;
  std::span<float> variable(size_t i);
  // Of the last kTrain run. Empty for a variable that is not trainable.
  std::span<float> gradient(size_t i);
  // Later runs read (write) `memory`, which has as many elements as the variable. Nothing is
  // copied.
  void BindVariable(size_t i, std::span<float> memory);
  void BindGradient(size_t i, std::span<float> memory);
  // Sets all variables from their initializers.
  void InitializeVariables(uint64_t seed);

  bool HasInput(std::string_view name) const;
  // To be filled before each run; kept between runs.
  std::span<float> FloatInput(std::string_view name);
  std::span<int32_t> Int32Input(std::string_view name);
  // Later runs read the input from there: no copy of a batch that lies ready in memory.
  void BindInput(std::string_view name, std::span<const float> memory);
  void BindInput(std::string_view name, std::span<const int32_t> memory);

  // Of later runs: what ops draw at random depends on it, so it is a batch's number.
  void SetStep(int64_t step);
  absl::Status Run(RunKind kind);

  // Of the last run.
  float loss() const;
  // `name` is one of the fetches, spelled as there.
  std::span<const float> output(std::string_view name) const;
  std::span<const int32_t> Int32Output(std::string_view name) const;

  int64_t batch() const;
  MemoryReport memory() const;
  // Of one run: the sum over its ops.
  OpCost cost(RunKind kind) const;
  // One line per op in the order of execution: name, op, device, output type. For logs and for
  // people.
  std::string Describe(RunKind kind) const;

 private:
  struct State;

 public:
  // For Compile: nobody else can make a State.
  explicit Session(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_SESSION_H_
