#include "trainer/export/export_model.h"

#include <array>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/formats/safetensors.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExportModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
    model_ = *BuildModel({.name = "softmax", .data = {.features = 2, .classes = 3}});
  }
  ExportOptions Options(ExportFormat format) const {
    return {.model = &model_, .values = {weights_, biases_}, .step = 12, .format = format};
  }

  PosixFileSystem files_;
  const std::string dir_ = ::testing::TempDir() + "/export";
  Model model_;
  const std::array<float, 6> weights_ = {1, 2, 3, 4, 5, 6};
  const std::array<float, 3> biases_ = {-1, 0, 1};
  const std::array<float, 3> next_biases_ = {-2, 0, 2};
};

TEST_F(ExportModelTest, NamesOfFormatsAreThoseOfTheManifest) {
  EXPECT_EQ(*ParseExportFormat("savedModel"), ExportFormat::kSavedModel);
  EXPECT_EQ(*ParseExportFormat("savedmodel"), ExportFormat::kSavedModel);
  EXPECT_EQ(*ParseExportFormat("safetensors"), ExportFormat::kSafetensors);
  EXPECT_THAT(ParseExportFormat("onnx").status().message(), HasSubstr("is \"onnx\""));
}

// That nothing can be written there was found out when the training was over.
TEST_F(ExportModelTest, WhatIsInTheWayOfAnExportIsNamedBeforeTheTraining) {
  for (const ExportFormat format : {ExportFormat::kSafetensors, ExportFormat::kSavedModel}) {
    ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
    ASSERT_THAT(TryExportPath(files_, dir_ + "/deep/er", format), IsOk());
    EXPECT_THAT(*files_.List(dir_ + "/deep/er"), testing::IsEmpty());
    ASSERT_THAT(TryExportPath(files_, dir_ + "/deep/er", format), IsOk());
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/file", "x"), IsOk());
    EXPECT_THAT(TryExportPath(files_, dir_ + "/file/er", format),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("Not a directory")));
    EXPECT_FALSE(TryExportPath(files_, "/proc/self/no", format).ok());
  }
  ASSERT_THAT(files_.MakeDirs(dir_ + "/model.safetensors"), IsOk());
  EXPECT_THAT(TryExportPath(files_, dir_, ExportFormat::kSafetensors),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("model.safetensors: it is a directory")));
}

TEST_F(ExportModelTest, SafetensorsHoldTheModelAndItsStep) {
  ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSafetensors)), IsOk());
  auto reader = SafetensorsReader::Open(files_, dir_ + "/model.safetensors");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->metadata().at("global_step"), "12");
  std::vector<float> got(3);
  ASSERT_THAT((*reader)->ReadFloats("softmax_linear/biases", std::array<int64_t, 1>{3}, got),
              IsOk());
  EXPECT_THAT(got, ElementsAre(-1, 0, 1));
}

TEST_F(ExportModelTest, AGpt2HasTheNamesAndTheConfigurationOfPublishedOnes) {
  const Model gpt2 = *BuildModel({.name = "gpt2",
                                  .data = {.features = 4, .vocabulary = 256},
                                  .blocks = 1,
                                  .heads = 1,
                                  .width = 2},
                                 GraphMode::kInference);
  std::vector<std::vector<float>> values;
  ExportOptions options{.model = &gpt2, .step = 3, .format = ExportFormat::kSafetensors};
  for (const Value variable : gpt2.graph.Variables()) {
    values.emplace_back(static_cast<size_t>(gpt2.graph.type(variable).shape.count()));
  }
  options.values = {values.begin(), values.end()};
  ASSERT_THAT(ExportModel(files_, dir_, options), IsOk());
  auto reader = SafetensorsReader::Open(files_, dir_ + "/model.safetensors");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->metadata().at("format"), "pt");
  EXPECT_EQ((*reader)->entries().size(), values.size());
  EXPECT_THAT((*reader)->entries().at("h.0.attn.c_attn.weight").shape, ElementsAre(2, 6));
  EXPECT_THAT(*files_.ReadAll(dir_ + "/config.json"), HasSubstr(R"("n_positions": 4)"));
  // A file stands among others, which have a config.json of theirs.
  ASSERT_THAT(ExportModel(files_, dir_ + "/other/a.safetensors", options), IsOk());
  EXPECT_THAT(*files_.List(dir_ + "/other"), ElementsAre("a.safetensors"));
}

TEST_F(ExportModelTest, ASavedModelHasASignatureAndItsVariables) {
  ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSavedModel)), IsOk());
  tf::SavedModel saved;
  ASSERT_TRUE(saved.ParseFromString(*files_.ReadAll(dir_ + "/saved_model.pb")));
  const tf::MetaGraphDef& meta = saved.meta_graphs(0);
  EXPECT_THAT(meta.meta_info_def().tags(), ElementsAre("serve"));
  const tf::SignatureDef& signature = meta.signature_def().at("serving_default");
  EXPECT_EQ(signature.inputs().at("features").name(), "features:0");
  std::vector<std::string> outputs;
  for (const auto& [name, info] : signature.outputs()) outputs.push_back(name);
  EXPECT_THAT(outputs, ::testing::UnorderedElementsAre("logits", "probabilities", "classes"));
  EXPECT_EQ(signature.outputs().at("classes").dtype(), tf::DT_INT64);
  auto reader = BundleReader::Open(files_, dir_ + "/variables/variables");
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->VerifyAll(), IsOk());
  EXPECT_EQ((*reader)->entries().size(), 2u);
}

TEST_F(ExportModelTest, TheSameModelGivesTheSameBytes) {
  std::set<std::string> graphs;
  for (int i = 0; i < 8; ++i) {
    ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSavedModel)), IsOk());
    graphs.insert(*files_.ReadAll(dir_ + "/saved_model.pb"));
  }
  EXPECT_EQ(graphs.size(), 1u);
}

TEST_F(ExportModelTest, AnExportIsReplacedByTheNext) {
  ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSavedModel)), IsOk());
  ExportOptions options = Options(ExportFormat::kSavedModel);
  options.values[1] = std::span(biases_).first(2);
  EXPECT_THAT(ExportModel(files_, dir_, options).message(), HasSubstr("softmax_linear/biases"));
  EXPECT_THAT(*files_.List(dir_), ElementsAre("saved_model.pb", "variables"));
  ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSavedModel)), IsOk());
  EXPECT_THAT(*files_.List(dir_), ElementsAre("saved_model.pb", "variables"));
}

TEST_F(ExportModelTest, ADiskThatFailsLeavesTheModelBeforeOrNone) {
  const auto contents = [this] {
    std::vector<std::string> files;
    for (const char* name : {"/saved_model.pb", "/variables/variables.index",
                             "/variables/variables.data-00000-of-00001"}) {
      files.push_back(files_.ReadAll(dir_ + name).value_or(""));
    }
    return files;
  };
  ExportOptions next = Options(ExportFormat::kSavedModel);
  next.values[1] = next_biases_;
  ASSERT_THAT(ExportModel(files_, dir_, next), IsOk());
  const std::vector<std::string> after = contents();
  FaultFileSystem faulty(files_);
  int kept = 0, none = 0;
  for (int operation = 1;; ++operation) {
    ASSERT_THAT(ExportModel(files_, dir_, Options(ExportFormat::kSavedModel)), IsOk());
    const std::vector<std::string> before = contents();
    faulty.FailAt(operation, FaultFileSystem::Kind::kCrash);
    if (ExportModel(faulty, dir_, next).ok()) break;
    const std::vector<std::string> now = contents();
    kept += now == before ? 1 : 0;
    none += now[0].empty() ? 1 : 0;
    EXPECT_TRUE(now[0].empty() || now == before || now == after) << "operation " << operation;
  }
  EXPECT_GE(kept, 15);  // All that writes.
  EXPECT_EQ(none, 5);   // What comes between taking the one away and the other's being there.
}

TEST_F(ExportModelTest, ACheckpointOfAnyModelBecomesSafetensors) {
  const std::array<int64_t, 1> step = {34};
  const TensorValue step_value = Int64Tensor("global_step", {}, step);
  const TensorValue text = StringTensor("taas/optimizer", {}, {"adam"});
  auto writer = BundleWriter::Open(files_, ::testing::TempDir() + "/model.ckpt-34");
  ASSERT_THAT(writer, IsOk());
  for (const TensorView& view :
       {FloatTensor("w", {2, 3}, weights_), FloatTensor("w/Adam", {6}, weights_),
        step_value.View(), text.View()}) {
    ASSERT_THAT((*writer)->Add(view), IsOk());
  }
  ASSERT_THAT((*writer)->Finish(), IsOk());
  auto checkpoint = BundleReader::Open(files_, ::testing::TempDir() + "/model.ckpt-34");
  ASSERT_THAT(checkpoint, IsOk());
  const std::string path = dir_ + "/copy.safetensors";
  ASSERT_THAT(ConvertCheckpoint(files_, **checkpoint, path, /*bfloat16=*/true), IsOk());
  auto reader = SafetensorsReader::Open(files_, path);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->metadata().at("taas/optimizer"), "adam");
  EXPECT_EQ((*reader)->metadata().at("global_step"), "34");
  EXPECT_EQ((*reader)->entries().size(), 2u);
  EXPECT_EQ((*reader)->entries().at("w").dtype, "BF16");
}

TEST(CheckExportTest, AnOpThatTensorFlowGetsNotIsNamedBeforeTraining) {
  const auto softmax = BuildModel({.name = "softmax", .data = {.features = 3, .classes = 2}});
  ASSERT_THAT(softmax, IsOk());
  EXPECT_THAT(CheckExport(*softmax, ExportFormat::kSavedModel), IsOk());
  const auto wide = BuildModel({.name = "wideDeep",
                                .hidden = {4},
                                .data = {.features = 1, .classes = 2, .columns = {{"a", 5}}}});
  ASSERT_THAT(wide, IsOk());
  EXPECT_THAT(CheckExport(*wide, ExportFormat::kSavedModel),
              StatusIs(absl::StatusCode::kUnimplemented, testing::HasSubstr("export safetensors")));
  EXPECT_THAT(CheckExport(*wide, ExportFormat::kSafetensors), IsOk());
}

// What docs/trainer-use.md says of chains of one's own.
TEST(CheckExportTest, LayersThatTensorFlowGetsNotAreRefusedAndAllOthersAreNot) {
  const auto check = [](const std::string& layer) {
    const auto spec =
        ParseModel(R"({"name": "layers", "layers": [)" + layer +
                       R"(, {"type": "flatten"}, {"type": "dense", "units": 3}]})",
                   {.features = 16, .classes = 3, .image = {4, 4, 1}});
    EXPECT_THAT(spec, IsOk()) << layer;
    const auto model = BuildModel(*spec, GraphMode::kInference);
    EXPECT_THAT(model, IsOk()) << layer;
    EXPECT_THAT(CheckExport(*model, ExportFormat::kSafetensors), IsOk()) << layer;
    return CheckExport(*model, ExportFormat::kSavedModel);
  };
  for (const char* refused :
       {R"({"type": "lstm", "units": 2})", R"({"type": "embedding", "rows": 9, "units": 2})",
        R"({"type": "layerNorm"})", R"({"type": "activation", "activation": "gelu"})",
        R"({"type": "dense", "units": 2, "activation": "gelu"})"}) {
    EXPECT_THAT(check(refused), StatusIs(absl::StatusCode::kUnimplemented,
                                         testing::HasSubstr("has no translation to TensorFlow")))
        << refused;
  }
  for (const char* taken :
       {R"({"type": "conv", "filters": 2, "kernel": 3})", R"({"type": "maxPool", "size": 2})",
        R"({"type": "avgPool", "size": 2})", R"({"type": "globalAvgPool"})",
        R"({"type": "batchNorm", "activation": "relu"})", R"({"type": "dropout", "rate": 0.5})",
        R"({"type": "activation", "activation": "tanh"})",
        R"({"type": "dense", "units": 2, "activation": "sigmoid"})"}) {
    EXPECT_THAT(check(taken), IsOk()) << taken;
  }
}

}  // namespace
}  // namespace taas
