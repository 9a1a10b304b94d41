#include "trainer/use/trained_model.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/formats/safetensors.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrainedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
    config_.model = R"({"name":"softmax"})";
    config_.data = "{}";
  }
  std::vector<TensorView> Tensors() const {
    return {FloatTensor("softmax_linear/biases", {3}, biases_),
            FloatTensor("softmax_linear/biases/ExponentialMovingAverage", {3}, averages_),
            FloatTensor("softmax_linear/weights", {2, 3}, weights_), step_.View()};
  }
  std::string Save(int64_t step) {
    const std::string prefix = dir_ + "/model.ckpt-" + std::to_string(step);
    auto writer = BundleWriter::Open(files_, prefix);
    EXPECT_THAT(writer, IsOk());
    for (const TensorView& tensor : Tensors()) EXPECT_THAT((*writer)->Add(tensor), IsOk());
    EXPECT_THAT((*writer)->Finish(), IsOk());
    return prefix;
  }

  PosixFileSystem files_;
  TrainerConfig config_;
  const std::string dir_ = ::testing::TempDir() + "/trained";
  const std::array<float, 6> weights_ = {1, 2, 3, 4, 5, 6};
  const std::array<float, 3> biases_ = {-1, 0, 1};
  const std::array<float, 3> averages_ = {-2, 0, 2};
  const std::array<int64_t, 1> number_ = {12};
  const TensorValue step_ = Int64Tensor("global_step", {}, number_);
};

TEST_F(TrainedModelTest, TheCheckpointSaysHowLargeTheModelIs) {
  const std::string prefix = Save(12);
  const auto trained = LoadTrainedModel(files_, config_, prefix);
  ASSERT_THAT(trained, IsOk());
  EXPECT_EQ(trained->source, prefix);
  EXPECT_EQ(trained->step, 12);
  EXPECT_EQ(trained->shape.features, 2);
  EXPECT_EQ(trained->shape.classes, 3);
  ASSERT_EQ(trained->values.size(), 2u);
  EXPECT_THAT(trained->values[1], ElementsAre(-1, 0, 1));
}

TEST_F(TrainedModelTest, MovingAveragesCountWhereTheConfigurationKeepsThem) {
  config_.moving_average = true;
  const auto trained = LoadTrainedModel(files_, config_, Save(12));
  ASSERT_THAT(trained, IsOk());
  EXPECT_THAT(trained->values[0], ElementsAre(1, 2, 3, 4, 5, 6)) << "it has no average";
  EXPECT_THAT(trained->values[1], ElementsAre(-2, 0, 2));
}

TEST_F(TrainedModelTest, OfADirectoryTheNewestUndamagedCheckpointIsTaken) {
  const std::string older = Save(12), newer = Save(20);
  EXPECT_EQ(LoadTrainedModel(files_, config_, dir_ + "/")->source, newer);
  const std::string data = BundleDataPath(newer);
  std::string bytes = *files_.ReadAll(data);
  bytes[3] ^= 1;
  ASSERT_THAT(files_.WriteAtomically(data, bytes), IsOk());
  EXPECT_EQ(LoadTrainedModel(files_, config_, dir_)->source, older);
  ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
  ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  EXPECT_THAT(LoadTrainedModel(files_, config_, dir_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is none")));
}

TEST_F(TrainedModelTest, SafetensorsHoldATrainedModelToo) {
  const std::string path = dir_ + "/model.safetensors";
  const std::vector<TensorView> tensors = {Tensors()[0], Tensors()[2]};
  ASSERT_THAT(WriteSafetensors(files_, path, tensors,
                               {.metadata = {{"global_step", "77"}}, .bfloat16 = true}),
              IsOk());
  const auto trained = LoadTrainedModel(files_, config_, path);
  ASSERT_THAT(trained, IsOk());
  EXPECT_EQ(trained->step, 77);
  EXPECT_THAT(trained->values[0], ElementsAre(1, 2, 3, 4, 5, 6));
}

// A GPT-2 of one block as others publish it.
class PublishedTest : public TrainedModelTest {
 protected:
  // Each name begins with `prefix`.
  void Write(const std::string& prefix) {
    constexpr int64_t kWidth = 2;
    const std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
        {"wte.weight", {256, kWidth}},
        {"wpe.weight", {4, kWidth}},
        {"h.0.ln_1.weight", {kWidth}},
        {"h.0.ln_1.bias", {kWidth}},
        {"h.0.attn.c_attn.weight", {kWidth, 3 * kWidth}},
        {"h.0.attn.c_attn.bias", {3 * kWidth}},
        {"h.0.attn.c_proj.weight", {kWidth, kWidth}},
        {"h.0.attn.c_proj.bias", {kWidth}},
        {"h.0.ln_2.weight", {kWidth}},
        {"h.0.ln_2.bias", {kWidth}},
        {"h.0.mlp.c_fc.weight", {kWidth, 4 * kWidth}},
        {"h.0.mlp.c_fc.bias", {4 * kWidth}},
        {"h.0.mlp.c_proj.weight", {4 * kWidth, kWidth}},
        {"h.0.mlp.c_proj.bias", {kWidth}},
        {"ln_f.weight", {kWidth}},
        {"ln_f.bias", {kWidth}},
        // Published files have such, too.
        {"h.0.attn.bias", {1, 1, 4, 4}}};
    std::vector<std::vector<float>> values;
    for (const auto& [name, dims] : shapes) {
      values.emplace_back(static_cast<size_t>(Shape(dims).count()), values.size());
    }
    std::vector<TensorView> tensors;
    for (size_t i = 0; i < shapes.size(); ++i) {
      tensors.push_back(FloatTensor(prefix + shapes[i].first, shapes[i].second, values[i]));
    }
    ASSERT_THAT(WriteSafetensors(files_, dir_ + "/model.safetensors", tensors,
                                 {.metadata = {{"format", "pt"}}}),
                IsOk());
  }
};

TEST_F(PublishedTest, ItsNamesAreOurs) {
  config_.model = R"({"name":"gpt2","blocks":1,"heads":1,"width":2})";
  for (const char* prefix : {"", "transformer."}) {
    Write(prefix);
    // Whether the file is named or its directory.
    for (const std::string& path : {dir_, dir_ + "/", dir_ + "/model.safetensors"}) {
      const auto trained = LoadTrainedModel(files_, config_, path);
      ASSERT_THAT(trained, IsOk());
      EXPECT_EQ(trained->source, dir_ + "/model.safetensors");
      EXPECT_EQ(trained->shape.features, 4);
      EXPECT_EQ(trained->shape.vocabulary, 256);
      const std::vector<Value> variables = trained->model.graph.Variables();
      ASSERT_EQ(variables.size(), 16u);
      for (size_t i = 0; i < variables.size(); ++i) {
        EXPECT_EQ(trained->values[i][0], static_cast<float>(i))
            << trained->model.graph.node(variables[i]).name;
      }
    }
  }
  Save(12);
  config_.model = R"({"name":"softmax"})";
  EXPECT_EQ(LoadTrainedModel(files_, config_, dir_)->step, 12) << "checkpoints go first";
}

TEST_F(PublishedTest, TheConfigurationBesideItSaysWhichModelItIs) {
  const std::string config = dir_ + "/config.json", file = dir_ + "/model.safetensors";
  Write("");
  auto model = ModelBeside(files_, file);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(*model, std::nullopt) << "there is none";
  ASSERT_THAT(files_.WriteAtomically(
                  config, R"({"model_type":"gpt2","n_layer":1,"n_head":1,"n_embd":2})"),
              IsOk());
  for (const std::string& path : {dir_, file}) {
    model = ModelBeside(files_, path);
    ASSERT_THAT(model, IsOk());
    EXPECT_EQ(**model, R"({"name":"gpt2","blocks":1,"heads":1,"width":2})");
  }
  ASSERT_THAT(files_.WriteAtomically(config, R"({"model_type":"bert"})"), IsOk());
  EXPECT_THAT(ModelBeside(files_, dir_).status().message(), HasSubstr("read " + config));
  ASSERT_THAT(files_.WriteAtomically(config, std::string((1 << 20) + 1, ' ')), IsOk());
  EXPECT_THAT(ModelBeside(files_, dir_).status().message(), HasSubstr("longer than 1 MiB"));
  const auto none = ModelBeside(files_, dir_ + "/none");
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(*none, std::nullopt);
}

TEST_F(TrainedModelTest, ACheckpointOfAnotherModelIsRefused) {
  config_.model = R"({"name":"mlp","hidden":[5]})";
  EXPECT_THAT(LoadTrainedModel(files_, config_, Save(12)).status().message(),
              HasSubstr("the size of the model's input follows from its data"));
  config_.data = R"({"format":"generated","generated":{"examples":10,"features":2,"classes":3}})";
  EXPECT_THAT(LoadTrainedModel(files_, config_, Save(12)).status().message(),
              HasSubstr("load model mlp: read checkpoint " + dir_ +
                        "/model.ckpt-12: it has no variable hidden1/weights"));
}

TEST_F(TrainedModelTest, ColumnsSayHowManyFeaturesThereAre) {
  config_.data = R"({"format": "csv", "train": {"files": ["/gone"]}, "csv": {"labelColumn": "y",
                     "delimiter": ";"}, "columns": [{"name": "a", "type": "numeric"},
                                 {"name": "b", "type": "numeric"}]})";
  const auto trained = LoadTrainedModel(files_, config_, Save(12));
  ASSERT_THAT(trained, IsOk());
  ASSERT_TRUE(trained->columns);
  EXPECT_EQ(trained->columns->sources().size(), 2u);
  EXPECT_EQ(trained->delimiter, ';');
  EXPECT_EQ(trained->shape.features, 2);
  EXPECT_EQ(trained->shape.classes, 3);
}

}  // namespace
}  // namespace taas
