#include "trainer/summary/graph_event.h"

#include <variant>
#include <vector>

#include "trainer/export/graph_nodes.h"
#include "trainer/formats/tensorflow.pb.h"

namespace taas {
namespace {

// Of the first release whose format this is.
constexpr int kProducer = 24;

std::string NameInTensorFlow(const std::string& op) {
  if (op == "Input") return "Placeholder";
  if (op == "Variable") return "VariableV2";
  if (op == "Constant") return "Const";
  return op;
}

void Set(const Shape& shape, tf::TensorShapeProto* to) {
  for (const int64_t dim : shape.dims()) to->add_dim()->set_size(dim);
}

struct SetAttribute {
  tf::AttrValue* to;
  void operator()(bool value) const { to->set_b(value); }
  void operator()(int64_t value) const { to->set_i(value); }
  void operator()(double value) const { to->set_f(static_cast<float>(value)); }
  void operator()(const std::string& value) const { to->set_s(value); }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) to->mutable_list()->add_i(value);
  }
};

}  // namespace

summary::Event GraphEvent(std::span<const OpInfo> ops) {
  tf::GraphDef graph;
  graph.mutable_versions()->set_producer(kProducer);
  for (const OpInfo& op : ops) {
    tf::NodeDef* const node = graph.add_node();
    node->set_name(op.name);
    node->set_op(NameInTensorFlow(op.op));
    node->set_device(op.device);
    for (const std::string& input : op.inputs) node->add_input(input);
    auto& attributes = *node->mutable_attr();
    for (const auto& [name, value] : op.attributes.values()) {
      std::visit(SetAttribute{&attributes[name]}, value);
    }
    if (op.products != Precision::kFloat32) {
      attributes["products"].set_s(std::string(NameOf(op.products)));
    }
    attributes["T"].set_type(DataTypeOf(op.outputs[0].dtype));
    for (const TensorType& output : op.outputs) {
      Set(output.shape, attributes["_output_shapes"].mutable_list()->add_shape());
    }
    if (op.inputs.empty()) Set(op.outputs[0].shape, attributes["shape"].mutable_shape());
  }
  summary::Event event;
  event.set_graph_def(graph.SerializeAsString());
  return event;
}

}  // namespace taas
