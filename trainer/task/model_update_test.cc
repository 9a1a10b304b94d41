#include "trainer/task/model_update.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/task/gradient_work.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Looked-up rows against labels; and a moment that each step moves.
Graph LookupGraph() {
  Graph graph;
  const Value table = graph.Variable("table", Shape({4, 2}), Initializer::Constant(1));
  const Value moment = graph.Variable("moment", Shape(), Initializer::Zeros(), false);
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({3})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({3})});
  const Value logits = graph.Add("Embedding", "logits", {table, ids});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  graph.AddUpdate(graph.Add("MovingAverage", "move", {moment, loss}, {{"decay", 0.5}}));
  return graph;
}

std::vector<float> ValuesOf(const TensorRef& tensor) {
  std::vector<float> values(tensor.count());
  EXPECT_THAT(tensor.Read(std::span(values)), IsOk());
  return values;
}

// On the far device or not, with so many threads: with one a step is a program there.
class ModelUpdateTest : public testing::TestWithParam<std::tuple<bool, int>> {
 protected:
  void SetUp() override {
    const auto [far, threads] = GetParam();
    auto session = Session::Compile(far ? FarRuntime() : CpuRuntime(), LookupGraph(),
                                    {.loss = "loss", .inter_op_threads = threads});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
    ASSERT_THAT(session_->InitializeVariables(1), IsOk());
    optimizer_ = *Optimizer::Parse(R"({"name": "momentum", "learningRate": 0.1})");
  }

  std::unique_ptr<Session> session_;
  std::unique_ptr<Optimizer> optimizer_;
};

INSTANTIATE_TEST_SUITE_P(Devices, ModelUpdateTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 2)));

TEST_P(ModelUpdateTest, MovesVariablesAndSlots) {
  auto update = ModelUpdate::Make(*optimizer_, *session_);
  ASSERT_THAT(update, IsOk());
  (*update)->Prepare(1);
  ASSERT_THAT(session_->Run(RunKind::kTrain), IsOk());
  ASSERT_THAT((*update)->Apply(), IsOk());
  // Three times row 0 with label 0: the gradient of its logits is -0.5 and 0.5.
  EXPECT_THAT(ValuesOf(session_->variable(0)), ElementsAre(1.05f, 0.95f, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(ValuesOf(session_->model().slot(0, 0)), ElementsAre(-0.5f, 0.5f, 0, 0, 0, 0, 0, 0));
  EXPECT_GT(ValuesOf(session_->variable(1))[0], 0);
}

TEST_P(ModelUpdateTest, OfDataThatIsWrongNoVariableIsChanged) {
  auto update = ModelUpdate::Make(*optimizer_, *session_);
  ASSERT_THAT(update, IsOk());
  (*update)->Prepare(1);
  session_->Int32Input("labels")[1] = 2;
  EXPECT_THAT(session_->Run(RunKind::kTrain),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("run loss (SparseSoftmaxCrossEntropy): the label of row 1 is 2, "
                                 "the model has 2 classes from 0")));
  ASSERT_THAT((*update)->Apply(), IsOk());
  EXPECT_THAT(ValuesOf(session_->variable(0)), Each(1.0f));
  EXPECT_THAT(ValuesOf(session_->model().slot(0, 0)), Each(0.0f));
  // The next step has data that are right.
  session_->Int32Input("labels")[1] = 0;
  ASSERT_THAT(session_->Run(RunKind::kTrain), IsOk());
  ASSERT_THAT((*update)->Apply(), IsOk());
  EXPECT_NE(ValuesOf(session_->variable(0))[0], 1.0f);
}

// With numbers that change from step to step: a program that had kept them would be wrong.
constexpr char kDecaying[] = R"({"name": "adam", "learningRate": 0.1,
    "decay": {"steps": 1, "rate": 0.5}, "movingAverage": {"decay": 0.9}})";

TEST_P(ModelUpdateTest, AWholeStepIsThatOfItsParts) {
  std::vector<std::vector<float>> outcomes[2];
  for (const bool whole : {false, true}) {
    SetUp();
    const auto optimizer = *Optimizer::Parse(kDecaying);
    const auto work = *GradientWork::Make(*session_, GradientClip(/*by_norm=*/true, 0.1f), 4);
    if (whole) session_->Append(RunKind::kTrain, *work);
    const auto update = *ModelUpdate::Make(*optimizer, *session_);
    for (int32_t step = 1; step <= 4; ++step) {
      session_->Int64Input("ids")[0] = step % 4;
      session_->Int32Input("labels")[2] = step % 2;
      update->Prepare(step);
      ASSERT_THAT(session_->Run(whole ? RunKind::kStep : RunKind::kTrain), IsOk());
      if (whole) continue;
      ASSERT_THAT(work->Run(), IsOk());
      ASSERT_THAT(update->Apply(), IsOk());
    }
    for (size_t i = 0; i < 2; ++i) outcomes[whole].push_back(ValuesOf(session_->variable(i)));
    for (size_t slot = 0; slot < session_->model().slots(); ++slot) {
      outcomes[whole].push_back(ValuesOf(session_->model().slot(slot, 0)));
    }
  }
  EXPECT_EQ(outcomes[1], outcomes[0]);
}

TEST_P(ModelUpdateTest, AWholeStepOfDataThatIsWrongIsAsIfThereHadBeenNone) {
  std::vector<std::vector<float>> outcomes[2];
  for (const bool wrong : {false, true}) {
    SetUp();
    const auto update = *ModelUpdate::Make(*optimizer_, *session_);
    for (const int32_t label : {5, 0, 6, 1}) {
      const bool bad = label > 1;
      if (bad && !wrong) continue;
      session_->Int32Input("labels")[0] = label;
      session_->Int64Input("ids")[1] = label == 6 ? 4 : 3;
      update->Prepare(1);
      EXPECT_EQ(session_->Run(RunKind::kStep).ok(), !bad);
    }
    outcomes[wrong] = {ValuesOf(session_->variable(0)), ValuesOf(session_->model().slot(0, 0))};
  }
  EXPECT_EQ(outcomes[1], outcomes[0]);
}

TEST_P(ModelUpdateTest, StepsThatAreLaunchedAheadAreThoseThatAreWaitedFor) {
  std::vector<std::vector<float>> outcomes[2];
  for (const bool ahead : {false, true}) {
    SetUp();
    const auto optimizer = *Optimizer::Parse(kDecaying);
    const auto update = *ModelUpdate::Make(*optimizer, *session_);
    std::vector<float>& losses = outcomes[ahead].emplace_back();
    size_t under_way = 0;
    const auto finish = [&](size_t left) {
      for (; under_way > left; --under_way) {
        ASSERT_THAT(session_->AwaitStep(), IsOk());
        losses.push_back(session_->loss());
      }
    };
    for (int32_t step = 1; step <= 9; ++step) {
      const std::vector<int64_t> ids = {step % 4, 1, 0};
      const std::vector<int32_t> labels = {0, 1, step % 2};
      std::ranges::copy(ids, session_->Int64Input("ids").begin());
      std::ranges::copy(labels, session_->Int32Input("labels").begin());
      update->Prepare(step);
      if (ahead) {
        ASSERT_THAT(session_->LaunchStep(), IsOk());
        ++under_way;
        finish(session_->steps_ahead());
      } else {
        ASSERT_THAT(session_->Run(RunKind::kStep), IsOk());
        losses.push_back(session_->loss());
      }
    }
    finish(0);
    // As a run that is waited for leaves them.
    EXPECT_EQ(session_->Int64Input("ids")[0], 1);
    for (size_t i = 0; i < 2; ++i) outcomes[ahead].push_back(ValuesOf(session_->variable(i)));
    for (size_t slot = 0; slot < session_->model().slots(); ++slot) {
      outcomes[ahead].push_back(ValuesOf(session_->model().slot(slot, 0)));
    }
  }
  EXPECT_EQ(outcomes[1], outcomes[0]);
}

TEST_P(ModelUpdateTest, OnlyADeviceThatGoesOnByItselfHasStepsAhead) {
  const auto [far, threads] = GetParam();
  EXPECT_EQ(session_->steps_ahead(), far && threads == 1 ? 1u : 0u);
}

// Step 4 cannot be made: 5 is launched before anybody hears of it.
TEST_P(ModelUpdateTest, BehindAStepThatHasAFaultNothingIsChangedAndAllIsAsItWas) {
  for (const bool of_data : {true, false}) {
    SetUp();
    const auto update = *ModelUpdate::Make(*optimizer_, *session_);
    size_t under_way = 0;
    std::vector<float> before;
    absl::Status failed;
    for (int32_t step = 1; step <= 5 && failed.ok(); ++step) {
      if (step == 4) {
        for (; under_way > 0; --under_way) ASSERT_THAT(session_->AwaitStep(), IsOk());
        if (!of_data) {
          ASSERT_THAT(session_->variable(0).Write(std::vector<float>(8, NAN)), IsOk());
        }
        before = ValuesOf(session_->variable(0));
      }
      std::ranges::fill(session_->Int64Input("ids"), step % 4);
      std::ranges::fill(session_->Int32Input("labels"), step == 4 && of_data ? 7 : 1);
      update->Prepare(step);
      ASSERT_THAT(session_->LaunchStep(), IsOk());
      ++under_way;
      if (step == 4 && session_->steps_ahead() > 0) continue;
      for (; under_way > session_->steps_ahead(); --under_way) {
        failed = session_->AwaitStep();
        if (!std::isfinite(session_->loss())) failed = absl::InternalError("a loss");
        if (!failed.ok()) break;
      }
    }
    EXPECT_THAT(failed.message(), HasSubstr(of_data ? "the label of row 0 is 7" : "a loss"));
    if (of_data) {
      EXPECT_EQ(ValuesOf(session_->variable(0)), before);
    } else {
      EXPECT_THAT(session_->FirstNonFinite(), HasSubstr("variable table"));
    }
    // As of step 4.
    EXPECT_THAT(session_->Int64Input("ids"), Each(0));
    EXPECT_EQ(session_->Int32Input("labels")[0], of_data ? 7 : 1);
    // And it goes on.
    ASSERT_THAT(session_->variable(0).Write(std::vector<float>(8, 1)), IsOk());
    std::ranges::fill(session_->Int32Input("labels"), 1);
    update->Prepare(4);
    ASSERT_THAT(session_->LaunchStep(), IsOk());
    ASSERT_THAT(session_->AwaitStep(), IsOk());
    EXPECT_TRUE(std::isfinite(session_->loss()));
    EXPECT_NE(ValuesOf(session_->variable(0)), std::vector<float>(8, 1));
  }
}

// What was recorded is of the memory and the kernels of then.
TEST_P(ModelUpdateTest, StepsFollowWhatHasChangedSinceTheLast) {
  auto other = Session::Compile(session_->runtime(), LookupGraph(), {.loss = "loss"});
  ASSERT_THAT(other, IsOk());
  ASSERT_THAT(session_->Run(RunKind::kTrain), IsOk());
  const float even = session_->loss();
  const std::vector<float> sure = {9, 0, 9, 0, 9, 0, 9, 0};
  ASSERT_THAT((*other)->variable(0).Write(sure), IsOk());
  ASSERT_THAT(session_->UseVariable(0, (*other)->variable(0)), IsOk());
  ASSERT_THAT(session_->Run(RunKind::kTrain), IsOk());
  EXPECT_LT(session_->loss(), even / 2);
  ASSERT_THAT(session_->UseVariable(0, session_->model().value(0)), IsOk());
  {
    const auto update = *ModelUpdate::Make(*optimizer_, *session_);
    update->Prepare(1);
    ASSERT_THAT(session_->Run(RunKind::kStep), IsOk());
    EXPECT_NE(ValuesOf(session_->variable(0)), std::vector<float>(8, 1));
  }
  const std::vector<float> updated = ValuesOf(session_->variable(0));
  ASSERT_THAT(session_->Run(RunKind::kStep), IsOk());
  EXPECT_EQ(ValuesOf(session_->variable(0)), updated) << "of an update that is gone";
}

// Which a learning rate makes that is far too high.
TEST_P(ModelUpdateTest, OfALossThatIsNoNumberNoVariableIsChanged) {
  auto update = ModelUpdate::Make(*optimizer_, *session_);
  ASSERT_THAT(update, IsOk());
  const std::vector<float> table = {INFINITY, 0, 1, 1, 1, 1, 1, 1};
  ASSERT_THAT(session_->variable(0).Write(table), IsOk());
  (*update)->Prepare(1);
  ASSERT_THAT(session_->Run(RunKind::kStep), IsOk());
  EXPECT_FALSE(std::isfinite(session_->loss()));
  EXPECT_EQ(ValuesOf(session_->variable(0)), table);
  EXPECT_THAT(ValuesOf(session_->model().slot(0, 0)), Each(0.0f));
}

}  // namespace
}  // namespace taas
