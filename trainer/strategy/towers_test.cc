#include "trainer/strategy/towers.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// loss = the mean over the batch of (x w)², one column.
Graph SmallGraph() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 1})});
  const Value w = graph.Variable("w", Shape({1, 1}), Initializer::Constant(1));
  const Value y = graph.Add("MatMul", "y", {x, w});
  graph.Add("ReduceMean", "loss", {graph.Add("Square", "squares", {y})});
  return graph;
}

std::unique_ptr<Towers> MakeTowers(int count) {
  auto towers = Towers::Compile(CpuRuntime(), SmallGraph(), {.batch = 2, .loss = "loss"}, count);
  EXPECT_THAT(towers, IsOk());
  EXPECT_THAT((*towers)->first().InitializeVariables(/*seed=*/1), IsOk());
  return *std::move(towers);
}

TEST(TowersTest, GradientAndLossAreTheMeansOverTheTowers) {
  const auto towers = MakeTowers(3);
  for (int step = 0; step < 50; ++step) {
    ASSERT_THAT(towers->Run([](int tower, Session& session) {
                  const float x = static_cast<float>(tower + 1);
                  std::ranges::fill(session.FloatInput("x"), x);
                  return absl::OkStatus();
                }),
                IsOk());
    // Losses 1, 4, 9; gradients 2, 8, 18.
    ASSERT_FLOAT_EQ(towers->loss(), 14.0f / 3);
    ASSERT_FLOAT_EQ(towers->first().gradient(0).host()[0], 28.0f / 3);
  }
}

TEST(TowersTest, AllTowersSeeAnUpdateOfTheVariables) {
  const auto towers = MakeTowers(4);
  towers->first().variable(0).host()[0] = 3;
  ASSERT_THAT(towers->Run([](int, Session& session) {
                std::ranges::fill(session.FloatInput("x"), 1.0f);
                return absl::OkStatus();
              }),
              IsOk());
  for (int tower = 0; tower < 4; ++tower) {
    EXPECT_FLOAT_EQ(towers->session(tower).loss(), 9) << tower;
  }
}

TEST(TowersTest, UpdatesAreThoseOfTheFirstTower) {
  Graph graph = SmallGraph();
  const Value average = graph.Variable("average", Shape(), Initializer::Zeros(), false);
  const absl::StatusOr<Value> loss = graph.Find("loss");
  ASSERT_THAT(loss, IsOk());
  graph.AddUpdate(graph.Add("MovingAverage", "", {average, *loss}, {{"decay", 0.0}}));
  const auto towers = Towers::Compile(CpuRuntime(), graph, {.batch = 2, .loss = "loss"}, 3);
  ASSERT_THAT(towers, IsOk());
  EXPECT_THAT((*towers)->first().InitializeVariables(1), IsOk());
  for (int step = 0; step < 50; ++step) {
    ASSERT_THAT((*towers)->Run([](int tower, Session& session) {
                  const float x = static_cast<float>(tower + 1);
                  std::ranges::fill(session.FloatInput("x"), x);
                  return absl::OkStatus();
                }),
                IsOk());
    // Their losses are 1, 4 and 9.
    ASSERT_FLOAT_EQ((*towers)->first().variable(1).host()[0], 1) << step;
  }
}

TEST(TowersTest, EachTowerIsPlacedOnADeviceOfItsOwn) {
  const auto towers = MakeTowers(2);
  EXPECT_THAT(towers->session(0).Placements(),
              HasSubstr("y: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0\n"));
  EXPECT_THAT(towers->session(1).Placements(),
              HasSubstr("y: (MatMul): /job:localhost/replica:0/task:0/device:CPU:1\n"));
}

TEST(TowersTest, ErrorOfOneTowerEndsTheStepAndTheNextStepRuns) {
  const auto towers = MakeTowers(3);
  const auto fill = [](int failing) {
    return [failing](int tower, Session& session) {
      std::ranges::fill(session.FloatInput("x"), 1.0f);
      if (tower == failing) return absl::NotFoundError("no data for this tower");
      return absl::OkStatus();
    };
  };
  EXPECT_THAT(towers->Run(fill(2)),
              StatusIs(absl::StatusCode::kNotFound, "no data for this tower"));
  EXPECT_THAT(towers->Run(fill(-1)), IsOk());
  EXPECT_FLOAT_EQ(towers->loss(), 1);
}

TEST(TowersTest, OneTowerIsThePlainSession) {
  const auto towers = MakeTowers(1);
  ASSERT_THAT(towers->Run([](int, Session& session) {
                session.FloatInput("x")[0] = 1;
                session.FloatInput("x")[1] = 3;
                return absl::OkStatus();
              }),
              IsOk());
  EXPECT_FLOAT_EQ(towers->loss(), 5);
  EXPECT_THAT(towers->first().gradient(0).host(), ElementsAre(10));
}

}  // namespace
}  // namespace taas
