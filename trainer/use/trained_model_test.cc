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
  config_.data = R"({"format": "csv", "train": {"files": ["/gone"]}, "csv": {"labelColumn": "y"},
                     "columns": [{"name": "a", "type": "numeric"},
                                 {"name": "b", "type": "numeric"}]})";
  const auto trained = LoadTrainedModel(files_, config_, Save(12));
  ASSERT_THAT(trained, IsOk());
  ASSERT_TRUE(trained->columns);
  EXPECT_EQ(trained->columns->sources().size(), 2u);
  EXPECT_EQ(trained->shape.features, 2);
  EXPECT_EQ(trained->shape.classes, 3);
}

}  // namespace
}  // namespace taas
