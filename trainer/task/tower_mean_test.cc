// Towers on GPUs of their own, which stand for some: one update of all, and none where a tower has
// a fault.

#include "trainer/task/tower_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/task/model_update.h"
#include "trainer/task/towers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using cuda::fake::FakeGpu;
using cuda::fake::kH100;

constexpr int kTowers = 3;

// Looked-up rows, each by a number, against labels; and a moment that each step moves.
Graph LookupGraph() {
  Graph graph;
  const Value table = graph.Variable("table", Shape({4, 2}), Initializer::Constant(1));
  const Value moment = graph.Variable("moment", Shape(), Initializer::Zeros(), false);
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({3})});
  const Value factors = graph.Input("factors", {DType::kFloat32, Shape({3, 2})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({3})});
  const Value rows = graph.Add("Embedding", "rows", {table, ids});
  const Value logits = graph.Add("Mul", "logits", {rows, factors});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  graph.AddUpdate(graph.Add("MovingAverage", "move", {moment, loss}, {{"decay", 0.5}}));
  return graph;
}

std::vector<float> ValuesOf(const TensorRef& tensor) {
  std::vector<float> values(tensor.count());
  EXPECT_THAT(tensor.Read(std::span(values)), IsOk());
  return values;
}

// A model on each of the towers that have one.
struct Training {
  explicit Training(const Runtime& runtime)
      : optimizer(*Optimizer::Parse(R"({"name": "momentum", "learningRate": 0.1})")),
        towers(*Towers::Compile(runtime, LookupGraph(), {.loss = "loss"}, kTowers)) {
    for (int i = 0; i < towers->copies(); ++i) {
      EXPECT_THAT(towers->session(i).InitializeVariables(1), IsOk());
      updates.push_back(*ModelUpdate::Make(*optimizer, towers->session(i)));
    }
  }
  // Tower i looks up other rows than the others, and has another loss.
  static absl::Status Fill(int tower, Session& session) {
    std::ranges::copy(std::vector<int64_t>{tower, 3, tower}, session.Int64Input("ids").begin());
    std::ranges::fill(session.FloatInput("factors"), 1.0f + static_cast<float>(tower));
    std::ranges::copy(std::vector<int32_t>{0, 1, 1}, session.Int32Input("labels").begin());
    session.FloatInput("factors")[0] = 0.5f;
    return absl::OkStatus();
  }
  absl::Status Step(int64_t step, const Towers::Fill& fill = Fill) {
    for (const auto& update : updates) update->Prepare(step);
    if (!towers->apart()) {
      if (absl::Status status = towers->Run(fill); !status.ok()) return status;
      return updates[0]->Apply();
    }
    if (absl::Status status = Launch(step, fill); !status.ok()) return status;
    return towers->AwaitStep();
  }
  // Of those that are apart.
  absl::Status Launch(int64_t step, const Towers::Fill& fill = Fill) {
    for (const auto& update : updates) update->Prepare(step);
    if (absl::Status status = towers->FillAll(fill); !status.ok()) return status;
    return towers->LaunchStep();
  }
  // Table, moment and slot of a copy.
  std::vector<std::vector<float>> State(int copy) {
    ModelState& model = towers->session(copy).model();
    return {ValuesOf(model.value(0)), ValuesOf(model.value(1)), ValuesOf(model.slot(0, 0))};
  }
  void ExpectSame() {
    for (int copy = 1; copy < towers->copies(); ++copy) EXPECT_EQ(State(copy), State(0)) << copy;
  }

  const std::unique_ptr<Optimizer> optimizer;
  const std::unique_ptr<Towers> towers;
  std::vector<std::unique_ptr<ModelUpdate>> updates;
};

class TowerMeanTest : public testing::Test {
 protected:
  TowerMeanTest() : gpu_(std::string(kH100) + kH100 + kH100, kTowers) {}
  const FakeGpu gpu_;
};

TEST_F(TowerMeanTest, StepsAreThoseOfTowersThatShareAMemoryAndTheSameOnAllGpus) {
  Training near(CpuRuntime()), apart(gpu_.runtime());
  EXPECT_FALSE(near.towers->apart());
  ASSERT_EQ(apart.towers->copies(), kTowers);
  for (int64_t step = 1; step <= 6; ++step) {
    ASSERT_THAT(near.Step(step), IsOk());
    ASSERT_THAT(apart.Step(step), IsOk());
    EXPECT_FLOAT_EQ(apart.towers->loss(), near.towers->loss());
    apart.ExpectSame();
    const auto got = apart.State(0), wanted = near.State(0);
    for (size_t i = 0; i < wanted.size(); ++i) {
      for (size_t j = 0; j < wanted[i].size(); ++j) EXPECT_NEAR(got[i][j], wanted[i][j], 1e-6);
    }
  }
}

TEST_F(TowerMeanTest, ALabelThatIsWrongOnOneGpuIsToldAndChangesNothingOnAny) {
  Training training(gpu_.runtime());
  for (int64_t step = 1; step <= 5; ++step) {
    ASSERT_THAT(training.Step(step), IsOk());
    const auto before = training.State(0);
    EXPECT_THAT(training.Step(step + 1,
                              [](int tower, Session& session) {
                                EXPECT_THAT(Training::Fill(tower, session), IsOk());
                                if (tower == 1) session.Int32Input("labels")[2] = 9;
                                return absl::OkStatus();
                              }),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("run loss (SparseSoftmaxCrossEntropyAndGrad): the label of row "
                                   "2 is 9, the model has 2 classes from 0")));
    const auto after = training.State(0);
    EXPECT_EQ(after[0], before[0]);
    EXPECT_EQ(after[2], before[2]);
    training.ExpectSame();
  }
}

TEST_F(TowerMeanTest, ALossThatIsNoNumberOnOneGpuChangesNothingOnAny) {
  Training training(gpu_.runtime());
  for (int64_t step = 1; step <= 5; ++step) {
    ASSERT_THAT(training.Step(step), IsOk());
    const auto before = training.State(0);
    EXPECT_THAT(training.Step(step + 1,
                              [](int tower, Session& session) {
                                EXPECT_THAT(Training::Fill(tower, session), IsOk());
                                if (tower < 2) return absl::OkStatus();
                                session.FloatInput("factors")[3] =
                                    std::numeric_limits<float>::infinity();
                                return absl::OkStatus();
                              }),
                IsOk());
    EXPECT_FALSE(std::isfinite(training.towers->loss()));
    EXPECT_FALSE(std::isfinite(training.towers->session(0).loss())) << "that of all";
    EXPECT_THAT(training.towers->session(2).FirstNonFinite(), HasSubstr("input factors"));
    const auto after = training.State(0);
    EXPECT_EQ(after[0], before[0]);
    EXPECT_EQ(after[2], before[2]);
    training.ExpectSame();
  }
}

TEST_F(TowerMeanTest, StepsThatAreLaunchedAheadAreThoseThatAreWaitedFor) {
  Training ahead(gpu_.runtime()), waiting(gpu_.runtime());
  ASSERT_EQ(ahead.towers->steps_ahead(), 1u);
  std::vector<float> losses, wanted;
  for (int64_t step = 1; step <= 7; ++step) {
    ASSERT_THAT(ahead.Launch(step), IsOk());
    if (step > 1) {
      ASSERT_THAT(ahead.towers->AwaitStep(), IsOk());
      losses.push_back(ahead.towers->loss());
    }
  }
  ASSERT_THAT(ahead.towers->AwaitStep(), IsOk());
  losses.push_back(ahead.towers->loss());
  for (int64_t step = 1; step <= 7; ++step) {
    ASSERT_THAT(waiting.Step(step), IsOk());
    wanted.push_back(waiting.towers->loss());
  }
  EXPECT_EQ(losses, wanted);
  EXPECT_EQ(ahead.State(0), waiting.State(0));
  ahead.ExpectSame();
}

// A step was launched behind it before anybody has heard of it.
TEST_F(TowerMeanTest, BehindAStepWithAFaultOnOneGpuNothingIsChangedOnAny) {
  for (const bool of_data : {true, false}) {
    Training training(gpu_.runtime());
    for (int64_t step = 1; step <= 3; ++step) ASSERT_THAT(training.Step(step), IsOk());
    const auto before = training.State(0);
    ASSERT_THAT(training.Launch(4, [of_data](int tower, Session& session) {
      EXPECT_THAT(Training::Fill(tower, session), IsOk());
      if (tower == 1 && of_data) session.Int32Input("labels")[2] = 9;
      if (tower == 1 && !of_data) session.FloatInput("factors")[3] = std::nanf("");
      return absl::OkStatus();
    }),
                IsOk());
    ASSERT_THAT(training.Launch(5), IsOk());
    const absl::Status failed = training.towers->AwaitStep();
    EXPECT_EQ(failed.ok(), !of_data);
    EXPECT_FALSE(std::isfinite(training.towers->loss()));
    for (int tower = 0; tower < kTowers; ++tower) {
      EXPECT_EQ(training.towers->session(tower).steps_under_way(), 0u);
      // What it is told of is what lies there.
      const bool is_wrong = tower == 1 && of_data;
      EXPECT_EQ(training.towers->session(tower).Int32Input("labels")[2], is_wrong ? 9 : 1);
    }
    if (!of_data) {
      EXPECT_THAT(training.towers->session(1).FirstNonFinite(), HasSubstr("input factors"));
    }
    EXPECT_EQ(training.State(0)[0], before[0]);
    EXPECT_EQ(training.State(0)[2], before[2]);
    training.ExpectSame();
    // And it goes on, also ahead.
    ASSERT_THAT(training.Launch(4), IsOk());
    ASSERT_THAT(training.Launch(5), IsOk());
    ASSERT_THAT(training.towers->AwaitStep(), IsOk());
    ASSERT_THAT(training.towers->AwaitStep(), IsOk());
    EXPECT_TRUE(std::isfinite(training.towers->loss()));
    EXPECT_NE(training.State(0)[0], before[0]);
    training.ExpectSame();
  }
}

TEST_F(TowerMeanTest, AGpuThatIsLostWhileAStepIsAheadEndsBothOnAll) {
  // In the first of both, which is a program by then, and in the second.
  for (const int nth : {2, 20}) {
    const FakeGpu gpu(std::string(kH100) + kH100 + kH100, kTowers);
    Training training(gpu.runtime());
    for (int64_t step = 1; step <= 3; ++step) ASSERT_THAT(training.Step(step), IsOk());
    gpu.FailAt("kernel@1", nth, cuda::kCuEccUncorrectable);
    absl::Status lost = training.Launch(4);
    if (lost.ok()) lost = training.Launch(5);
    for (int step = 4; step <= 5 && lost.ok(); ++step) lost = training.towers->AwaitStep();
    EXPECT_THAT(lost, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("GPU 1 (NVIDIA H100")));
    EXPECT_TRUE(IsMachineFault(lost));
    for (int tower = 0; tower < kTowers; ++tower) {
      EXPECT_EQ(training.towers->session(tower).steps_under_way(), 0u);
    }
    gpu.FailAt("kernel@1", 0, 0);
  }
}

TEST_F(TowerMeanTest, ATowerThatCannotBeFilledKeepsNobodyWaiting) {
  Training training(gpu_.runtime());
  EXPECT_THAT(training.Step(1,
                            [](int tower, Session& session) {
                              if (tower == 2) return absl::NotFoundError("no data");
                              return Training::Fill(tower, session);
                            }),
              StatusIs(absl::StatusCode::kNotFound, "no data"));
  EXPECT_THAT(training.Step(1), IsOk());
  // Also of gradients alone.
  EXPECT_THAT(training.towers->Run([](int tower, Session& session) {
    if (tower == 0) return absl::NotFoundError("no data");
    return Training::Fill(tower, session);
  }),
              StatusIs(absl::StatusCode::kNotFound, "no data"));
  EXPECT_THAT(training.towers->Run(Training::Fill), IsOk());
}

TEST_F(TowerMeanTest, AGpuThatIsLostInAStepEndsItOnAllWithItsName) {
  Training training(gpu_.runtime());
  ASSERT_THAT(training.Step(1), IsOk());
  gpu_.FailAt("kernel@1", 3, cuda::kCuEccUncorrectable);
  const absl::Status lost = training.Step(2);
  EXPECT_THAT(lost, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("GPU 1 (NVIDIA H100")));
  EXPECT_TRUE(IsMachineFault(lost));
  EXPECT_EQ(training.Step(2), lost);
  gpu_.FailAt("kernel@1", 0, 0);
}

TEST_F(TowerMeanTest, NothingOfItIsLeft) {
  const cuda::fake::FakeCudaLeft before = gpu_.left();
  {
    Training training(gpu_.runtime());
    for (int64_t step = 1; step <= 3; ++step) EXPECT_THAT(training.Step(step), IsOk());
    EXPECT_GT(gpu_.left().graphs, before.graphs);
  }
  EXPECT_EQ(gpu_.left(), before);
}

TEST_F(TowerMeanTest, EachTowerIsPlacedOnAGpuOfItsOwn) {
  Training training(gpu_.runtime());
  for (int tower = 0; tower < kTowers; ++tower) {
    const std::string device = "/device:GPU:" + std::to_string(tower);
    EXPECT_THAT(training.towers->session(tower).Placements(),
                HasSubstr("logits: (Mul): /job:localhost/replica:0/task:0" + device + "\n"));
    EXPECT_THAT(training.towers->first().DeviceMapping(),
                HasSubstr(device + " -> device: " + std::to_string(tower) + ", name: NVIDIA H100"));
  }
}

}  // namespace
}  // namespace taas
