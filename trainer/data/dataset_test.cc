#include "trainer/data/dataset.h"

#include <array>
#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

TEST(DatasetTest, PixelsBecomeFloatsBetweenZeroAndOne) {
  auto set = Dataset::FromPixels("train", {0, 255, 51, 0, 102, 255}, 2, {3, 1, 0}, 4);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->examples(), 3);
  std::array<float, 4> features{};
  std::array<int32_t, 2> labels{};
  const std::array<int64_t, 2> indices{2, 0};
  GatherRows(*set, indices, {.features = features, .labels = labels});
  EXPECT_THAT(features, ElementsAre(FloatEq(0.4f), FloatEq(1), 0.0f, FloatEq(1)));
  EXPECT_THAT(labels, ElementsAre(0, 3));
}

TEST(DatasetTest, FloatsAreGatheredAsTheyAre) {
  auto set = Dataset::FromFloats("train", {1.5f, -2.0f, 300.0f}, 1, {0, 1, 1}, 2);
  ASSERT_THAT(set, IsOk());
  std::array<float, 3> features{};
  const std::array<int64_t, 3> indices{2, 1, 1};
  set->GatherFeatures(indices, features.data());
  EXPECT_THAT(features, ElementsAre(300.0f, -2.0f, -2.0f));
}

TEST(DatasetTest, RegressionHasTargetsOfTheirWidth) {
  auto set = Dataset::ForRegression("train", {1, 2}, 1, {10, 11, 20, 21}, 2);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->classes(), 0);
  EXPECT_EQ(set->target_width(), 2);
  std::array<float, 2> targets{};
  const std::array<int64_t, 1> indices{1};
  set->GatherTargets(indices, targets.data());
  EXPECT_THAT(targets, ElementsAre(20, 21));
}

TEST(DatasetTest, IdsAreGatheredBesideFloatsAndAlone) {
  const std::vector<int64_t> large = {7, 16'777'216, 16'777'217, int64_t{1} << 40};
  const auto both = Dataset::FromFloats("train", {0.5f, 1.5f}, 1, {0, 1}, 2, {large, 2});
  const auto alone = Dataset::ForRegression("train", {}, 0, {3, 4}, 1, {large, 2});
  ASSERT_THAT(both, IsOk());
  ASSERT_THAT(alone, IsOk());
  EXPECT_EQ(both->features(), 3);
  EXPECT_EQ(alone->features(), 2);
  for (const Dataset* set : {&*both, &*alone}) {
    std::array<int64_t, 4> ids{};
    set->GatherIds(std::array<int64_t, 2>{1, 0}, ids.data());
    EXPECT_THAT(ids, ElementsAre(16'777'217, int64_t{1} << 40, 7, 16'777'216));
  }
  std::array<float, 2> features{};
  both->GatherFeatures(std::array<int64_t, 2>{1, 0}, features.data());
  EXPECT_THAT(features, ElementsAre(1.5f, 0.5f));
  EXPECT_THAT(Dataset::FromFloats("train", {1, 2}, 1, {0, 1}, 2, {{1, 2, 3}, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("train: 3 values are not 2 examples of 2 features")));
}

TEST(DatasetTest, WholeNumbersAndBytesBecomeIds) {
  auto floats = Dataset::FromFloats("train", {3, 4, -1, 16'777'215}, 2, {0, 1}, 2);
  auto bytes = Dataset::FromPixels("train", {3, 4, 255, 0}, 2, {0, 1}, 2);
  std::array<int64_t, 2> ids{};
  ASSERT_THAT(floats->TakeAsIds(), IsOk());
  floats->GatherIds(std::array<int64_t, 1>{1}, ids.data());
  EXPECT_THAT(ids, ElementsAre(-1, 16'777'215));
  ASSERT_THAT(bytes->TakeAsIds(), IsOk());
  bytes->GatherIds(std::array<int64_t, 1>{1}, ids.data());
  EXPECT_THAT(ids, ElementsAre(255, 0));
  // Of the second it is not known which whole number it was: 2^24 + 1 is the same float.
  for (const float bad : {1.5f, 16'777'216.0f, NAN}) {
    auto set = Dataset::FromFloats("train", {3, 4, -1, bad}, 2, {0, 1}, 2);
    EXPECT_THAT(set->TakeAsIds(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("train: example 1, value 1: want a whole number")));
  }
}

TEST(DatasetTest, SizesThatDisagreeAreRefusedByName) {
  EXPECT_THAT(Dataset::FromPixels("train", {1, 2, 3}, 2, {0}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("train: 3 values are not 1 examples of 2 features")));
  EXPECT_THAT(Dataset::FromPixels("train", {}, 2, {}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no examples")));
  EXPECT_THAT(Dataset::FromFloats("train", {1}, 0, {0}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one feature")));
  EXPECT_THAT(Dataset::ForRegression("train", {1}, 1, {1, 2, 3}, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 targets")));
}

TEST(DatasetTest, LabelOutOfRangeNamesItsExample) {
  EXPECT_THAT(Dataset::FromPixels("test", {1, 2, 3}, 1, {0, 9, 10}, 10),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("test: label 10 of example 2 is out of range, want 0 to 9")));
  EXPECT_THAT(Dataset::FromPixels("test", {1}, 1, {-1}, 10),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("label -1 of example 0")));
}

TEST(DatasetTest, PixelsAreScaledAndMovedAsSet) {
  auto set = Dataset::FromPixels("train", {0, 255, 51, 2}, 2, {0, 1}, 2);
  ASSERT_THAT(set, IsOk());
  set->set_pixel_scale({.scale = 2, .offset = -1});
  std::array<float, 2> features{};
  const std::array<int64_t, 1> second{1};
  set->GatherFeatures(second, features.data());
  EXPECT_THAT(features, ::testing::ElementsAre(101, 3));
}

TEST(DatasetTest, PixelsAreGatheredAsTheyAre) {
  auto set = Dataset::FromPixels("train", {0, 255, 51, 2}, 2, {0, 1}, 2);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->pixels(), 2);
  std::array<uint8_t, 4> pixels{};
  GatherRows(*set, std::array<int64_t, 2>{1, 0}, {.pixels = pixels});
  EXPECT_THAT(pixels, ElementsAre(51, 2, 0, 255));
  EXPECT_EQ(Dataset::FromFloats("train", {1, 2}, 1, {0, 1}, 2)->pixels(), 0);
  ASSERT_THAT(set->TakeAsIds(), IsOk());
  EXPECT_EQ(set->pixels(), 0);
}

TEST(DatasetTest, ImageShapeIsKeptAndNoneToBeginWith) {
  auto set = Dataset::FromPixels("train", {0, 255, 51, 2}, 2, {0, 1}, 2);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->image(), ImageShape());
  set->set_image({.height = 1, .width = 2, .channels = 1});
  EXPECT_EQ(set->image().width, 2);
  EXPECT_DEATH(set->set_image({.height = 2, .width = 2, .channels = 1}), "4 values of 2 features");
}

}  // namespace
}  // namespace taas
