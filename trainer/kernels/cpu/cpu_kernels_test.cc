// Each op's kernel against a plain twin. Matrix products and loops have tests of their own; here
// it is what an op means: axes, order, means.

#include "trainer/kernels/cpu/cpu_kernels.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/op_registry.h"
#include "trainer/graph/step_block.h"
#include "trainer/testing/run_op.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

using Tensor = FloatTensor;

// Output 0, the only one of most ops.
Floats Output(const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
  const std::vector<Floats> outputs = RunOp(op, inputs, std::move(attributes));
  return outputs.empty() ? Floats() : outputs[0];
}

// What a pass over a session's nodes makes where a runtime has kernels for it
// (trainer/graph/product_fusion.h, fusion.h); graphs have none of them.
const std::set<std::string> kMerged = {"BatchNormRelu", "BatchNormReluGrad", "MatMulBias",
                                       "MatMulBiasGrad", "SparseSoftmaxCrossEntropyAndGrad"};

TEST(CpuKernelsTest, EveryOpHasAKernelUnlessItIsAView) {
  // From the list of names, so that a new op without a kernel is found here.
  std::string names = StandardOps().Names() + ", ";
  for (size_t end; (end = names.find(", ")) != std::string::npos; names.erase(0, end + 2)) {
    const std::string name = names.substr(0, end);
    if (kMerged.contains(name)) continue;
    const bool is_view = StandardOps().Find(name)->is_view;
    // By the type of the first input, which of a few are ids or pixels.
    const KernelRegistry& kernels = StandardKernels();
    const bool has_kernel = kernels.Find(name, "CPU", DType::kFloat32) != nullptr ||
                            kernels.Find(name, "CPU", DType::kInt64) != nullptr ||
                            kernels.Find(name, "CPU", DType::kUint8) != nullptr;
    EXPECT_NE(has_kernel, is_view) << name;
  }
}

TEST(CpuKernelsTest, ElementwiseOpsMeanWhatTheySay) {
  const Tensor a{{3}, {1, -2, 3}}, b{{3}, {4, 5, -6}};
  EXPECT_THAT(Output("Add", {a, b}), ElementsAre(5, 3, -3));
  EXPECT_THAT(Output("Sub", {a, b}), ElementsAre(-3, -7, 9));
  EXPECT_THAT(Output("Mul", {a, b}), ElementsAre(4, -10, -18));
  EXPECT_THAT(Output("AddN", {a}), ElementsAre(1, -2, 3));
  EXPECT_THAT(Output("AddN", {a, b, a}), ElementsAre(6, 1, 0));
  EXPECT_THAT(Output("Scale", {a}, {{"factor", 2.0}}), ElementsAre(2, -4, 6));
  EXPECT_THAT(Output("Square", {a}), ElementsAre(1, 4, 9));
  EXPECT_THAT(Output("Identity", {a}), ElementsAre(1, -2, 3));
  EXPECT_THAT(Output("Relu", {a}), ElementsAre(1, 0, 3));
  EXPECT_THAT(Output("ReluGrad", {b, a}), ElementsAre(4, 0, -6));
}

TEST(CpuKernelsTest, MatMulTakesItsTranspositions) {
  const Tensor a{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const Tensor b{{3, 1}, {1, 0, -1}};
  EXPECT_THAT(Output("MatMul", {a, b}), ElementsAre(-2, -2));
  EXPECT_THAT(Output("MatMul", {{{3, 2}, {1, 4, 2, 5, 3, 6}}, b}, {{"transpose_a", true}}),
              ElementsAre(-2, -2));
  EXPECT_THAT(Output("MatMul", {a, {{1, 3}, {1, 0, -1}}}, {{"transpose_b", true}}),
              ElementsAre(-2, -2));
}

TEST(CpuKernelsTest, BiasGoesAlongTheLastAxis) {
  const Tensor x{{2, 2, 2}, {1, 2, 3, 4, -5, -6, 7, 8}}, b{{2}, {10, -3}};
  EXPECT_THAT(Output("BiasAdd", {x, b}), ElementsAre(11, -1, 13, 1, 5, -9, 17, 5));
  EXPECT_THAT(Output("BiasAddRelu", {x, b}), ElementsAre(11, 0, 13, 1, 5, 0, 17, 5));
}

TEST(CpuKernelsTest, ConcatJoinsAlongAnyAxis) {
  const Tensor a{{2, 2}, {1, 2, 3, 4}}, b{{2, 1}, {5, 6}}, c{{1, 2}, {7, 8}};
  EXPECT_THAT(Output("Concat", {a, b}), ElementsAre(1, 2, 5, 3, 4, 6));
  EXPECT_THAT(Output("Concat", {a, c}, {{"axis", 0}}), ElementsAre(1, 2, 3, 4, 7, 8));
  EXPECT_THAT(Output("Concat", {{{2, 0}, {}}, b}), ElementsAre(5, 6));
}

TEST(CpuKernelsTest, SliceAndPadCutAndFillOneAxis) {
  const Tensor x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(Output("Slice", {x}, {{"begin", 1}, {"size", 2}}), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Output("Slice", {x}, {{"axis", 0}, {"begin", 1}, {"size", 1}}), ElementsAre(4, 5, 6));
  EXPECT_THAT(Output("Slice", {x}, {{"begin", 3}, {"size", 0}}), ElementsAre());
  EXPECT_THAT(Output("Pad", {{{2, 1}, {1, 2}}}, {{"before", 1}, {"after", 1}}),
              ElementsAre(0, 1, 0, 0, 2, 0));
}

TEST(CpuKernelsTest, ReductionsTakeTheirAxes) {
  const Tensor x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(Output("ReduceSum", {x}), ElementsAre(21));
  EXPECT_THAT(Output("ReduceMean", {x}), ElementsAre(3.5f));
  EXPECT_THAT(Output("ReduceSum", {x}, {{"axes", Ints{0}}}), ElementsAre(5, 7, 9));
  EXPECT_THAT(Output("ReduceMean", {x}, {{"axes", Ints{1}}}), ElementsAre(2, 5));
  EXPECT_THAT(Output("ReduceSum", {{{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}, {{"axes", Ints{1}}}),
              ElementsAre(4, 6, 12, 14));
  EXPECT_THAT(Output("ReduceSum", {{{0, 2}, {}}}, {{"axes", Ints{0}}}), ElementsAre(0, 0));
  EXPECT_THAT(Output("ReduceMean", {{{}, {5}}}), ElementsAre(5));
}

TEST(CpuKernelsTest, ExpandRepeats) {
  EXPECT_THAT(Output("Expand", {{{2}, {1, 2}}}, {{"shape", Ints{2, 2}}, {"axes", Ints{0}}}),
              ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(Output("Expand", {{{2}, {1, 2}}},
                    {{"shape", Ints{2, 2}}, {"axes", Ints{1}}, {"mean", true}}),
              ElementsAre(0.5f, 0.5f, 1, 1));
  EXPECT_THAT(Output("Expand", {{{}, {6}}}, {{"shape", Ints{3}}, {"mean", true}}),
              ElementsAre(2, 2, 2));
}

TEST(CpuKernelsTest, L2LossIsHalfTheSumOfSquares) {
  const Tensor x = {{3}, {1, -2, 3}}, a = {{3}, {10, 20, 30}}, dloss = {{}, {0.5f}};
  EXPECT_THAT(Output("L2Loss", {x}), ElementsAre(7));
  EXPECT_THAT(Output("L2LossGrad", {x, dloss}), ElementsAre(0.5f, -1, 1.5f));
  EXPECT_THAT(Output("L2LossGradAdd", {a, x, dloss}), ElementsAre(10.5f, 19, 31.5f));
}

// The gradient of |x| at 0 is taken as 0, as TensorFlow does.
TEST(CpuKernelsTest, L1LossIsTheSumOfSizes) {
  const Tensor x = {{3}, {1, -2, 0}}, dloss = {{}, {0.5f}};
  EXPECT_THAT(Output("L1Loss", {x}), ElementsAre(3));
  EXPECT_THAT(Output("L1LossGrad", {x, dloss}), ElementsAre(0.5f, -0.5f, 0));
}

TEST(CpuKernelsTest, SquaredErrorIsAMean) {
  const Tensor x{{2, 2}, {1, 2, 3, 4}}, t{{2, 2}, {1, 0, 3, 0}};
  EXPECT_THAT(Output("MeanSquaredError", {x, t}), ElementsAre(5));
  EXPECT_THAT(Output("MeanSquaredErrorGrad", {x, t, {{}, {2}}}), ElementsAre(0, 2, 0, 4));
}

// Both outputs of the fused softmax.
struct CrossEntropy {
  float loss = 0;
  Floats probabilities;
  absl::Status status;
};

CrossEntropy RunCrossEntropy(int64_t rows, int64_t classes, const Floats& logits,
                             const std::vector<int32_t>& labels) {
  const TensorType inputs[] = {{DType::kFloat32, Shape({rows, classes})},
                               {DType::kInt32, Shape({rows})}};
  const TensorType outputs[] = {{}, {DType::kFloat32, Shape({rows, classes})}};
  const auto kernel =
      (*StandardKernels().Find("SparseSoftmaxCrossEntropy", "CPU", DType::kFloat32))(
          {Attributes(), inputs, outputs});
  EXPECT_THAT(kernel, IsOk());
  CrossEntropy result;
  result.probabilities.resize(logits.size());
  const void* const in[] = {logits.data(), labels.data()};
  void* const out[] = {&result.loss, result.probabilities.data()};
  std::vector<std::byte> scratch(kernel->scratch_bytes);
  StepBlock block;
  result.status = kernel->run(
      {.inputs = in, .outputs = out, .scratch = scratch.data(), .block = &block});
  if (block.fault.found()) {
    result.status = absl::InvalidArgumentError(FaultText(block.fault));
  }
  return result;
}

TEST(CrossEntropyTest, AgreesWithItsTwinAtOddSizes) {
  for (const int64_t rows : {1, 2, 7, 31}) {
    for (const int64_t classes : {1, 2, 3, 10, 17, 101}) {
      SeededRandom random(static_cast<uint64_t>(rows * 1000 + classes));
      Floats logits(static_cast<size_t>(rows * classes));
      for (float& logit : logits) logit = static_cast<float>(20 * random.Unit() - 10);
      std::vector<int32_t> labels(static_cast<size_t>(rows));
      for (int32_t& label : labels) {
        label = static_cast<int32_t>(random.Below(static_cast<uint64_t>(classes)));
      }
      const CrossEntropy result = RunCrossEntropy(rows, classes, logits, labels);
      ASSERT_THAT(result.status, IsOk());
      double loss = 0;
      for (int64_t row = 0; row < rows; ++row) {
        const float* x = logits.data() + row * classes;
        double sum = 0;
        for (int64_t i = 0; i < classes; ++i) sum += std::exp(double{x[i]});
        for (int64_t i = 0; i < classes; ++i) {
          ASSERT_NEAR(result.probabilities[static_cast<size_t>(row * classes + i)],
                      std::exp(double{x[i]}) / sum, 1e-6);
        }
        loss += std::log(sum) - double{x[labels[static_cast<size_t>(row)]]};
      }
      ASSERT_NEAR(result.loss, loss / static_cast<double>(rows), 1e-5) << rows << "x" << classes;
    }
  }
}

// From the op's inputs alone: d loss / d logits = (softmax(logits) - one-hot(label)) / rows. Within
// 1e-6 of the largest number, as the probabilities.
TEST(CrossEntropyTest, ItsGradientAgreesWithItsTwinAtOddSizes) {
  for (const int64_t rows : {1, 2, 7, 31}) {
    for (const int64_t classes : {1, 2, 3, 10, 17, 101, 1031}) {
      FloatTensor logits = RandomTensor(Shape({rows, classes}), static_cast<uint64_t>(rows));
      for (float& logit : logits.values) logit *= 10;
      std::vector<int32_t> labels;
      for (int64_t row = 0; row < rows; ++row) {
        labels.push_back(static_cast<int32_t>((row * 7 + 3) % classes));
      }
      const CrossEntropy forward = RunCrossEntropy(rows, classes, logits.values, labels);
      const float dloss = 2.5f;
      Doubles wanted;
      for (int64_t row = 0; row < rows; ++row) {
        const float* x = logits.values.data() + row * classes;
        double sum = 0;
        for (int64_t i = 0; i < classes; ++i) sum += std::exp(double{x[i]});
        for (int64_t i = 0; i < classes; ++i) {
          const double hot = i == labels[static_cast<size_t>(row)] ? 1 : 0;
          wanted.push_back(dloss * (std::exp(double{x[i]}) / sum - hot) /
                           static_cast<double>(rows));
        }
      }
      const TensorType probabilities = {DType::kFloat32, logits.shape};
      const TensorType types[] = {probabilities, {DType::kInt32, Shape({rows})}, {}};
      const void* const in[] = {forward.probabilities.data(), labels.data(), &dloss};
      for (const int threads : {1, 3}) {
        const auto kernel = (*StandardKernels().Find("SparseSoftmaxCrossEntropyGrad", "CPU",
                                                     DType::kFloat32))(
            {.attributes = Attributes(), .inputs = types,
             .outputs = std::span(&probabilities, 1), .threads = threads});
        ASSERT_THAT(kernel, IsOk());
        Floats dlogits(logits.values.size(), 77.0f);
        void* const out[] = {dlogits.data()};
        ASSERT_THAT(kernel->run({.inputs = in, .outputs = out, .threads = threads}), IsOk());
        ExpectNear(dlogits, wanted, std::to_string(rows) + "x" + std::to_string(classes), 1e-6);
      }
    }
  }
}

TEST(CrossEntropyTest, HugeLogitsGiveAFiniteLoss) {
  const CrossEntropy result = RunCrossEntropy(2, 3, {1e4f, 0, 0, 0, -1e4f, 0}, {1, 1});
  ASSERT_THAT(result.status, IsOk());
  EXPECT_NEAR(result.loss, (1e4 + 1e4 + std::log(2)) / 2, 1e-2);
}

TEST(CrossEntropyTest, ALabelOutsideIsRefused) {
  EXPECT_THAT(RunCrossEntropy(1, 3, {0, 0, 0}, {3}).status,
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(RunCrossEntropy(1, 3, {0, 0, 0}, {-1}).status,
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(MeasuresTest, ArgMaxAndAccuracyTakeTheFirstOfTheLargest) {
  const TensorType inputs[] = {{DType::kFloat32, Shape({3, 3})}, {DType::kInt32, Shape({3})}};
  const TensorType classes[] = {{DType::kInt32, Shape({3})}};
  const TensorType scalar[] = {{}};
  const Floats logits = {1, 3, 2, 5, 5, 5, 0, 1, 2};
  const std::vector<int32_t> labels = {1, 1, 2};
  const void* const in[] = {logits.data(), labels.data()};
  std::vector<int32_t> found(3);
  void* const out[] = {found.data()};
  const auto arg_max = (*StandardKernels().Find("ArgMax", "CPU", DType::kFloat32))(
      {Attributes(), std::span(inputs).first(1), classes});
  ASSERT_THAT(arg_max, IsOk());
  ASSERT_THAT(arg_max->run({.inputs = std::span(in).first(1), .outputs = out}), IsOk());
  EXPECT_THAT(found, ElementsAre(1, 0, 2));
  float accuracy = 0;
  void* const share[] = {&accuracy};
  const auto measure = (*StandardKernels().Find("Accuracy", "CPU", DType::kFloat32))(
      {Attributes(), inputs, scalar});
  ASSERT_THAT(measure, IsOk());
  ASSERT_THAT(measure->run({.inputs = in, .outputs = share}), IsOk());
  EXPECT_FLOAT_EQ(accuracy, 2.0f / 3);
}

}  // namespace
}  // namespace taas
