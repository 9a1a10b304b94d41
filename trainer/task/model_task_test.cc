#include "trainer/task/model_task.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/augment.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

constexpr ImageShape kShape{.height = 3, .width = 3, .channels = 1};
constexpr size_t kPixels = 9;
constexpr int64_t kImages = 5;
constexpr uint64_t kSeed = 3;

class ModelTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
    std::string pixels, labels;
    for (int64_t i = 0; i < kImages; ++i) {
      for (size_t k = 0; k < kPixels; ++k) pixels.push_back(static_cast<char>(i * 40 + 2 * k + 1));
      labels.push_back(static_cast<char>(i % 2));
    }
    std::string floats;
    for (const char pixel : pixels) {
      const float value = static_cast<float>(static_cast<uint8_t>(pixel)) * PixelScale().scale;
      floats.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/x", pixels), IsOk());
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/uint8", pixels), IsOk());
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/float32", floats), IsOk());
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/y", labels), IsOk());
  }
  // Batches of 3 of 5 images, so that some straddle two epochs. `dtype` is uint8, or float32 of the
  // same numbers.
  std::unique_ptr<ModelTask> Make(const std::string& dtype, const std::string& augment,
                                  const Runtime& runtime = CpuRuntime()) {
    TrainerConfig config;
    config.model = R"({"name":"softmax"})";
    const std::string files = R"({"images":")" + dir_ + "/" + dtype + R"(","labels":")" + dir_ +
                              R"(/y"})";
    config.data = R"({"format":"raw","raw":{"shape":[3,3,1],"dtype":")" + dtype +
                  R"("},"train":)" + files + R"(,"test":)" + files + augment + "}";
    config.batch_size = 3;
    config.seed = kSeed;
    auto task = ModelTask::Make(runtime, files_, config);
    EXPECT_THAT(task, IsOk());
    EXPECT_THAT((*task)->session().InitializeVariables(kSeed), IsOk());
    return *std::move(task);
  }
  PosixFileSystem files_;
  std::string dir_;
};

// An evaluator held the training set, and tensors for gradients, to compute none.
TEST_F(ModelTaskTest, WhoOnlyEvaluatesHasNoTrainingSetAndNoGradients) {
  for (const char* classes : {"", R"(,"classes":2)"}) {
    TrainerConfig config;
    config.model = R"({"name":"softmax"})";
    const std::string test = R"({"images":")" + dir_ + R"(/x","labels":")" + dir_ + R"(/y"})";
    // With classes nobody opens the training set.
    const std::string train = *classes == '\0' ? test : R"({"images":"none","labels":"none"})";
    config.data = R"({"format":"raw","raw":{"shape":[3,3,1]},"train":)" + train + R"(,"test":)" +
                  test + classes + "}";
    config.batch_size = 1'000;  // More than there are, which only training minds.
    config.towers = 3;
    const auto task = ModelTask::Make(CpuRuntime(), files_, config, {.trains = false});
    ASSERT_THAT(task, IsOk());
    EXPECT_EQ((*task)->batches_per_step(), 1);
    EXPECT_EQ((*task)->session().memory().gradient_bytes, 0u);
    EXPECT_EQ((*task)->examples(), kImages);
    EXPECT_THAT((*task)->session().InitializeVariables(1), IsOk());
    const auto evaluation = (*task)->Evaluate(VariablesOf((*task)->session()));
    ASSERT_THAT(evaluation, IsOk());
    EXPECT_EQ((*evaluation)->examples, kImages);
  }
}

// Each tower's line said that the variables lay on its own device.
TEST_F(ModelTaskTest, VariablesOfTowersAreNamedOnceWhereTheyLie) {
  TrainerConfig config;
  config.model = R"({"name":"softmax"})";
  config.data = R"({"format":"generated","generated":{"examples":20,"testExamples":0}})";
  config.batch_size = 3;
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  const auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  const std::string text = (*task)->Placements();
  EXPECT_THAT(text, testing::HasSubstr("weights: (Variable): /job:localhost/replica:0/task:0/"
                                       "device:CPU:0\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(
                        "(Variable): /job:localhost/replica:0/task:0/device:CPU:1")));
  EXPECT_THAT(text, testing::HasSubstr("device:CPU:1\n"));
}

// As floats both ids were 2^24: one row was trained for the two.
TEST_F(ModelTaskTest, IdsAboveTheWholeNumbersOfFloatsAreTrainedApart) {
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/t", "id,y\n16777216,0\n16777217,1\n"), IsOk());
  for (const char* data : {"", R"(,"columns":[{"name":"id","type":"identity",
                                              "buckets":16777218}])"}) {
    TrainerConfig config;
    config.model = *data == '\0' ? R"({"name":"layers","layers":[
                                       {"type":"embedding","rows":16777218,"units":1}]})"
                                 : R"({"name":"wideDeep","hidden":[1],"wide":[],
                                       "deep":[{"column":"id","units":1}]})";
    config.data = R"({"format":"csv","csv":{"labelColumn":"y"},"train":{"files":[")" + dir_ +
                  R"(/t"]})" + data + "}";
    config.batch_size = 2;
    const auto task = ModelTask::Make(CpuRuntime(), files_, config);
    ASSERT_THAT(task, IsOk());
    ASSERT_THAT((*task)->FillBatch(0), IsOk());
    ASSERT_THAT((*task)->session().Run(RunKind::kTrain), IsOk());
    EXPECT_THAT((*task)->session().gradient_rows(0)->ids,
                testing::ElementsAre(16'777'216, 16'777'217));
  }
}

constexpr char kAugment[] = R"(,"augment":{"crop":{"padding":1},"flip":true})";

TEST_F(ModelTaskTest, EachImageIsAugmentedByItsEpochAndItsNumber) {
  const auto plain = Make("float32", "");
  const auto augmented = Make("float32", kAugment);
  const BatchPlan plan({.seed = kSeed, .examples = kImages, .batch_size = 3});
  const auto features = [](ModelTask& task, int64_t batch) {
    EXPECT_THAT(task.FillBatch(batch), IsOk());
    const std::span<const float> values = task.session().FloatInput("features");
    return std::vector<float>(values.begin(), values.end());
  };
  int changed = 0;
  for (int64_t batch = 0; batch < 20; ++batch) {
    const std::vector<float> before = features(*plain, batch);
    const std::vector<float> after = features(*augmented, batch);
    for (int64_t row = 0; row < 3; ++row) {
      const int64_t position = batch * 3 + row;
      const AugmentOf of{
          .job = kSeed, .epoch = position / kImages, .example = plan.IndexAt(position)};
      std::vector<float> want(kPixels);
      const std::span<const float> image(before.data() + row * kPixels, kPixels);
      AugmentImage<float>(kShape, {.crop_padding = 1, .flip = true}, AugmentSeed(of), 0, image,
                          want);
      const std::vector<float> got(after.begin() + row * kPixels,
                                   after.begin() + (row + 1) * kPixels);
      EXPECT_EQ(got, want) << batch << ", " << row;
      if (got != std::vector<float>(image.begin(), image.end())) ++changed;
    }
  }
  EXPECT_GT(changed, 40) << "of 60; one in eighteen stays as it is";
}

// What the graph makes of bytes is what readers would have made of them.
TEST_F(ModelTaskTest, PixelsGoToTheGraphAsBytesAndMeanTheSameBits) {
  for (const char* augment : {"", kAugment}) {
    const auto numbers = Make("float32", augment);
    const auto bytes = Make("uint8", augment);
    const auto far = Make("uint8", augment, FarRuntime());
    EXPECT_FALSE(bytes->session().HasInput("features"));
    EXPECT_EQ(bytes->session().Uint8Input("pixels").size(), 3 * kPixels);
    EXPECT_EQ(bytes->session().HasInput("seeds"), *augment != '\0');
    for (int64_t batch = 0; batch < 20; ++batch) {
      const auto want = numbers->ComputeGradients({&batch, 1});
      ASSERT_THAT(want, IsOk());
      for (ModelTask* task : {bytes.get(), far.get()}) {
        const auto loss = task->ComputeGradients({&batch, 1});
        ASSERT_THAT(loss, IsOk());
        EXPECT_EQ(*loss, *want) << batch;
      }
    }
    const auto want = numbers->Evaluate(VariablesOf(numbers->session()));
    ASSERT_THAT(want, IsOk());
    for (ModelTask* task : {bytes.get(), far.get()}) {
      const auto evaluation = task->Evaluate(VariablesOf(task->session()));
      ASSERT_THAT(evaluation, IsOk());
      EXPECT_EQ((*evaluation)->loss, (*want)->loss);
    }
  }
}

// The mean over a batch is not what an evaluation of one example at a time would see.
TEST_F(ModelTaskTest, EvaluationTakesTheMovingMoments) {
  TrainerConfig config;
  config.model = R"({"name":"layers","layers":[{"type":"batchNorm","decay":0.5}]})";
  const std::string files = R"({"images":")" + dir_ + R"(/x","labels":")" + dir_ + R"(/y"})";
  config.data = R"({"format":"raw","raw":{"shape":[3,3,1]},"train":)" + files + R"(,"test":)" +
                files + "}";
  config.batch_size = 3;
  const auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  Session& session = (*task)->session();
  EXPECT_THAT(session.InitializeVariables(1), IsOk());
  std::vector<TensorRef> variables = VariablesOf(session);
  const auto loss = [&] {
    const auto evaluation = (*task)->Evaluate(variables);
    EXPECT_THAT(evaluation, IsOk());
    return (*evaluation)->loss;
  };
  const double before = loss();
  const int64_t batch = 0;
  ASSERT_THAT((*task)->ComputeGradients(std::span(&batch, 1)), IsOk());
  EXPECT_NE(loss(), before) << "a step changes moving moments, and nothing else yet";
}

// Variables that are numbers can make a loss that is none.
TEST_F(ModelTaskTest, AnEvaluatedLossThatIsNoNumberIsLoggedWithItsOp) {
  const auto task = Make("uint8", "");
  const std::vector<TensorRef> variables = VariablesOf(task->session());
  for (const TensorRef& variable : variables) EXPECT_THAT(variable.Fill(3e38f), IsOk());
  testing::internal::CaptureStderr();
  const auto evaluation = task->Evaluate(variables);
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_THAT(evaluation, IsOk());
  EXPECT_FALSE((*evaluation)->perplexity.has_value());
  EXPECT_FALSE(std::isfinite((*evaluation)->loss));
  EXPECT_THAT(log, testing::HasSubstr("from example 0 of data.test on; first in op "));
  EXPECT_THAT(log, testing::HasSubstr("of finite inputs"));
}

TEST_F(ModelTaskTest, OfTokensThereIsAPerplexity) {
  TrainerConfig config;
  config.model = R"({"name":"gpt2","blocks":1,"heads":1,"width":4})";
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/text", "a text of some letters"), IsOk());
  const std::string text = R"({"files":[")" + dir_ + R"(/text"]})";
  config.data = R"({"format":"text","text":{"context":5},"train":)" + text + R"(,"test":)" + text +
                "}";
  config.batch_size = 3;
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  const std::vector<TensorRef> variables = VariablesOf((*task)->session());
  for (const TensorRef& variable : variables) EXPECT_THAT(variable.Fill(0), IsOk());
  auto evaluation = (*task)->Evaluate(variables);
  ASSERT_THAT(evaluation, IsOk());
  // All bytes are equally likely.
  EXPECT_NEAR((*evaluation)->loss, std::log(256), 1e-5);
  ASSERT_TRUE((*evaluation)->perplexity.has_value());
  EXPECT_NEAR(*(*evaluation)->perplexity, 256, 1e-2);
  for (const TensorRef& variable : variables) EXPECT_THAT(variable.Fill(3e38f), IsOk());
  evaluation = (*task)->Evaluate(variables);
  ASSERT_THAT(evaluation, IsOk());
  EXPECT_FALSE((*evaluation)->perplexity.has_value()) << "of a loss that is no number";
}

TEST_F(ModelTaskTest, ABatchOfMoreThanTheDataIsRefused) {
  TrainerConfig config;
  config.model = R"({"name":"softmax"})";
  config.data = R"({"format":"generated","generated":{"examples":5}})";
  config.batch_size = 6;
  EXPECT_THAT(ModelTask::Make(CpuRuntime(), files_, config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("batchSize: 6 is more than the 5 examples")));
  config.batch_size = 5;
  EXPECT_THAT(ModelTask::Make(CpuRuntime(), files_, config), IsOk());
}

// The gradient of the table is clipped, and the scale of the loss divided out, in its rows alone.
TEST_F(ModelTaskTest, RowsOfATableAreClippedWithTheRestAndOtherRowsStayZero) {
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/ids", "3,900,1\n3,41,0\n7,3,1\n900,0,0\n"), IsOk());
  for (const int64_t towers : {1, 2}) {
    const auto gradients = [&](const std::string& clip) {
      TrainerConfig config;
      config.model = R"({"name":"layers","layers":[{"type":"embedding","rows":1000,"units":5}]})";
      config.data = R"({"format":"csv","csv":{"header":false,"labelColumn":"2"},
          "train":{"files":[")" + dir_ + R"(/ids"]}})";
      config.batch_size = 2;
      config.towers = towers;
      config.loss_scale = 64;
      config.clip = clip;
      auto task = ModelTask::Make(CpuRuntime(), files_, config);
      EXPECT_THAT(task, IsOk());
      EXPECT_THAT((*task)->session().InitializeVariables(1), IsOk());
      const std::vector<int64_t> batches = {0, 1};
      EXPECT_THAT((*task)->ComputeGradients(std::span(batches).first(
                      static_cast<size_t>(towers))),
                  IsOk());
      return *std::move(task);
    };
    const auto plain = gradients(""), clipped = gradients(R"({"globalNorm":0.001})");
    const std::optional<GradientRows> rows = plain->session().gradient_rows(0);
    ASSERT_TRUE(rows.has_value());
    EXPECT_GE(rows->ids.size(), 3u);
    double squares = 0, clipped_squares = 0;
    for (size_t i = 0; i < plain->session().variables().size(); ++i) {
      const std::span<float> before = plain->session().gradient(i).host();
      const std::span<float> after = clipped->session().gradient(i).host();
      for (size_t at = 0; at < before.size(); ++at) {
        squares += double{before[at]} * before[at];
        clipped_squares += double{after[at]} * after[at];
        const bool listed = i > 0 || std::ranges::binary_search(rows->ids, static_cast<int32_t>(
                                                                               at / 5));
        ASSERT_EQ(before[at] != 0, listed) << i << ", " << at;
      }
    }
    // The loss is about log 2, so its gradients are far below 64 times that.
    EXPECT_LT(squares, 4);
    EXPECT_GT(squares, 1e-5);
    EXPECT_NEAR(std::sqrt(clipped_squares), 0.001, 1e-8);
  }
}

TEST_F(ModelTaskTest, DropoutDependsOnTheBatchNumberAndTheSeed) {
  const auto losses = [&](uint64_t seed) {
    TrainerConfig config;
    config.model = R"({"name":"layers","layers":[{"type":"dropout","rate":0.5}]})";
    const std::string files = R"({"images":")" + dir_ + R"(/x","labels":")" + dir_ + R"(/y"})";
    config.data = R"({"format":"raw","raw":{"shape":[3,3,1]},"train":)" + files + "}";
    config.batch_size = kImages;  // Each batch is a whole epoch, in another order.
    config.seed = seed;
    const auto task = ModelTask::Make(CpuRuntime(), files_, config);
    EXPECT_THAT(task, IsOk());
    EXPECT_THAT((*task)->session().InitializeVariables(1), IsOk());
    std::vector<float> losses;
    for (const int64_t batch : {0, 1, 0}) {
      const auto loss = (*task)->ComputeGradients(std::span(&batch, 1));
      EXPECT_THAT(loss, IsOk());
      losses.push_back(*loss);
    }
    return losses;
  };
  const std::vector<float> first = losses(1);
  EXPECT_EQ(first[0], first[2]);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(first, losses(1));
  EXPECT_NE(first, losses(2));
}

// A file of floats beside one of bytes, as of images that somebody has scaled.
TEST_F(ModelTaskTest, TheTestSetMayBeNumbersWhereTheTrainingSetIsBytes) {
  const std::string shape("\0\0\0\2\0\0\0\1\0\0\0\1", 12);
  const std::string one("\x3f\x80\0\0", 4), none(4, '\0');
  const std::pair<const char*, std::string> idx[] = {
      {"/bytes", std::string("\0\0\x08\3", 4) + shape + std::string("\xff\0", 2)},
      {"/floats", std::string("\0\0\x0d\3", 4) + shape + one + none},
      {"/labels", std::string("\0\0\x08\1\0\0\0\2\0\1", 10)}};
  for (const auto& [name, text] : idx) {
    ASSERT_THAT(files_.WriteAtomically(dir_ + name, text), IsOk());
  }
  std::vector<double> losses;
  for (const char* test : {"/bytes", "/floats"}) {
    TrainerConfig config;
    config.model = R"({"name":"softmax"})";
    const auto files = [&](const char* images) {
      return R"({"images":")" + dir_ + images + R"(","labels":")" + dir_ + R"(/labels"})";
    };
    config.data = R"({"train":)" + files("/bytes") + R"(,"test":)" + files(test) + "}";
    config.batch_size = 1;
    const auto task = ModelTask::Make(CpuRuntime(), files_, config);
    ASSERT_THAT(task, IsOk());
    EXPECT_THAT((*task)->session().InitializeVariables(kSeed), IsOk());
    const auto evaluation = (*task)->Evaluate(VariablesOf((*task)->session()));
    ASSERT_THAT(evaluation, IsOk());
    losses.push_back((*evaluation)->loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

// Whoever serves the model has numbers: its input is what it was before bytes went to the graph.
TEST_F(ModelTaskTest, AModelThatLearntFromBytesIsExportedForNumbers) {
  TrainerConfig config;
  config.model = R"({"name":"softmax"})";
  const std::string files = R"({"images":")" + dir_ + R"(/x","labels":")" + dir_ + R"(/y"})";
  config.data = R"({"format":"raw","raw":{"shape":[3,3,1]},"train":)" + files + "}";
  config.batch_size = 3;
  config.export_format = "savedModel";
  config.export_dir = dir_ + "/export";
  const auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  ASSERT_THAT((*task)->Export(1, VariablesOf((*task)->session())), IsOk());
  const auto saved = files_.ReadAll(dir_ + "/export/saved_model.pb");
  ASSERT_THAT(saved, IsOk());
  EXPECT_THAT(*saved, testing::HasSubstr("features"));
  EXPECT_THAT(*saved, testing::Not(testing::HasSubstr("pixels")));
}

TEST_F(ModelTaskTest, ImagesOfTheTestSetStayAsTheyAre) {
  const auto evaluate = [&](const std::string& augment) {
    const auto task = Make("uint8", augment);
    std::vector<std::vector<float>> memory;
    std::vector<TensorRef> variables;
    for (size_t i = 0; i < task->session().variables().size(); ++i) {
      auto& values = memory.emplace_back(task->session().variable(i).host().size());
      // Such that each pixel counts otherwise.
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k * k) * 0.1f;
    }
    for (auto& values : memory) variables.emplace_back(values);
    const auto evaluation = task->Evaluate(variables);
    EXPECT_THAT(evaluation, IsOk());
    return (*evaluation)->loss;
  };
  EXPECT_EQ(evaluate(kAugment), evaluate(""));
}

}  // namespace
}  // namespace taas
