// Adds nodes with their attributes to a TensorFlow GraphDef.
//
// Ownership: NodeAdder borrows the graph. Threads: one at a time. Errors: none; names must be new
// (UniqueName makes them so).
//
//   NodeAdder nodes(&graph);
//   nodes.Add("y", "Softmax", {"logits"}, {{"T", TypeAttr(tf::DT_FLOAT)}});

#ifndef TRAINER_EXPORT_GRAPH_NODES_H_
#define TRAINER_EXPORT_GRAPH_NODES_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainer/formats/tensorflow.pb.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

tf::AttrValue TypeAttr(tf::DataType type);
inline tf::AttrValue FloatType() { return TypeAttr(tf::DT_FLOAT); }
inline tf::AttrValue IntType() { return TypeAttr(tf::DT_INT32); }
inline tf::AttrValue TextType() { return TypeAttr(tf::DT_STRING); }
tf::AttrValue TypesAttr(const std::vector<tf::DataType>& types);
tf::AttrValue BoolAttr(bool value);
tf::AttrValue IntAttr(int64_t value);
tf::AttrValue IntsAttr(const std::vector<int64_t>& values);
tf::AttrValue TextAttr(const std::string& text);
tf::AttrValue ShapeAttr(const Shape& shape);

// The batch becomes -1, which is open.
tf::TensorShapeProto ShapeProtoOf(const Shape& shape);
tf::DataType DataTypeOf(DType dtype);

class NodeAdder {
 public:
  using Attributes = std::vector<std::pair<std::string, tf::AttrValue>>;

  explicit NodeAdder(tf::GraphDef* graph) : graph_(graph) {}

  // `name` or, if a node has it, with a suffix; taken from then on.
  std::string UniqueName(const std::string& name);

  // All return `name`.
  std::string Add(const std::string& name, const std::string& op,
                  const std::vector<std::string>& inputs, const Attributes& attributes);
  std::string AddInts(const std::string& name, const Shape& shape,
                      const std::vector<int64_t>& values);
  // A vector.
  std::string AddFloats(const std::string& name, const std::vector<float>& values);
  // A tensor of one value everywhere.
  std::string AddFloat(const std::string& name, const Shape& shape, float value);
  std::string AddTexts(const std::string& name, const Shape& shape,
                       const std::vector<std::string>& texts);

 private:
  std::string AddConst(const std::string& name, tf::TensorProto tensor);

  tf::GraphDef* const graph_;
  std::set<std::string> names_;
};

}  // namespace taas

#endif  // TRAINER_EXPORT_GRAPH_NODES_H_
