// Sequences and tokens: embeddings, layer normalization (Ba et al. 2016), GELU (Hendrycks and
// Gimpel 2016), attention (Vaswani et al. 2017), LSTM (Hochreiter and Schmidhuber 1997).

#include <algorithm>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

using Types = std::vector<TensorType>;

absl::Status Refuse(const std::string& why) { return absl::InvalidArgumentError(why); }

Shape WithLast(const Shape& shape, int64_t size) {
  std::vector<int64_t> dims = shape.dims();
  dims.back() = size;
  return Shape(std::move(dims));
}

Shape WithoutLast(const Shape& shape) {
  std::vector<int64_t> dims = shape.dims();
  dims.pop_back();
  return Shape(std::move(dims));
}

TensorType Floats(Shape shape) { return {DType::kFloat32, std::move(shape)}; }

// ----- tokens

absl::Status RequireIds(const TensorType& ids) {
  if (ids.dtype == DType::kInt64 && ids.shape.rank() >= 1) return absl::OkStatus();
  return Refuse("ids must be int64");
}

absl::StatusOr<Types> InferOneHot(const OpCall& call) {
  const TensorType& ids = call.inputs[0];
  const int64_t size = call.attributes.Int("size");
  RETURN_IF_ERROR(RequireIds(ids));
  if (size < 1) return Refuse("size must be at least 1");
  std::vector<int64_t> dims = ids.shape.dims();
  dims.push_back(size);
  return Types{Floats(Shape(std::move(dims)))};
}

absl::StatusOr<Types> InferEmbedding(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& table = call.inputs[0].shape;
  const TensorType& ids = call.inputs[1];
  if (table.rank() != 2 || table.has_batch()) return Refuse("the table must be rows x width");
  if (table.dim(0) > kTableRowsMax) {
    return Refuse("the table has " + std::to_string(table.dim(0)) + " rows, at most " +
                  std::to_string(kTableRowsMax) + " can be looked up");
  }
  RETURN_IF_ERROR(RequireIds(ids));
  std::vector<int64_t> dims = ids.shape.dims();
  dims.push_back(table.dim(1));
  return Types{Floats(Shape(std::move(dims)))};
}

absl::Status EmbeddingGradient(GradientCall& call) {
  if (!call.wanted[0]) return absl::OkStatus();
  call.gradients[0] =
      call.graph.Add("EmbeddingGrad", "", {call.outputs[0], call.inputs[1]},
                     {{"rows", call.graph.type(call.inputs[0]).shape.dim(0)}});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferEmbeddingGrad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& dy = call.inputs[0].shape;
  RETURN_IF_ERROR(RequireIds(call.inputs[1]));
  if (dy.rank() < 2 || WithoutLast(dy) != call.inputs[1].shape) {
    return Refuse("dy must have a row for each of the ids");
  }
  return Types{Floats(Shape({call.attributes.Int("rows"), dy.dim(dy.rank() - 1)}))};
}

absl::StatusOr<Types> InferEmbeddingRowsGrad(const OpCall& call) {
  if (call.inputs.size() % 2 != 0) return Refuse("each dy must be followed by its ids");
  int64_t ids = 0;
  Types outputs;
  for (size_t i = 0; i < call.inputs.size(); i += 2) {
    ASSIGN_OR_RETURN(Types lookup, InferEmbeddingGrad({call.inputs.subspan(i, 2),
                                                       call.attributes}));
    if (call.inputs[i].shape.has_batch()) return Refuse("a list has no open dimension");
    if (i > 0 && lookup != outputs) return Refuse("all lookups must be of one width");
    outputs = std::move(lookup);
    ids += call.inputs[i + 1].shape.count();
  }
  outputs.push_back({DType::kInt32, Shape({std::min(ids, call.attributes.Int("rows"))})});
  outputs.push_back({DType::kInt32, Shape({1})});
  return outputs;
}

// Of the table only the rows that are looked up count: each is cleared once and added to once.
OpCost EmbeddingRowsGradCost(const OpCall& call, std::span<const TensorType>) {
  OpCost cost;
  for (size_t i = 0; i < call.inputs.size(); i += 2) {
    const double elements = static_cast<double>(call.inputs[i].shape.count());
    const double ids = static_cast<double>(call.inputs[i + 1].shape.count());
    cost.flops += elements;
    cost.bytes += 4 * (sizeof(float) * elements + sizeof(int64_t) * ids);
  }
  return cost;
}

// ----- layer normalization and GELU

absl::StatusOr<Types> InferLayerNorm(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 3));
  const Shape& x = call.inputs[0].shape;
  if (x.rank() < 2 || x.dim(x.rank() - 1) < 1) return Refuse("x must have rows and columns");
  const TensorType columns = Floats(Shape({x.dim(x.rank() - 1)}));
  if (call.inputs[1] != columns || call.inputs[2] != columns) {
    return Refuse("scale and offset must be " + columns.ToString());
  }
  const TensorType rows = Floats(WithoutLast(x));
  return Types{call.inputs[0], rows, rows};
}

absl::Status LayerNormGradient(GradientCall& call) {
  if (call.outputs[1].valid() || call.outputs[2].valid()) {
    return absl::UnimplementedError("the moments have no gradient, only output 0 has");
  }
  const NodeId node = call.node.node;
  const Value dx = call.graph.Add(
      "LayerNormGrad", "",
      {call.outputs[0], call.inputs[0], call.inputs[1], Value{node, 1}, Value{node, 2}});
  for (int i = 0; i < 3; ++i) call.gradients[static_cast<size_t>(i)] = {dx.node, i};
  return absl::OkStatus();
}

absl::StatusOr<Types> InferLayerNormGrad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 5));
  if (call.inputs[0] != call.inputs[1]) return Refuse("dy and x must be of one shape");
  return Types{call.inputs[1], call.inputs[2], call.inputs[2]};
}

absl::Status GeluGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("GeluGrad", "", {call.outputs[0], call.inputs[0]});
  return absl::OkStatus();
}

// ----- attention

absl::StatusOr<Types> InferAttention(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& qkv = call.inputs[0].shape;
  const int64_t heads = call.attributes.Int("heads");
  if (qkv.rank() != 3 || qkv.dim(1) < 1) return Refuse("qkv must be [n, steps, 3 x width]");
  if (heads < 1 || qkv.dim(2) < 1 || qkv.dim(2) % (3 * heads) != 0) {
    return Refuse("a width of " + std::to_string(qkv.dim(2)) +
                  " is not three times a multiple of " + std::to_string(heads) + " heads");
  }
  return Types{Floats(WithLast(qkv, qkv.dim(2) / 3)),
               Floats(Shape({qkv.dim(0), heads, qkv.dim(1)}))};
}

absl::Status AttentionGradient(GradientCall& call) {
  if (call.outputs[1].valid()) {
    return absl::UnimplementedError("the sums have no gradient, only output 0 has");
  }
  call.gradients[0] = call.graph.Add(
      "AttentionGrad", "",
      {call.outputs[0], call.inputs[0], call.node, Value{call.node.node, 1}},
      {{"heads", call.attributes().Int("heads")}, {"causal", call.attributes().Bool("causal")}});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferAttentionGrad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 4));
  if (call.inputs[0] != call.inputs[2] || call.inputs[1].shape.rank() != 3) {
    return Refuse("dy and y must be of one shape");
  }
  return Types{call.inputs[1]};
}

// Two products of steps × steps × width forwards, five backwards; a causal one needs half.
std::function<OpCost(const OpCall&, std::span<const TensorType>)> AttentionCost(double products,
                                                                                size_t qkv) {
  return [=](const OpCall& call, std::span<const TensorType> outputs) {
    OpCost cost = ElementwiseCost(0)(call, outputs);
    const Shape& shape = call.inputs[qkv].shape;
    const double half = call.attributes.Bool("causal") ? 0.5 : 1.0;
    cost.flops = half * products * 2.0 * static_cast<double>(shape.count()) / 3 *
                 static_cast<double>(shape.dim(1));
    return cost;
  };
}

// ----- LSTM

absl::StatusOr<Types> InferSwapLeading(const OpCall& call) {
  std::vector<int64_t> dims = call.inputs[0].shape.dims();
  RETURN_IF_ERROR(RequireFloat(call, 1));
  if (dims.size() < 2) return Refuse("there must be two axes");
  std::swap(dims[0], dims[1]);
  return Types{Floats(Shape(std::move(dims)))};
}

absl::Status SwapLeadingGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("SwapLeading", "", {call.outputs[0]});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferLstm(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 4));
  const Shape& x = call.inputs[0].shape;
  const Shape& recurrent = call.inputs[2].shape;
  if (x.rank() != 3 || x.dim(0) < 1) return Refuse("x must be [steps, n, width]");
  if (recurrent.rank() != 2 || recurrent.dim(1) != 4 * recurrent.dim(0)) {
    return Refuse("the recurrent weights must be [units, 4 x units]");
  }
  const int64_t units = recurrent.dim(0);
  if (call.inputs[1].shape != Shape({x.dim(2), 4 * units}) ||
      call.inputs[3].shape != Shape({4 * units})) {
    return Refuse("the weights must be [width, 4 x units], the biases [4 x units]");
  }
  return Types{Floats(WithLast(x, units)), Floats(WithLast(x, 4 * units)),
               Floats(WithLast(x, units))};
}

absl::Status LstmGradient(GradientCall& call) {
  if (call.outputs[1].valid() || call.outputs[2].valid()) {
    return absl::UnimplementedError("gates and cells have no gradient, only output 0 has");
  }
  const NodeId node = call.node.node;
  const Value dx = call.graph.Add("LstmGrad", "",
                                  {call.outputs[0], call.inputs[0], call.inputs[1],
                                   call.inputs[2], call.node, Value{node, 1}, Value{node, 2}},
                                  {{"input_gradient", static_cast<bool>(call.wanted[0])}});
  for (int i = 0; i < 4; ++i) {
    if (i > 0 || call.wanted[0]) call.gradients[static_cast<size_t>(i)] = {dx.node, i};
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferLstmGrad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 7));
  if (call.inputs[0] != call.inputs[4] || call.inputs[2].shape.rank() != 2) {
    return Refuse("dy and y must be of one shape");
  }
  return Types{call.inputs[1], call.inputs[2], call.inputs[3],
               Floats(Shape({call.inputs[2].shape.dim(1)}))};
}

// Products with the weights of the inputs and the recurrent ones; backwards each twice, less the
// gradient of the inputs where nobody wants it.
OpCost LstmCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  const Shape& x = call.inputs[0].shape;
  cost.flops = 2.0 * static_cast<double>(x.dim(0) * x.dim(1)) *
               static_cast<double>(call.inputs[1].shape.count() + call.inputs[2].shape.count());
  return cost;
}

OpCost LstmGradCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  const Shape& x = call.inputs[1].shape;
  const double input_products = call.attributes.Bool("input_gradient") ? 2.0 : 1.0;
  cost.flops = 2.0 * static_cast<double>(x.dim(0) * x.dim(1)) *
               (input_products * static_cast<double>(call.inputs[2].shape.count()) +
                2.0 * static_cast<double>(call.inputs[3].shape.count()));
  return cost;
}

void AddTokenOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "OneHot",
                .attributes = {{.name = "size", .default_value = int64_t{0}, .required = true}},
                .infer = InferOneHot,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "Embedding",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferEmbedding,
                .gradient = EmbeddingGradient,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "EmbeddingGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = {{.name = "rows", .default_value = int64_t{0}, .required = true}},
                .infer = InferEmbeddingGrad,
                .cost = ElementwiseCost(1)});
  MustAdd(ops, {.name = "EmbeddingRowsGrad",
                .inputs_min = 2,
                .inputs_max = OpDefinition::kVariadic,
                .attributes = {{.name = "rows", .default_value = int64_t{0}, .required = true}},
                .infer = InferEmbeddingRowsGrad,
                .cost = EmbeddingRowsGradCost});
}

void AddLayerNormOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "LayerNorm",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = {{.name = "epsilon", .default_value = 1e-5}},
                .infer = InferLayerNorm,
                .gradient = LayerNormGradient,
                .cost = ElementwiseCost(7)});
  MustAdd(ops, {.name = "LayerNormGrad",
                .inputs_min = 5,
                .inputs_max = 5,
                .infer = InferLayerNormGrad,
                .cost = ElementwiseCost(11)});
  MustAdd(ops, {.name = "Gelu",
                .infer = SameAsFirst,
                .gradient = GeluGradient,
                .cost = ElementwiseCost(28)});
  MustAdd(ops, {.name = "GeluGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = AllEqual,
                .cost = ElementwiseCost(35),
                .in_place_input = 0});
}

void AddAttentionOps(OpRegistry* ops) {
  const std::vector<AttributeSpec> attributes = {
      {.name = "heads", .default_value = int64_t{1}, .required = true},
      {.name = "causal", .default_value = true}};
  MustAdd(ops, {.name = "Attention",
                .attributes = attributes,
                .infer = InferAttention,
                .gradient = AttentionGradient,
                .cost = AttentionCost(2, 0)});
  MustAdd(ops, {.name = "AttentionGrad",
                .inputs_min = 4,
                .inputs_max = 4,
                .attributes = attributes,
                .infer = InferAttentionGrad,
                .cost = AttentionCost(5, 1)});
}

void AddLstmOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "SwapLeading",
                .infer = InferSwapLeading,
                .gradient = SwapLeadingGradient,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "Lstm",
                .inputs_min = 4,
                .inputs_max = 4,
                .infer = InferLstm,
                .gradient = LstmGradient,
                .cost = LstmCost});
  MustAdd(ops, {.name = "LstmGrad",
                .inputs_min = 7,
                .inputs_max = 7,
                .attributes = {{.name = "input_gradient", .default_value = true}},
                .infer = InferLstmGrad,
                .cost = LstmGradCost});
}

}  // namespace

void AddSequenceOps(OpRegistry* ops) {
  AddTokenOps(ops);
  AddLayerNormOps(ops);
  AddAttentionOps(ops);
  AddLstmOps(ops);
}

}  // namespace taas
