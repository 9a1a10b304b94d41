// Each loop against a plain twin in double precision, in every version that this machine can run,
// at sizes around the widths of its registers.

#include "trainer/loops/loops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 3, 7, 8, 13, 16, 17, 31, 32, 33, 64, 97, 127, 509, 1021};

std::vector<float> RandomFloats(int64_t n, uint64_t seed, double low = -2, double high = 2) {
  SeededRandom random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(low + (high - low) * random.Unit());
  return values;
}

struct BinaryCase {
  const char* name;
  void (*Loops::*loop)(const float*, const float*, float*, int64_t);
  std::function<double(double, double)> twin;
};

const BinaryCase kBinary[] = {
    {"add", &Loops::add, [](double a, double b) { return a + b; }},
    {"sub", &Loops::sub, [](double a, double b) { return a - b; }},
    {"mul", &Loops::mul, [](double a, double b) { return a * b; }},
    {"relu_grad", &Loops::relu_grad, [](double dy, double y) { return y > 0 ? dy : 0; }},
    {"sigmoid_grad", &Loops::sigmoid_grad, [](double dy, double y) { return dy * y * (1 - y); }},
    {"tanh_grad", &Loops::tanh_grad, [](double dy, double y) { return dy * (1 - y * y); }},
};

struct UnaryCase {
  const char* name;
  void (*Loops::*loop)(const float*, float*, int64_t);
  std::function<double(double)> twin;
  double range;
  double tolerance;  // Relative.
};

const UnaryCase kUnary[] = {
    {"relu", &Loops::relu, [](double x) { return x < 0 ? 0 : x; }, 5, 0},
    {"exp", &Loops::exp, [](double x) { return std::exp(x); }, 86, 3e-7},
    {"sigmoid", &Loops::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 80, 5e-7},
    {"tanh", &Loops::tanh, [](double x) { return std::tanh(x); }, 12, 5e-7},
    {"tanh near zero", &Loops::tanh, [](double x) { return std::tanh(x); }, 0.5, 5e-7},
};

// As operator<< would print, with what a failure needs to be found again.
std::string Where(const Loops& loops, const char* name, int64_t n) {
  return std::string(loops.target) + " " + name + ", n = " + std::to_string(n);
}

TEST(LoopsTest, BinaryLoopsAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const BinaryCase& test : kBinary) {
      for (const int64_t n : kSizes) {
        const std::vector<float> a = RandomFloats(n, 1), b = RandomFloats(n, 2);
        std::vector<float> out(a.size() + 1, 77);
        (loops->*test.loop)(a.data(), b.data(), out.data(), n);
        for (size_t i = 0; i < a.size(); ++i) {
          const double want = test.twin(double{a[i]}, double{b[i]});
          ASSERT_NEAR(out[i], want, 1e-6 * (1 + std::abs(want))) << Where(*loops, test.name, n);
        }
        ASSERT_EQ(out.back(), 77) << "written past the end: " << Where(*loops, test.name, n);
      }
    }
  }
}

TEST(LoopsTest, UnaryLoopsAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const UnaryCase& test : kUnary) {
      for (const int64_t n : kSizes) {
        const std::vector<float> x = RandomFloats(n, 3, -test.range, test.range);
        std::vector<float> out(x.size() + 1, 77);
        (loops->*test.loop)(x.data(), out.data(), n);
        for (size_t i = 0; i < x.size(); ++i) {
          const double want = test.twin(double{x[i]});
          ASSERT_NEAR(out[i], want, test.tolerance * std::abs(want) + 1e-37)
              << Where(*loops, test.name, n) << ", x = " << x[i];
        }
        ASSERT_EQ(out.back(), 77) << "written past the end: " << Where(*loops, test.name, n);
      }
    }
  }
}

TEST(LoopsTest, ResultMayReplaceAnInput) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> a = RandomFloats(n, 4), b = RandomFloats(n, 5);
      std::vector<float> want(a.size()), in_place = a;
      loops->mul(a.data(), b.data(), want.data(), n);
      loops->mul(in_place.data(), b.data(), in_place.data(), n);
      EXPECT_EQ(in_place, want) << Where(*loops, "mul", n);
      in_place = a;
      loops->tanh(a.data(), want.data(), n);
      loops->tanh(in_place.data(), in_place.data(), n);
      EXPECT_EQ(in_place, want) << Where(*loops, "tanh", n);
      in_place = a;
      loops->add_scaled(a.data(), -0.1f, b.data(), want.data(), n);
      loops->add_scaled(in_place.data(), -0.1f, b.data(), in_place.data(), n);
      EXPECT_EQ(in_place, want) << Where(*loops, "add_scaled", n);
    }
  }
}

TEST(LoopsTest, ScalingAgreesWithItsTwin) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> x = RandomFloats(n, 6), y = RandomFloats(n, 7);
      std::vector<float> scaled(x.size()), added(x.size());
      loops->scale(x.data(), -1.5f, scaled.data(), n);
      loops->add_scaled(y.data(), -1.5f, x.data(), added.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_FLOAT_EQ(scaled[i], -1.5f * x[i]) << Where(*loops, "scale", n);
        ASSERT_NEAR(added[i], y[i] - 1.5 * double{x[i]}, 1e-6) << Where(*loops, "add_scaled", n);
      }
    }
  }
}

TEST(LoopsTest, MomentumAgreesWithItsTwin) {
  const MomentumUpdate update{.rate = 0.3f, .momentum = 0.9f};
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> g = RandomFloats(n, 21), w = RandomFloats(n, 22);
      const std::vector<float> a = RandomFloats(n, 23);
      std::vector<float> out(w.size() + 1, 77), a_out(w.size() + 1, 77);
      loops->momentum(update, g.data(), w.data(), out.data(), a.data(), a_out.data(), n);
      for (size_t i = 0; i < w.size(); ++i) {
        const double sum = 0.9 * double{a[i]} + double{g[i]};
        ASSERT_NEAR(a_out[i], sum, 1e-6) << Where(*loops, "momentum", n);
        ASSERT_NEAR(out[i], w[i] - 0.3 * sum, 1e-6) << Where(*loops, "momentum", n);
      }
      ASSERT_EQ(out.back() + a_out.back(), 154) << Where(*loops, "past the end: momentum", n);
      std::vector<float> w_in_place = w, a_in_place = a;
      loops->momentum(update, g.data(), w_in_place.data(), w_in_place.data(), a_in_place.data(),
                      a_in_place.data(), n);
      out.pop_back();
      a_out.pop_back();
      ASSERT_EQ(w_in_place, out) << Where(*loops, "in place: momentum", n);
      ASSERT_EQ(a_in_place, a_out) << Where(*loops, "in place: momentum", n);
    }
  }
}

TEST(LoopsTest, AdamAgreesWithItsTwin) {
  const AdamUpdate update{.rate = 0.3f, .beta1 = 0.9f, .rest1 = 0.1f, .beta2 = 0.99f,
                          .rest2 = 0.01f, .epsilon = 1e-3f};
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> g = RandomFloats(n, 24), w = RandomFloats(n, 25);
      std::vector<float> m = RandomFloats(n, 26), v = RandomFloats(n, 27, 0, 1);
      std::vector<float> out(w.size()), m_out(w.size()), v_out(w.size());
      const float* const moments[2] = {m.data(), v.data()};
      float* const moments_out[2] = {m_out.data(), v_out.data()};
      loops->adam(update, g.data(), w.data(), out.data(), moments, moments_out, n);
      for (size_t i = 0; i < w.size(); ++i) {
        const double m_want = 0.9 * double{m[i]} + 0.1 * double{g[i]};
        const double v_want = 0.99 * double{v[i]} + 0.01 * double{g[i]} * double{g[i]};
        ASSERT_NEAR(m_out[i], m_want, 1e-6) << Where(*loops, "adam", n);
        ASSERT_NEAR(v_out[i], v_want, 1e-6) << Where(*loops, "adam", n);
        const double want = w[i] - 0.3 * m_want / (std::sqrt(v_want) + 1e-3);
        ASSERT_NEAR(out[i], want, 5e-6 * (1 + std::abs(want))) << Where(*loops, "adam", n);
      }
      std::vector<float> in_place = w;
      float* const same[2] = {m.data(), v.data()};
      loops->adam(update, g.data(), in_place.data(), in_place.data(), moments, same, n);
      ASSERT_EQ(in_place, out) << Where(*loops, "in place: adam", n);
      ASSERT_EQ(m, m_out) << Where(*loops, "in place: adam", n);
      ASSERT_EQ(v, v_out) << Where(*loops, "in place: adam", n);
    }
  }
}

// What the loops of optimizers that keep arrays beside the variable have in common: by slot, what
// is there before, what the twin in double precision makes of it, and the loop.
struct UpdateTwin {
  const char* name;
  size_t slots;
  // w and slots, changed in place by g.
  std::function<void(double g, double* w, double* slots)> twin;
  std::function<void(const Loops&, const float* g, const float* w, float* out,
                     const float* const* slots, float* const* slots_out, int64_t n)>
      loop;
};

const UpdateTwin kUpdates[] = {
    {"nesterov", 1,
     [](double g, double* w, double* slots) {
       slots[0] = 0.9 * slots[0] + g;
       *w -= 0.3 * (g + 0.9 * slots[0]);
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.nesterov({.rate = 0.3f, .momentum = 0.9f}, g, w, out, in[0], slots[0], n);
     }},
    {"adam that shrinks", 2,
     [](double g, double* w, double* slots) {
       slots[0] = 0.9 * slots[0] + 0.1 * g;
       slots[1] = 0.99 * slots[1] + 0.01 * g * g;
       *w -= 0.125 * *w + 0.3 * slots[0] / (std::sqrt(slots[1]) + 0.5);
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.adam({.rate = 0.3f, .beta1 = 0.9f, .rest1 = 0.1f, .beta2 = 0.99f, .rest2 = 0.01f,
                   .epsilon = 0.5f, .shrink = 0.125f},
                  g, w, out, in, slots, n);
     }},
    {"adagrad", 1,
     [](double g, double* w, double* slots) {
       slots[0] += g * g;
       *w -= 0.3 * g / std::sqrt(slots[0]);
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.adagrad(0.3f, g, w, out, in[0], slots[0], n);
     }},
    {"rmsprop", 2,
     [](double g, double* w, double* slots) {
       slots[0] += 0.125 * (g * g - slots[0]);
       slots[1] = 0.75 * slots[1] + 0.3 * g / std::sqrt(slots[0] + 0.5);
       *w -= slots[1];
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.rmsprop({.rate = 0.3f, .momentum = 0.75f, .rest = 0.125f, .epsilon = 0.5f}, g, w, out,
                     in, slots, n);
     }},
    {"rmsprop_centered", 3,
     [](double g, double* w, double* slots) {
       slots[0] += 0.125 * (g * g - slots[0]);
       slots[1] += 0.125 * (g - slots[1]);
       slots[2] = 0.75 * slots[2] + 0.3 * g / std::sqrt(slots[0] - slots[1] * slots[1] + 5);
       *w -= slots[2];
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.rmsprop_centered({.rate = 0.3f, .momentum = 0.75f, .rest = 0.125f, .epsilon = 5}, g,
                              w, out, in, slots, n);
     }},
    {"ftrl", 2,
     [](double g, double* w, double* slots) {
       const double sum = slots[0] + g * g;
       slots[1] += g - (std::sqrt(sum) - std::sqrt(slots[0])) * 4 * *w;
       slots[0] = sum;
       const double size = std::abs(slots[1]);
       *w = size <= 0.5 ? 0
                        : -std::copysign(size - 0.5, slots[1]) / (4 * std::sqrt(sum) + 0.25);
     },
     [](const Loops& loops, auto g, auto w, auto out, auto in, auto slots, int64_t n) {
       loops.ftrl({.per_rate = 4, .l1 = 0.5f, .l2 = 0.25f}, g, w, out, in, slots, n);
     }},
};

void CheckUpdate(const Loops& loops, const UpdateTwin& test, int64_t n) {
  const std::vector<float> g = RandomFloats(n, 41), w = RandomFloats(n, 42);
  std::vector<std::vector<float>> in, out;
  for (size_t slot = 0; slot < test.slots; ++slot) {
    in.push_back(RandomFloats(n, 43 + slot, 0, 1));  // Sums of squares are not negative.
    out.emplace_back(w.size() + 1, 77);
  }
  std::vector<const float*> slots;
  std::vector<float*> slots_out, same;
  for (size_t slot = 0; slot < test.slots; ++slot) {
    slots.push_back(in[slot].data());
    same.push_back(in[slot].data());
    slots_out.push_back(out[slot].data());
  }
  std::vector<float> w_out(w.size() + 1, 77);
  test.loop(loops, g.data(), w.data(), w_out.data(), slots.data(), slots_out.data(), n);
  for (size_t i = 0; i < w.size(); ++i) {
    double want = double{w[i]}, wanted[3] = {};
    for (size_t slot = 0; slot < test.slots; ++slot) wanted[slot] = double{in[slot][i]};
    test.twin(double{g[i]}, &want, wanted);
    ASSERT_NEAR(w_out[i], want, 2e-6 * (1 + std::abs(want))) << Where(loops, test.name, n);
    for (size_t slot = 0; slot < test.slots; ++slot) {
      ASSERT_NEAR(out[slot][i], wanted[slot], 2e-6 * (1 + std::abs(wanted[slot])))
          << Where(loops, test.name, n) << ", slot " << slot;
    }
  }
  std::vector<float> in_place = w;
  test.loop(loops, g.data(), in_place.data(), in_place.data(), slots.data(), same.data(), n);
  in_place.push_back(77);
  ASSERT_EQ(in_place, w_out) << "in place or past the end: " << Where(loops, test.name, n);
  for (size_t slot = 0; slot < test.slots; ++slot) {
    in[slot].push_back(77);
    ASSERT_EQ(in[slot], out[slot]) << "in place or past the end: " << Where(loops, test.name, n);
  }
}

TEST(LoopsTest, UpdatesOfOptimizersAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const UpdateTwin& test : kUpdates) {
      for (const int64_t n : kSizes) ASSERT_NO_FATAL_FAILURE(CheckUpdate(*loops, test, n));
    }
  }
}

TEST(LoopsTest, ClampAndSignAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      std::vector<float> x = RandomFloats(n, 51);
      if (n > 2) x[2] = 0;
      std::vector<float> clamped(x.size()), sign(x.size());
      loops->clamp(x.data(), 0.5f, clamped.data(), n);
      loops->scaled_sign(x.data(), -3, sign.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(clamped[i], std::clamp(x[i], -0.5f, 0.5f)) << Where(*loops, "clamp", n);
        const float want = x[i] == 0 ? 0.0f : std::copysign(3.0f, -x[i]);
        ASSERT_EQ(sign[i], want) << Where(*loops, "scaled_sign", n);
      }
      if (n == 0) continue;
      x[0] = std::nanf("");
      loops->clamp(x.data(), 0.5f, x.data(), n);
      ASSERT_TRUE(std::isnan(x[0])) << Where(*loops, "clamp", n);
    }
  }
}

TEST(LoopsTest, ACopyPastTheCachesHasTheBitsWhateverItsPlace) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      for (const size_t place : {0, 1, 7, 15}) {
        const std::vector<float> x = RandomFloats(n, 37);
        std::vector<float> out(x.size() + place + 1, 77.0f);
        loops->copy_past_caches(x.data(), out.data() + place, n);
        ASSERT_TRUE(std::equal(x.begin(), x.end(), out.begin() + static_cast<int64_t>(place)))
            << Where(*loops, "copy_past_caches", n);
        ASSERT_EQ(out.back(), 77.0f) << Where(*loops, "copy_past_caches", n);
        ASSERT_EQ(std::count(out.begin(), out.begin() + static_cast<int64_t>(place), 77.0f),
                  static_cast<int64_t>(place));
      }
    }
  }
}

TEST(LoopsTest, ApproachGoesItsShareOfTheWay) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> average = RandomFloats(n, 28), x = RandomFloats(n, 29);
      std::vector<float> out(x.size());
      loops->approach(average.data(), x.data(), 0.25f, out.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = 0.75 * double{average[i]} + 0.25 * double{x[i]};
        ASSERT_NEAR(out[i], want, 1e-6) << Where(*loops, "approach", n);
      }
    }
  }
}

TEST(LoopsTest, ScaledSumAddsInTheOrderOfItsArrays) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      for (int64_t count = 0; count <= 9; ++count) {
        std::vector<std::vector<float>> arrays;
        std::vector<const float*> pointers;
        for (int64_t i = 0; i < count; ++i) {
          arrays.push_back(RandomFloats(n, static_cast<uint64_t>(30 + i)));
        }
        for (const std::vector<float>& array : arrays) pointers.push_back(array.data());
        std::vector<float> out(static_cast<size_t>(n) + 1, 77);
        loops->scaled_sum(pointers.data(), count, 0.5f, out.data(), n);
        for (size_t i = 0; i + 1 < out.size(); ++i) {
          float sum = 0;  // Halving is exact, so the order alone decides the bits.
          for (const std::vector<float>& array : arrays) sum += array[i];
          ASSERT_EQ(out[i], 0.5f * sum) << Where(*loops, "scaled_sum", n) << ", of " << count;
        }
        ASSERT_EQ(out.back(), 77) << "written past the end: " << Where(*loops, "scaled_sum", n);
        if (count == 0) continue;
        loops->scaled_sum(pointers.data(), count, 0.5f, arrays[0].data(), n);
        out.pop_back();
        ASSERT_EQ(arrays[0], out) << Where(*loops, "in place: scaled_sum", n);
      }
    }
  }
}

TEST(LoopsTest, ScaledBytesAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      std::vector<uint8_t> x(static_cast<size_t>(n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(255 - 7 * i);
      std::vector<float> out(x.size() + 1, 77);
      loops->scale_bytes(x.data(), 0.25f, out.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(out[i], 0.25f * static_cast<float>(x[i])) << Where(*loops, "scale_bytes", n);
      }
      ASSERT_EQ(out.back(), 77) << "written past the end: " << Where(*loops, "scale_bytes", n);
    }
  }
}

TEST(LoopsTest, SoftmaxAgreesWithItsTwin) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t rows : {0, 1, 3, 19}) {
      for (const int64_t columns : {1, 2, 10, 31, 33, 63, 64, 65, 130}) {
        const int64_t n = rows * columns;
        const std::vector<float> x = RandomFloats(n, 12, -30, 30);
        std::vector<float> p(x.size()), largest(static_cast<size_t>(rows)), sums(largest.size());
        loops->softmax(x.data(), p.data(), largest.data(), sums.data(), rows, columns);
        for (int64_t row = 0; row < rows; ++row) {
          const auto begin = x.begin() + row * columns;
          const double most = double{*std::max_element(begin, begin + columns)};
          double sum = 0;
          for (auto at = begin; at != begin + columns; ++at) sum += std::exp(double{*at} - most);
          ASSERT_EQ(largest[static_cast<size_t>(row)], most) << Where(*loops, "softmax", n);
          ASSERT_NEAR(sums[static_cast<size_t>(row)], sum, 1e-6 * sum)
              << Where(*loops, "softmax", n);
          for (int64_t i = 0; i < columns; ++i) {
            const size_t at = static_cast<size_t>(row * columns + i);
            const double want = std::exp(double{x[at]} - most) / sum;
            // A difference of 60 is a float with steps of 4e-6.
            ASSERT_NEAR(p[at], want, 5e-6 * want + 1e-37) << Where(*loops, "softmax", n);
          }
        }
      }
    }
  }
}

TEST(LoopsTest, SumsAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t n : kSizes) {
      const std::vector<float> a = RandomFloats(n, 8), b = RandomFloats(n, 9);
      double sum = 0, squares = 0, own_squares = 0, absolute = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        const double difference = double{a[i]} - double{b[i]};
        sum += double{a[i]};
        squares += difference * difference;
        own_squares += double{a[i]} * double{a[i]};
        absolute += std::abs(double{a[i]});
      }
      const double tolerance = 1e-6 * static_cast<double>(n + 1);
      ASSERT_NEAR(loops->sum(a.data(), n), sum, tolerance) << Where(*loops, "sum", n);
      ASSERT_NEAR(loops->sum_squares(a.data(), n), own_squares, tolerance)
          << Where(*loops, "sum_squares", n);
      ASSERT_NEAR(loops->sum_absolute(a.data(), n), absolute, tolerance)
          << Where(*loops, "sum_absolute", n);
      ASSERT_NEAR(loops->squared_distance(a.data(), b.data(), n), squares, tolerance)
          << Where(*loops, "squared_distance", n);
    }
  }
}

TEST(LoopsTest, RowLoopsAgreeWithTheirTwins) {
  for (const Loops* loops : SupportedLoops()) {
    for (const int64_t rows : {0, 1, 2, 7, 19}) {
      for (const int64_t columns : {0, 1, 5, 10, 16, 37}) {
        const int64_t n = rows * columns;
        const std::vector<float> x = RandomFloats(n, 10), b = RandomFloats(columns, 11);
        std::vector<float> added(x.size()), positive(x.size()), sums(b.size(), 5);
        loops->bias_add(x.data(), b.data(), added.data(), rows, columns);
        loops->bias_add_relu(x.data(), b.data(), positive.data(), rows, columns);
        loops->sum_rows(x.data(), sums.data(), rows, columns);
        for (int64_t column = 0; column < columns; ++column) {
          double sum = 0;
          for (int64_t row = 0; row < rows; ++row) {
            const size_t i = static_cast<size_t>(row * columns + column);
            const float want = x[i] + b[static_cast<size_t>(column)];
            ASSERT_FLOAT_EQ(added[i], want) << Where(*loops, "bias_add", n);
            ASSERT_FLOAT_EQ(positive[i], std::max(want, 0.0f)) << Where(*loops, "relu", n);
            sum += double{x[i]};
          }
          ASSERT_NEAR(sums[static_cast<size_t>(column)], sum, 1e-5) << Where(*loops, "rows", n);
        }
      }
    }
  }
}

TEST(LoopsTest, ExtremeArgumentsStayInRange) {
  const std::vector<float> x = {-1e30f, -200, 200, 1e30f, 0};
  for (const Loops* loops : SupportedLoops()) {
    std::vector<float> out(x.size());
    loops->exp(x.data(), out.data(), 5);
    EXPECT_LT(out[0], 1e-36f) << loops->target;
    EXPECT_TRUE(std::isfinite(out[3])) << loops->target;
    EXPECT_EQ(out[4], 1) << loops->target;
    loops->sigmoid(x.data(), out.data(), 5);
    EXPECT_NEAR(out[0], 0, 1e-36) << loops->target;
    EXPECT_EQ(out[3], 1) << loops->target;
    EXPECT_EQ(out[4], 0.5f) << loops->target;
    loops->tanh(x.data(), out.data(), 5);
    EXPECT_EQ(out[0], -1) << loops->target;
    EXPECT_EQ(out[3], 1) << loops->target;
    EXPECT_EQ(out[4], 0) << loops->target;
  }
}

// A model that diverged must show it in its loss.
TEST(LoopsTest, NotANumberStaysNotANumber) {
  const float nan = std::nanf("");
  for (const Loops* loops : SupportedLoops()) {
    for (void (*Loops::*loop)(const float*, float*, int64_t) :
         {&Loops::relu, &Loops::exp, &Loops::sigmoid, &Loops::tanh}) {
      std::vector<float> x(40, nan);
      (loops->*loop)(x.data(), x.data(), 40);
      for (const float value : x) ASSERT_TRUE(std::isnan(value)) << loops->target;
    }
    for (const size_t at : {0, 5}) {
      std::vector<float> x(10, 1.0f), p(10);
      x[at] = nan;
      float largest = 0, sum = 0;
      loops->softmax(x.data(), p.data(), &largest, &sum, /*rows=*/1, /*columns=*/10);
      ASSERT_TRUE(std::isnan(sum) && std::isnan(p[at])) << loops->target;
    }
  }
}

TEST(LoopsTest, TheBaselineComesFirstAndTheBestLast) {
  EXPECT_STREQ(SupportedLoops().front()->target, "baseline");
  EXPECT_EQ(SupportedLoops().back(), &BestLoops());
}

}  // namespace
}  // namespace taas
