#include "trainer/export/tensorflow_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

// Names by which the ops of this tree that have one input or two and no attributes are known there.
constexpr std::pair<std::string_view, std::string_view> kSameOps[] = {
    {"Add", "AddV2"},         {"Sub", "Sub"},   {"Mul", "Mul"},       {"Square", "Square"},
    {"Relu", "Relu"},         {"Tanh", "Tanh"}, {"Sigmoid", "Sigmoid"}, {"Identity", "Identity"},
    {"Dropout", "Identity"},
};

class Translator {
 public:
  Translator(const Graph& graph, NodeAdder* nodes, const InputScale& scaled)
      : graph_(graph), nodes_(*nodes), scaled_(scaled) {}

  absl::Status AddNode(NodeId id) {
    const Node& node = graph_.nodes()[static_cast<size_t>(id)];
    const absl::Status status = AddOp(id, node);
    return Annotate(status, "export node " + node.name);
  }
  // Of an input what is fed, not what the graph gets.
  std::string TensorOf(Value value) const {
    const auto fed = fed_.find(value);
    return fed == fed_.end() ? tensors_.at(value) : fed->second;
  }

 private:
  absl::Status AddOp(NodeId id, const Node& node) {
    std::vector<std::string> inputs;
    for (const Value input : node.inputs) inputs.push_back(tensors_.at(input));
    const auto done = [&](std::string tensor) {
      tensors_[{id, 0}] = std::move(tensor);
      return absl::OkStatus();
    };
    const std::string& op = node.op;
    const std::string name = nodes_.UniqueName(node.name);
    for (const auto& [ours, theirs] : kSameOps) {
      if (op != ours) continue;
      return done(nodes_.Add(name, std::string(theirs), inputs, {{"T", FloatType()}}));
    }
    if (op == "Input") {
      const std::string fed = AddInput(name, node);
      if (node.name != scaled_.input) return done(fed);
      fed_[{id, 0}] = fed;
      return done(AddScale(fed));
    }
    if (op == "Variable") return done(AddVariable(name, node));
    if (op == "MatMul") return done(AddMatMul(name, node, inputs));
    if (op == "BiasAdd") return done(AddBias(name, inputs));
    if (op == "BiasAddRelu") {
      return done(nodes_.Add(name, "Relu", {AddBias(nodes_.UniqueName(name + "/BiasAdd"), inputs)},
                             {{"T", FloatType()}}));
    }
    if (op == "AddN") {
      return done(nodes_.Add(name, "AddN", inputs,
                             {{"N", IntAttr(std::ssize(inputs))}, {"T", FloatType()}}));
    }
    if (op == "Scale") {
      inputs.push_back(Float(name + "/factor", node.attributes.Number("factor")));
      return done(nodes_.Add(name, "Mul", inputs, {{"T", FloatType()}}));
    }
    if (op == "ArgMax") {
      inputs.push_back(Ints(name + "/dimension", {-1}, /*scalar=*/true));
      return done(nodes_.Add(name, "ArgMax", inputs,
                             {{"T", FloatType()},
                              {"Tidx", IntType()},
                              {"output_type", IntType()}}));
    }
    if (op == "BatchNormInference") return done(AddBatchNorm(name, node, inputs));
    return AddShapeOrImageOp(name, node, std::move(inputs), done);
  }

  template <typename Done>
  absl::Status AddShapeOrImageOp(const std::string& name, const Node& node,
                                 std::vector<std::string> inputs, const Done& done) {
    const std::string& op = node.op;
    if (op == "Constant") return AddConstant(name, node, done);
    if (op == "Reshape") {
      inputs.push_back(Ints(name + "/shape", node.attributes.Ints("shape")));
      return done(nodes_.Add(name, "Reshape", inputs, {{"T", FloatType()}, {"Tshape", IntType()}}));
    }
    if (op == "Concat") {
      inputs.push_back(Ints(name + "/axis", {node.attributes.Int("axis")}, /*scalar=*/true));
      return done(nodes_.Add(
          name, "ConcatV2", inputs,
          {{"N", IntAttr(std::ssize(inputs) - 1)}, {"T", FloatType()}, {"Tidx", IntType()}}));
    }
    if (op == "Slice") return done(AddSlice(name, node, std::move(inputs)));
    if (op == "Pad") return done(AddPad(name, node, std::move(inputs)));
    if (op == "ReduceSum" || op == "ReduceMean") {
      inputs.push_back(Ints(name + "/axes", ReducedAxes(node)));
      return done(nodes_.Add(name, op == "ReduceSum" ? "Sum" : "Mean", inputs,
                             {{"T", FloatType()},
                              {"Tidx", IntType()},
                              {"keep_dims", BoolAttr(false)}}));
    }
    if (op == "Conv2D") {
      NodeAdder::Attributes attributes = WindowAttributesOf(node);
      attributes.emplace_back("dilations", IntsAttr({1, 1, 1, 1}));
      attributes.emplace_back("explicit_paddings", Paddings(node));
      return done(nodes_.Add(name, "Conv2D", inputs, attributes));
    }
    if (op == "MaxPool" || op == "AvgPool") {
      const bool explicit_pads = node.attributes.Text("padding") == "EXPLICIT";
      if (op == "AvgPool" && explicit_pads) {
        return absl::UnimplementedError(
            "TensorFlow's AvgPool has no padding EXPLICIT; use SAME or VALID, or Pad before it");
      }
      NodeAdder::Attributes attributes = WindowAttributesOf(node);
      const std::vector<int64_t>& size = node.attributes.Ints("size");
      attributes.emplace_back("ksize", IntsAttr({1, size[0], size[1], 1}));
      if (explicit_pads) attributes.emplace_back("explicit_paddings", Paddings(node));
      return done(nodes_.Add(name, op, inputs, attributes));
    }
    return absl::UnimplementedError("op " + op +
                                    " has no translation to TensorFlow; export safetensors");
  }

  std::string Ints(const std::string& name, const std::vector<int64_t>& values,
                   bool scalar = false) {
    const Shape shape = scalar ? Shape() : Shape({std::ssize(values)});
    return nodes_.AddInts(nodes_.UniqueName(name), shape, values);
  }
  std::string Float(const std::string& name, double value) {
    return nodes_.AddFloat(nodes_.UniqueName(name), Shape(), static_cast<float>(value));
  }

  std::string AddInput(const std::string& name, const Node& node) {
    const TensorType& type = node.outputs[0];
    return nodes_.Add(name, "Placeholder", {}, {{"dtype", TypeAttr(DataTypeOf(type.dtype))},
                                                {"shape", ShapeAttr(type.shape)}});
  }

  std::string AddScale(const std::string& fed) {
    const auto add = [&](const char* op, const std::string& a, const std::string& b) {
      return nodes_.Add(nodes_.UniqueName(fed + "/normalise/" + op), op, {a, b},
                        {{"T", FloatType()}});
    };
    const std::string part = fed + "/normalise/";
    return add("AddV2",
               add("Mul", fed,
                   nodes_.AddFloats(nodes_.UniqueName(part + "scale"), scaled_.scale)),
               nodes_.AddFloats(nodes_.UniqueName(part + "offset"), scaled_.offset));
  }

  // With an initializer of zeros, because TensorFlow wants one; a load restores the values.
  std::string AddVariable(const std::string& name, const Node& node) {
    const Shape& shape = node.outputs[0].shape;
    nodes_.Add(name, "VarHandleOp", {},
               {{"dtype", FloatType()},
                {"shape", ShapeAttr(shape)},
                {"shared_name", TextAttr(name)},
                {"container", TextAttr("")}});
    const std::string zeros = nodes_.AddFloat(name + "/Initializer/zeros", shape, 0);
    nodes_.Add(name + "/Assign", "AssignVariableOp", {name, zeros}, {{"dtype", FloatType()}});
    return nodes_.Add(name + "/Read/ReadVariableOp", "ReadVariableOp", {name},
                      {{"dtype", FloatType()}});
  }

  template <typename Done>
  absl::Status AddConstant(const std::string& name, const Node& node, const Done& done) {
    const Shape& shape = node.outputs[0].shape;
    if (shape.has_batch()) return absl::UnimplementedError("a constant with a batch dimension");
    return done(nodes_.AddFloat(name, shape, static_cast<float>(node.attributes.Number("value"))));
  }

  std::string AddMatMul(const std::string& name, const Node& node,
                        const std::vector<std::string>& inputs) {
    return nodes_.Add(name, "MatMul", inputs,
                      {{"T", FloatType()},
                       {"transpose_a", BoolAttr(node.attributes.Bool("transpose_a"))},
                       {"transpose_b", BoolAttr(node.attributes.Bool("transpose_b"))}});
  }

  std::string AddBias(const std::string& name, const std::vector<std::string>& inputs) {
    return nodes_.Add(name, "BiasAdd", inputs,
                      {{"T", FloatType()}, {"data_format", TextAttr("NHWC")}});
  }

  int RankOfInput(const Node& node) const { return graph_.type(node.inputs[0]).shape.rank(); }

  std::string AddSlice(const std::string& name, const Node& node,
                       std::vector<std::string> inputs) {
    const size_t rank = static_cast<size_t>(RankOfInput(node));
    const size_t axis = static_cast<size_t>(node.attributes.Int("axis"));
    std::vector<int64_t> begin(rank, 0), size(rank, -1);
    begin[axis] = node.attributes.Int("begin");
    size[axis] = node.attributes.Int("size");
    inputs.push_back(Ints(name + "/begin", begin));
    inputs.push_back(Ints(name + "/size", size));
    return nodes_.Add(name, "Slice", inputs, {{"T", FloatType()}, {"Index", IntType()}});
  }

  std::string AddPad(const std::string& name, const Node& node, std::vector<std::string> inputs) {
    const int64_t rank = RankOfInput(node);
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
    const size_t at = static_cast<size_t>(2 * node.attributes.Int("axis"));
    pads[at] = node.attributes.Int("before");
    pads[at + 1] = node.attributes.Int("after");
    inputs.push_back(
        nodes_.AddInts(nodes_.UniqueName(name + "/paddings"), Shape({rank, 2}), pads));
    return nodes_.Add(name, "Pad", inputs, {{"T", FloatType()}, {"Tpaddings", IntType()}});
  }

  std::vector<int64_t> ReducedAxes(const Node& node) const {
    std::vector<int64_t> axes = node.attributes.Ints("axes");
    for (int axis = 0; axes.empty() && axis < RankOfInput(node); ++axis) axes.push_back(axis);
    return axes;
  }

  static NodeAdder::Attributes WindowAttributesOf(const Node& node) {
    const std::vector<int64_t>& strides = node.attributes.Ints("strides");
    return {{"T", FloatType()},
            {"strides", IntsAttr({1, strides[0], strides[1], 1})},
            {"padding", TextAttr(node.attributes.Text("padding"))},
            {"data_format", TextAttr("NHWC")}};
  }

  static tf::AttrValue Paddings(const Node& node) {
    if (node.attributes.Text("padding") != "EXPLICIT") return IntsAttr({});
    const std::vector<int64_t>& pads = node.attributes.Ints("explicit_paddings");
    return IntsAttr({0, 0, pads[0], pads[1], pads[2], pads[3], 0, 0});
  }

  // scale · (x - mean) / sqrt(variance + epsilon) + offset, as one factor and one term for each
  // channel.
  std::string AddBatchNorm(const std::string& name, const Node& node,
                           const std::vector<std::string>& inputs) {
    const NodeAdder::Attributes type = {{"T", FloatType()}};
    const auto add = [&](const std::string& part, const char* op, const std::string& a,
                         const std::string& b) {
      const std::string full = part.empty() ? name : nodes_.UniqueName(name + "/" + part);
      return nodes_.Add(full, op,
                        b.empty() ? std::vector<std::string>{a} : std::vector<std::string>{a, b},
                        type);
    };
    const std::string epsilon = Float(name + "/epsilon", node.attributes.Number("epsilon"));
    const std::string wide = add("add", "AddV2", inputs[4], epsilon);
    const std::string factor = add("mul", "Mul", add("Rsqrt", "Rsqrt", wide, ""), inputs[1]);
    const std::string term = add("sub", "Sub", inputs[2], add("mul", "Mul", inputs[3], factor));
    return add("", "AddV2", add("mul", "Mul", inputs[0], factor), term);
  }

  const Graph& graph_;
  NodeAdder& nodes_;
  const InputScale& scaled_;
  std::map<Value, std::string> tensors_, fed_;
};

// What `ends` depend on, in the graph's order, which is topological.
std::vector<NodeId> Needed(const Graph& graph, const std::vector<Value>& ends) {
  std::vector<bool> needed(graph.nodes().size(), false);
  for (const Value end : ends) needed[static_cast<size_t>(end.node)] = true;
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const Value input : graph.nodes()[i].inputs) {
      needed[static_cast<size_t>(input.node)] = true;
    }
  }
  std::vector<NodeId> ids;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) ids.push_back(static_cast<NodeId>(i));
  }
  return ids;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Translate(const Graph& graph,
                                                   const std::vector<Value>& ends,
                                                   NodeAdder* nodes,
                                                   const InputScale& scaled) {
  Translator translator(graph, nodes, scaled);
  for (const NodeId id : Needed(graph, ends)) RETURN_IF_ERROR(translator.AddNode(id));
  std::vector<std::string> tensors;
  for (const Value end : ends) {
    if (end.output != 0) {
      return absl::UnimplementedError("export " + graph.NameOf(end) +
                                      ": only the first output of an op can be saved");
    }
    tensors.push_back(translator.TensorOf(end));
  }
  return tensors;
}

}  // namespace taas
