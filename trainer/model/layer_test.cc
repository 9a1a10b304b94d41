#include "trainer/model/layer.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr ImageShape kImage{6, 5, 2};

absl::StatusOr<Model> Build(const std::string& layers, GraphMode mode = GraphMode::kTraining,
                            DataShape data = {.features = 60, .classes = 3, .image = kImage}) {
  const auto spec = ParseModel(R"({"name":"layers","layers":)" + layers + "}", data);
  if (!spec.ok()) return spec.status();
  return BuildModel(*spec, mode);
}

std::vector<std::string> VariablesOf(const Model& model) {
  std::vector<std::string> names;
  for (const Value variable : model.graph.Variables()) {
    names.push_back(model.graph.NameOf(variable) + model.graph.type(variable).shape.ToString());
  }
  return names;
}

TEST(LayerTest, ShapesFollowFromTheLayersBefore) {
  const auto model = Build(R"([{"type":"conv","filters":4,"kernel":"3x2","strides":2},
                               {"type":"avgPool","size":2,"strides":1,"padding":"valid"},
                               {"type":"conv","filters":5,"bias":false,"name":"last_conv"},
                               {"type":"dense","units":7,"activation":"tanh"}])");
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              ElementsAre("conv1/weights[3, 2, 2, 4]", "conv1/biases[4]",
                          "last_conv/weights[3, 3, 4, 5]",
                          // 6 × 5 becomes 3 × 3 by the strides, and 2 × 2 by the pool.
                          "dense1/weights[20, 7]", "dense1/biases[7]",
                          "softmax_linear/weights[7, 3]", "softmax_linear/biases[3]"));
}

TEST(LayerTest, AChainOfARegressionEndsInTargets) {
  const auto model = Build(R"([{"type":"dense","units":4,"activation":"relu"}])",
                           GraphMode::kTraining, {.features = 6, .targets = 2});
  ASSERT_THAT(model, IsOk());
  EXPECT_FALSE(model->is_classifier());
  EXPECT_THAT(VariablesOf(*model), ElementsAre("dense1/weights[6, 4]", "dense1/biases[4]",
                                               "linear/weights[4, 2]", "linear/biases[2]"));
}

TEST(LayerTest, BothModesHaveTheSameVariables) {
  const std::string layers = R"([{"type":"conv","filters":4},{"type":"batchNorm"},
                                 {"type":"dropout","rate":0.5},{"type":"globalAvgPool"}])";
  const auto training = Build(layers);
  const auto inference = Build(layers, GraphMode::kInference);
  ASSERT_THAT(training, IsOk());
  ASSERT_THAT(inference, IsOk());
  EXPECT_EQ(VariablesOf(*training), VariablesOf(*inference));
  EXPECT_EQ(training->graph.updates().size(), 2u);
  EXPECT_EQ(inference->graph.updates().size(), 0u);
}

TEST(LayerTest, MovingMomentsFollowTheBatchAndAreUsedAfterwards) {
  const std::string layers =
      R"([{"type":"flatten"},{"type":"batchNorm","decay":0.5,"epsilon":0}])";
  const DataShape data{.features = 1, .classes = 1};
  const auto training = Build(layers, GraphMode::kTraining, data);
  ASSERT_THAT(training, IsOk());
  auto session = Session::Compile(CpuRuntime(), training->graph,
                                  {.batch = 2, .loss = training->loss});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  (*session)->FloatInput("features")[0] = 2;
  (*session)->FloatInput("features")[1] = 6;
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  // Mean 4 and unbiased variance 8, half way from 0 and 1.
  const size_t mean = 2, variance = 3;
  ASSERT_EQ((*session)->variables()[mean].name, "batch_norm1/moving_mean");
  EXPECT_THAT((*session)->variable(mean).host(), ElementsAre(FloatEq(2)));
  EXPECT_THAT((*session)->variable(variance).host(), ElementsAre(FloatEq(4.5)));

  const auto inference = Build(layers, GraphMode::kInference, data);
  ASSERT_THAT(inference, IsOk());
  auto later = Session::Compile(
      CpuRuntime(), inference->graph,
      {.batch = 1, .fetches = {"batch_norm1/BatchNormInference"}, .trainable = false});
  ASSERT_THAT(later, IsOk());
  for (size_t i = 0; i < (*session)->variables().size(); ++i) {
    ASSERT_THAT((*later)->UseVariable(i, (*session)->variable(i)), IsOk());
  }
  (*later)->FloatInput("features")[0] = 5;
  ASSERT_THAT((*later)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*later)->output("batch_norm1/BatchNormInference").host(),
              ElementsAre(FloatNear(3 / std::sqrt(4.5f), 1e-5f)));
}

// The op of each node in the order of the graph, but leaves and what comes after the pooling.
std::vector<std::string> OpsToPooling(const Model& model) {
  std::vector<std::string> ops;
  for (const Node& node : model.graph.nodes()) {
    if (!node.inputs.empty()) ops.push_back(node.op);
    if (node.op == "Reshape" && ops.size() > 1) break;
  }
  return ops;
}

TEST(LayerTest, AMaxPoolingGoesBeforeWhatKeepsTheOrderOfNumbers) {
  const std::string rest = R"(},{"type":"maxPool"}])";
  const auto ops = [&](const std::string& conv) {
    const auto model = Build(R"([{"type":"conv","filters":4)" + conv + rest);
    EXPECT_THAT(model, IsOk());
    return OpsToPooling(*model);
  };
  EXPECT_THAT(ops(R"(,"activation":"relu")"),
              ElementsAre("Reshape", "Conv2D", "MaxPool", "BiasAdd", "Relu", "Reshape"));
  EXPECT_THAT(ops(""), ElementsAre("Reshape", "Conv2D", "MaxPool", "BiasAdd", "Reshape"));
  EXPECT_THAT(ops(R"(,"activation":"gelu")"),
              ElementsAre("Reshape", "Conv2D", "BiasAdd", "Gelu", "MaxPool", "Reshape"));
}

TEST(LayerTest, APoolingBeforeBiasAndReluMakesTheSameBits) {
  std::vector<std::vector<float>> logits, gradients;
  for (const char* layers :
       {R"([{"type":"conv","filters":7,"activation":"relu"},
            {"type":"maxPool","size":3,"strides":2}])",
        R"([{"type":"conv","filters":7},{"type":"activation","activation":"relu"},
            {"type":"maxPool","size":3,"strides":2}])"}) {
    const auto model = Build(layers);
    ASSERT_THAT(model, IsOk());
    auto session = Session::Compile(
        CpuRuntime(), model->graph, {.batch = 4, .loss = model->loss, .fetches = {model->logits}});
    ASSERT_THAT(session, IsOk());
    EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
    ASSERT_EQ((*session)->variables()[1].name, "conv1/biases");
    std::ranges::copy(std::vector<float>{-0.3f, 0.2f, 0, 0.1f, -9, 0.5f, -0.1f},
                      (*session)->variable(1).host().begin());
    const std::span<float> x = (*session)->FloatInput("features");
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i * i));
    ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    const std::span<const float> values = (*session)->output(model->logits).host();
    logits.emplace_back(values.begin(), values.end());
    std::vector<float>& all = gradients.emplace_back();
    for (size_t i = 0; i < (*session)->variables().size(); ++i) {
      std::ranges::copy((*session)->gradient(i).host(), std::back_inserter(all));
    }
  }
  EXPECT_EQ(logits[0], logits[1]);
  // Sums in another order.
  EXPECT_THAT(gradients[0], testing::Pointwise(FloatNear(1e-6f), gradients[1]));
}

TEST(LayerTest, DropoutIsOfTrainingOnly) {
  const std::string layers = R"([{"type":"dropout","rate":0.5},{"type":"activation",
                                  "activation":"relu","name":"after"}])";
  const DataShape data{.features = 100, .classes = 2};
  for (const GraphMode mode : {GraphMode::kTraining, GraphMode::kInference}) {
    const auto model = Build(layers, mode, data);
    ASSERT_THAT(model, IsOk());
    auto session = Session::Compile(
        CpuRuntime(), model->graph, {.fetches = {"Relu"}, .trainable = false, .seed = 1});
    ASSERT_THAT(session, IsOk());
    std::ranges::fill((*session)->FloatInput("features"), 1.0f);
    ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
    const auto values = (*session)->output("Relu").host();
    if (mode == GraphMode::kInference) {
      EXPECT_THAT(values, Each(1.0f));
    } else {
      EXPECT_THAT(std::ranges::count(values, 0.0f),
                  testing::AllOf(testing::Gt(25), testing::Lt(75)));
      EXPECT_THAT(values, Each(testing::AnyOf(0.0f, 2.0f)));
    }
  }
}

TEST(LayerTest, SequencesGoThroughLayersOfSequencesAndOthers) {
  const auto model = Build(R"([{"type":"embedding","rows":9,"units":4},
                               {"type":"lstm","units":3,"sequences":true},
                               {"type":"layerNorm"},
                               {"type":"lstm","units":2},
                               {"type":"dense","units":5,"activation":"gelu"}])",
                           GraphMode::kTraining, {.features = 6, .classes = 3});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(VariablesOf(*model),
              ElementsAre("embedding1/table[9, 4]", "lstm1/weights[4, 12]",
                          "lstm1/recurrent_weights[3, 12]", "lstm1/biases[12]",
                          "layer_norm1/gamma[3]", "layer_norm1/beta[3]", "lstm2/weights[3, 8]",
                          "lstm2/recurrent_weights[2, 8]", "lstm2/biases[8]",
                          "dense1/weights[2, 5]", "dense1/biases[5]",
                          "softmax_linear/weights[5, 3]", "softmax_linear/biases[3]"));
  auto session = Session::Compile(CpuRuntime(), model->graph, {.batch = 2, .loss = model->loss});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(1), IsOk());
  EXPECT_THAT((*session)->Run(RunKind::kTrain), IsOk());
}

struct RefusedCase {
  const char* name;
  const char* layers;
  const char* message;
};

class LayerRefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(LayerRefusedTest, MessageNamesTheLayer) {
  EXPECT_THAT(Build(GetParam().layers), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, LayerRefusedTest,
    testing::Values(
        RefusedCase{"NoList", R"({})", "model.layers: must be a list"},
        RefusedCase{"NoObject", "[7]", "model.layers[0]: must be an object"},
        RefusedCase{"NoType", R"([{"units":7}])", "model.layers[0].type: is missing"},
        RefusedCase{"UnknownType", R"([{"type":"dense","units":1},{"type":"conf"}])",
                    "model.layers[1].type: there is no layer \"conf\"; known: conv, maxPool"},
        RefusedCase{"FieldOfAnother", R"([{"type":"dense","units":1,"kernel":3}])",
                    "model.layers[0].kernel: unknown field"},
        RefusedCase{"NoUnits", R"([{"type":"dense"}])", "model.layers[0].units: is missing"},
        RefusedCase{"NoFilters", R"([{"type":"conv"}])", "model.layers[0].filters: is missing"},
        RefusedCase{"KernelOfText", R"([{"type":"conv","filters":1,"kernel":"3x"}])",
                    "model.layers[0].kernel: must be a side or height x width"},
        RefusedCase{"KernelZero", R"([{"type":"conv","filters":1,"kernel":"0x3"}])",
                    "model.layers[0].kernel"},
        RefusedCase{"DropsAll", R"([{"type":"dropout","rate":1}])",
                    "model.layers[0].rate: must be at least 0 and less than 1"},
        RefusedCase{"NoRate", R"([{"type":"dropout"}])", "model.layers[0].rate: is missing"},
        RefusedCase{"UnknownActivation", R"([{"type":"activation","activation":"swish"}])",
                    "model.layers[0].activation: must be one of none, relu"},
        RefusedCase{"NoActivation", R"([{"type":"activation"}])",
                    "model.layers[0].activation: is missing, or none: such a layer does nothing"},
        RefusedCase{"ConvAfterDense",
                    R"([{"type":"dense","units":4},{"type":"conv","filters":2}])",
                    "model.layers[1] (conv1): needs images, height x width x channels, and gets"},
        RefusedCase{"LstmAfterDense",
                    R"([{"type":"dense","units":4},{"type":"lstm","units":2}])",
                    "model.layers[1] (lstm1): needs sequences, steps x width, and gets"},
        RefusedCase{"EmbeddingOfNumbers",
                    R"([{"type":"dense","units":4},{"type":"embedding","rows":9,"units":4}])",
                    "model.layers[1] (embedding1): needs ids, and gets float32[batch, 4]"},
        RefusedCase{"EmbeddingWithoutRows", R"([{"type":"embedding","units":4}])",
                    "model.layers[0].rows: is missing"},
        RefusedCase{"WindowTooLarge",
                    R"([{"type":"conv","filters":2,"kernel":7,"padding":"valid"}])",
                    "model.layers[0] (conv1): add Conv2D \"conv1/Conv2D\""},
        RefusedCase{"PoolTooLarge", R"([{"type":"maxPool","size":9,"padding":"valid"}])",
                    "does not fit into 6x5"}),
    [](const auto& info) { return std::string(info.param.name); });

// An activation has to be added to both, and a cluster looks at the definition alone.
TEST(LayerTest, TheActivationsAreThoseOfTheDefinition) {
  const auto crd = nlohmann::json::parse(TrainingJobCrdJson());
  const auto& words = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                         ["properties"]["trainer"]["properties"]["model"]["properties"]["layers"]
                         ["items"]["properties"]["activation"]["enum"];
  ASSERT_TRUE(words.is_array()) << words;
  std::string known;
  for (const auto& word : words) known += (known.empty() ? "" : ", ") + word.get<std::string>();
  const auto refused = Build(R"([{"type":"activation","activation":"swish"}])");
  EXPECT_THAT(std::string(refused.status().message()), EndsWith("must be one of " + known));
}

TEST(LayerTest, DataThatIsNoImageIsNamedAsTheCause) {
  EXPECT_THAT(Build(R"([{"type":"conv","filters":2}])", GraphMode::kTraining,
                    {.features = 60, .classes = 3}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the data does not say that its examples are images")));
}

}  // namespace
}  // namespace taas
