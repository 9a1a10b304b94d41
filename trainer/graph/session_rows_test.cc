// Gradients that list their rows, against a plain twin and against the whole gradient.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::Each;
using ::testing::HasSubstr;

struct Sizes {
  int64_t rows, width;
  std::vector<int64_t> lookups;  // Ids of each.
};

// loss = Σ weights · table[ids], so that the gradient of each row looked up is its weights.
Graph LookupGraph(const Sizes& sizes) {
  Graph graph;
  const Value table = graph.Variable("table", Shape({sizes.rows, sizes.width}),
                                     Initializer::Uniform(-1, 1));
  std::vector<Value> sums;
  for (size_t i = 0; i < sizes.lookups.size(); ++i) {
    const std::string number = std::to_string(i);
    const Value ids = graph.Input("ids" + number, {DType::kInt64, Shape({sizes.lookups[i]})});
    const Value weights = graph.Input(
        "weights" + number, {DType::kFloat32, Shape({sizes.lookups[i], sizes.width})});
    const Value x = graph.Add("Embedding", "", {table, ids});
    sums.push_back(graph.Add("ReduceSum", "", {graph.Add("Mul", "", {x, weights})}));
  }
  graph.Add("AddN", "loss", sums);
  return graph;
}

// Returns what the gradient is to be. The last lookup comes first: differentiation goes backwards.
std::vector<float> FillLookups(const Sizes& sizes, SeededRandom& random, Session* session) {
  std::vector<float> twin(static_cast<size_t>(sizes.rows * sizes.width));
  const size_t width = static_cast<size_t>(sizes.width);
  // Some rows often, as the words of a language.
  const uint64_t often = 1 + random.Below(static_cast<uint64_t>(sizes.rows));
  for (size_t i = sizes.lookups.size(); i-- > 0;) {
    const std::span<int64_t> ids = session->Int64Input("ids" + std::to_string(i));
    const std::span<float> weights = session->FloatInput("weights" + std::to_string(i));
    for (float& weight : weights) weight = static_cast<float>(2 * random.Unit() - 1);
    for (size_t id = 0; id < ids.size(); ++id) {
      ids[id] = static_cast<int64_t>(
          random.Below(random.Below(2) == 0 ? often : static_cast<uint64_t>(sizes.rows)));
      for (size_t at = 0; at < width; ++at) {
        twin[static_cast<size_t>(ids[id]) * width + at] += weights[id * width + at];
      }
    }
  }
  return twin;
}

std::vector<int32_t> RowsOf(const Session& session, size_t i = 0) {
  const std::optional<GradientRows> rows = session.gradient_rows(i);
  if (!rows) return {-1};
  return {rows->ids.begin(), rows->ids.end()};
}

// The same, as kernels that follow a run find it.
std::vector<int32_t> RowsOfKernels(Session& session) {
  const Session::DeviceRows rows = session.device_rows(0);
  Device& device = session.model().device();
  int32_t count = 0;
  EXPECT_THAT(device.Copy(&count, rows.count, sizeof(count)), IsOk());
  std::vector<int32_t> ids(static_cast<size_t>(count));
  EXPECT_THAT(device.Copy(ids.data(), rows.ids, ids.size() * sizeof(int32_t)), IsOk());
  return ids;
}

std::vector<int32_t> RowsLookedUp(const Sizes& sizes, Session* session) {
  std::set<int64_t> rows;
  for (size_t i = 0; i < sizes.lookups.size(); ++i) {
    const std::span<int64_t> ids = session->Int64Input("ids" + std::to_string(i));
    rows.insert(ids.begin(), ids.end());
  }
  return {rows.begin(), rows.end()};
}

TEST(SessionRowsTest, TheGradientIsTheTwinsToTheBitAtOddSizesAndAnyThreads) {
  for (const Sizes& sizes : {Sizes{1, 1, {1}}, Sizes{1, 3, {7}}, Sizes{5, 1, {3}},
                             Sizes{97, 17, {31}}, Sizes{97, 16, {1000}}, Sizes{1009, 67, {257}},
                             Sizes{70'001, 5, {4099}}, Sizes{997, 131, {1031}},
                             Sizes{97, 17, {31, 1, 64}}, Sizes{1009, 67, {513, 511}}}) {
    for (const int threads : {1, 3}) {
      const Graph graph = LookupGraph(sizes);
      auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss", .threads = threads});
      ASSERT_THAT(session, IsOk());
      EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
      SeededRandom random(static_cast<uint64_t>(sizes.width));
      // Rows of the step before are zero again.
      for (int step = 0; step < 3; ++step) {
        const std::vector<float> twin = FillLookups(sizes, random, session->get());
        ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
        const std::span<float> gradient = (*session)->gradient(0).host();
        ASSERT_TRUE(std::ranges::equal(gradient, twin))
            << sizes.rows << " x " << sizes.width << ", threads " << threads << ", step " << step;
        ASSERT_EQ(RowsOf(**session), RowsLookedUp(sizes, session->get()));
      }
    }
  }
}

TEST(SessionRowsTest, ALookupOfNothingHasNoRows) {
  const Sizes sizes{5, 3, {0}};
  auto session = Session::Compile(CpuRuntime(), LookupGraph(sizes), {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ(RowsOf(**session), std::vector<int32_t>());
  EXPECT_THAT((*session)->gradient(0).host(), Each(0));
}

TEST(SessionRowsTest, WithoutListsTheWholeGradientHasTheSameBits) {
  const Sizes sizes{97, 17, {131}};
  const Graph graph = LookupGraph(sizes);
  auto listed = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
  auto whole = Session::Compile(CpuRuntime(), graph, {.loss = "loss", .list_rows = false});
  ASSERT_THAT(listed, IsOk());
  ASSERT_THAT(whole, IsOk());
  EXPECT_FALSE((*whole)->gradient_rows(0).has_value());
  SeededRandom first(5), second(5);
  FillLookups(sizes, first, listed->get());
  FillLookups(sizes, second, whole->get());
  ASSERT_THAT((*listed)->Run(RunKind::kTrain), IsOk());
  ASSERT_THAT((*whole)->Run(RunKind::kTrain), IsOk());
  EXPECT_TRUE(std::ranges::equal((*listed)->gradient(0).host(), (*whole)->gradient(0).host()));
}

// The table of a language model is the weights of its last layer too; a penalty has all rows.
TEST(SessionRowsTest, ATableThatIsUsedInAnotherWayListsNoRows) {
  for (const bool penalty : {false, true}) {
    Graph graph;
    const Value table = graph.Variable("table", Shape({7, 3}), Initializer::Uniform(-1, 1));
    const Value ids = graph.Input("ids", {DType::kInt64, Shape({4})});
    const Value x = graph.Add("Embedding", "", {table, ids});
    const Value logits = graph.Add("MatMul", "", {x, table}, {{"transpose_b", true}});
    const Value loss = graph.Add("ReduceSum", "", {penalty ? x : logits});
    graph.Add("AddN", "loss", {loss, graph.Add("L2Loss", "", {penalty ? table : x})});
    auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
    ASSERT_THAT(session, IsOk());
    EXPECT_FALSE((*session)->gradient_rows(0).has_value());
  }
}

TEST(SessionRowsTest, AnIdThatTheTableHasNotIsRefusedAndTheNextStepIsRight) {
  const Sizes sizes{5, 2, {2, 1}};
  auto session = Session::Compile(CpuRuntime(), LookupGraph(sizes), {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  SeededRandom random(1);
  FillLookups(sizes, random, session->get());
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  (*session)->Int64Input("ids1")[0] = 5;
  EXPECT_THAT((*session)->Run(RunKind::kTrain),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("id 5 at 0 is out of range, the table has 5 rows")));
  const std::vector<float> twin = FillLookups(sizes, random, session->get());
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_TRUE(std::ranges::equal((*session)->gradient(0).host(), twin));
}

TEST(SessionRowsTest, RowsThatACallerWroteAreClearedByTheNextStep) {
  const Sizes sizes{6, 2, {1}};
  for (const bool far : {false, true}) {
    auto session = Session::Compile(far ? FarRuntime() : CpuRuntime(), LookupGraph(sizes),
                                    {.loss = "loss"});
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(RowsOf(**session), std::vector<int32_t>());
    (*session)->Int64Input("ids0")[0] = 2;
    std::ranges::fill((*session)->FloatInput("weights0"), 1.0f);
    ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    const TensorRef gradient = (*session)->gradient(0);
    ASSERT_THAT(gradient.Part(0, 1).Fill(7), IsOk());
    ASSERT_THAT(gradient.Part(11, 1).Fill(7), IsOk());
    const std::vector<int32_t> rows = {0, 2, 5};
    ASSERT_THAT((*session)->SetGradientRows(0, rows), IsOk());
    EXPECT_EQ(RowsOf(**session), rows);
    EXPECT_EQ(RowsOfKernels(**session), rows);
    ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    EXPECT_THAT(RowsOf(**session), ElementsAre(2));
    EXPECT_THAT(RowsOfKernels(**session), ElementsAre(2));
    std::vector<float> values(12);
    ASSERT_THAT(gradient.Read(std::span(values)), IsOk());
    EXPECT_THAT(values, ElementsAre(0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0));
  }
}

}  // namespace
}  // namespace taas
