// Batch normalization against its twins on the processor: few and many channels, one by one and by
// fours, rows of one block and of several.

#include <algorithm>
#include <cmath>
#include <cstdint>
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
  int64_t rows, channels;
};
constexpr Size kSizes[] = {{0, 3},   {1, 1},   {2, 32},  {33, 31}, {65, 33},
                           {257, 33}, {263, 5}, {9, 129}, {5, 4},   {70, 12}};
// By fours with two splits of the rows, which takes as many; in fewer orders.
constexpr Size kSplit{257, 128};

constexpr double kSums = 1e-5;

// Which the processor computes one after the other, the Relu in place.
absl::StatusOr<Kernel> NormRelu(const KernelSpec& spec) {
  const Attributes none;
  ASSIGN_OR_RETURN(const Kernel norm, ProcessorKernel("BatchNorm", spec));
  ASSIGN_OR_RETURN(const Kernel relu, ProcessorKernel("Relu", {.attributes = none,
                                                               .inputs = spec.outputs.first(1),
                                                               .outputs = spec.outputs.first(1)}));
  return Kernel{.run = [norm, relu](const KernelCall& call) -> absl::Status {
                  RETURN_IF_ERROR(norm.run(call));
                  const void* const inputs[] = {call.outputs[0]};
                  KernelCall after = call;
                  after.inputs = inputs;
                  after.outputs = call.outputs.first(1);
                  return relu.run(after);
                },
                .scratch_bytes = norm.scratch_bytes};
}

// The norm once more, what the Relu behind it lets pass, then the gradient.
absl::StatusOr<Kernel> NormReluGrad(const KernelSpec& spec) {
  const Attributes none;
  const std::vector<TensorType> of_norm = {spec.inputs[1], spec.inputs[2], spec.inputs[5],
                                           spec.inputs[3], spec.inputs[4]};
  const std::vector<TensorType> of_relu = {spec.inputs[0], spec.inputs[1]};
  const auto x = spec.inputs.subspan(1, 1);
  ASSIGN_OR_RETURN(const Kernel norm,
                   ProcessorKernel("BatchNormInference", {.attributes = spec.attributes,
                                                          .inputs = of_norm,
                                                          .outputs = x}));
  ASSIGN_OR_RETURN(const Kernel relu, ProcessorKernel("ReluGrad", {.attributes = none,
                                                                   .inputs = of_relu,
                                                                   .outputs = x}));
  ASSIGN_OR_RETURN(const Kernel grad,
                   ProcessorKernel("BatchNormGrad", {.attributes = spec.attributes,
                                                     .inputs = spec.inputs.first(5),
                                                     .outputs = spec.outputs}));
  const auto count = static_cast<size_t>(spec.inputs[0].shape.count());
  return Kernel{.run = [=](const KernelCall& call) -> absl::Status {
                  std::vector<float> y(count), dy(count);
                  const void* const normed[] = {call.inputs[1], call.inputs[2], call.inputs[5],
                                                call.inputs[3], call.inputs[4]};
                  const void* const passed[] = {call.inputs[0], y.data()};
                  const void* const inputs[] = {dy.data(), call.inputs[1], call.inputs[2],
                                                call.inputs[3], call.inputs[4]};
                  void* const to_y[] = {y.data()};
                  void* const to_dy[] = {dy.data()};
                  KernelCall part = call;
                  part.inputs = normed;
                  part.outputs = to_y;
                  RETURN_IF_ERROR(norm.run(part));
                  part.inputs = passed;
                  part.outputs = to_dy;
                  RETURN_IF_ERROR(relu.run(part));
                  part.inputs = inputs;
                  part.outputs = call.outputs;
                  return grad.run(part);
                },
                .scratch_bytes = std::max(norm.scratch_bytes, grad.scratch_bytes)};
}

const KernelRegistry& OneByOne() {
  static const KernelRegistry kKernels = [] {
    KernelRegistry kernels;
    kernels.Add("BatchNormRelu", "CPU", DType::kFloat32, NormRelu);
    kernels.Add("BatchNormReluGrad", "CPU", DType::kFloat32, NormReluGrad);
    return kernels;
  }();
  return kKernels;
}

// The same with a Relu behind it.
OpCase WithRelu(OpCase norm) {
  if (norm.op == "BatchNormGrad") {
    norm.op = "BatchNormReluGrad";
    norm.inputs.push_back(RandomFloats(norm.inputs[2].type.shape, 6));
  } else {
    norm.op = "BatchNormRelu";
  }
  norm.twins = &OneByOne();
  return norm;
}

HostTensor Channels(int64_t channels, uint64_t seed) {
  return RandomFloats(Shape({channels}), seed, 0.5, 1.5);
}

OpCase Norm(int64_t rows, int64_t channels, double mean) {
  return {.op = "BatchNorm",
          .inputs = {RandomFloats(Shape({rows, channels}), 1, mean - 1, mean + 1),
                     Channels(channels, 2), RandomFloats(Shape({channels}), 3)},
          .tolerance = kSums};
}

TEST(BatchNormTest, IsItsTwin) {
  for (const auto& [rows, channels] : kSizes) {
    ExpectTwin(Norm(rows, channels, 0.3));
    ExpectTwin(WithRelu(Norm(rows, channels, 0.3)));
  }
  OpCase split = Norm(kSplit.rows, kSplit.channels, 0.3);
  split.orders = 2;
  ExpectTwin(split);
  OpCase images = Norm(1, 5, 0);
  images.inputs[0] = RandomFloats(Shape({3, 4, 2, 5}), 4);
  ExpectTwin(images);
}

// A mean a thousand times the deviation, of which a difference of squares would leave no digit.
TEST(BatchNormTest, KeepsTheVariancesDigits) {
  for (const int64_t channels : {3, 4}) {
    OpCase far = Norm(257, channels, 1'000);
    far.tolerance = 1e-3;  // A float at 1,000 has steps of 6e-5, and a mean of it errors of more.
    ExpectTwin(far);
  }
}

// What diverged must be seen.
TEST(BatchNormTest, AReluBehindItLetsNoNumberPass) {
  OpCase norm = WithRelu(Norm(2, 4, 0));
  norm.inputs[0] = Floats(Shape({2, 4}), {1, 2, std::nanf(""), 3, 4, 3, 2, 1});
  ExpectTwin(norm);
}

TEST(BatchNormTest, MemoryThatIsNoMultipleOfSixteenBytesIsMovedOneByOne) {
  OpCase behind = Norm(33, 8, 0.3);
  behind.behind = 4;
  ExpectTwin(behind);
}

// A mean that is begun with another number is a little off, which shows where it is very small.
TEST(BatchNormTest, OfEqualRowsTheMeanIsTheirNumberHoweverSmall) {
  for (const int64_t channels : {3, 4}) {
    OpCase equal = Norm(64, channels, 0);
    equal.inputs[0] = Floats(Shape({64, channels}),
                             std::vector<float>(static_cast<size_t>(64 * channels), 0x1p-30f));
    equal.tolerance = 0;
    ExpectTwin(equal);
  }
}

OpCase NormGrad(const Size& size) {
  const auto& [rows, channels] = size;
  return {.op = "BatchNormGrad",
          .inputs = {RandomFloats(Shape({rows, channels}), 1),
                     RandomFloats(Shape({rows, channels}), 2), Channels(channels, 3),
                     RandomFloats(Shape({channels}), 4, -0.1, 0.1), Channels(channels, 5)},
          .attributes = {{"epsilon", 0.01}},
          .tolerance = kSums};
}

TEST(BatchNormTest, GradientIsItsTwin) {
  for (const Size& size : kSizes) {
    if (size.rows == 0) continue;  // It divides by them: what is left is no number in either.
    ExpectTwin(NormGrad(size));
    ExpectTwin(WithRelu(NormGrad(size)));
  }
  OpCase split = NormGrad(kSplit);
  split.orders = 2;
  ExpectTwin(split);
}

TEST(BatchNormTest, InferenceIsItsTwin) {
  for (const auto& [rows, channels] : kSizes) {
    ExpectTwin({.op = "BatchNormInference",
                .inputs = {RandomFloats(Shape({rows, channels}), 1), Channels(channels, 2),
                           RandomFloats(Shape({channels}), 3), RandomFloats(Shape({channels}), 4),
                           Channels(channels, 5)},
                .tolerance = 1e-6});
  }
}

// Of 4,096 elements, 16,384 bytes each; the rest is shared memory, of 9,216 bytes in each of five
// blocks, moments, and 64 bytes for each of 256 threads that normalize.
TEST(BatchNormTest, IsTwoPassesOverMemory) {
  EXPECT_EQ(CostsOf(Norm(128, 32, 0)),
            (OpCosts{.launches = 3, .barriers = 33, .read_bytes = 54'464,
                     .written_bytes = 108'608}));
}

}  // namespace
}  // namespace taas::cuda
