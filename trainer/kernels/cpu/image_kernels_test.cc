// Convolution, pooling, batch normalization and dropout against plain twins in double, at odd
// sizes, in every version that the machine can run.
//
// The tolerance is that of run_op.h.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/augment.h"
#include "trainer/data/dataset.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/graph/window.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"
#include "trainer/testing/run_op.h"
#include "trainer/loops/image_loops.h"

namespace taas {
namespace {

using Ints = std::vector<int64_t>;

using Tensor = FloatTensor;

struct ImageCase {
  Shape x;
  Shape w;  // Of a pooling: {height, width}.
  Attributes window = {};
};

Attributes Strided(Ints strides, std::string padding = "SAME", Ints explicit_paddings = {}) {
  return {{"strides", std::move(strides)},
          {"padding", std::move(padding)},
          {"explicit_paddings", std::move(explicit_paddings)}};
}

// Calls visit(x index, w index, y index) for each product of a convolution.
void EachProduct(const Shape& x, const Shape& w, const Window& window,
                 const std::function<void(size_t, size_t, size_t)>& visit) {
  const auto at = [](const Shape& s, int64_t a, int64_t b, int64_t c, int64_t d) {
    return static_cast<size_t>(((a * s.dim(1) + b) * s.dim(2) + c) * s.dim(3) + d);
  };
  const Shape y({x.dim(0), window.out[0], window.out[1], w.dim(3)});
  for (int64_t n = 0; n < x.dim(0); ++n)
    for (int64_t oy = 0; oy < y.dim(1); ++oy)
      for (int64_t ox = 0; ox < y.dim(2); ++ox)
        for (int64_t ky = 0; ky < w.dim(0); ++ky)
          for (int64_t kx = 0; kx < w.dim(1); ++kx) {
            const int64_t iy = oy * window.stride[0] + ky - window.before[0];
            const int64_t ix = ox * window.stride[1] + kx - window.before[1];
            if (iy < 0 || iy >= x.dim(1) || ix < 0 || ix >= x.dim(2)) continue;
            for (int64_t in = 0; in < w.dim(2); ++in)
              for (int64_t out = 0; out < w.dim(3); ++out)
                visit(at(x, n, iy, ix, in), at(w, ky, kx, in, out), at(y, n, oy, ox, out));
          }
}

std::vector<ImageCase> Convolutions() {
  return {{{1, 1, 1, 1}, {1, 1, 1, 1}, Strided({1, 1})},
          {{2, 5, 7, 3}, {3, 3, 3, 5}, Strided({1, 1})},
          {{3, 28, 28, 1}, {5, 5, 1, 32}, Strided({1, 1})},
          {{2, 14, 14, 32}, {5, 5, 32, 64}, Strided({1, 1})},
          {{2, 9, 8, 16}, {3, 3, 16, 32}, Strided({2, 2})},
          {{1, 7, 9, 17}, {2, 4, 17, 13}, Strided({3, 1}, "VALID")},
          {{2, 8, 8, 16}, {1, 1, 16, 32}, Strided({2, 2})},
          {{1, 11, 11, 3}, {7, 7, 3, 8}, Strided({2, 2}, "EXPLICIT", {3, 3, 3, 3})},
          {{2, 5, 4, 2}, {3, 2, 2, 3}, Strided({1, 2}, "EXPLICIT", {2, 0, 0, 1})},
          {{3, 4, 6, 5}, {1, 1, 5, 33}, Strided({1, 1})},
          {{2, 6, 27, 7}, {4, 3, 7, 35}, Strided({1, 1})},
          {{1, 5, 5, 3}, {2, 2, 3, 5}, Strided({1, 1}, "EXPLICIT", {3, 3, 2, 3})}};
}

class ConvKernelsTest : public testing::TestWithParam<Precision> {};

TEST_P(ConvKernelsTest, AgreeWithTheSumsOfProducts) {
  const Precision products = GetParam();
  for (const ImageCase& test : Convolutions()) {
    for (const int threads : {1, 2}) {
      const std::string what = test.x.ToString() + " * " + test.w.ToString() + ", threads " +
                               std::to_string(threads);
      const Tensor x = RandomTensor(test.x, 1), w = RandomTensor(test.w, 2);
      const auto window = WindowOf(test.window, {test.x.dim(1), test.x.dim(2)},
                                   {test.w.dim(0), test.w.dim(1)});
      ASSERT_THAT(window, IsOk());
      const Tensor dy = RandomTensor(
          {test.x.dim(0), window->out[0], window->out[1], test.w.dim(3)}, 3);
      const Floats x_factors = FactorsOf(x, products).values;
      const Floats w_factors = FactorsOf(w, products).values;
      // With strides, or with padding as large as the window, the gradient of the inputs is
      // float32's.
      const bool plain = window->stride == Window::Pair{1, 1} &&
                         window->before[0] < window->kernel[0] &&
                         window->before[1] < window->kernel[1];
      const Precision dx_products = plain ? products : Precision::kFloat32;
      const Floats dx_w = FactorsOf(w, dx_products).values;
      const Floats dx_dy = FactorsOf(dy, dx_products).values;
      // And that of the weights with windows smaller than the strides.
      const bool gaps = window->kernel[0] < window->stride[0] ||
                        window->kernel[1] < window->stride[1];
      const Precision dw_products = gaps ? Precision::kFloat32 : products;
      const Floats dw_x = FactorsOf(x, dw_products).values;
      const Floats dw_dy = FactorsOf(dy, dw_products).values;
      Doubles y(dy.values.size()), dx(x.values.size()), dw(w.values.size());
      EachProduct(test.x, test.w, *window, [&](size_t in, size_t weight, size_t out) {
        y[out] += static_cast<double>(x_factors[in]) * static_cast<double>(w_factors[weight]);
        dx[in] += static_cast<double>(dx_dy[out]) * static_cast<double>(dx_w[weight]);
        dw[weight] += static_cast<double>(dw_dy[out]) * static_cast<double>(dw_x[in]);
      });
      ExpectNear(RunOp("Conv2D", {x, w}, test.window, threads, false, products)[0], y, what);
      Attributes image = test.window;
      image.Set("image_size", Ints{test.x.dim(1), test.x.dim(2)});
      ExpectNear(RunOp("Conv2DInputGrad", {dy, w}, image, threads, false, products)[0], dx,
                 what + ": dx");
      Attributes kernel = test.window;
      kernel.Set("kernel_size", Ints{test.w.dim(0), test.w.dim(1)});
      ExpectNear(RunOp("Conv2DWeightsGrad", {x, dy}, kernel, threads, false, products)[0], dw,
                 what + ": dw");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Products, ConvKernelsTest,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

// What a pooling does, one window at a time.
struct PoolTwin {
  Doubles largest, mean, to_largest, to_mean;
};

PoolTwin TwinOf(const PoolShape& s, const Floats& x, const Floats& dy) {
  PoolTwin twin{Doubles(dy.size()), Doubles(dy.size()), Doubles(x.size()), Doubles(x.size())};
  size_t out = 0;
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t oy = 0; oy < s.out[0]; ++oy)
      for (int64_t ox = 0; ox < s.out[1]; ++ox)
        for (int64_t c = 0; c < s.channels; ++c, ++out) {
          std::vector<size_t> inside;
          for (int64_t ky = 0; ky < s.kernel[0]; ++ky)
            for (int64_t kx = 0; kx < s.kernel[1]; ++kx) {
              const int64_t iy = oy * s.stride[0] + ky - s.before[0];
              const int64_t ix = ox * s.stride[1] + kx - s.before[1];
              if (iy < 0 || iy >= s.in[0] || ix < 0 || ix >= s.in[1]) continue;
              inside.push_back(static_cast<size_t>(
                  ((n * s.in[0] + iy) * s.in[1] + ix) * s.channels + c));
            }
          size_t top = inside[0];
          for (const size_t at : inside) {
            twin.mean[out] += static_cast<double>(x[at]) / static_cast<double>(inside.size());
            twin.to_mean[at] +=
                static_cast<double>(dy[out]) / static_cast<double>(inside.size());
            if (x[at] > x[top]) top = at;
          }
          twin.largest[out] = static_cast<double>(x[top]);
          twin.to_largest[top] += static_cast<double>(dy[out]);
        }
  return twin;
}

TEST(ImageLoopsTest, PoolingAgreesWithItsTwinInEveryVersion) {
  const std::vector<PoolShape> shapes = {
      {.images = 2, .channels = 5, .in = {4, 6}, .out = {2, 3}, .kernel = {2, 2},
       .stride = {2, 2}},
      {.images = 1, .channels = 33, .in = {5, 5}, .out = {3, 3}, .kernel = {3, 3},
       .stride = {2, 2}, .before = {1, 1}},
      {.images = 3, .channels = 1, .in = {1, 7}, .out = {1, 5}, .kernel = {1, 3},
       .stride = {1, 1}},
      // The last window cut short, pixels in no window, pixels between windows.
      {.images = 2, .channels = 3, .in = {5, 5}, .out = {3, 3}, .kernel = {2, 2},
       .stride = {2, 2}, .before = {1, 0}},
      {.images = 2, .channels = 17, .in = {5, 7}, .out = {2, 3}, .kernel = {2, 2},
       .stride = {2, 2}},
      {.images = 1, .channels = 4, .in = {5, 8}, .out = {2, 3}, .kernel = {2, 2},
       .stride = {3, 3}}};
  for (const PoolShape& s : shapes) {
    for (const ImageLoops* loops : SupportedImageLoops()) {
      Floats x = RandomTensor({s.images, s.in[0], s.in[1], s.channels}, 4).values;
      x[0] = x.back() = 2;  // Ties: the first one gets the gradient.
      if (x.size() > 1) x[static_cast<size_t>(s.channels)] = 2;
      const Floats dy = RandomTensor({s.images, s.out[0], s.out[1], s.channels}, 5).values;
      const PoolTwin twin = TwinOf(s, x, dy);
      Floats y(dy.size(), 9), dx(x.size(), 9), left(static_cast<size_t>(s.channels));
      loops->max_pool(s, x.data(), y.data());
      ExpectNear(y, twin.largest, "max");
      loops->max_pool_grad(s, dy.data(), x.data(), y.data(), dx.data(), left.data());
      ExpectNear(dx, twin.to_largest, "max gradient");
      loops->avg_pool(s, x.data(), y.data());
      ExpectNear(y, twin.mean, "mean");
      loops->avg_pool_grad(s, dy.data(), dx.data());
      ExpectNear(dx, twin.to_mean, "mean gradient");
    }
  }
}

// Which are equal and have other bits.
TEST(ImageLoopsTest, OfZerosTheFirstIsTheMaximum) {
  const PoolShape s{.images = 1, .channels = 16, .in = {2, 2}, .out = {1, 1}, .kernel = {2, 2},
                    .stride = {1, 1}};
  for (const ImageLoops* loops : SupportedImageLoops()) {
    Floats x(4 * 16), want(4 * 16);
    for (size_t c = 0; c < 16; ++c) {
      for (size_t at = 0; at < 4; ++at) x[at * 16 + c] = (c >> at & 1) == 0 ? 0.0f : -0.0f;
      want[c] = 1;
    }
    Floats y(16, 9), dy(16, 1), dx(x.size(), 9), left(16);
    loops->max_pool(s, x.data(), y.data());
    EXPECT_EQ(y, Floats(16));
    loops->max_pool_grad(s, dy.data(), x.data(), y.data(), dx.data(), left.data());
    EXPECT_EQ(dx, want);
  }
}

// It was dropped unless it was the first of its window, and a model of NaN gave numbers.
TEST(ImageLoopsTest, ANanIsTheMaximumOfItsWindowWhereverItIs) {
  const PoolShape s{.images = 1, .channels = 19, .in = {3, 3}, .out = {1, 1}, .kernel = {3, 3},
                    .stride = {1, 1}};
  for (const ImageLoops* loops : SupportedImageLoops()) {
    for (size_t at = 0; at < 9; ++at) {
      // Of channel c pixel `at` is a NaN, and the one c places behind it, unless that is beyond
      // the image.
      Floats x(9 * 19, 1), want(9 * 19, 0);
      for (size_t c = 0; c < 19; ++c) {
        x[at * 19 + c] = NAN;
        if (at + c < 9) x[(at + c) * 19 + c] = NAN;
        want[at * 19 + c] = static_cast<float>(c);
      }
      Floats y(19, 9), dy(19), dx(x.size(), 9), left(19);
      std::iota(dy.begin(), dy.end(), 0.0f);
      loops->max_pool(s, x.data(), y.data());
      EXPECT_THAT(y, testing::Each(testing::IsNan())) << at;
      loops->max_pool_grad(s, dy.data(), x.data(), y.data(), dx.data(), left.data());
      EXPECT_EQ(dx, want) << at;
    }
  }
}

TEST(ImageLoopsTest, MomentsKeepTheirDigitsFarFromZero) {
  constexpr int64_t kRows = 5'003, kChannels = 7;
  Floats x = RandomTensor({kRows, kChannels}, 6).values;
  for (float& value : x) value += 1'000;
  for (const ImageLoops* loops : SupportedImageLoops()) {
    Floats mean(kChannels), variance(kChannels), unbiased(kChannels), scratch(2 * kChannels);
    loops->moments(x.data(), kRows, kChannels, {mean.data(), variance.data(), unbiased.data()},
                   scratch.data());
    for (size_t c = 0; c < kChannels; ++c) {
      double sum = 0, squares = 0;
      for (size_t r = 0; r < kRows; ++r) sum += static_cast<double>(x[r * kChannels + c]);
      for (size_t r = 0; r < kRows; ++r) {
        squares += std::pow(static_cast<double>(x[r * kChannels + c]) - sum / kRows, 2);
      }
      EXPECT_NEAR(mean[c], sum / kRows, 1e-3);
      EXPECT_NEAR(variance[c], squares / kRows, 1e-4);
      EXPECT_NEAR(unbiased[c], squares / (kRows - 1), 1e-4);
    }
  }
}

TEST(BatchNormKernelsTest, AgreeWithTheirTwin) {
  for (const Shape& shape : std::vector<Shape>{{3, 5, 4, 17}, {700, 3}, {2, 1}}) {
    const int64_t channels = shape.dim(shape.rank() - 1);
    const size_t rows = static_cast<size_t>(shape.count() / channels);
    const Tensor x = RandomTensor(shape, 7), dy = RandomTensor(shape, 8);
    const Tensor scale = RandomTensor({channels}, 9), offset = RandomTensor({channels}, 10);
    const Attributes epsilon{{"epsilon", 0.01}};
    Doubles y(x.values.size()), dx(x.values.size()), means, dscale, doffset;
    Tensor mean{{channels}, {}}, variance{{channels}, {}};
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      const auto v = [&](const Tensor& t, size_t r) {
        return static_cast<double>(t.values[r * static_cast<size_t>(channels) + c]);
      };
      const double n = static_cast<double>(rows);
      double m = 0, s = 0, sum = 0, product = 0;
      for (size_t r = 0; r < rows; ++r) m += v(x, r) / n;
      for (size_t r = 0; r < rows; ++r) s += std::pow(v(x, r) - m, 2) / n;
      const double deviation = std::sqrt(s + 0.01);
      for (size_t r = 0; r < rows; ++r) {
        sum += v(dy, r);
        product += v(dy, r) * (v(x, r) - m) / deviation;
      }
      const double g = static_cast<double>(scale.values[c]);
      for (size_t r = 0; r < rows; ++r) {
        const size_t at = r * static_cast<size_t>(channels) + c;
        const double z = (v(x, r) - m) / deviation;
        y[at] = g * z + static_cast<double>(offset.values[c]);
        dx[at] = g / deviation * (v(dy, r) - sum / n - z * product / n);
      }
      mean.values.push_back(static_cast<float>(m));
      variance.values.push_back(static_cast<float>(s));
      dscale.push_back(product);
      doffset.push_back(sum);
    }
    const std::vector<Floats> forward = RunOp("BatchNorm", {x, scale, offset}, epsilon);
    ExpectNear(forward[0], y, "y");
    ExpectNear(forward[1], Doubles(mean.values.begin(), mean.values.end()), "mean");
    ExpectNear(forward[2], Doubles(variance.values.begin(), variance.values.end()), "variance");
    ExpectNear(RunOp("BatchNormInference", {x, scale, offset, mean, variance}, epsilon)[0], y,
               "inference");
    const auto backward = RunOp("BatchNormGrad", {dy, x, scale, mean, variance}, epsilon);
    ExpectNear(backward[0], dx, "dx");
    ExpectNear(backward[1], dscale, "dscale");
    ExpectNear(backward[2], doffset, "doffset");
  }
}

TEST(DropoutTest, DropsItsShareAndScalesTheRestAlikeInEveryVersion) {
  constexpr size_t kCount = 100'003;
  const Floats x(kCount, 2.0f);
  std::set<std::vector<bool>> seen;
  for (const ImageLoops* loops : SupportedImageLoops()) {
    Floats y(kCount);
    loops->dropout({.key = 1234}, 0.25f, x.data(), y.data(), kCount);
    std::vector<bool> kept;
    for (const float value : y) {
      kept.push_back(value != 0.0f);
      ASSERT_TRUE(value == 0.0f || std::abs(value - 2.0f / 0.75f) < 1e-6f) << value;
    }
    const double share =
        static_cast<double>(std::count(kept.begin(), kept.end(), true)) / kCount;
    EXPECT_NEAR(share, 0.75, 0.006);  // Four standard deviations.
    seen.insert(kept);
  }
  EXPECT_EQ(seen.size(), 1u);
  Floats other(kCount);
  BestImageLoops().dropout({.key = 1235}, 0.25f, x.data(), other.data(), kCount);
  std::vector<bool> kept;
  for (const float value : other) kept.push_back(value != 0.0f);
  EXPECT_FALSE(seen.contains(kept));
}

TEST(ImageKernelsTest, MaxPoolReluGradIsTheTwoGradientsToTheBit) {
  const Tensor drawn = RandomTensor(Shape({3, 7, 9, 19}), 1);
  const Tensor x{drawn.shape, RunOp("Relu", {drawn})[0]};  // Windows of zeros among them.
  for (const int64_t size : {2, 3}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const char* padding : {"SAME", "VALID"}) {
        Attributes pool = Strided({stride, stride}, padding);
        pool.Set("size", Ints{size, size});
        const Floats made = RunOp("MaxPool", {x}, pool)[0];
        const auto window = WindowOf(pool, {7, 9}, {size, size});
        ASSERT_THAT(window, IsOk());
        const Tensor y{Shape({3, window->out[0], window->out[1], 19}), made};
        const Tensor dy = RandomTensor(y.shape, 2);
        const Tensor dx{x.shape, RunOp("MaxPoolGrad", {dy, x, y}, pool)[0]};
        const Floats want = RunOp("ReluGrad", {dx, x})[0];
        const Floats got = RunOp("MaxPoolReluGrad", {dy, x, y}, pool)[0];
        ASSERT_EQ(got, want) << size << ", " << stride << ", " << padding;
        ASSERT_NE(got, dx.values);
      }
    }
  }
}

// Large enough that each is shared out, by numbers of images that no number of shares divides.
TEST(ImageKernelsTest, ThreadsChangeNoBit) {
  const Tensor x = RandomTensor(Shape({37, 20, 20, 13}), 1);
  const Tensor dy = RandomTensor(Shape({37, 20, 20, 13}), 2);
  const Tensor pooled = RandomTensor(Shape({37, 10, 10, 13}), 3);
  const Tensor scale = RandomTensor(Shape({13}), 4);
  const Attributes pool{{"size", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  Attributes grad = pool;
  grad.Set("image_size", Ints{20, 20});
  const Tensor y{pooled.shape, RunOp("MaxPool", {x}, pool)[0]};
  const struct {
    const char* op;
    std::vector<Tensor> inputs;
    Attributes attributes = {};
  } cases[] = {{"MaxPool", {x}, pool},
               {"MaxPoolGrad", {pooled, x, y}, pool},
               {"MaxPoolReluGrad", {pooled, x, y}, pool},
               {"AvgPool", {x}, pool},
               {"AvgPoolGrad", {pooled}, grad},
               {"BatchNorm", {x, scale, scale}},
               {"BatchNormGrad", {dy, x, scale, scale, Tensor{scale.shape, Floats(13, 0.5f)}}},
               {"BatchNormInference",
                {x, scale, scale, scale, Tensor{scale.shape, Floats(13, 0.5f)}}},
               {"Dropout", {x}, {{"rate", 0.5}}},
               {"ReduceSum", {x}, {{"axes", Ints{0, 1, 2}}}},
               {"ReduceMean", {x}, {{"axes", Ints{1, 2}}}},
               {"BiasAddRelu", {x, scale}},
               {"Tanh", {x}},
               {"AddN", {x, dy, x}}};
  for (const auto& test : cases) {
    EXPECT_EQ(RunOp(test.op, test.inputs, test.attributes, 1),
              RunOp(test.op, test.inputs, test.attributes, 3))
        << test.op;
  }
}

struct PixelCase {
  Shape x;
  PixelScale scale = {};
  AugmentOptions augment = {};
};

// As the host makes them: what a data set gathers, and what becomes of it.
std::vector<float> DecodedByHost(const PixelCase& c, const std::vector<uint8_t>& pixels,
                                 const std::vector<int64_t>& seeds) {
  const int64_t images = c.x.dim(0), width = c.x.count() / images;
  auto set = Dataset::FromPixels("x", pixels, width, std::vector<int32_t>(images), 1);
  EXPECT_THAT(set, IsOk());
  set->set_pixel_scale(c.scale);
  std::vector<int64_t> all(static_cast<size_t>(images));
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> decoded(pixels.size());
  set->GatherFeatures(all, decoded.data());
  if (!c.augment.any()) return decoded;
  std::vector<float> moved(pixels.size());
  const ImageShape shape{c.x.dim(1), c.x.dim(2), c.x.dim(3)};
  for (int64_t i = 0; i < images; ++i) {
    const size_t at = static_cast<size_t>(i * width), count = static_cast<size_t>(width);
    AugmentImage<float>(shape, c.augment, static_cast<uint64_t>(seeds[static_cast<size_t>(i)]),
                        c.scale.offset, std::span(decoded).subspan(at, count),
                        std::span(moved).subspan(at, count));
  }
  return moved;
}

TEST(ImageKernelsTest, PixelsAreDecodedToTheBitsOfTheHost) {
  SeededRandom random(1);
  const PixelCase cases[] = {{.x = {1, 1}},
                             {.x = {5, 131}},
                             {.x = {100, 1024}, .scale = {2, -1}},
                             {.x = {3, 5, 7, 3}, .scale = {0.0039f, -0.5f}},
                             {.x = {3, 5, 7, 3}, .augment = {.flip = true}},
                             {.x = {31, 5, 7, 3}, .augment = {.crop_padding = 4}},
                             {.x = {1, 1, 9, 1}, .augment = {.flip = true}},
                             {.x = {64, 32, 32, 3},
                              .scale = {0.02f, 1.5f},
                              .augment = {.crop_padding = 4, .flip = true}}};
  for (const PixelCase& c : cases) {
    std::vector<uint8_t> pixels(static_cast<size_t>(c.x.count()));
    std::vector<int64_t> seeds(static_cast<size_t>(c.x.dim(0)));
    for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(random.Next());
    for (int64_t& seed : seeds) seed = static_cast<int64_t>(random.Next());
    const std::vector<float> want = DecodedByHost(c, pixels, seeds);
    Graph graph;
    std::vector<Value> inputs = {graph.Input("x", {DType::kUint8, c.x})};
    if (c.augment.any()) {
      inputs.push_back(graph.Input("seeds", {DType::kInt64, Shape({c.x.dim(0)})}));
    }
    graph.Add("DecodePixels", "y", inputs, {{"scale", double{c.scale.scale}},
                                            {"offset", double{c.scale.offset}},
                                            {"crop_padding", c.augment.crop_padding},
                                            {"flip", c.augment.flip}});
    for (const bool far : {false, true}) {
      for (const int threads : {1, 3}) {
        auto session = Session::Compile(far ? FarRuntime() : CpuRuntime(), graph,
                                        {.fetches = {"y"}, .trainable = false, .threads = threads});
        ASSERT_THAT(session, IsOk());
        std::ranges::copy(pixels, (*session)->Uint8Input("x").begin());
        if (c.augment.any()) std::ranges::copy(seeds, (*session)->Int64Input("seeds").begin());
        ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
        std::vector<float> got(want.size());
        ASSERT_THAT((*session)->output("y").Read(std::span(got)), IsOk());
        EXPECT_EQ(got, want) << c.x.ToString() << ", threads " << threads;
      }
    }
  }
}

TEST(ImageKernelsTest, WhatCannotBeDecodedSaysWhy) {
  const TensorType images{DType::kUint8, Shape({Shape::kBatch, 4, 5, 3})};
  const TensorType seeds{DType::kInt64, Shape({Shape::kBatch})};
  const struct {
    std::vector<TensorType> inputs;
    Attributes attributes;
    const char* why;
  } cases[] = {
      {{{DType::kFloat32, images.shape}}, {}, "pixels must be uint8"},
      {{images}, {{"flip", true}}, "needs a seed for each image"},
      {{{DType::kUint8, Shape({Shape::kBatch, 60})}, seeds}, {}, "images are [n, height,"},
      {{images, {DType::kInt64, Shape({7})}}, {}, "seeds must be int64, one for each image"},
      {{images, seeds}, {{"crop_padding", int64_t{4}}}, "crop_padding must be from 0 to less"}};
  for (const auto& c : cases) {
    Graph graph;
    std::vector<Value> inputs;
    for (const TensorType& type : c.inputs) {
      inputs.push_back(graph.Input("x" + std::to_string(inputs.size()), type));
    }
    graph.Add("DecodePixels", "y", inputs, c.attributes);
    EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                         testing::HasSubstr(c.why)));
  }
}

}  // namespace
}  // namespace taas
