// The loss of a classifier against its twin on the processor: rows of a warp and of a block, the
// means of rows, and labels that are none of the classes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "operator/base/status.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t rows, classes;
};
// Of warps: idle lanes, a whole block and one row more, in registers or not; then of blocks, also
// with more than once as many as their threads have on their way.
constexpr Size kSizes[] = {{0, 10},    {1, 1},     {1, 31}, {8, 32}, {9, 33},    {2, 255},
                           {1, 1'024}, {2, 1'025}, {9, 4},  {3, 132}, {1, 1'028}, {1, 2'310}};

HostTensor Labels(const std::vector<int32_t>& labels) {
  return TensorOf(DType::kInt32, Shape({static_cast<int64_t>(labels.size())}), labels);
}

OpCase Loss(HostTensor logits, HostTensor labels) {
  return {.op = "SparseSoftmaxCrossEntropy",
          .inputs = {std::move(logits), std::move(labels)},
          .tolerance = 1e-6};
}

OpCase LossGrad(HostTensor probabilities, HostTensor labels) {
  return {.op = "SparseSoftmaxCrossEntropyGrad",
          .inputs = {std::move(probabilities), std::move(labels), Floats(Shape(), {1.5f})}};
}

// The processor computes the loss, then its gradient.
absl::StatusOr<Kernel> LossThenGrad(const KernelSpec& spec) {
  const Attributes none;
  const float dloss = static_cast<float>(spec.attributes.Number("dloss"));
  const std::vector<TensorType> types = {spec.inputs[0], spec.inputs[1],
                                         {DType::kFloat32, Shape()}};
  ASSIGN_OR_RETURN(const Kernel loss,
                   ProcessorKernel("SparseSoftmaxCrossEntropy", {.attributes = none,
                                                                 .inputs = spec.inputs,
                                                                 .outputs = spec.outputs}));
  ASSIGN_OR_RETURN(const Kernel grad,
                   ProcessorKernel("SparseSoftmaxCrossEntropyGrad",
                                   {.attributes = none,
                                    .inputs = types,
                                    .outputs = spec.outputs.subspan(1)}));
  return Kernel{.run = [loss, grad, dloss](const KernelCall& call) -> absl::Status {
                  RETURN_IF_ERROR(loss.run(call));
                  const void* const inputs[] = {call.outputs[1], call.inputs[1], &dloss};
                  KernelCall after = call;
                  after.inputs = inputs;
                  after.outputs = call.outputs.subspan(1);
                  return grad.run(after);
                },
                .scratch_bytes = std::max(loss.scratch_bytes, grad.scratch_bytes)};
}

// Also with the gradient in the same pass.
OpCase AndGrad(OpCase loss) {
  static const KernelRegistry kOneByOne = [] {
    KernelRegistry kernels;
    kernels.Add("SparseSoftmaxCrossEntropyAndGrad", "CPU", DType::kFloat32, LossThenGrad);
    return kernels;
  }();
  loss.op = "SparseSoftmaxCrossEntropyAndGrad";
  loss.attributes = {{"dloss", 1.5}};
  loss.twins = &kOneByOne;
  return loss;
}

TEST(SoftmaxLossTest, IsItsTwin) {
  for (const auto& [rows, classes] : kSizes) {
    const OpCase loss = Loss(RandomFloats(Shape({rows, classes}), 1, -6, 6),
                             RandomIntegers(DType::kInt32, Shape({rows}), 2, classes));
    ExpectTwin(loss);
    ExpectTwin(AndGrad(loss));
  }
}

TEST(SoftmaxLossTest, NothingOverflowsAndWhatIsNoNumberIsSeen) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  // Of a class that cannot be; and so are the first ones that a thread sees.
  ExpectTwin(Loss(Floats(Shape({1, 4}), {1, kNone, 2, 3}), Labels({0})));
  std::vector<float> late(3'000, kNone);
  late[2'999] = 1;
  ExpectTwin(Loss(Floats(Shape({1, 3'000}), late), Labels({2'999})));
  ExpectTwin(Loss(Floats(Shape({3, 4}), {1, kNan, 2, 5, kNan, 1, 0, 0, 1, 2, 3, 4}),
                  Labels({0, 1, 2})));
  ExpectTwin(Loss(Floats(Shape({2, 3}), {1'000, -1'000, 999, -3e38f, -3e38f, -3e38f}),
                  Labels({0, 2})));
  ExpectTwin(Loss(Floats(Shape({3, 3}), {1, kNan, 2, kNan, 1, 0, 1, 2, 3}), Labels({0, 1, 2})));
}

// Row 1 is the first; none is looked up in memory.
TEST(SoftmaxLossTest, ReportsTheFirstLabelThatIsNoClass) {
  for (const std::vector<int32_t>& labels : std::vector<std::vector<int32_t>>{
           {3, 12, 0, -1}, {3, -7, 0, 12}, {0, 1, 2, 10}, {10, 10, 10, 10}}) {
    OpCase loss = Loss(RandomFloats(Shape({4, 10}), 1), Labels(labels));
    loss.index = 5;
    loss.wrong_data = true;
    ExpectTwin(loss);
    ExpectTwin(AndGrad(loss));
    OpCase grad = LossGrad(RandomFloats(Shape({4, 10}), 1, 0), Labels(labels));
    grad.wrong_data = true;
    ExpectTwin(grad);
    // An earlier kernel's stays, a later one's does not.
    for (const int32_t other : {4, 6}) {
      loss.block.fault = {.kernel = other, .kind = Fault::Kind::kId, .at = 9, .bound = 3};
      ExpectTwin(loss);
    }
  }
}

// More rows than the block that looks has threads.
TEST(SoftmaxLossTest, ReportsTheFirstOfManyLabels) {
  std::vector<int32_t> labels(600, 1);
  labels[599] = labels[300] = labels[556] = labels[44] = 2;
  OpCase grad = LossGrad(RandomFloats(Shape({600, 2}), 1, 0), Labels(labels));
  grad.wrong_data = true;
  grad.orders = 3;
  ExpectTwin(grad);
}

TEST(SoftmaxLossTest, GradientIsItsTwin) {
  for (const auto& [rows, classes] : kSizes) {
    OpCase grad = LossGrad(RandomFloats(Shape({rows, classes}), 1, 0),
                           RandomIntegers(DType::kInt32, Shape({rows}), 2, classes));
    ExpectTwin(grad);
    grad.in_place = {0};
    ExpectTwin(grad);
  }
}

// Of 512 logits, 4 bytes each; with that a label for each thread, row losses and 8,192 bytes of the
// mean's shared memory, which each thread reads. Of rows that are in no registers a second time.
TEST(SoftmaxLossTest, ReadsEachLogitOnceOrTwice) {
  const OpCase loss = Loss(RandomFloats(Shape({16, 32}), 1),
                           RandomIntegers(DType::kInt32, Shape({16}), 2, 32));
  EXPECT_EQ(CostsOf(loss),
            (OpCosts{.launches = 2, .barriers = 4, .read_bytes = 12'552, .written_bytes = 2'156}));
  OpCase odd = Loss(RandomFloats(Shape({16, 32}), 1), loss.inputs[1]);
  odd.behind = 4;
  EXPECT_EQ(CostsOf(odd),
            (OpCosts{.launches = 2, .barriers = 4, .read_bytes = 12'552 + 2'048,
                     .written_bytes = 2'156}));
  EXPECT_EQ(CostsOf(LossGrad(loss.inputs[0], loss.inputs[1])),
            (OpCosts{.launches = 1, .barriers = 2, .read_bytes = 6'216, .written_bytes = 2'056}));
}

}  // namespace
}  // namespace taas::cuda
