#include "trainer/export/graph_nodes.h"

#include "operator/base/check.h"

namespace taas {

tf::AttrValue TypeAttr(tf::DataType type) {
  tf::AttrValue attr;
  attr.set_type(type);
  return attr;
}

tf::AttrValue TypesAttr(const std::vector<tf::DataType>& types) {
  tf::AttrValue attr;
  attr.mutable_list();
  for (const tf::DataType type : types) attr.mutable_list()->add_type(type);
  return attr;
}

tf::AttrValue BoolAttr(bool value) {
  tf::AttrValue attr;
  attr.set_b(value);
  return attr;
}

tf::AttrValue IntAttr(int64_t value) {
  tf::AttrValue attr;
  attr.set_i(value);
  return attr;
}

tf::AttrValue IntsAttr(const std::vector<int64_t>& values) {
  tf::AttrValue attr;
  attr.mutable_list();  // Present also when it is empty.
  for (const int64_t value : values) attr.mutable_list()->add_i(value);
  return attr;
}

tf::AttrValue TextAttr(const std::string& text) {
  tf::AttrValue attr;
  attr.set_s(text);
  return attr;
}

tf::AttrValue ShapeAttr(const Shape& shape) {
  tf::AttrValue attr;
  *attr.mutable_shape() = ShapeProtoOf(shape);
  return attr;
}

tf::TensorShapeProto ShapeProtoOf(const Shape& shape) {
  tf::TensorShapeProto proto;
  static_assert(Shape::kBatch == -1, "TensorFlow's number for an open dimension");
  for (const int64_t size : shape.dims()) proto.add_dim()->set_size(size);
  return proto;
}

tf::DataType DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return tf::DT_FLOAT;
    case DType::kInt32:
      return tf::DT_INT32;
    case DType::kInt64:
      return tf::DT_INT64;
    case DType::kUint8:
      return tf::DT_UINT8;
  }
  CHECK(false) << "no such dtype: " << static_cast<int>(dtype);
  return tf::DT_INVALID;
}

std::string NodeAdder::UniqueName(const std::string& name) {
  std::string unique = name;
  for (int i = 1; !names_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

std::string NodeAdder::Add(const std::string& name, const std::string& op,
                           const std::vector<std::string>& inputs, const Attributes& attributes) {
  names_.insert(name);
  tf::NodeDef* const node = graph_->add_node();
  node->set_name(name);
  node->set_op(op);
  for (const std::string& input : inputs) node->add_input(input);
  for (const auto& [key, value] : attributes) (*node->mutable_attr())[key] = value;
  return name;
}

std::string NodeAdder::AddConst(const std::string& name, tf::TensorProto tensor) {
  tf::AttrValue value;
  const tf::DataType type = tensor.dtype();
  *value.mutable_tensor() = std::move(tensor);
  return Add(name, "Const", {}, {{"dtype", TypeAttr(type)}, {"value", value}});
}

std::string NodeAdder::AddInts(const std::string& name, const Shape& shape,
                               const std::vector<int64_t>& values) {
  tf::TensorProto tensor;
  tensor.set_dtype(tf::DT_INT32);
  *tensor.mutable_tensor_shape() = ShapeProtoOf(shape);
  for (const int64_t value : values) tensor.add_int_val(static_cast<int32_t>(value));
  return AddConst(name, std::move(tensor));
}

std::string NodeAdder::AddFloat(const std::string& name, const Shape& shape, float value) {
  tf::TensorProto tensor;
  tensor.set_dtype(tf::DT_FLOAT);
  *tensor.mutable_tensor_shape() = ShapeProtoOf(shape);
  tensor.add_float_val(value);  // The last value given counts for all that follow.
  return AddConst(name, std::move(tensor));
}

std::string NodeAdder::AddFloats(const std::string& name, const std::vector<float>& values) {
  tf::TensorProto tensor;
  tensor.set_dtype(tf::DT_FLOAT);
  *tensor.mutable_tensor_shape() = ShapeProtoOf(Shape({std::ssize(values)}));
  for (const float value : values) tensor.add_float_val(value);
  return AddConst(name, std::move(tensor));
}

std::string NodeAdder::AddTexts(const std::string& name, const Shape& shape,
                                const std::vector<std::string>& texts) {
  tf::TensorProto tensor;
  tensor.set_dtype(tf::DT_STRING);
  *tensor.mutable_tensor_shape() = ShapeProtoOf(shape);
  for (const std::string& text : texts) tensor.add_string_val(text);
  return AddConst(name, std::move(tensor));
}

}  // namespace taas
