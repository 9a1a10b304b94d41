// Deterministic kernels give the same bits for any number of threads: those that use a library,
// which may split a sum among its threads. In bfloat16 they do so without being asked.

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/kernels/cpu/gemm.h"
#include "trainer/testing/run_op.h"

namespace taas {
namespace {

using Ints = std::vector<int64_t>;
Floats RandomFloats(int64_t n, uint64_t seed) {
  SeededRandom random(seed);
  Floats values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

bool SameBits(const Floats& a, const Floats& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(DeterminismTest, ProductsDoNotDependOnThreads) {
  const int64_t sizes[][3] = {{100, 500, 784}, {784, 500, 100}, {100, 10, 500}, {10, 10, 20000},
                              {1, 1000, 300},  {300, 1, 5000},  {257, 129, 65}, {8, 8, 8},
                              {1000, 17, 33},  {500, 1000, 12}};
  for (const auto& [m, n, k] : sizes) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      const Floats a = RandomFloats(m * k, 1), b = RandomFloats(k * n, 2);
      Floats expected;
      for (const int threads : {1, 2, 3, 4}) {
        Floats out(static_cast<size_t>(m * n));
        ASSERT_THAT(Gemm({.m = m, .n = n, .k = k, .transpose_a = transposed % 2 == 1,
                          .transpose_b = transposed / 2 == 1, .threads = threads,
                          .deterministic = true},
                         a.data(), b.data(), out.data()),
                    IsOk());
        if (threads == 1) expected = out;
        EXPECT_TRUE(SameBits(out, expected))
            << m << "x" << k << " by " << k << "x" << n << ", transposed " << transposed << ", "
            << threads << " threads";
      }
    }
  }
}

class DeterminismOfProductsTest : public testing::TestWithParam<Precision> {
 protected:
  std::vector<Floats> Run(const char* op, const std::vector<FloatTensor>& inputs,
                          const Attributes& attributes, int threads) {
    const bool asked = GetParam() == Precision::kFloat32 || !HasBFloat16();
    return RunOp(op, inputs, attributes, threads, asked, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Products, DeterminismOfProductsTest,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TEST_P(DeterminismOfProductsTest, AnLstmDoesNotDependOnThreads) {
  const FloatTensor x = RandomTensor(Shape({7, 19, 33}), 1);
  const FloatTensor w = RandomTensor(Shape({33, 512}), 2), r = RandomTensor(Shape({128, 512}), 3);
  const FloatTensor b = RandomTensor(Shape({512}), 4), dy = RandomTensor(Shape({7, 19, 128}), 5);
  std::vector<Floats> expected, expected_gradients;
  for (const int threads : {1, 2, 3}) {
    const auto outputs = Run("Lstm", {x, w, r, b}, {}, threads);
    const FloatTensor y{dy.shape, outputs[0]}, gates{Shape({7, 19, 512}), outputs[1]};
    const FloatTensor cells{dy.shape, outputs[2]};
    const auto gradients = Run("LstmGrad", {dy, x, w, r, y, gates, cells}, {}, threads);
    if (threads == 1) expected = outputs, expected_gradients = gradients;
    EXPECT_EQ(outputs, expected) << threads;
    EXPECT_EQ(gradients, expected_gradients) << threads;
  }
}

struct ConvCase {
  Shape x, w;
  Ints strides = {1, 1};
};

TEST_P(DeterminismOfProductsTest, ConvolutionsDoNotDependOnThreads) {
  const ConvCase cases[] = {
      {{4, 28, 28, 1}, {5, 5, 1, 32}},   {{4, 14, 14, 32}, {5, 5, 32, 64}},
      {{2, 32, 32, 3}, {3, 3, 3, 16}},   {{8, 16, 16, 32}, {3, 3, 32, 32}},
      {{1, 7, 7, 256}, {3, 3, 256, 64}}, {{2, 8, 8, 256}, {1, 1, 256, 64}},
      {{2, 8, 8, 64}, {1, 1, 64, 256}},  {{3, 15, 15, 24}, {3, 3, 24, 40}, {2, 2}},
      {{2, 16, 16, 64}, {1, 1, 64, 128}, {2, 2}}, {{2, 33, 33, 3}, {7, 7, 3, 64}, {2, 2}},
      {{5, 9, 11, 5}, {3, 2, 5, 7}}};
  for (const ConvCase& test : cases) {
    const FloatTensor x{test.x, RandomFloats(test.x.count(), 1)};
    const FloatTensor w{test.w, RandomFloats(test.w.count(), 2)};
    const Attributes window{{"strides", test.strides}};
    Attributes input_window = window, weights_window = window;
    input_window.Set("image_size", Ints{test.x.dim(1), test.x.dim(2)});
    weights_window.Set("kernel_size", Ints{test.w.dim(0), test.w.dim(1)});
    std::vector<Floats> expected;
    for (const int threads : {1, 2, 3, 4}) {
      const Floats y = Run("Conv2D", {x, w}, window, threads)[0];
      const auto out = [&](int64_t axis) {
        const int64_t stride = test.strides[static_cast<size_t>(axis)];
        return (test.x.dim(static_cast<int>(axis) + 1) + stride - 1) / stride;
      };
      const FloatTensor dy{{test.x.dim(0), out(0), out(1), test.w.dim(3)},
                           RandomFloats(std::ssize(y), 3)};
      const std::vector<Floats> got = {
          y, Run("Conv2DInputGrad", {dy, w}, input_window, threads)[0],
          Run("Conv2DWeightsGrad", {x, dy}, weights_window, threads)[0]};
      if (threads == 1) expected = got;
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(SameBits(got[i], expected[i]))
            << "of " << test.x.ToString() << " and " << test.w.ToString() << ", result " << i
            << ", " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace taas
