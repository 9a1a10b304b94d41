// Layer normalization, GELU, attention and LSTM against plain twins in double, at odd sizes, in
// every version that the machine can run. Gradients have twins in sequence_gradients_test; here
// their versions are held against the baseline, and several threads against one.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"
#include "trainer/testing/run_op.h"
#include "trainer/loops/sequence_loops.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Doubles LayerNormTwin(const FloatTensor& x, const Floats& scale, const Floats& offset,
                      double epsilon) {
  const size_t columns = scale.size();
  Doubles y(x.values.size());
  for (size_t row = 0; row < y.size() / columns; ++row) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i) mean += x.values[row * columns + i];
    mean /= static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) {
      variance += std::pow(x.values[row * columns + i] - mean, 2);
    }
    variance /= static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) {
      const double z = (x.values[row * columns + i] - mean) / std::sqrt(variance + epsilon);
      y[row * columns + i] = z * scale[i] + offset[i];
    }
  }
  return y;
}

TEST(SequenceKernelsTest, LayerNormEqualsItsTwin) {
  for (const int64_t columns : {1, 3, 64, 131}) {
    const FloatTensor x = RandomTensor(Shape({5, 3, columns}), 1);
    const FloatTensor scale = RandomTensor(Shape({columns}), 2);
    const FloatTensor offset = RandomTensor(Shape({columns}), 3);
    const auto outputs = RunOp("LayerNorm", {x, scale, offset}, {{"epsilon", 0.01}});
    ExpectNear(outputs[0], LayerNormTwin(x, scale.values, offset.values, 0.01),
               std::to_string(columns));
  }
}

TEST(SequenceKernelsTest, GeluIsTheApproximationWithTanh) {
  FloatTensor x = RandomTensor(Shape({37}), 1);
  Doubles wanted;
  for (float& value : x.values) {
    value *= 6;
    const double v = value;
    wanted.push_back(0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))));
  }
  ExpectNear(RunOp("Gelu", {x})[0], wanted, "gelu");
}

struct AttentionCase {
  int64_t examples, steps, heads, width;
  bool causal;
};

Doubles AttentionTwin(const AttentionCase& c, const Floats& qkv,
                      Precision products = Precision::kFloat32) {
  const auto at = [&](int64_t n, int64_t step, int64_t part, int64_t i) {
    const int64_t index = (n * c.steps + step) * 3 * c.width + part * c.width + i;
    return FactorOf(qkv[static_cast<size_t>(index)], products);
  };
  const int64_t head = c.width / c.heads;
  Doubles y(static_cast<size_t>(c.examples * c.steps * c.width));
  for (int64_t n = 0; n < c.examples; ++n)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t query = 0; query < c.steps; ++query) {
        Doubles shares;
        double sum = 0;
        for (int64_t key = 0; key < (c.causal ? query + 1 : c.steps); ++key) {
          double score = 0;
          for (int64_t i = h * head; i < (h + 1) * head; ++i) {
            score += at(n, query, 0, i) * at(n, key, 1, i);
          }
          shares.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
          sum += shares.back();
        }
        for (int64_t i = h * head; i < (h + 1) * head; ++i) {
          double value = 0;
          for (size_t key = 0; key < shares.size(); ++key) {
            value += FactorOf(shares[key] / sum, products) * at(n, static_cast<int64_t>(key), 2, i);
          }
          y[static_cast<size_t>((n * c.steps + query) * c.width + i)] = value;
        }
      }
  return y;
}

TEST(SequenceKernelsTest, AttentionEqualsItsTwinAtEachNumberOfBlocks) {
  for (const AttentionCase& c : {AttentionCase{2, 1, 1, 3, true}, AttentionCase{2, 7, 3, 15, true},
                                 AttentionCase{1, 64, 2, 10, true},
                                 AttentionCase{1, 65, 1, 4, true},
                                 AttentionCase{2, 131, 2, 6, true},
                                 AttentionCase{2, 131, 2, 6, false}}) {
    FloatTensor qkv = RandomTensor(Shape({c.examples, c.steps, 3 * c.width}), 1);
    for (float& value : qkv.values) value *= 3;
    for (const int threads : {1, 3}) {
      const auto outputs =
          RunOp("Attention", {qkv}, {{"heads", c.heads}, {"causal", c.causal}}, threads);
      ExpectNear(outputs[0], AttentionTwin(c, qkv.values),
                 std::to_string(c.steps) + " steps, threads " + std::to_string(threads));
    }
  }
}

TEST(SequenceKernelsTest, AttentionInBFloat16EqualsItsTwin) {
  const AttentionCase c{2, 131, 2, 22, true};
  FloatTensor qkv = RandomTensor(Shape({c.examples, c.steps, 3 * c.width}), 1);
  const Attributes heads{{"heads", c.heads}};
  for (const int threads : {1, 3}) {
    const auto outputs = RunOp("Attention", {qkv}, heads, threads, false, Precision::kBFloat16);
    ExpectNear(outputs[0], AttentionTwin(c, qkv.values, Precision::kBFloat16), "attention",
               kRoundedTolerance);
  }
}

// Gradients in bfloat16 have no twin: which of two roundings a factor takes is not the formula's.
Doubles AsDoubles(const Floats& values) { return {values.begin(), values.end()}; }

constexpr double kGradientTolerance = 0.02;  // Of several roundings of 2^-9 behind each other.

TEST(SequenceKernelsTest, GradientsInBFloat16AreNearThoseInFloat32) {
  const FloatTensor qkv = RandomTensor(Shape({2, 70, 66}), 1);
  const FloatTensor dy = RandomTensor(Shape({2, 70, 22}), 2);
  const Attributes heads{{"heads", int64_t{2}}};
  const auto forward = RunOp("Attention", {qkv}, heads);
  const FloatTensor y{dy.shape, forward[0]}, sums{Shape({2, 2, 70}), forward[1]};
  const std::vector<FloatTensor> inputs = {dy, qkv, y, sums};
  ExpectNear(RunOp("AttentionGrad", inputs, heads, 1, false, Precision::kBFloat16)[0],
             AsDoubles(RunOp("AttentionGrad", inputs, heads)[0]), "dqkv", kGradientTolerance);

  const FloatTensor x = RandomTensor(Shape({5, 7, 13}), 1), w = RandomTensor(Shape({13, 76}), 2);
  const FloatTensor r = RandomTensor(Shape({19, 76}), 3), b = RandomTensor(Shape({76}), 4);
  const FloatTensor dh = RandomTensor(Shape({5, 7, 19}), 5);
  const auto lstm = RunOp("Lstm", {x, w, r, b});
  const std::vector<FloatTensor> all = {
      dh, x, w, r, {dh.shape, lstm[0]}, {Shape({5, 7, 76}), lstm[1]}, {dh.shape, lstm[2]}};
  const auto wanted = RunOp("LstmGrad", all);
  for (const int threads : {1, 3}) {
    const auto got = RunOp("LstmGrad", all, {}, threads, false, Precision::kBFloat16);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ExpectNear(got[i], AsDoubles(wanted[i]), std::to_string(i), kGradientTolerance);
    }
  }
}

TEST(SequenceKernelsTest, LargeScoresOverflowNothing) {
  FloatTensor qkv = RandomTensor(Shape({1, 9, 12}), 1);
  for (float& value : qkv.values) value *= 200;
  const auto outputs = RunOp("Attention", {qkv}, {{"heads", int64_t{1}}});
  for (const float y : outputs[0]) {
    EXPECT_TRUE(std::isfinite(y));
  }
}

// The cells of all steps, in PyTorch's order of gates.
Doubles LstmTwin(const FloatTensor& given_x, const FloatTensor& given_w,
                 const FloatTensor& given_r, const Floats& b,
                 Precision products = Precision::kFloat32) {
  const FloatTensor x = FactorsOf(given_x, products), w = FactorsOf(given_w, products);
  const FloatTensor r = FactorsOf(given_r, products);
  const size_t steps = static_cast<size_t>(x.shape.dim(0)), n = static_cast<size_t>(x.shape.dim(1));
  const size_t width = static_cast<size_t>(x.shape.dim(2)), units = b.size() / 4;
  Doubles y(steps * n * units), cells(n * units), outputs(n * units);
  for (size_t step = 0; step < steps; ++step) {
    const Doubles before = outputs;
    for (size_t example = 0; example < n; ++example)
      for (size_t unit = 0; unit < units; ++unit) {
        double gates[4];
        for (size_t gate = 0; gate < 4; ++gate) {
          const size_t column = gate * units + unit;
          double sum = b[column];
          for (size_t i = 0; i < width; ++i) {
            sum += static_cast<double>(x.values[(step * n + example) * width + i]) *
                   w.values[i * 4 * units + column];
          }
          for (size_t i = 0; i < units; ++i) {
            sum += FactorOf(before[example * units + i], products) *
                   r.values[i * 4 * units + column];
          }
          gates[gate] = gate == 2 ? std::tanh(sum) : Sigmoid(sum);
        }
        double& cell = cells[example * units + unit];
        cell = gates[1] * cell + gates[0] * gates[2];
        outputs[example * units + unit] = gates[3] * std::tanh(cell);
        y[(step * n + example) * units + unit] = outputs[example * units + unit];
      }
  }
  return y;
}

TEST(SequenceKernelsTest, LstmEqualsItsTwin) {
  for (const auto& [steps, n, width, units] :
       std::vector<std::array<int64_t, 4>>{{1, 1, 1, 1}, {5, 3, 7, 6}, {9, 17, 2, 33}}) {
    const FloatTensor x = RandomTensor(Shape({steps, n, width}), 1);
    const FloatTensor w = RandomTensor(Shape({width, 4 * units}), 2);
    const FloatTensor r = RandomTensor(Shape({units, 4 * units}), 3);
    const FloatTensor b = RandomTensor(Shape({4 * units}), 4);
    for (const int threads : {1, 2}) {
      ExpectNear(RunOp("Lstm", {x, w, r, b}, {}, threads)[0], LstmTwin(x, w, r, b.values),
                 std::to_string(units) + " units");
      ExpectNear(RunOp("Lstm", {x, w, r, b}, {}, threads, false, Precision::kBFloat16)[0],
                 LstmTwin(x, w, r, b.values, Precision::kBFloat16),
                 std::to_string(units) + " units in bfloat16", kRoundedTolerance);
    }
  }
}

TEST(SequenceKernelsTest, ThreadsChangeNoBit) {
  const FloatTensor x = RandomTensor(Shape({41, 3, 70}), 1);
  const FloatTensor dy = RandomTensor(Shape({41, 3, 70}), 2);
  const FloatTensor scale = RandomTensor(Shape({70}), 3);
  const FloatTensor rows = RandomTensor(Shape({41, 3}), 4);
  EXPECT_EQ(RunOp("LayerNormGrad", {dy, x, scale, rows, rows}, {}, 1),
            RunOp("LayerNormGrad", {dy, x, scale, rows, rows}, {}, 3));
  EXPECT_EQ(RunOp("GeluGrad", {dy, x}, {}, 1), RunOp("GeluGrad", {dy, x}, {}, 3));
  const FloatTensor qkv = RandomTensor(Shape({3, 70, 24}), 5);
  const FloatTensor y = RandomTensor(Shape({3, 70, 8}), 6);
  const FloatTensor sums = RandomTensor(Shape({3, 2, 70}), 7);
  const Attributes heads{{"heads", int64_t{2}}};
  EXPECT_EQ(RunOp("AttentionGrad", {y, qkv, y, sums}, heads, 1),
            RunOp("AttentionGrad", {y, qkv, y, sums}, heads, 4));
}

TEST(SequenceKernelsTest, EachVersionOfTheLoopsAgreesWithTheBaseline) {
  constexpr int64_t kRows = 5, kColumns = 77;
  const Floats a = RandomTensor(Shape({kRows * kColumns}), 1).values;
  const Floats b = RandomTensor(Shape({kRows * kColumns}), 2).values;
  const Floats c = RandomTensor(Shape({kRows * kColumns}), 3).values;
  const auto all = [&](const SequenceLoops& loops) {
    Doubles results;
    const auto keep = [&](const Floats& values) {
      results.insert(results.end(), values.begin(), values.end());
    };
    Floats y(a.size()), mean(kRows), inverse(kRows), dscale(kColumns), doffset(kColumns);
    loops.layer_norm(a.data(), b.data(), c.data(), 1e-3f, kRows, kColumns, y.data(),
                     {mean.data(), inverse.data()});
    keep(y);
    loops.layer_norm_grad(c.data(), a.data(), b.data(), mean.data(), inverse.data(), kRows,
                          kColumns, y.data(), dscale.data(), doffset.data());
    for (const Floats& values : {y, dscale, doffset, mean, inverse}) keep(values);
    loops.gelu(a.data(), y.data(), kRows * kColumns);
    keep(y);
    loops.gelu_grad(b.data(), a.data(), y.data(), kRows * kColumns);
    keep(y);
    Floats p = a, dp = b;
    const float log_sum = loops.softmax_row(p.data(), 0.7f, kColumns);
    keep(p);
    p = a;
    loops.softmax_row_grad(p.data(), dp.data(), 0.7f, log_sum, 0.1f, kColumns);
    for (const Floats& values : {p, dp}) keep(values);
    keep({loops.dot(a.data(), b.data(), kColumns), log_sum});
    constexpr int64_t kUnits = 19;
    Floats gates = a, cells(kUnits), out(kUnits), dcells(c.begin(), c.begin() + kUnits);
    Floats dgates(4 * kUnits);
    loops.lstm_cell({.gates = gates.data(), .before = b.data(), .cells = cells.data(),
                     .y = out.data()}, kUnits);
    loops.lstm_cell_grad({.gates = gates.data(), .before = b.data(), .cells = cells.data(),
                          .dy = a.data(), .dy_later = c.data(), .dcells = dcells.data(),
                          .dgates = dgates.data()}, kUnits);
    for (const Floats& values : {gates, cells, out, dcells, dgates}) keep(values);
    return results;
  };
  const Doubles baseline = all(*SupportedSequenceLoops().front());
  for (const SequenceLoops* loops : SupportedSequenceLoops()) {
    const Doubles results = all(*loops);
    ExpectNear(Floats(results.begin(), results.end()), baseline, "a version");
  }
}

TEST(SequenceKernelsTest, IdsThatAreNoneAreNamed) {
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({3})});
  const Value table = graph.Variable("table", Shape({5, 2}), Initializer::Zeros());
  graph.Add("Embedding", "rows", {table, ids});
  auto session = Session::Compile(CpuRuntime(), graph, {.fetches = {"rows"}, .trainable = false});
  ASSERT_THAT(session, IsOk());
  const auto run = [&](int64_t third) {
    (*session)->Int64Input("ids")[2] = third;
    return (*session)->Run(RunKind::kForward);
  };
  EXPECT_THAT(run(4), IsOk());
  EXPECT_THAT(run(5), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("run rows (Embedding): id 5 at 2 is out of range")));
  EXPECT_THAT(run(-1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("id -1 at 2")));
  // In 32 bits it would be 3.
  EXPECT_THAT(run((int64_t{1} << 32) + 3),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("id 4294967299 at 2")));
}

// As floats both ids were 2^24.
TEST(SequenceKernelsTest, IdsAboveTheWholeNumbersOfFloatsAreLookedUpApart) {
  constexpr int64_t kRows = (int64_t{1} << 24) + 2;
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({2, 2})});
  const Value table = graph.Variable("table", Shape({kRows, 1}), Initializer::Zeros());
  const Value second =
      graph.Add("Slice", "second", {ids}, {{"begin", int64_t{1}}, {"size", int64_t{1}}});
  graph.Add("ReduceSum", "loss", {graph.Add("Embedding", "rows", {table, second})});
  for (const bool far : {false, true}) {
    auto session = Session::Compile(far ? FarRuntime() : CpuRuntime(), graph,
                                    {.loss = "loss", .fetches = {"rows"}});
    ASSERT_THAT(session, IsOk());
    const TensorRef values = (*session)->variable(0);
    ASSERT_THAT(values.Part(kRows - 2, 2).Write(std::array{3.0f, 5.0f}), IsOk());
    std::ranges::copy(std::array<int64_t, 4>{9, kRows - 1, 9, kRows - 2},
                      (*session)->Int64Input("ids").begin());
    ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    std::array<float, 2> rows{};
    ASSERT_THAT((*session)->output("rows").Read(std::span(rows)), IsOk());
    EXPECT_THAT(rows, testing::ElementsAre(5, 3));
    EXPECT_THAT((*session)->gradient_rows(0)->ids, testing::ElementsAre(kRows - 2, kRows - 1));
  }
}

TEST(SequenceKernelsTest, TablesHaveNoMoreRowsThanListsOfThemCount) {
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({3})});
  const Value table = graph.Variable("table", Shape({int64_t{1} << 31, 1}), Initializer::Zeros());
  graph.Add("Embedding", "rows", {table, ids});
  EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("the table has 2147483648 rows, at most "
                                                 "2147483647 can be looked up")));
}

TEST(SequenceKernelsTest, OneHotIsOneAtTheId) {
  Graph graph;
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({3, 1})});
  graph.Add("OneHot", "hot", {ids}, {{"size", int64_t{4}}});
  auto session = Session::Compile(CpuRuntime(), graph, {.fetches = {"hot"}, .trainable = false});
  ASSERT_THAT(session, IsOk());
  // Twice, so that the ones of the first run must go.
  for (const int64_t first : {2, 0}) {
    std::ranges::copy(std::array<int64_t, 3>{first, 3, 1}, (*session)->Int64Input("ids").begin());
    ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
    const std::span<const float> hot = (*session)->output("hot").host();
    ASSERT_EQ(hot.size(), 12);
    for (size_t i = 0; i < hot.size(); ++i) {
      const bool one = i == static_cast<size_t>(first) || i == 4 + 3 || i == 8 + 1;
      EXPECT_EQ(hot[i], one ? 1 : 0) << i;
    }
  }
  (*session)->Int64Input("ids")[1] = 4;
  EXPECT_THAT((*session)->Run(RunKind::kForward),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("id 4 at 1")));
}

}  // namespace
}  // namespace taas
