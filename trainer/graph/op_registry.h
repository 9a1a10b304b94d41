// What an op is, apart from its kernels: attributes, shape inference, gradient and cost.
//
// Ownership: the registry owns its definitions; pointers into it live as long as it does. Threads:
// const methods are safe from any thread. Errors: Add refuses a second op of one name; shape
// inference returns InvalidArgument, to which Graph::Add adds the node and its input types.
//
//   OpRegistry ops = StandardOps();           // a copy, to which a program adds its own
//   RETURN_IF_ERROR(ops.Add({.name = "Cube", .infer = …, .gradient = …, .cost = …}));
//   Graph graph(&ops);

#ifndef TRAINER_GRAPH_OP_REGISTRY_H_
#define TRAINER_GRAPH_OP_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/op_cost.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/graph/value.h"

namespace taas {

class Graph;

// An op applied to inputs of known type; the batch dimension may still be open.
struct OpCall {
  std::span<const TensorType> inputs;
  const Attributes& attributes;
};

// Given to an op's gradient function: it adds nodes to `graph` and reports one Value per input.
struct GradientCall {
  Graph& graph;
  Value node;                      // Output 0 of the node to differentiate.
  std::span<const Value> inputs;   // Its inputs.
  std::span<const Value> outputs;  // Gradients of its outputs; invalid where nothing flows back.
  std::vector<bool> wanted;        // Per input: whether its gradient is of any use.
  std::vector<Value> gradients;    // The answer, per input; invalid = zero.

  const Attributes& attributes() const;
};

// An attribute that an op takes. A value of another kind than the default's is refused.
struct AttributeSpec {
  std::string name;
  AttributeValue default_value;
  bool required = false;
};

struct OpDefinition {
  // Of `inputs_max`: as many as the caller likes.
  static constexpr int kVariadic = -1;

  std::string name;
  int inputs_min = 1;
  int inputs_max = 1;
  std::vector<AttributeSpec> attributes;
  std::function<absl::StatusOr<std::vector<TensorType>>(const OpCall&)> infer;
  // Empty: the op has no gradient, and a loss that depends on a variable through it is refused.
  std::function<absl::Status(GradientCall&)> gradient;
  // `outputs` and the call's inputs have no open dimension.
  std::function<OpCost(const OpCall&, std::span<const TensorType> outputs)> cost;
  // Output 0 may be written over this input when nobody reads the input afterwards; -1: never.
  int in_place_input = -1;
  // Output 0 is input 0 under another shape: no kernel, no copy.
  bool is_view = false;
};

class OpRegistry {
 public:
  absl::Status Add(OpDefinition definition);
  // Null when unknown.
  const OpDefinition* Find(std::string_view name) const;
  // By name.
  const std::map<std::string, OpDefinition, std::less<>>& ops() const { return ops_; }
  // "Add, AddN, …", for messages.
  std::string Names() const;

 private:
  std::map<std::string, OpDefinition, std::less<>> ops_;
};

// The ops of this tree (ops.h lists them with their meaning). Lives as long as the program.
const OpRegistry& StandardOps();

}  // namespace taas

#endif  // TRAINER_GRAPH_OP_REGISTRY_H_
