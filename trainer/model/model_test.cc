#include "trainer/model/model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

const DataShape kDigits{.features = 784, .classes = 10};

std::vector<std::string> VariablesOf(const Model& model) {
  std::vector<std::string> names;
  for (const Value variable : model.graph.Variables()) {
    names.push_back(model.graph.NameOf(variable) + model.graph.type(variable).shape.ToString());
  }
  return names;
}

absl::StatusOr<Model> FromJson(std::string_view json, const DataShape& data) {
  const absl::StatusOr<ModelSpec> spec = ParseModel(json, data);
  if (!spec.ok()) return spec.status();
  return BuildModel(*spec);
}

TEST(ModelTest, MlpHasTheVariablesThatTensorFlowUsersKnow) {
  const auto model = FromJson(R"({"name":"mlp","hidden":[500,30]})", kDigits);
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("hidden1/weights[784, 500]", "hidden1/biases[500]",
                                   "hidden2/weights[500, 30]", "hidden2/biases[30]",
                                   "softmax_linear/weights[30, 10]", "softmax_linear/biases[10]"));
  EXPECT_TRUE(model->is_classifier());
}

TEST(ModelTest, SoftmaxIsOneLayer) {
  const auto model = FromJson(R"({"name":"softmax"})", kDigits);
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model), testing::ElementsAre("softmax_linear/weights[784, 10]",
                                                        "softmax_linear/biases[10]"));
}

TEST(ModelTest, LinearPredictsTargets) {
  const auto model = FromJson(R"({"name":"linear"})", {.features = 13, .targets = 2});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("linear/weights[13, 2]", "linear/biases[2]"));
  EXPECT_FALSE(model->is_classifier());
  EXPECT_EQ(model->targets, "targets");
}

int64_t WeightsOf(const Model& model) {
  int64_t sum = 0;
  for (const Value variable : model.graph.Variables()) {
    if (model.graph.node(variable).trainable) sum += model.graph.type(variable).shape.count();
  }
  return sum;
}

TEST(ModelTest, LenetIsTheOneOfTheTutorials) {
  const auto model = FromJson(R"({"name":"lenet"})",
                              {.features = 784, .classes = 10, .image = {28, 28, 1}});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("conv1/weights[5, 5, 1, 32]", "conv1/biases[32]",
                                   "conv2/weights[5, 5, 32, 64]", "conv2/biases[64]",
                                   "hidden1/weights[3136, 512]", "hidden1/biases[512]",
                                   "softmax_linear/weights[512, 10]", "softmax_linear/biases[10]"));
}

TEST(ModelTest, Resnet20HasTheWeightsOfThePaperAndItsShortcuts) {
  const auto model = FromJson(R"({"name":"resnet20"})",
                              {.features = 3072, .classes = 10, .image = {32, 32, 3}});
  ASSERT_THAT(model, IsOk());
  // The paper's 269,722, and two shortcuts with weights, scale and offset.
  EXPECT_EQ(WeightsOf(*model), 269'722 + (16 * 32 + 64) + (32 * 64 + 128));
  EXPECT_EQ(model->graph.updates().size(), 2u * 21);
}

const DataShape kGpt2Data{.features = 1024, .vocabulary = 50'257};

TEST(ModelTest, Gpt2HasTheVariablesOfThePublishedCheckpoints) {
  const auto model = FromJson(R"({"name":"gpt2","blocks":1,"heads":2,"width":8})",
                              {.features = 4, .vocabulary = 9});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre(
                  "wte[9, 8]", "wpe[4, 8]", "h0/ln_1/g[8]", "h0/ln_1/b[8]",
                  "h0/attn/c_attn/w[8, 24]", "h0/attn/c_attn/b[24]", "h0/attn/c_proj/w[8, 8]",
                  "h0/attn/c_proj/b[8]", "h0/ln_2/g[8]", "h0/ln_2/b[8]", "h0/mlp/c_fc/w[8, 32]",
                  "h0/mlp/c_fc/b[32]", "h0/mlp/c_proj/w[32, 8]", "h0/mlp/c_proj/b[8]", "ln_f/g[8]",
                  "ln_f/b[8]"));
}

TEST(ModelTest, Gpt2SmallHasTheWeightsThatAllKnow) {
  const auto model = FromJson(R"({"name":"gpt2"})", kGpt2Data);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(WeightsOf(*model), 124'439'808);
}

// With a short context, which changes the number of positions and nothing else.
TEST(ModelTest, Gpt2SmallTakesAStep) {
  const auto model = FromJson(R"({"name":"gpt2"})", {.features = 8, .vocabulary = 50'257});
  ASSERT_THAT(model, IsOk());
  auto session = Session::Compile(
      CpuRuntime(), model->graph, {.batch = 1, .loss = model->loss, .fetches = {model->logits}});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  int64_t token = 0;
  for (int64_t& id : (*session)->Int64Input(model->ids)) id = token += 5'000;
  std::ranges::fill((*session)->Int32Input(model->labels), 40'000);
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  // Untrained, it takes all tokens for nearly equally likely.
  EXPECT_NEAR((*session)->loss(), std::log(50'257.0), 0.5);
  EXPECT_EQ((*session)->output(model->logits).host().size(), 8u * 50'257);
  for (size_t i = 0; i < (*session)->variables().size(); ++i) {
    EXPECT_TRUE(std::ranges::any_of((*session)->gradient(i).host(), [](float g) { return g != 0; }))
        << (*session)->variables()[i].name;
  }
}

TEST(ModelTest, LstmLayersPassTheirSequencesOn) {
  const auto model = FromJson(R"({"name":"lstm","hidden":[7,5]})",
                              {.features = 24, .classes = 3, .image = {6, 4, 1}});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("lstm1/weights[4, 28]", "lstm1/recurrent_weights[7, 28]",
                                   "lstm1/biases[28]", "lstm2/weights[7, 20]",
                                   "lstm2/recurrent_weights[5, 20]", "lstm2/biases[20]",
                                   "softmax_linear/weights[5, 3]", "softmax_linear/biases[3]"));
}

TEST(ModelTest, TextAndClassesAreNotMixedUp) {
  EXPECT_THAT(FromJson(R"({"name":"gpt2"})", kDigits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gpt2 needs tokens")));
  EXPECT_THAT(FromJson(R"({"name":"softmax"})", kGpt2Data),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("softmax does not learn from a text")));
  EXPECT_THAT(FromJson(R"({"name":"gpt2","heads":7})", kGpt2Data),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("model.width: 768 is not a multiple of 7")));
}

TEST(ModelTest, Resnet50TakesAStepAndHasTheWeightsThatAllKnow) {
  const auto model = FromJson(R"({"name":"resnet50"})",
                              {.features = 150'528, .classes = 1000, .image = {224, 224, 3}});
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(WeightsOf(*model), 25'557'032);
  auto session = Session::Compile(
      CpuRuntime(), model->graph, {.batch = 2, .loss = model->loss, .fetches = {model->logits}});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  SeededRandom random(1);
  for (float& value : (*session)->FloatInput("features")) {
    value = static_cast<float>(2 * random.Unit() - 1);
  }
  (*session)->Int32Input("labels")[1] = 999;
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ((*session)->output(model->logits).host().size(), 2000u);
  EXPECT_TRUE(std::isfinite((*session)->loss()));
  for (size_t i = 0; i < (*session)->variables().size(); ++i) {
    const std::span<const float> gradient = (*session)->gradient(i).host();
    EXPECT_TRUE(std::ranges::all_of(gradient, [](float g) { return std::isfinite(g); }))
        << (*session)->variables()[i].name;
    EXPECT_EQ(gradient.empty(), !(*session)->variables()[i].trainable);
  }
}

struct RefusedCase {
  const char* name;
  const char* json;
  const char* message;
};

class ModelRefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(ModelRefusedTest, MessageNamesTheField) {
  EXPECT_THAT(ParseModel(GetParam().json, kDigits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ModelRefusedTest,
    testing::Values(
        RefusedCase{"NotJson", "{", "model: must be a JSON object"},
        RefusedCase{"UnknownName", R"({"name":"resnet"})",
                    "there is no model \"resnet\"; did you mean \"resnet20\"?"},
        RefusedCase{"NameThatIsLikeNone", R"({"name":"transformer"})",
                    "there is no model \"transformer\"; known: gpt2, layers, lenet, linear"},
        RefusedCase{"NoName", R"({"hidden":[1]})",
                    "model.name: must be one of gpt2, layers, lenet"},
        RefusedCase{"HiddenZero", R"({"name":"mlp","hidden":[0]})",
                    "model.hidden[0]: must be from 1 to"},
        RefusedCase{"HiddenNegative", R"({"name":"mlp","hidden":[5,-1]})", "model.hidden[1]"},
        RefusedCase{"HiddenHuge", R"({"name":"mlp","hidden":[1000000000000]})", "model.hidden[0]"},
        RefusedCase{"HiddenFraction", R"({"name":"mlp","hidden":[1.5]})",
                    "model.hidden[0]: must be a whole number, is 1.5"},
        RefusedCase{"HiddenNotAList", R"({"name":"mlp","hidden":500})",
                    "model.hidden: must be a list"},
        RefusedCase{"HiddenMissing", R"({"name":"mlp"})", "model.hidden: model mlp needs"},
        RefusedCase{"HiddenOfSoftmax", R"({"name":"softmax","hidden":[5]})",
                    "model.hidden: model softmax has no hidden layers"},
        RefusedCase{"LayersOfMlp", R"({"name":"mlp","hidden":[5],"layers":[]})",
                    "model.layers: model mlp does not take it"},
        RefusedCase{"DropoutOfSoftmax", R"({"name":"softmax","dropout":0.5})",
                    "model.dropout: model softmax does not take it"},
        RefusedCase{"UnknownField", R"({"name":"mlp","hiden":[5]})", "model.hiden: unknown field"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ModelTest, DataWithoutClassesIsRefusedForAClassifier) {
  EXPECT_THAT(ParseModel(R"({"name":"softmax"})", {.features = 3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("classes")));
}

// The first message asked for classes: 0, and then: must be from 1.
TEST(ModelTest, OfARegressionTheModelsForTargetsAreNamed) {
  EXPECT_THAT(ParseModel(R"({"name":"mlp","hidden":[5]})", {.features = 3, .classes = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("model mlp is for classes, and the data has targets of a "
                                 "regression (data.classes: 0); models for those: layers, "
                                 "linear, wideDeep")));
}

// Three clusters around fixed corners; the noise of one does not reach the next.
void FillClusters(uint64_t seed, Session* session) {
  SeededRandom random(seed);
  const std::span<float> features = session->FloatInput("features");
  const std::span<int32_t> labels = session->Int32Input("labels");
  for (size_t row = 0; row < labels.size(); ++row) {
    labels[row] = static_cast<int32_t>(random.Below(3));
    for (size_t i = 0; i < 4; ++i) {
      const bool corner = i == static_cast<size_t>(labels[row]);
      features[4 * row + i] = (corner ? 1.0f : 0.0f) + static_cast<float>(random.Unit() - 0.5);
    }
  }
}

void TrainOneStep(Session* session, const Optimizer& optimizer, int64_t step) {
  ASSERT_THAT(session->Run(RunKind::kTrain), IsOk());
  for (size_t i = 0; i < session->variables().size(); ++i) {
    const std::span<float> variable = session->variable(i).host();
    optimizer.Apply(
        {.gradient = session->gradient(i).host(), .in = variable, .out = variable, .step = step});
  }
}

class ClassifierTest : public testing::TestWithParam<const char*> {};

TEST_P(ClassifierTest, LearnsToTellClustersApart) {
  const auto model = FromJson(GetParam(), {.features = 4, .classes = 3});
  ASSERT_THAT(model, IsOk());
  auto session = Session::Compile(
      CpuRuntime(), model->graph,
      {.batch = 50, .loss = model->loss, .fetches = {model->accuracy, model->logits}});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(/*seed=*/1), IsOk());
  const auto optimizer = Optimizer::Make({.learning_rate = {.start = 0.5}});
  ASSERT_THAT(optimizer, IsOk());
  for (int64_t step = 1; step <= 300; ++step) {
    FillClusters(static_cast<uint64_t>(step), session->get());
    TrainOneStep(session->get(), **optimizer, step);
  }
  FillClusters(/*seed=*/9999, session->get());
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_GE((*session)->output(model->accuracy).host()[0], 0.94f);
  EXPECT_EQ((*session)->output(model->logits).host().size(), 150u);
}

INSTANTIATE_TEST_SUITE_P(Models, ClassifierTest,
                         testing::Values(R"({"name":"softmax"})",
                                         R"({"name":"mlp","hidden":[16]})",
                                         R"({"name":"mlp","hidden":[8,8]})"));

struct PenaltyCase {
  const char* name;
  double l1;
  double l2;
};

class PenaltyTest : public testing::TestWithParam<PenaltyCase> {
 protected:
  // A session after one run, of a model with these penalties.
  std::unique_ptr<Session> Run(double l1, double l2) {
    const auto model = BuildModel({.name = "mlp",
                                   .hidden = {5},
                                   .data = {.features = 4, .classes = 3},
                                   .l1 = l1,
                                   .l2 = l2});
    EXPECT_THAT(model, IsOk());
    auto session = Session::Compile(CpuRuntime(), model->graph, {.batch = 50, .loss = model->loss});
    EXPECT_THAT(session, IsOk());
    EXPECT_THAT((*session)->InitializeVariables(/*seed=*/1), IsOk());
    FillClusters(/*seed=*/3, session->get());
    EXPECT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    return *std::move(session);
  }
};

TEST_P(PenaltyTest, IsAddedToLossAndGradientsOfTheWeights) {
  const auto [name, l1, l2] = GetParam();
  const auto plain = Run(0, 0), penal = Run(l1, l2);
  double penalty = 0;
  for (size_t i = 0; i < plain->variables().size(); ++i) {
    const bool weights = plain->variables()[i].name.ends_with("/weights");
    for (size_t k = 0; k < plain->variable(i).host().size(); ++k) {
      const double w = weights ? double{plain->variable(i).host()[k]} : 0;
      penalty += l1 * std::abs(w) + l2 * w * w / 2;
      const double more = l1 * (w > 0 ? 1 : w < 0 ? -1 : 0) + l2 * w;
      ASSERT_NEAR(penal->gradient(i).host()[k], plain->gradient(i).host()[k] + more, 1e-6)
          << plain->variables()[i].name << "[" << k << "]";
    }
  }
  EXPECT_GT(penalty, 0.1);
  EXPECT_NEAR(penal->loss() - plain->loss(), penalty, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Table, PenaltyTest,
                         testing::Values(PenaltyCase{"L1", 0.125, 0}, PenaltyCase{"L2", 0, 0.25},
                                         PenaltyCase{"Both", 0.0625, 0.25}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ModelTest, LinearFindsTheLineThatMadeTheData) {
  const auto model = FromJson(R"({"name":"linear"})", {.features = 2, .targets = 1});
  ASSERT_THAT(model, IsOk());
  auto session = Session::Compile(CpuRuntime(), model->graph, {.batch = 20, .loss = model->loss});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(/*seed=*/1), IsOk());
  const auto optimizer = Optimizer::Make({.learning_rate = {.start = 0.3}});
  ASSERT_THAT(optimizer, IsOk());
  SeededRandom random(1);
  for (int64_t step = 1; step <= 500; ++step) {
    const std::span<float> x = (*session)->FloatInput(model->features);
    const std::span<float> y = (*session)->FloatInput(model->targets);
    for (float& value : x) value = static_cast<float>(2 * random.Unit() - 1);
    for (size_t row = 0; row < y.size(); ++row) y[row] = 3 * x[2 * row] - x[2 * row + 1] + 0.5f;
    TrainOneStep(session->get(), **optimizer, step);
  }
  EXPECT_NEAR((*session)->variable(0).host()[0], 3, 1e-3);
  EXPECT_NEAR((*session)->variable(0).host()[1], -1, 1e-3);
  EXPECT_NEAR((*session)->variable(1).host()[0], 0.5, 1e-3);
}

DataShape Columns(int64_t classes) {
  return {.features = 3,
          .classes = classes,
          .columns = {{"age", 0}, {"job", 20}, {"age_job", 7, /*crossed=*/true}}};
}

TEST(ModelTest, WideDeepTakesAllColumnsUnlessItSays) {
  const auto model = FromJson(R"({"name":"wideDeep","hidden":[4]})", Columns(2));
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("deep/job/table[20, 3]", "hidden1/weights[4, 4]",
                                   "hidden1/biases[4]", "wide/job/weights[20, 2]",
                                   "wide/age_job/weights[7, 2]", "softmax_linear/weights[4, 2]",
                                   "softmax_linear/biases[2]"));
  const auto chosen = FromJson(R"({"name":"wideDeep","hidden":[4],"wide":["age"],
      "deep":[{"column":"job","type":"indicator"},{"column":"age_job","units":5}]})",
                               Columns(0));
  ASSERT_THAT(chosen, IsOk());
  EXPECT_THAT(VariablesOf(*chosen),
              testing::ElementsAre("deep/age_job/table[7, 5]", "hidden1/weights[25, 4]",
                                   "hidden1/biases[4]", "wide/age/weights[1, 1]",
                                   "linear/weights[4, 1]", "linear/biases[1]"));
}

TEST(ModelTest, WithoutAWidePartItIsDeep) {
  const auto model = FromJson(R"({"name":"wideDeep","hidden":[4],"wide":[]})", Columns(2));
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              testing::ElementsAre("deep/job/table[20, 3]", "hidden1/weights[4, 4]",
                                   "hidden1/biases[4]", "softmax_linear/weights[4, 2]",
                                   "softmax_linear/biases[2]"));
}

TEST(ModelTest, WideDeepAddsItsParts) {
  const auto model = FromJson(R"({"name":"wideDeep","hidden":[1],"wide":["age","job"],
      "deep":[{"column":"job","units":1},{"column":"age"}]})", Columns(0));
  ASSERT_THAT(model, IsOk());
  auto session = Session::Compile(
      CpuRuntime(), model->graph,
      {.batch = 2, .fetches = {model->predictions}, .trainable = false});
  ASSERT_THAT(session, IsOk());
  const auto set = [&](const std::string& name, size_t at, float value) {
    for (size_t i = 0; i < (*session)->variables().size(); ++i) {
      if ((*session)->variables()[i].name == name) (*session)->variable(i).host()[at] = value;
    }
  };
  set("deep/job/table", 5, 2);
  set("hidden1/weights", 0, 10);  // Of the embedding.
  set("hidden1/weights", 1, 100);  // Of the age.
  set("hidden1/biases", 0, 1);
  set("linear/weights", 0, 1);
  set("linear/biases", 0, 0.5);
  set("wide/age/weights", 0, 1000);
  set("wide/job/weights", 5, 10000);
  std::ranges::copy(std::array<float, 2>{3, 4}, (*session)->FloatInput(model->features).begin());
  std::ranges::copy(std::array<int64_t, 4>{5, 0, 6, 1}, (*session)->Int64Input(model->ids).begin());
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*session)->output(model->predictions).host(),
              testing::ElementsAre(20 + 300 + 1 + 0.5f + 3000 + 10000, 400 + 1 + 0.5f + 4000));
}

TEST(ModelTest, InputsAreThoseOfTheKindsOfColumnsThatTheDataHas) {
  const auto inputs_of = [](std::vector<ColumnShape> columns) {
    const int64_t features = std::ssize(columns);
    const auto model =
        FromJson(R"({"name":"wideDeep","hidden":[4]})",
                 {.features = features, .classes = 2, .columns = std::move(columns)});
    EXPECT_THAT(model, IsOk());
    std::vector<std::string> inputs;
    for (const std::string& name : {model->features, model->ids}) {
      const auto input = model->graph.Find(name);
      inputs.push_back(input.ok() ? model->graph.type(*input).ToString() : "");
    }
    return inputs;
  };
  EXPECT_THAT(inputs_of({{"age", 0}, {"job", 20}, {"town", 7}}),
              testing::ElementsAre("float32[batch, 1]", "int64[batch, 2]"));
  EXPECT_THAT(inputs_of({{"job", 20}}), testing::ElementsAre("", "int64[batch, 1]"));
  EXPECT_THAT(inputs_of({{"age", 0}}), testing::ElementsAre("float32[batch, 1]", ""));
}

TEST(ModelTest, PixelsAreDecodedAndAugmentedInTrainingOnly) {
  const DataShape data{.features = 60,
                       .classes = 3,
                       .image = {6, 5, 2},
                       .pixels = PixelScale{.scale = 0.5f, .offset = -1},
                       .augment = {.crop_padding = 2, .flip = true}};
  const auto spec = ParseModel(R"({"name":"softmax"})", data);
  ASSERT_THAT(spec, IsOk());
  const auto training = BuildModel(*spec), inference = BuildModel(*spec, GraphMode::kInference);
  ASSERT_THAT(training, IsOk());
  ASSERT_THAT(inference, IsOk());
  for (const Model* model : {&*training, &*inference}) {
    EXPECT_EQ(model->features, "");
    EXPECT_EQ(model->graph.type(*model->graph.Find(model->pixels)).ToString(),
              "uint8[batch, 6, 5, 2]");
    const Node& decoded = model->graph.node(*model->graph.Find("decoded"));
    EXPECT_EQ(decoded.op, "DecodePixels");
    EXPECT_EQ(decoded.attributes.Number("scale"), 0.5);
    EXPECT_EQ(decoded.attributes.Number("offset"), -1);
    EXPECT_EQ(decoded.attributes.Int("crop_padding"), model == &*training ? 2 : 0);
    EXPECT_EQ(decoded.attributes.Bool("flip"), model == &*training);
    EXPECT_EQ(model->seeds, model == &*training ? "seeds" : "");
  }
  EXPECT_EQ(VariablesOf(*training), VariablesOf(*inference));
}

TEST(ModelTest, FeaturesAreIdsWhereTheyAreLookedUpFirst) {
  const std::string embedding = R"({"type":"embedding","rows":9,"units":4})";
  EXPECT_TRUE(FeaturesAreIds(R"({"name":"layers","layers":[)" + embedding + "]}"));
  EXPECT_TRUE(
      FeaturesAreIds(R"({"name":"layers","layers":[{"type":"flatten"},)" + embedding + "]}"));
  EXPECT_FALSE(FeaturesAreIds(R"({"name":"layers","layers":[{"type":"dense","units":2},)" +
                              embedding + "]}"));
  for (const char* none : {R"({"name":"softmax"})", R"({"name":"layers","layers":[]})",
                           R"({"name":"layers","layers":[{"type":"dense"}]})",
                           R"({"name":"none"})", R"({"name":3})", "[", "[]"}) {
    EXPECT_FALSE(FeaturesAreIds(none)) << none;
  }
}

TEST(ModelTest, ColumnsThatDoNotFitAreNamed) {
  const auto error_of = [](const std::string& fields, const DataShape& data) {
    return std::string(
        FromJson(R"({"name":"wideDeep","hidden":[4])" + fields + "}", data).status().message());
  };
  EXPECT_THAT(error_of("", {.features = 3, .classes = 2}), HasSubstr("data.columns: is missing"));
  const DataShape data = Columns(2);
  EXPECT_THAT(error_of(R"(,"wide":["job","town"])", data),
              HasSubstr("model.wide[1]: \"town\" is none of data.columns"));
  EXPECT_THAT(error_of(R"(,"wide":["job","job"])", data), HasSubstr("twice"));
  EXPECT_THAT(error_of(R"(,"deep":[])", data), HasSubstr("model.deep"));
  EXPECT_THAT(error_of(R"(,"deep":[{"column":"age","units":2}])", data),
              HasSubstr("model.deep[0]: \"age\" is numeric"));
  EXPECT_THAT(error_of(R"(,"deep":[{"column":"job","type":"indicator","units":2}])", data),
              HasSubstr("model.deep[0].units"));
  DataShape many = data;
  many.columns[1].categories = 16'777'217;
  EXPECT_THAT(error_of(R"(,"deep":[{"column":"job","type":"indicator"}])", many),
              HasSubstr("model.deep[0]: \"job\" has 16777217 categories, an indicator at most"));
  EXPECT_THAT(FromJson(R"({"name":"mlp","hidden":[4]})", data).status().message(),
              HasSubstr("\"job\" has categories; wideDeep takes those"));
  EXPECT_THAT(FromJson(R"({"name":"mlp","hidden":[4],"wide":["job"]})", data).status().message(),
              HasSubstr("model.wide: model mlp does not take it"));
  DataShape numbers = data;
  numbers.columns = {{"a", 0}, {"b", 0}, {"c", 0}};
  EXPECT_THAT(FromJson(R"({"name":"mlp","hidden":[4]})", numbers), IsOk());
}

}  // namespace
}  // namespace taas
