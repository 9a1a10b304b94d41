// A static graph of ops: the only way to describe a model.
//
// Nodes are added in an order in which each node's inputs exist already, so node ids are a
// topological order. Adding a node checks its attributes and infers its output types at once. The
// first error sticks: later calls do nothing and return an invalid Value, so that a model is
// written without a check per line and asks `status()` once. Session::Compile asks too.
//
// Ownership: value type; copying a graph copies all nodes. The op registry must outlive the graph.
// Threads: one at a time. Errors: status(); messages name the node, its op and its input types.
//
//   Graph graph;
//   const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
//   const Value w = graph.Variable("w", Shape({2, 1}), Initializer::TruncatedNormal(0.1));
//   const Value y = graph.Add("MatMul", "y", {x, w});

#ifndef TRAINER_GRAPH_GRAPH_H_
#define TRAINER_GRAPH_GRAPH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/graph/value.h"

namespace taas {

class OpRegistry;

// How a variable starts. Values depend on the seed and on the variable's name only, so the same
// model has the same start wherever and in whatever order its variables are made.
struct Initializer {
  enum class Kind : uint8_t { kConstant, kUniform, kTruncatedNormal };
  Kind kind = Kind::kConstant;
  double a = 0;  // constant: the value; uniform: the low end; truncated normal: the mean.
  double b = 0;  // uniform: the high end; truncated normal: the standard deviation (cut at two).

  static Initializer Zeros() { return {}; }
  static Initializer Constant(double value) { return {Kind::kConstant, value, 0}; }
  static Initializer Uniform(double low, double high) { return {Kind::kUniform, low, high}; }
  static Initializer TruncatedNormal(double stddev) { return {Kind::kTruncatedNormal, 0, stddev}; }
};

struct Node {
  std::string name;    // Unique, with its scopes: "hidden1/weights".
  std::string op;      // A name of the op registry; "Input", "Variable" and "Constant" are leaves.
  std::vector<Value> inputs;
  Attributes attributes;
  std::string device;  // "/job:worker/task:1/device:CPU:0", any part may be missing; "" = anywhere.
  std::vector<TensorType> outputs;
  Initializer initializer;  // Of a variable.
  bool trainable = false;   // Of a variable.
};

class Graph {
 public:
  Graph();  // Uses StandardOps().
  explicit Graph(const OpRegistry* ops);

  Value Input(std::string_view name, TensorType type);
  Value Variable(std::string_view name, Shape shape, Initializer initializer,
                 bool trainable = true);
  // A tensor of one value everywhere.
  Value Constant(std::string_view name, Shape shape, double value);
  // Output 0 of a new node; its other outputs are {value.node, 1} and so on. A name that is taken
  // gets a suffix ("MatMul_1"); an empty one is the op's.
  Value Add(std::string_view op, std::string_view name, std::vector<Value> inputs,
            Attributes attributes = {});

  // A training run computes `value` too, of a MovingAverage, and writes it into the variable that
  // is its op's first input and that is not trainable: how batch normalization keeps its moving
  // moments. Whatever reads the variable in the same run must have been added before.
  void AddUpdate(Value value);

  // While it lives, names of new nodes start with "name/".
  class Scope {
   public:
    Scope(Graph* graph, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph* graph_;
    size_t length_before_;
  };

  // Nodes added from now on are placed there.
  void SetDevice(std::string_view device) { device_ = std::string(device); }
  const std::string& device() const { return device_; }
  // Makes the graph unusable with this error unless it already is. For builders that find a bad
  // argument.
  void Fail(absl::Status status);

  const absl::Status& status() const { return status_; }
  const OpRegistry& ops() const { return *ops_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Value value) const { return nodes_[static_cast<size_t>(value.node)]; }
  const TensorType& type(Value value) const;
  // "name" or "name:1".
  std::string NameOf(Value value) const;
  // The value called "name" or "name:1"; NotFound lists what there is.
  absl::StatusOr<Value> Find(std::string_view name) const;
  // In the order of their creation.
  std::vector<Value> Variables() const;
  const std::vector<Value>& updates() const { return updates_; }

 private:
  std::string UniqueName(std::string_view name) const;
  Value AddLeaf(Node node);
  Value Append(Node node);

  const OpRegistry* ops_;
  absl::Status status_;
  std::vector<Node> nodes_;
  std::vector<Value> updates_;
  std::map<std::string, NodeId, std::less<>> ids_;
  std::string prefix_;
  std::string device_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_GRAPH_H_
