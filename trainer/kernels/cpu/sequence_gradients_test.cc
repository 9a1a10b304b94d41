// The gradients of layer normalization, GELU, attention and LSTM in float32 against plain twins in
// double, at odd sizes. A twin is the formula, and computes forwards by itself: from the op's
// inputs alone. Differences are within kTolerance of the largest number of a result.

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/testing/run_op.h"
#include "trainer/loops/sequence_loops.h"

namespace taas {
namespace {

size_t Size(int64_t n) { return static_cast<size_t>(n); }

// What a gradient op gives, in the order of its outputs.
using Gradients = std::vector<Doubles>;

void ExpectAllNear(const std::vector<Floats>& got, const Gradients& wanted,
                   const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ExpectNear(got[i], wanted[i], what + ", output " + std::to_string(i));
  }
}

// With z = (x - mean) / s and g = dy · scale, of a row: dx = (g - mean(g) - z · mean(g · z)) / s.
Gradients LayerNormGradTwin(const Floats& dy, const Floats& x, const Floats& scale,
                            double epsilon) {
  const size_t columns = scale.size();
  const double count = static_cast<double>(columns);
  Doubles dx(x.size()), dscale(columns), doffset(columns), z(columns), g(columns);
  for (size_t at = 0; at < x.size(); at += columns) {
    double mean = 0, variance = 0, g_mean = 0, gz_mean = 0;
    for (size_t i = 0; i < columns; ++i) mean += x[at + i] / count;
    for (size_t i = 0; i < columns; ++i) variance += std::pow(x[at + i] - mean, 2) / count;
    const double s = std::sqrt(variance + epsilon);
    for (size_t i = 0; i < columns; ++i) {
      z[i] = (x[at + i] - mean) / s;
      g[i] = static_cast<double>(dy[at + i]) * scale[i];
      g_mean += g[i] / count;
      gz_mean += g[i] * z[i] / count;
      dscale[i] += dy[at + i] * z[i];
      doffset[i] += dy[at + i];
    }
    for (size_t i = 0; i < columns; ++i) dx[at + i] = (g[i] - g_mean - z[i] * gz_mean) / s;
  }
  return {dx, dscale, doffset};
}

TEST(SequenceGradientsTest, LayerNormGradEqualsItsTwin) {
  for (const int64_t columns : {1, 3, 64, 131}) {
    const FloatTensor x = RandomTensor(Shape({7, 5, columns}), 1);
    const FloatTensor scale = RandomTensor(Shape({columns}), 2);
    const FloatTensor offset = RandomTensor(Shape({columns}), 3);
    const FloatTensor dy = RandomTensor(Shape({7, 5, columns}), 4);
    const auto forward = RunOp("LayerNorm", {x, scale, offset}, {{"epsilon", 0.01}});
    const FloatTensor mean{Shape({7, 5}), forward[1]}, inverse{Shape({7, 5}), forward[2]};
    const Gradients wanted = LayerNormGradTwin(dy.values, x.values, scale.values, 0.01);
    for (const int threads : {1, 3}) {
      ExpectAllNear(RunOp("LayerNormGrad", {dy, x, scale, mean, inverse}, {}, threads), wanted,
                    std::to_string(columns) + " columns");
    }
  }
}

// y = x · (1 + tanh u) / 2 with u = √(2/π) · (x + 0.044715 · x³).
Doubles GeluGradTwin(const Floats& dy, const Floats& given_x) {
  Doubles dx;
  for (size_t i = 0; i < dy.size(); ++i) {
    const double x = given_x[i], root = std::sqrt(2 / M_PI);
    const double tanh = std::tanh(root * (x + 0.044715 * x * x * x));
    const double slope = root * (1 + 3 * 0.044715 * x * x);
    dx.push_back(dy[i] * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * slope));
  }
  return dx;
}

// The loop takes blocks of 256 and fetches 1,024 ahead: around both, and where both end.
constexpr int64_t kGeluSizes[] = {1,    15,   37,   255,  256,  257,  511,  513,  1023, 1024,
                                  1025, 1279, 1280, 1281, 1295, 1296, 1297, 2047, 2305, 5003};

TEST(SequenceGradientsTest, GeluGradEqualsItsTwinAroundItsBlocks) {
  for (const int64_t n : kGeluSizes) {
    FloatTensor x = RandomTensor(Shape({n}), 1);
    for (float& value : x.values) value *= 6;
    const FloatTensor dy = RandomTensor(Shape({n}), 2);
    const Doubles wanted = GeluGradTwin(dy.values, x.values);
    for (const int threads : {1, 3}) {
      ExpectNear(RunOp("GeluGrad", {dy, x}, {}, threads)[0], wanted, std::to_string(n));
    }
  }
}

TEST(SequenceGradientsTest, EachVersionOfGeluGradWritesAllOfItsNumbersAndNoOther) {
  for (const SequenceLoops* loops : SupportedSequenceLoops()) {
    for (const int64_t n : kGeluSizes) {
      FloatTensor x = RandomTensor(Shape({n}), 3);
      for (float& value : x.values) value *= 6;
      const FloatTensor dy = RandomTensor(Shape({n}), 4);
      const Doubles wanted = GeluGradTwin(dy.values, x.values);
      Floats dx(Size(n) + 32, 77.0f);
      loops->gelu_grad(dy.values.data(), x.values.data(), dx.data(), n);
      for (size_t i = Size(n); i < dx.size(); ++i) ASSERT_EQ(dx[i], 77.0f) << n;
      dx.resize(Size(n));
      ExpectNear(dx, wanted, std::to_string(n));
      // As the memory plan lets it: over dy.
      Floats over = dy.values;
      loops->gelu_grad(over.data(), x.values.data(), over.data(), n);
      EXPECT_EQ(over, dx) << n;
    }
  }
}

struct AttentionCase {
  int64_t examples, steps, heads, width;
  bool causal;
};

// One head of one example: of columns [0, head) of q, k, v and dy, rows apart by their strides.
struct HeadGradient {
  const float* q;
  const float* dy;
  double* dq;
  int64_t width;  // Of all heads: k follows q by it, and v follows k.
  int64_t head;
  int64_t steps;
  bool causal;

  // p = softmax(q kᵀ · c); dv = pᵀ dy; dp = dy vᵀ; ds = p (dp - Σ p dp) c; dq = ds k; dk = dsᵀ q.
  void Add() const {
    const float* const k = q + width;
    const float* const v = k + width;
    double* const dk = dq + width;
    double* const dv = dk + width;
    const double c = 1 / std::sqrt(static_cast<double>(head));
    const int64_t stride = 3 * width;
    for (int64_t query = 0; query < steps; ++query) {
      const int64_t keys = causal ? query + 1 : steps;
      Doubles p(Size(keys)), dp(Size(keys));
      double sum = 0, mean = 0;
      for (int64_t key = 0; key < keys; ++key) {
        double score = 0;
        for (int64_t i = 0; i < head; ++i) {
          score += static_cast<double>(q[query * stride + i]) * k[key * stride + i];
          dp[Size(key)] += static_cast<double>(dy[query * width + i]) * v[key * stride + i];
        }
        sum += p[Size(key)] = std::exp(score * c);
      }
      for (double& share : p) share /= sum;
      for (size_t key = 0; key < p.size(); ++key) mean += p[key] * dp[key];
      for (int64_t key = 0; key < keys; ++key) {
        const double ds = p[Size(key)] * (dp[Size(key)] - mean) * c;
        for (int64_t i = 0; i < head; ++i) {
          dq[query * stride + i] += ds * k[key * stride + i];
          dk[key * stride + i] += ds * q[query * stride + i];
          dv[key * stride + i] += p[Size(key)] * dy[query * width + i];
        }
      }
    }
  }
};

Doubles AttentionGradTwin(const AttentionCase& c, const Floats& dy, const Floats& qkv) {
  Doubles dqkv(qkv.size());
  const int64_t head = c.width / c.heads;
  for (int64_t n = 0; n < c.examples; ++n) {
    for (int64_t h = 0; h < c.heads; ++h) {
      const int64_t column = h * head, row = n * c.steps;
      HeadGradient{.q = qkv.data() + row * 3 * c.width + column,
                   .dy = dy.data() + row * c.width + column,
                   .dq = dqkv.data() + row * 3 * c.width + column,
                   .width = c.width,
                   .head = head,
                   .steps = c.steps,
                   .causal = c.causal}
          .Add();
    }
  }
  return dqkv;
}

TEST(SequenceGradientsTest, AttentionGradEqualsItsTwinAtEachNumberOfBlocks) {
  for (const AttentionCase& c : {AttentionCase{2, 1, 1, 3, true}, AttentionCase{2, 7, 3, 15, true},
                                 AttentionCase{1, 64, 2, 10, true},
                                 AttentionCase{1, 65, 1, 4, true},
                                 AttentionCase{2, 131, 2, 6, true},
                                 AttentionCase{2, 131, 2, 6, false}}) {
    FloatTensor qkv = RandomTensor(Shape({c.examples, c.steps, 3 * c.width}), 1);
    for (float& value : qkv.values) value *= 3;
    const FloatTensor dy = RandomTensor(Shape({c.examples, c.steps, c.width}), 2);
    const Attributes attributes{{"heads", c.heads}, {"causal", c.causal}};
    const auto forward = RunOp("Attention", {qkv}, attributes);
    const FloatTensor y{dy.shape, forward[0]};
    const FloatTensor sums{Shape({c.examples, c.heads, c.steps}), forward[1]};
    const Doubles wanted = AttentionGradTwin(c, dy.values, qkv.values);
    for (const int threads : {1, 3}) {
      ExpectAllNear(RunOp("AttentionGrad", {dy, qkv, y, sums}, attributes, threads), {wanted},
                    std::to_string(c.steps) + " steps, threads " + std::to_string(threads));
    }
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A whole LSTM, forwards and backwards through time, cell by cell. Arrays of step by example by
// unit, as the op has them; gates in PyTorch's order.
class LstmTwin {
 public:
  LstmTwin(const FloatTensor& x, const FloatTensor& w, const FloatTensor& r, const Floats& b)
      : x_(x), w_(w.values), r_(r.values), b_(b), steps_(Size(x.shape.dim(0))),
        n_(Size(x.shape.dim(1))), width_(Size(x.shape.dim(2))), units_(b.size() / 4) {
    const size_t cells = steps_ * n_ * units_;
    for (Doubles* values : {&y_, &cells_}) values->resize(cells);
    gates_.resize(4 * cells);
    for (size_t row = 0; row < steps_ * n_; ++row) Forward(row);
  }

  // dx, dw, dr, db.
  Gradients Backward(const Floats& given_dy) {
    Doubles dy(given_dy.begin(), given_dy.end()), dcells(dy.size());
    Gradients all = {Doubles(x_.values.size()), Doubles(w_.size()), Doubles(r_.size()),
                     Doubles(b_.size())};
    for (size_t row = steps_ * n_; row-- > 0;) {
      for (size_t unit = 0; unit < units_; ++unit) Unit(row, unit, &dy, &dcells, &all);
    }
    return all;
  }

 private:
  double Before(const Doubles& values, size_t row, size_t unit) const {
    return row < n_ ? 0 : values[(row - n_) * units_ + unit];
  }

  void Forward(size_t row) {
    for (size_t column = 0; column < 4 * units_; ++column) {
      double sum = b_[column];
      for (size_t i = 0; i < width_; ++i) {
        sum += static_cast<double>(x_.values[row * width_ + i]) * w_[i * 4 * units_ + column];
      }
      for (size_t i = 0; i < units_; ++i) {
        sum += Before(y_, row, i) * r_[i * 4 * units_ + column];
      }
      gates_[row * 4 * units_ + column] =
          column / units_ == 2 ? std::tanh(sum) : Sigmoid(sum);
    }
    const double* const gate = gates_.data() + row * 4 * units_;
    for (size_t unit = 0; unit < units_; ++unit) {
      const size_t at = row * units_ + unit;
      cells_[at] = gate[units_ + unit] * Before(cells_, row, unit) +
                   gate[unit] * gate[2 * units_ + unit];
      y_[at] = gate[3 * units_ + unit] * std::tanh(cells_[at]);
    }
  }

  // dy and dcells are whole for this row: what later steps give to it was added.
  void Unit(size_t row, size_t unit, Doubles* dy, Doubles* dcells, Gradients* all) const {
    const size_t at = row * units_ + unit;
    const double* const gate = gates_.data() + row * 4 * units_ + unit;
    const double i = gate[0], f = gate[units_], g = gate[2 * units_], o = gate[3 * units_];
    const double tanh = std::tanh(cells_[at]);
    const double dcell = (*dcells)[at] + (*dy)[at] * o * (1 - tanh * tanh);
    const double dgates[4] = {dcell * g * i * (1 - i),
                              dcell * Before(cells_, row, unit) * f * (1 - f),
                              dcell * i * (1 - g * g), (*dy)[at] * tanh * o * (1 - o)};
    if (row >= n_) (*dcells)[at - n_ * units_] += dcell * f;
    for (size_t part = 0; part < 4; ++part) {
      const size_t column = part * units_ + unit;
      for (size_t k = 0; k < width_; ++k) {
        (*all)[0][row * width_ + k] += dgates[part] * w_[k * 4 * units_ + column];
        (*all)[1][k * 4 * units_ + column] += dgates[part] * x_.values[row * width_ + k];
      }
      for (size_t k = 0; k < units_; ++k) {
        if (row >= n_) (*dy)[(row - n_) * units_ + k] += dgates[part] * r_[k * 4 * units_ + column];
        (*all)[2][k * 4 * units_ + column] += dgates[part] * Before(y_, row, k);
      }
      (*all)[3][column] += dgates[part];
    }
  }

  const FloatTensor& x_;
  const Floats& w_;
  const Floats& r_;
  const Floats& b_;
  const size_t steps_, n_, width_, units_;
  Doubles y_, cells_, gates_;
};

TEST(SequenceGradientsTest, LstmGradEqualsItsTwin) {
  for (const auto& [steps, n, width, units] :
       std::vector<std::array<int64_t, 4>>{{1, 1, 1, 1}, {5, 3, 7, 6}, {9, 17, 2, 33}}) {
    const FloatTensor x = RandomTensor(Shape({steps, n, width}), 1);
    const FloatTensor w = RandomTensor(Shape({width, 4 * units}), 2);
    const FloatTensor r = RandomTensor(Shape({units, 4 * units}), 3);
    const FloatTensor b = RandomTensor(Shape({4 * units}), 4);
    const FloatTensor dy = RandomTensor(Shape({steps, n, units}), 5);
    const auto forward = RunOp("Lstm", {x, w, r, b});
    const std::vector<FloatTensor> inputs = {dy, x, w, r,
                                             {dy.shape, forward[0]},
                                             {Shape({steps, n, 4 * units}), forward[1]},
                                             {dy.shape, forward[2]}};
    const Gradients wanted = LstmTwin(x, w, r, b.values).Backward(dy.values);
    for (const int threads : {1, 2}) {
      ExpectAllNear(RunOp("LstmGrad", inputs, {}, threads), wanted,
                    std::to_string(units) + " units");
    }
  }
}

}  // namespace
}  // namespace taas
