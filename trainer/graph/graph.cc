#include "trainer/graph/graph.h"

#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/op_registry.h"

namespace taas {
namespace {

std::string Types(std::span<const TensorType> types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + type.ToString();
  return text;
}

// `given` completed by the defaults of `definition`.
absl::StatusOr<Attributes> CompleteAttributes(const OpDefinition& definition,
                                              const Attributes& given) {
  Attributes complete;
  for (const AttributeSpec& spec : definition.attributes) {
    const auto found = given.values().find(spec.name);
    if (found == given.values().end()) {
      if (spec.required) {
        return absl::InvalidArgumentError("attribute " + spec.name + " is missing");
      }
      complete.Set(spec.name, spec.default_value);
    } else if (found->second.index() != spec.default_value.index()) {
      return absl::InvalidArgumentError("attribute " + spec.name + " has the wrong type");
    } else {
      complete.Set(spec.name, found->second);
    }
  }
  for (const auto& [name, value] : given.values()) {
    if (!complete.Has(name)) return absl::InvalidArgumentError("unknown attribute " + name);
  }
  return complete;
}

absl::Status CheckInputCount(const OpDefinition& definition, size_t count) {
  const bool too_many = definition.inputs_max != OpDefinition::kVariadic &&
                        count > static_cast<size_t>(definition.inputs_max);
  if (count >= static_cast<size_t>(definition.inputs_min) && !too_many) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "takes " + std::to_string(definition.inputs_min) +
      (definition.inputs_max == definition.inputs_min ? ""
       : definition.inputs_max == OpDefinition::kVariadic
           ? " or more"
           : " to " + std::to_string(definition.inputs_max)) +
      " inputs, got " + std::to_string(count));
}

}  // namespace

Graph::Graph() : Graph(&StandardOps()) {}

Graph::Graph(const OpRegistry* ops) : ops_(ops) {}

Graph::Scope::Scope(Graph* graph, std::string_view name)
    : graph_(graph), length_before_(graph->prefix_.size()) {
  graph_->prefix_ += std::string(name) + "/";
}

Graph::Scope::~Scope() { graph_->prefix_.resize(length_before_); }

void Graph::Fail(absl::Status status) {
  CHECK(!status.ok()) << "Graph::Fail needs an error";
  if (status_.ok()) status_ = std::move(status);
}

std::string Graph::UniqueName(std::string_view name) const {
  const std::string wanted = prefix_ + std::string(name);
  if (!ids_.contains(wanted)) return wanted;
  for (int suffix = 1;; ++suffix) {
    std::string candidate = wanted + "_" + std::to_string(suffix);
    if (!ids_.contains(candidate)) return candidate;
  }
}

Value Graph::Append(Node node) {
  const NodeId id = static_cast<NodeId>(nodes_.size());
  ids_.emplace(node.name, id);
  node.device = device_;
  nodes_.push_back(std::move(node));
  return {id, 0};
}

Value Graph::AddLeaf(Node node) {
  if (!status_.ok()) return {};
  // A leaf is addressed by its name from outside, so a second one of a name is a mistake.
  const std::string name = prefix_ + node.name;
  if (node.name.empty() || ids_.contains(name)) {
    Fail(absl::InvalidArgumentError("add " + node.op + " \"" + name + "\": " +
                                    (node.name.empty() ? "it needs a name" : "the name is taken")));
    return {};
  }
  for (const int64_t dim : node.outputs[0].shape.dims()) {
    const bool open = dim == Shape::kBatch && node.op != "Variable";
    if (dim < 0 && !open) {
      Fail(absl::InvalidArgumentError("add " + node.op + " \"" + name + "\": bad shape " +
                                      node.outputs[0].shape.ToString()));
      return {};
    }
  }
  node.name = name;
  return Append(std::move(node));
}

Value Graph::Input(std::string_view name, TensorType type) {
  return AddLeaf({.name = std::string(name), .op = "Input", .outputs = {std::move(type)}});
}

Value Graph::Variable(std::string_view name, Shape shape, Initializer initializer,
                      bool trainable) {
  return AddLeaf({.name = std::string(name),
                  .op = "Variable",
                  .outputs = {{DType::kFloat32, std::move(shape)}},
                  .initializer = initializer,
                  .trainable = trainable});
}

Value Graph::Constant(std::string_view name, Shape shape, double value) {
  Node node{.name = UniqueName(name).substr(prefix_.size()), .op = "Constant"};
  node.outputs = {{DType::kFloat32, std::move(shape)}};
  node.attributes.Set("value", value);
  return AddLeaf(std::move(node));
}

Value Graph::Add(std::string_view op, std::string_view name, std::vector<Value> inputs,
                 Attributes attributes) {
  if (!status_.ok()) return {};
  std::vector<TensorType> types;
  const std::string where =
      "add " + std::string(op) + " \"" + prefix_ + std::string(name.empty() ? op : name) + "\"";
  for (const Value input : inputs) {
    CHECK(input.valid() && static_cast<size_t>(input.node) < nodes_.size())
        << where << ": an input is not of this graph";
    types.push_back(type(input));
  }
  const OpDefinition* definition = ops_->Find(op);
  if (definition == nullptr) {
    Fail(absl::InvalidArgumentError(where + ": there is no such op; there are " + ops_->Names()));
    return {};
  }
  const std::string of = where + " of (" + Types(types) + ")";
  if (absl::Status status = CheckInputCount(*definition, inputs.size()); !status.ok()) {
    Fail(Annotate(status, of));
    return {};
  }
  absl::StatusOr<Attributes> complete = CompleteAttributes(*definition, attributes);
  if (!complete.ok()) {
    Fail(Annotate(complete.status(), of));
    return {};
  }
  auto outputs = definition->infer({types, *complete});
  if (!outputs.ok()) {
    Fail(Annotate(outputs.status(), of));
    return {};
  }
  return Append({.name = UniqueName(name.empty() ? op : name),
                 .op = std::string(op),
                 .inputs = std::move(inputs),
                 .attributes = *std::move(complete),
                 .outputs = *std::move(outputs)});
}

void Graph::AddUpdate(Value value) {
  if (!status_.ok()) return;
  CHECK(value.valid() && value.output == 0 && !node(value).inputs.empty())
      << "an update is output 0 of an op";
  const Value variable = node(value).inputs[0];
  const Node& target = node(variable);
  if (node(value).op != "MovingAverage") {
    Fail(absl::InvalidArgumentError("update with " + NameOf(value) + ": it is a " +
                                    node(value).op + ", not a MovingAverage, which parameter "
                                    "servers can apply too"));
    return;
  }
  if (target.op != "Variable" || target.trainable || type(value) != type(variable)) {
    Fail(absl::InvalidArgumentError("update with " + NameOf(value) + ": " + target.name +
                                    " is no variable of its type that is not trainable"));
    return;
  }
  updates_.push_back(value);
}

const TensorType& Graph::type(Value value) const {
  const std::vector<TensorType>& outputs = node(value).outputs;
  CHECK(value.output >= 0 && static_cast<size_t>(value.output) < outputs.size())
      << NameOf(value) << ": the node has " << outputs.size() << " outputs";
  return outputs[static_cast<size_t>(value.output)];
}

std::string Graph::NameOf(Value value) const {
  const std::string& name = node(value).name;
  return value.output == 0 ? name : name + ":" + std::to_string(value.output);
}

absl::StatusOr<Value> Graph::Find(std::string_view name) const {
  Value value;
  std::string_view stem = name;
  // ":N" with a single digit: no op has ten outputs.
  if (name.size() > 2 && name[name.size() - 2] == ':' && name.back() >= '0' && name.back() <= '9') {
    value.output = name.back() - '0';
    stem = name.substr(0, name.size() - 2);
  }
  const auto found = ids_.find(stem);
  if (found != ids_.end()) {
    value.node = found->second;
    if (static_cast<size_t>(value.output) < node(value).outputs.size()) return value;
  }
  std::string names;
  for (const Node& node : nodes_) names += (names.empty() ? "" : ", ") + node.name;
  return absl::NotFoundError("find \"" + std::string(name) + "\" in the graph: it has " + names);
}

std::vector<Value> Graph::Variables() const {
  std::vector<Value> variables;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].op == "Variable") variables.push_back({static_cast<NodeId>(i), 0});
  }
  return variables;
}

}  // namespace taas
