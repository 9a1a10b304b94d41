#include "trainer/data/large_features.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/dataset.h"

namespace taas {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Dataset Table(const std::vector<float>& values, int64_t floats) {
  const std::vector<int32_t> labels(values.size() / static_cast<size_t>(floats), 0);
  auto set = Dataset::FromFloats("table", values, floats, labels, 2);
  EXPECT_THAT(set, IsOk());
  return *std::move(set);
}

// Symptom: with a column of incomes in dollars a training ended at the accuracy of chance, in state
// Succeeded, without a word.
TEST(LargeFeaturesTest, AColumnOfDollarsIsNamedWithWhatNormalisesIt) {
  Dataset set = Table({1, 20'000, 0, 60'000}, 2);
  set.set_columns({{.name = "age"}, {.name = "income"}});
  EXPECT_EQ(AdviceOnLargeFeatures(set),
            "column income has values up to 60000: normalise: {scale: 5e-05, offset: -2}");
}

TEST(LargeFeaturesTest, WithoutNamesFeaturesAreCounted) {
  EXPECT_THAT(AdviceOnLargeFeatures(Table({-500, 1, -500, 2}, 2)),
              AllOf(HasSubstr("feature 0 has values up to 500"), Not(HasSubstr("feature 1"))));
}

TEST(LargeFeaturesTest, OfManyThreeAreNamed) {
  EXPECT_THAT(AdviceOnLargeFeatures(Table(std::vector<float>(10, 1e6f), 5)),
              AllOf(HasSubstr("feature 2 has"), Not(HasSubstr("feature 3")),
                    HasSubstr("; and 2 more")));
}

TEST(LargeFeaturesTest, UsualNumbersAndPixelsAreNotLarge) {
  EXPECT_THAT(AdviceOnLargeFeatures(Table({0.5f, 99, -3, 0}, 2)), IsEmpty());
  const auto pixels = Dataset::FromPixels("images", {0, 255, 7, 200}, 2, {0, 1}, 2);
  ASSERT_THAT(pixels, IsOk());
  EXPECT_THAT(AdviceOnLargeFeatures(*pixels), IsEmpty());
}

}  // namespace
}  // namespace taas
