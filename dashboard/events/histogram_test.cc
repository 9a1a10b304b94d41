#include "dashboard/events/histogram.h"

#include <cfloat>
#include <cmath>
#include <string>

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Eq;
using ::testing::IsEmpty;

Histogram OfLimits(const FakeHisto& histo) { return ParseHisto(HistoMessage(histo)).value(); }
Histogram OfRows(const std::vector<double>& rows) {
  return ParseHistogramTensor(RowsTensor(rows)).value();
}

std::vector<std::vector<double>> Buckets(const Histogram& histogram) {
  std::vector<std::vector<double>> out;
  for (const Bucket& bucket : BucketsOf(histogram)) {
    out.push_back({bucket.left, bucket.right, bucket.count});
  }
  return out;
}

TEST(HistogramTest, TensorBoardsBucketsEndAtTheLeastAndTheLargestValue) {
  const Histogram histogram = OfLimits({.min = -0.5,
                                        .max = 2.5,
                                        .limits = {-1, 0, 1, 2, 3, DBL_MAX},
                                        .counts = {0, 4, 0, 1, 2, 0}});
  EXPECT_THAT(Buckets(histogram),
              ElementsAre(ElementsAre(-0.5, 0, 4), ElementsAre(0, 1, 0), ElementsAre(1, 2, 1),
                          ElementsAre(2, 2.5, 2)));
}

TEST(HistogramTest, TensorBoardsBucketsOfLimitsAreFloats) {
  const Histogram histogram =
      OfLimits({.min = 0.1, .max = 1e300, .limits = {1}, .counts = {16777217}});
  EXPECT_THAT(Buckets(histogram),
              ElementsAre(ElementsAre(static_cast<double>(0.1f), HUGE_VAL, 16777216)));
}

TEST(HistogramTest, RowsAreBucketsAsTheyAre) {
  EXPECT_THAT(Buckets(OfRows({0.1, 1, 0, 1, 2, 3})),
              ElementsAre(ElementsAre(0.1, 1, 0), ElementsAre(1, 2, 3)));
  EXPECT_THAT(Buckets(OfRows({})), IsEmpty());
}

TEST(HistogramTest, TrueBinsKeepTheEdgesOfTheFile) {
  const Bins bins = BinsOf(OfLimits({.min = -0.5,
                                     .max = 2.5,
                                     .limits = {-1, 0, 1, 2, 3, DBL_MAX},
                                     .counts = {0, 4, 0, 1, 2, 0}}));
  EXPECT_THAT(bins.edges, ElementsAre(-1, 0, 1, 2, 3));
  EXPECT_THAT(bins.counts, ElementsAre(4, 0, 1, 2));
  EXPECT_EQ(bins.min, -0.5);
  EXPECT_EQ(bins.max, 2.5);
}

TEST(HistogramTest, WhereTheFileHasNoTrueEdgeTheExtremesStandForIt) {
  const Bins outermost = BinsOf(OfLimits(
      {.min = -9, .max = 8, .limits = {-DBL_MAX, 0, DBL_MAX}, .counts = {0, 1, 2}}));
  EXPECT_THAT(outermost.edges, ElementsAre(-9, 0, 8));
  const Bins first = BinsOf(OfLimits({.min = -9, .max = 8, .limits = {0, 10}, .counts = {1, 2}}));
  EXPECT_THAT(first.edges, ElementsAre(-9, 0, 10));
}

TEST(HistogramTest, RowsThatDoNotTouchHaveAnEmptyBinBetweenThem) {
  const Bins bins = BinsOf(OfRows({-3, -2, 1, 0, 1, 2, 0.5, 2, 1}));
  EXPECT_THAT(bins.edges, ElementsAre(-3, -2, 0, 1, 2));
  EXPECT_THAT(bins.counts, ElementsAre(1, 0, 2, 1));
}

// TensorFlow 2 writes 30 rows of no width if all values are equal, and counts in the last.
TEST(HistogramTest, EqualValuesAreOneBin) {
  std::vector<double> rows;
  for (int i = 0; i < 30; ++i) rows.insert(rows.end(), {-2.5, -2.5, i == 29 ? 40.0 : 0.0});
  const Bins bins = BinsOf(OfRows(rows));
  EXPECT_THAT(bins.edges, ElementsAre(-2.5, -2.5));
  EXPECT_THAT(bins.counts, ElementsAre(40));
  EXPECT_EQ(FilledBinsOf(OfRows(rows)), 1u);
}

TEST(HistogramTest, WhereNothingWasCountedThereIsNoBin) {
  for (const Histogram& histogram :
       {OfLimits({}), OfLimits({.limits = {1, 2}, .counts = {0, 0}}), OfRows({}),
        OfRows({0, 1, 0, 1, 2, 0})}) {
    EXPECT_THAT(BinsOf(histogram).edges, IsEmpty());
    EXPECT_THAT(BinsOf(histogram).counts, IsEmpty());
    EXPECT_EQ(FilledBinsOf(histogram), 0u);
  }
  EXPECT_THAT(Buckets(OfLimits({.limits = {1, 2}, .counts = {0, 0}})), IsEmpty());
}

std::vector<double> Distribution(const std::vector<double>& rows) {
  const auto values = ValuesAtBasisPoints(BucketsOf(OfRows(rows)));
  return {values.begin(), values.end()};
}

// What compress_histogram of TensorBoard 2.21 gives.
TEST(HistogramTest, ValuesAtBasisPointsAreTensorBoards) {
  EXPECT_THAT(Distribution({0, 1, 2, 1, 2, 6, 2, 4, 2}),
              ElementsAreArray({0.0, 0.334, 0.7935, 1.1808333333333334, 1.5, 1.8191666666666668,
                                2.413, 3.332, 4.0}));
  EXPECT_THAT(Distribution({-3, -1, 0, -1, 0, 4, 0, 0, 0, 0, 5, 1}),
              ElementsAreArray({-3.0, -2.7495, -2.404875, -1.843125, -1.125, -0.4068749999999999,
                                1.0325, 3.33, 5.0}));
  EXPECT_THAT(Distribution({7, 7, 9}), Each(DoubleEq(7)));
  EXPECT_THAT(Distribution({1, 2, 0, 2, 3, 0}), Each(DoubleEq(3)));
  EXPECT_THAT(Distribution({}), Each(DoubleEq(0)));
}

TEST(HistogramTest, CountsThatAreNoCountsGiveSomeAnswer) {
  const double nan = std::nan("");
  EXPECT_EQ(Distribution({0, 1, nan, 1, nan, 2}).size(), kBasisPoints.size());
  EXPECT_EQ(Distribution({0, 1, -5, 1, 2, 4, 2, 3, -1}).size(), kBasisPoints.size());
  EXPECT_EQ(Distribution({nan, nan, HUGE_VAL}).size(), kBasisPoints.size());
  const Bins bins = BinsOf(OfRows({0, nan, 2, nan, 1, 1}));
  EXPECT_EQ(bins.edges.size(), bins.counts.size() + 1);
}

TEST(HistogramTest, WhatIsNoHistogramIsRefused) {
  EXPECT_THAT(ParseHisto("\xff").has_value(), Eq(false));
  EXPECT_FALSE(ParseHisto(HistoMessage({.limits = {1, 2}, .counts = {1}})).has_value());
  EXPECT_FALSE(ParseHisto(FakeMessage().Bytes(6, "1234567").str()).has_value());
  EXPECT_FALSE(ParseHistogramTensor(FloatTensor(1)).has_value());
  const std::vector<double> many(kBinsMax + 1, 1);
  EXPECT_FALSE(ParseHisto(HistoMessage({.limits = many, .counts = many})).has_value());
  EXPECT_FALSE(
      ParseHistogramTensor(RowsTensor(std::vector<double>(3 * (kBinsMax + 1)))).has_value());
}

// Of Protocol Buffers of the second version.
TEST(HistogramTest, NumbersMayStandOneByOne) {
  const std::string message =
      FakeMessage().Double(6, 1).Double(6, 2).Double(7, 3).Double(7, 4).Double(2, 5).str();
  EXPECT_THAT(ParseHisto(message)->numbers, ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace taas::dashboard
