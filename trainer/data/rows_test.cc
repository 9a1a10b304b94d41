#include "trainer/data/rows.h"

#include <array>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

std::vector<float> Row(const Dataset& set, int64_t index) {
  std::vector<float> out(static_cast<size_t>(set.features()));
  set.GatherFeatures(std::array{index}, out.data());
  return out;
}

TEST(RowsTest, ClassesAreCountedOrGiven) {
  for (const ClassCount classes : {ClassCount(), ClassCount(5)}) {
    Rows rows;
    for (const double label : {0, 2, 1}) ASSERT_THAT(rows.AddLabel(label, classes), IsOk());
    rows.values = {1, 2, 3, 4, 5, 6};
    const auto set = std::move(rows).Make("set", {2}, classes);
    ASSERT_THAT(set, IsOk());
    EXPECT_EQ(set->classes(), classes.value_or(3));
    EXPECT_THAT(set->labels(), ElementsAre(0, 2, 1));
    EXPECT_THAT(Row(*set, 1), ElementsAre(3, 4));
  }
}

TEST(RowsTest, NoClassesAreARegression) {
  Rows rows;
  for (const double label : {0.5, -2.0}) ASSERT_THAT(rows.AddLabel(label, 0), IsOk());
  rows.pixels = {1, 2, 3, 4};
  const auto set = std::move(rows).Make("set", {2}, 0, {.scale = 2, .offset = 1});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->target_width(), 1);
  EXPECT_THAT(Row(*set, 1), ElementsAre(7, 9));
}

TEST(RowsTest, PixelsKeepTheirScale) {
  Rows rows;
  ASSERT_THAT(rows.AddLabel(0, {}), IsOk());
  rows.pixels = {3, 4};
  const auto set = std::move(rows).Make("set", {2}, {}, {.scale = 2, .offset = 1});
  ASSERT_THAT(set, IsOk());
  EXPECT_THAT(Row(*set, 0), ElementsAre(7, 9));
}

TEST(RowsTest, IdsLieBesideNumbersOrAlone) {
  for (const ClassCount classes : {ClassCount(0), ClassCount(2)}) {
    for (const bool alone : {false, true}) {
      Rows rows;
      for (const double label : {1, 0}) ASSERT_THAT(rows.AddLabel(label, classes), IsOk());
      if (!alone) rows.values = {0.5f, 1.5f};
      rows.ids = {1, 2, 3, int64_t{1} << 40};
      const auto set = std::move(rows).Make("set", {alone ? 0 : 1, 2}, classes);
      ASSERT_THAT(set, IsOk());
      EXPECT_EQ(set->features(), alone ? 2 : 3);
      EXPECT_EQ(set->ids(), 2);
      EXPECT_EQ(set->target_width(), classes == 0 ? 1 : 0);
      std::array<int64_t, 2> ids{};
      set->GatherIds(std::array<int64_t, 1>{1}, ids.data());
      EXPECT_THAT(ids, ElementsAre(3, int64_t{1} << 40));
    }
  }
}

TEST(RowsTest, LabelsThatAreNoneAreRefused) {
  Rows rows;
  EXPECT_THAT(rows.AddLabel(1.5, {}),
              StatusIs(Code::kInvalidArgument, HasSubstr("label 1.5 is out of range")));
  EXPECT_THAT(rows.AddLabel(3, 3), StatusIs(Code::kInvalidArgument, HasSubstr("from 0 to 2")));
  for (const double label : {-1.0, 3e9, static_cast<double>(NAN)}) {
    EXPECT_THAT(rows.AddLabel(label, {}), StatusIs(Code::kInvalidArgument));
  }
  ASSERT_THAT(rows.AddLabel(200, {}), IsOk());
  EXPECT_THAT(std::move(rows).Make("set", {2}, {}),
              StatusIs(Code::kInvalidArgument, HasSubstr("set: label 200 of example 0")));
}

// At every place of a block and behind the last whole one.
TEST(RowsTest, TheFirstNumberThatIsNotFiniteIsFound) {
  const struct {
    float number;
    const char* name;
  } cases[] = {{NAN, "NaN"}, {-NAN, "NaN"}, {INFINITY, "infinite"}, {-INFINITY, "infinite"}};
  for (const size_t size : {0, 1, 63, 64, 65, 200}) {
    std::vector<float> numbers(size, FLT_MAX);
    EXPECT_THAT(CheckFinite(numbers), IsOk());
    for (size_t at = size; at-- > 0;) {
      const auto& [number, name] = cases[at % std::size(cases)];
      numbers[at] = number;
      const std::string want = std::string("want a finite number, it is ") + name;
      EXPECT_THAT(CheckFinite(numbers), StatusIs(Code::kInvalidArgument,
                                                 "value " + std::to_string(at) + ": " + want));
      EXPECT_THAT(CheckFiniteRows(numbers, 7),
                  StatusIs(Code::kInvalidArgument, "example " + std::to_string(at / 7) +
                                                       ", value " + std::to_string(at % 7) +
                                                       ": " + want));
    }
  }
  for (const float number : {0.0f, -FLT_MAX, FLT_MIN, std::nextafter(0.0f, 1.0f)}) {
    EXPECT_THAT(CheckFinite(number), IsOk());
    EXPECT_THAT(CheckFinite(std::vector<float>(65, number)), IsOk());
  }
}

TEST(RowsTest, ATargetIsFiniteIn32Bits) {
  Rows rows;
  ASSERT_THAT(rows.AddLabel(3e38, 0), IsOk());
  EXPECT_THAT(rows.AddLabel(NAN, 0),
              StatusIs(Code::kInvalidArgument, "want a finite number, it is NaN"));
  EXPECT_THAT(rows.AddLabel(-4e38, 0),
              StatusIs(Code::kInvalidArgument, "want a finite number, it is infinite"));
  EXPECT_THAT(rows.targets, ElementsAre(3e38f));
}

TEST(RowsTest, NoExamplesAreNoSet) {
  EXPECT_THAT(Rows().Make("read a", {2}, {}),
              StatusIs(Code::kInvalidArgument, HasSubstr("read a: it has no examples")));
}

}  // namespace
}  // namespace taas
