#include "trainer/task/towers.h"

#include <algorithm>
#include <span>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

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

// Looked-up rows against labels.
TEST(TowersTest, WhatIsWrongWithTheDataOfATowerIsToldAndTheNextRunIsAsIfItHadNotBeen) {
  Graph graph;
  const Value table = graph.Variable("table", Shape({4, 2}), Initializer::Constant(1));
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({Shape::kBatch})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
  graph.Add("SparseSoftmaxCrossEntropy", "loss",
            {graph.Add("Embedding", "logits", {table, ids}), labels});
  for (const bool far : {false, true}) {
    std::vector<float> gradients[2];
    for (const bool wrong : {false, true}) {
      const auto towers = Towers::Compile(far ? FarRuntime() : CpuRuntime(), graph,
                                          {.batch = 2, .loss = "loss"}, 3);
      ASSERT_THAT(towers, IsOk());
      ASSERT_THAT((*towers)->first().InitializeVariables(1), IsOk());
      const auto run = [&](int bad_from) {
        return (*towers)->Run([&](int tower, Session& session) {
          session.Int64Input("ids")[0] = tower;
          session.Int32Input("labels")[1] = tower >= bad_from ? 7 + tower : 1;
          return absl::OkStatus();
        });
      };
      if (wrong) {
        EXPECT_THAT(run(/*bad_from=*/1),
                    StatusIs(absl::StatusCode::kInvalidArgument,
                             HasSubstr("run loss (SparseSoftmaxCrossEntropy): the label of row 1 "
                                       "is 8, the model has 2 classes from 0")));
      }
      ASSERT_THAT(run(/*bad_from=*/3), IsOk());
      EXPECT_THAT((*towers)->first().gradient_rows(0)->ids, ElementsAre(0, 1, 2));
      gradients[wrong].resize(8);
      ASSERT_THAT((*towers)->first().gradient(0).Read(std::span(gradients[wrong])), IsOk());
    }
    EXPECT_EQ(gradients[1], gradients[0]);
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
