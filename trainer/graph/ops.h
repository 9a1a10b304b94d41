// The ops of this tree. An op is defined here once, apart from its kernels: what it takes, what it
// gives, how it differentiates. x, y, a, b are float32 tensors; names in braces are attributes with
// their default.
//
//   MatMul(a, b) {transpose_a false, transpose_b false}      product of matrices; all axes of a but
//       the last are its rows, and those of b, too, where a is transposed
//   MatMulBias(a, b, bias) {transpose_a, transpose_b}        BiasAdd(MatMul(a, b), bias) at once
//   MatMulBiasGrad(a, dy)                                    [0] aᵀ dy, [1] the sum of dy's rows:
//       of a layer its weights' and its bias's gradient; both made by a session (product_fusion.h)
//   Add(a, b)  Sub(a, b)  Mul(a, b)                          elementwise, equal shapes
//   AddN(a, …)                                               sum of tensors of one shape
//   BiasAdd(x, b)                                            b[j] added along the last axis of x
//   BiasAddRelu(x, b)                                        Relu(BiasAdd(x, b)) in one pass
//   Scale(x) {factor}                                        factor · x
//   Square(x)  Relu(x)  Sigmoid(x)  Tanh(x)  Identity(x)     elementwise
//   ReluGrad(dy, y)  SigmoidGrad(dy, y)  TanhGrad(dy, y)     dx, from the output y
//   Concat(a, …) {axis 1}                                    along one axis
//   Slice(x) {axis 1, begin, size}                           a range of one axis; of int64 ids, too
//   Pad(x) {axis 1, before, after}                           zeros around one axis
//   Reshape(x) {shape}                                       a view; -1 stands for the batch
//   ReduceSum(x) ReduceMean(x) {axes []}                     over neighbouring axes; [] = all
//   Expand(x) {shape, axes, mean false}                      the reverse: repeats x along `axes`
//   SparseSoftmaxCrossEntropy(logits, int32 labels)          [0] mean loss, [1] probabilities; a
//       label per row, which is the last axis
//   SparseSoftmaxCrossEntropyGrad(probabilities, labels, dloss)
//   SparseSoftmaxCrossEntropyAndGrad(logits, labels) {dloss} [0] mean loss, [1] dlogits
//   MeanSquaredError(x, targets)  MeanSquaredErrorGrad(x, targets, dloss)
//   L1Loss(x)                                                the sum of the sizes |x|
//   L1LossGrad(x, dloss)                                     dloss · sign(x), 0 of 0
//   L2Loss(x)                                                half the sum of the squares
//   L2LossGrad(x, dloss)                                     dloss · x
//   L2LossGradAdd(a, x, dloss)                               a + dloss · x in one pass
//   ArgMax(x)                                                int32, over the last axis
//   Accuracy(logits, int32 labels)                           share of rows where ArgMax is right
//
//   Fused(x, …) {program, ops}                               a chain of elementwise ops, made by a
//       session of ops that need no other (fused_program.h)
//
//   DecodePixels(uint8 x) {scale 1/255, offset 0}            x · scale + offset, float32
//   DecodePixels(uint8 x[n, height, width, channels], int64 seeds[n]) {scale, offset,
//       crop_padding 0, flip false}                          the same of x as AugmentImage of its
//       seed changes it (trainer/data/augment.h): each image is cut out of itself with a margin of
//       crop_padding zeros around it, and every second one mirrored
//
// Images are float32[n, height, width, channels]; W stands for the attributes strides {1, 1},
// padding "SAME" and explicit_paddings {} of window.h.
//
//   Conv2D(x, w[height, width, in, out]) {W}                 cross-correlation, as everywhere
//   Conv2DInputGrad(dy, w) {W, image_size}                   dx
//   Conv2DWeightsGrad(x, dy) {W, kernel_size}                dw
//   MaxPool(x) {size {2, 2}, W}  AvgPool(x) {size, W}        padding counts in neither
//   MaxPoolGrad(dy, x, y) {size, W}                          dx, to the first maximum of a window
//   MaxPoolReluGrad(dy, x, y) {size, W}                      ReluGrad(MaxPoolGrad(dy, x, y), x)
//   AvgPoolGrad(dy) {size, W, image_size}                    dx
//   BatchNorm(x, scale, offset) {epsilon 0.001}              [0] y, and per channel, the last axis:
//       [1] mean, [2] variance, [3] unbiased variance of the batch
//   BatchNormGrad(dy, x, scale, mean, variance) {epsilon}    [0] dx, [1] dscale, [2] doffset
//   BatchNormRelu(x, scale, offset) {epsilon}                as BatchNorm, [0] Relu(y)
//   BatchNormReluGrad(dy, x, scale, mean, variance, offset) {epsilon}
//       BatchNormGrad(ReluGrad(dy, BatchNormRelu(x, …)), x, …)
//   BatchNormInference(x, scale, offset, mean, variance) {epsilon}
//   MovingAverage(average, x) {decay}                        average - (1 - decay)(average - x)
//   Dropout(x) {rate, stream ""}                             zeros at random, others / (1 - rate);
//       numbers of one stream, by default the node's name, of one step are the same
//
// Rows are all axes but the last. Sequences of attention are [n, steps, width], those of an LSTM
// [steps, n, width]; of its 4 · units columns the first are the input gate, then forget gate, new
// values and output gate, as in PyTorch and cuDNN.
//
//   OneHot(int64 ids) {size} -> [ids…, size]                 1 at the id, else 0
//   Embedding(table[rows, width], int64 ids) -> [ids…, width]   the table's row of each id
//   EmbeddingGrad(dy, ids) {rows}                            dtable
//   EmbeddingRowsGrad(dy, ids, …) {rows}                     of one or more lookups [0] dtable,
//       [1] the int32 rows in which it is not zero, ascending, [2] their number; made by a session
//       (row_gradients.h). All three keep what the run before left, which the op takes back.
//   LayerNorm(x, scale, offset) {epsilon 1e-5}               [0] y, per row [1] mean and
//       [2] 1 / √(variance + epsilon)
//   LayerNormGrad(dy, x, scale, mean, inverse)               [0] dx, [1] dscale, [2] doffset
//   Gelu(x)  GeluGrad(dy, x)                                 in the approximation with tanh
//   Attention(qkv[n, steps, 3 · width]) {heads, causal true}   [0] y[n, steps, width], and of the
//       scores [1] the logarithm of the sum of the exponentials, [n, heads, steps]
//   AttentionGrad(dy, qkv, y, sums) {heads, causal}          dqkv
//   SwapLeading(x)                                           the first two axes changed
//   Lstm(x, w[width, 4 · units], r[units, 4 · units], b[4 · units])   [0] y[steps, n, units],
//       [1] gates, after their functions, [2] cells; starts from zeroes
//   LstmGrad(dy, x, w, r, y, gates, cells) {input_gradient true}   [0] dx, [1] dw, [2] dr, [3] db
//
// The leaves Input, Variable and Constant are made by Graph's own methods.
//
// Ownership: the registry given. Threads: one at a time. Errors: an op added twice is a CHECK.
//
//   OpRegistry ops;
//   AddMathOps(&ops);
//   Graph graph(&ops);

#ifndef TRAINER_GRAPH_OPS_H_
#define TRAINER_GRAPH_OPS_H_

#include "trainer/graph/op_registry.h"

namespace taas {

void AddMathOps(OpRegistry* ops);
void AddShapeOps(OpRegistry* ops);
void AddLossOps(OpRegistry* ops);
void AddImageOps(OpRegistry* ops);
void AddNormOps(OpRegistry* ops);
void AddSequenceOps(OpRegistry* ops);
void AddFusedOps(OpRegistry* ops);

// For all of them, and for ops of other places.

// A second op of one name is a programmer error.
void MustAdd(OpRegistry* ops, OpDefinition definition);

// Flops per output element; every input read and every output written once.
std::function<OpCost(const OpCall&, std::span<const TensorType>)> ElementwiseCost(double flops);
// Output 0 has the type of input 0.
absl::StatusOr<std::vector<TensorType>> SameAsFirst(const OpCall& call);
// All inputs are float32 and of one shape, which is also the output's.
absl::StatusOr<std::vector<TensorType>> AllEqual(const OpCall& call);
absl::Status RequireFloat(const OpCall& call, size_t inputs);

}  // namespace taas

#endif  // TRAINER_GRAPH_OPS_H_
