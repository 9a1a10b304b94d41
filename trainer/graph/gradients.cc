#include "trainer/graph/gradients.h"

#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "operator/base/status.h"
#include "trainer/graph/op_registry.h"

namespace taas {
namespace {

// Per node: whether one of `from` reaches it.
std::vector<bool> Downstream(const Graph& graph, std::span<const Value> from) {
  std::vector<bool> reached(graph.nodes().size(), false);
  for (const Value value : from) reached[static_cast<size_t>(value.node)] = true;
  for (size_t id = 0; id < reached.size(); ++id) {
    for (const Value input : graph.nodes()[id].inputs) {
      if (reached[static_cast<size_t>(input.node)]) reached[id] = true;
    }
  }
  return reached;
}

// The parts of a gradient that have arrived at each value so far.
class Contributions {
 public:
  explicit Contributions(Graph* graph) : graph_(*graph) {}

  void Add(Value to, Value gradient) { parts_[to].push_back(gradient); }

  // The sum; invalid when nothing arrived.
  Value Sum(Value of) {
    const auto found = parts_.find(of);
    if (found == parts_.end()) return {};
    if (found->second.size() > 1) found->second = {graph_.Add("AddN", "", found->second)};
    return found->second[0];
  }

 private:
  Graph& graph_;
  std::map<Value, std::vector<Value>> parts_;
};

absl::Status Differentiate(Graph* graph, NodeId id, const std::vector<bool>& wanted,
                           Contributions* contributions) {
  // By value: the graph's vector of nodes moves when nodes are added.
  const Node node = graph->nodes()[static_cast<size_t>(id)];
  graph->SetDevice(node.device);
  std::vector<Value> outputs;
  bool any = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(contributions->Sum({id, static_cast<int>(i)}));
    any = any || outputs.back().valid();
  }
  if (!any) return absl::OkStatus();
  const OpDefinition* op = graph->ops().Find(node.op);
  if (op->gradient == nullptr) {
    return absl::InvalidArgumentError("differentiate " + node.name + ": op " + node.op +
                                      " has no gradient");
  }
  GradientCall call{.graph = *graph, .node = {id, 0}, .inputs = node.inputs, .outputs = outputs};
  call.gradients.resize(node.inputs.size());
  for (const Value input : node.inputs) {
    call.wanted.push_back(wanted[static_cast<size_t>(input.node)]);
  }
  RETURN_IF_ERROR(op->gradient(call)).With("differentiate " + node.name);
  RETURN_IF_ERROR(graph->status());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!call.wanted[i] || !call.gradients[i].valid()) continue;
    if (graph->type(call.gradients[i]) != graph->type(node.inputs[i])) {
      return absl::InternalError("differentiate " + node.name + ": the gradient of input " +
                                 std::to_string(i) + " is " +
                                 graph->type(call.gradients[i]).ToString() + " and not " +
                                 graph->type(node.inputs[i]).ToString());
    }
    contributions->Add(node.inputs[i], call.gradients[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Value>> AddGradients(Graph* graph, Value loss,
                                                std::span<const Value> with_respect_to,
                                                float scale) {
  RETURN_IF_ERROR(graph->status());
  if (graph->type(loss) != TensorType{DType::kFloat32, Shape()}) {
    return absl::InvalidArgumentError("differentiate " + graph->NameOf(loss) +
                                      ": a loss is a float32 scalar, this is " +
                                      graph->type(loss).ToString());
  }
  const Graph::Scope scope(graph, "gradients");
  const std::vector<bool> wanted = Downstream(*graph, with_respect_to);
  const std::string device = graph->device();
  Contributions contributions(graph);
  contributions.Add(loss, graph->Constant("one", Shape(), scale));
  // Backwards through node ids: every consumer of a value comes before its producer.
  for (NodeId id = loss.node; id >= 0; --id) {
    if (!wanted[static_cast<size_t>(id)]) continue;
    if (graph->nodes()[static_cast<size_t>(id)].inputs.empty()) {
      // Its parts are all there, and are added now and not behind everything else: a gradient that
      // is whole early can be exchanged beside the rest.
      graph->SetDevice(device);
      contributions.Sum({id, 0});
      continue;
    }
    RETURN_IF_ERROR(Differentiate(graph, id, wanted, &contributions));
  }
  graph->SetDevice(device);
  std::vector<Value> gradients;
  for (const Value value : with_respect_to) {
    Value gradient = contributions.Sum(value);
    if (!gradient.valid()) gradient = graph->Constant("zeros", graph->type(value).shape, 0);
    gradients.push_back(gradient);
  }
  RETURN_IF_ERROR(graph->status());
  return gradients;
}

}  // namespace taas
