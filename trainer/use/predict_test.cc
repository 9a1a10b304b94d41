#include "trainer/use/predict.h"

#include <algorithm>
#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/data/idx.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TrainedModel Softmax() {
  TrainedModel trained{.shape = {.features = 2, .classes = 2}};
  trained.model = *BuildModel({.name = "softmax", .data = trained.shape});
  trained.values = {{1, 0, 0, 1}, {0, 0}};  // The logits are the features.
  return trained;
}

TEST(PredictTest, EachExampleHasItsClassAndProbabilities) {
  TrainedModel trained = Softmax();
  const auto predictor = Predictor::Make(CpuRuntime(), trained);
  ASSERT_THAT(predictor, IsOk());
  std::vector<int64_t> labels;
  std::vector<float> first;
  // More than one run of the session, whose last is not full.
  Examples examples{.count = 70};
  for (int i = 0; i < 70; ++i) {
    examples.features.insert(examples.features.end(), {i % 3 == 0 ? 1.0f : -1.0f, 0});
  }
  ASSERT_THAT((*predictor)->Predict(examples,
                                    [&](const Prediction& prediction) {
                                      labels.push_back(prediction.label);
                                      if (first.empty()) {
                                        first.assign(prediction.values.begin(),
                                                     prediction.values.end());
                                      }
                                    }),
              IsOk());
  ASSERT_EQ(labels.size(), 70u);
  for (size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(labels[i], i % 3 == 0 ? 0 : 1) << i;
  EXPECT_THAT(first, ElementsAre(FloatNear(0.731059f, 1e-5f), FloatNear(0.268941f, 1e-5f)));
}

// `taas-trainer predict` said "predict: predict: a model of language ...".
TEST(PredictTest, AModelOfLanguageIsRefusedInWordsThatAProgramPutsItsNameBefore) {
  TrainedModel trained = Softmax();
  trained.model.of_tokens = true;
  EXPECT_THAT(Predictor::Make(CpuRuntime(), trained).status(),
              StatusIs(absl::StatusCode::kUnimplemented, StartsWith("a model of language")));
}

TEST(PredictTest, ARegressionHasAValue) {
  TrainedModel trained{.shape = {.features = 2, .targets = 1}};
  trained.model = *BuildModel({.name = "linear", .data = trained.shape});
  trained.values = {{2, 3}, {0.5}};
  const auto predictor = Predictor::Make(CpuRuntime(), trained);
  ASSERT_THAT(predictor, IsOk());
  std::vector<std::string> lines;
  ASSERT_THAT((*predictor)->Predict({.count = 1, .features = {1, 10}},
                                    [&](const Prediction& p) { lines.push_back(JsonOf(p)); }),
              IsOk());
  EXPECT_THAT(lines, ElementsAre(R"({"value":32.5})"));
}

TEST(PredictTest, PredictionsAreLinesOfJson) {
  const std::array<float, 2> values = {0.25, 0.75};
  EXPECT_EQ(JsonOf({.label = 1, .values = values}),
            R"({"class":1,"probabilities":[0.25,0.75]})");
  EXPECT_EQ(JsonOf({.values = values}), R"({"value":[0.25,0.75]})");
}

TEST(PredictTest, ExamplesAreLinesInSeveralWays) {
  const auto rows = ParseExamples("[1, 2]\n\n {\"features\": [[3], [4]], \"id\": 7}\n"
                                  "5,6\r\n7 -8e-1\n",
                                  "-", {.features = 2});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->count, 4);
  EXPECT_THAT(rows->features, ElementsAre(1, 2, 3, 4, 5, 6, 7, -0.8f));
}

TEST(PredictTest, ALineThatIsNoExampleIsNamed) {
  for (const char* bad : {"x", "1,2,x", "[1,\"2\"]", "[1,2", "{\"feature\":[1,2]}", "1.5.2 3"}) {
    const auto rows = ParseExamples(std::string("1,2\n") + bad, "a.txt", {.features = 2});
    EXPECT_THAT(rows.status().message(), HasSubstr("a.txt: line 2: must be numbers")) << bad;
  }
  EXPECT_THAT(ParseExamples("1,2,3", "-", {.features = 2}).status().message(),
              HasSubstr("line 1: has 3 numbers, the model takes 2"));
  const std::string deep(100'000, '[');
  EXPECT_THAT(ParseExamples(deep, "-", {.features = 2}).status().message(),
              HasSubstr("must be numbers"));
}

// What is looked up is a row of the table for each id, also where two are one float.
TEST(PredictTest, IdsAreLookedUpAsTheyAreWritten) {
  TrainedModel trained{.shape = {.features = 1, .targets = 1}};
  trained.model = *BuildModel(*ParseModel(
      R"({"name":"layers","layers":[{"type":"embedding","rows":16777218,"units":1}]})",
      trained.shape));
  std::vector<float> table(16'777'218);
  table[16'777'216] = 3;
  table[16'777'217] = 5;
  trained.values = {std::move(table), {1}, {0}};
  const ExampleForm form = FormOf(trained);
  EXPECT_TRUE(form.ids);
  const auto examples =
      ParseExamples("16777217\n[16777216]\n{\"features\": 7.0}\n", "-", form);
  ASSERT_THAT(examples, IsOk());
  const auto predictor = Predictor::Make(CpuRuntime(), trained);
  ASSERT_THAT(predictor, IsOk());
  std::vector<float> values;
  ASSERT_THAT((*predictor)->Predict(
                  *examples, [&](const Prediction& p) { values.push_back(p.values[0]); }),
              IsOk());
  EXPECT_THAT(values, ElementsAre(5, 3, 0));
  EXPECT_THAT(ParseExamples("1\n1.5\n", "-", form).status().message(),
              HasSubstr("line 2: must be whole numbers, which the model looks up; 1.5 is none"));
}

TEST(PredictTest, ImagesOfAnIdxFileAreScaledAsInTraining) {
  PosixFileSystem files;
  const std::string path = ::testing::TempDir() + "/images";
  ASSERT_THAT(files.WriteAtomically(path, EncodeIdx(std::array<int64_t, 3>{2, 1, 2},
                                                    std::string("\xff\0\0\x33", 4))),
              IsOk());
  const auto rows = ReadExamples(files, path, {.features = 2});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->count, 2);
  EXPECT_THAT(rows->features, ElementsAre(1, 0, 0, FloatNear(0.2f, 1e-6f)));
  const auto looked_up = ReadExamples(files, path, {.features = 2, .ids = true});
  ASSERT_THAT(looked_up, IsOk());
  EXPECT_THAT(looked_up->ids, ElementsAre(255, 0, 0, 0x33));
  EXPECT_THAT(ReadExamples(files, path, {.features = 3}).status().message(),
              HasSubstr("2 examples and 4 numbers, the model takes 3 each"));
}

TEST(PredictTest, ColumnsTakeValuesByName) {
  const auto columns = FeatureColumns::Parse(nlohmann::json::parse(R"([
      {"name": "age", "type": "numeric"},
      {"name": "job", "type": "vocabulary", "values": ["Sales", "7"], "default": "Sales"}])"),
                                             "data.columns");
  ASSERT_THAT(columns, IsOk());
  const auto parse = [&](std::string_view text) {
    return ParseExamples(text, "-", {.features = 2, .columns = &*columns});
  };
  const auto rows = parse("{\"age\": 39.5, \"job\": 7, \"more\": 1}\n"
                          "{\"job\": null, \"age\": \"4\"}\n");
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->count, 2);
  EXPECT_THAT(rows->features, ElementsAre(39.5, 4));
  EXPECT_THAT(rows->ids, ElementsAre(1, 0));
  EXPECT_THAT(parse("{\"age\": 1}\n{\"job\": \"Sales\"}").status().message(),
              HasSubstr("line 2: column \"age\" of feature \"age\": the value is missing"));
  EXPECT_THAT(parse("{\"age\": [1]}").status().message(),
              HasSubstr("\"age\" must be a text, a number or null"));
  // Quantities, which a model looks up: all examples got row 0 of its table.
  const auto numeric = FeatureColumns::Parse(
      nlohmann::json::parse(R"([{"name": "age", "type": "numeric"}])"), "data.columns");
  ASSERT_THAT(numeric, IsOk());
  const ExampleForm form{.features = 1, .ids = true, .columns = &*numeric};
  const auto looked_up = ParseExamples("{\"age\": 39}\n{\"age\": 4}\n", "-", form);
  ASSERT_THAT(looked_up, IsOk());
  EXPECT_THAT(looked_up->ids, ElementsAre(39, 4));
  EXPECT_TRUE(looked_up->features.empty());
  EXPECT_THAT(ParseExamples("{\"age\": 39.5}", "-", form).status().message(),
              HasSubstr("line 1: must be whole numbers, which the model looks up; 39.5 is none"));
  // Symptom: the file that the training read was refused: "must be an object of the data's values".
  const auto table = parse("name,job,age,label\r\n\nx,Sales, 39.5,1\r\n\"a,b\",,4,0\r\n");
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->count, 2);
  EXPECT_THAT(table->features, ElementsAre(39.5, 4));
  EXPECT_THAT(table->ids, ElementsAre(0, 0));
  EXPECT_THAT(parse("job\nSales\n").status().message(),
              HasSubstr("line 2: the table has no column \"age\""));
  EXPECT_THAT(parse("age,job\n1\n").status().message(),
              HasSubstr("line 2: it has 1 values, want 2"));
  EXPECT_THAT(parse("age,job\n1,\"x\n").status().message(), HasSubstr("a quote is not closed"));
  // Symptom: of a column that was there twice the first was taken, and training refuses the file.
  EXPECT_THAT(parse("age,job,age\n1,Sales,2\n").status().message(),
              HasSubstr("-: line 1: two columns are called \"age\""));
  // Symptom: of the file that the training read it was said that its first line names no columns.
  EXPECT_THAT(parse("age;job\n4;Sales\n").status().message(),
              HasSubstr("which names its columns with ',' between them"));
  for (const char delimiter : {';', '\t'}) {
    std::string text = "note;job;age\r\n;Sales;39.5\r\n1,5; 7;4\r\n";
    std::ranges::replace(text, ';', delimiter);
    const auto separated = ParseExamples(
        text, "-", {.features = 2, .columns = &*columns, .delimiter = delimiter});
    ASSERT_THAT(separated, IsOk());
    EXPECT_THAT(separated->features, ElementsAre(39.5, 4));
    EXPECT_THAT(separated->ids, ElementsAre(0, 1));
  }
  for (const char* encoded : {"[3, 1]", "3, 1", "{\"age\": 1"}) {
    EXPECT_THAT(parse(encoded).status().message(), HasSubstr("line 1: must be an object of"))
        << encoded;
  }
}

}  // namespace
}  // namespace taas
