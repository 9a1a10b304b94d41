#include "trainer/summary/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

// The bucket by definition: the first edge above the value.
double UpperEdge(double value) {
  const std::vector<double>& edges = Histogram::Edges();
  return *std::upper_bound(edges.begin(), edges.end(), value);
}

TEST(HistogramTest, EdgesAreThoseOfTensorFlow) {
  const std::vector<double>& edges = Histogram::Edges();
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
  EXPECT_EQ(edges.front(), -std::numeric_limits<double>::max());
  EXPECT_EQ(edges.back(), std::numeric_limits<double>::max());
  const size_t zero = edges.size() / 2;
  EXPECT_EQ(edges[zero], 0);
  EXPECT_EQ(edges[zero + 1], 1e-12);
  EXPECT_DOUBLE_EQ(edges[zero + 2], 1.1e-12);
  EXPECT_EQ(edges[zero - 1], -1e-12);
  EXPECT_LT(edges[edges.size() - 2], 1e20);
}

TEST(HistogramTest, EveryFloatFallsIntoTheBucketOfItsValue) {
  std::mt19937 random(7);
  std::vector<float> values = {0.0f, -0.0f, 1e-12f, -1e-12f, 1.0f, -1.0f,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::lowest(),
                               std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::denorm_min()};
  for (const double edge : Histogram::Edges()) {
    // On each edge that a float has, and beside it.
    const float near = static_cast<float>(edge);
    if (!std::isfinite(near)) continue;
    values.push_back(near);
    values.push_back(std::nextafter(near, 0.0f));
  }
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (std::isfinite(value)) values.push_back(value);
  }
  for (const float value : values) {
    Histogram histogram;
    histogram.Add(std::vector<float>{value});
    const summary::HistogramProto proto = histogram.ToProto();
    ASSERT_EQ(proto.bucket_limit_size(), 1);
    ASSERT_EQ(proto.bucket_limit(0), UpperEdge(value)) << value;
    ASSERT_EQ(proto.bucket(0), 1);
  }
}

TEST(HistogramTest, MomentsAreThoseOfTheValues) {
  Histogram histogram;
  histogram.Add(std::vector<float>{1, -2, 4});
  histogram.Add(std::vector<float>{0.5f});
  const summary::HistogramProto proto = histogram.ToProto();
  EXPECT_EQ(proto.min(), -2);
  EXPECT_EQ(proto.max(), 4);
  EXPECT_EQ(proto.num(), 4);
  EXPECT_EQ(proto.sum(), 3.5);
  EXPECT_EQ(proto.sum_squares(), 21.25);
  EXPECT_EQ(std::accumulate(proto.bucket().begin(), proto.bucket().end(), 0.0), 4);
}

TEST(HistogramTest, OnlyWhatLiesBetweenFilledBucketsIsWrittenAndGapsAreOne) {
  Histogram histogram;
  histogram.Add(std::vector<float>{1, 100});
  const summary::HistogramProto proto = histogram.ToProto();
  // The bucket of 1, the gap, the bucket of 100.
  ASSERT_EQ(proto.bucket_size(), 3);
  EXPECT_EQ(proto.bucket(0), 1);
  EXPECT_EQ(proto.bucket(1), 0);
  EXPECT_EQ(proto.bucket(2), 1);
  EXPECT_EQ(proto.bucket_limit(0), UpperEdge(1));
  EXPECT_LE(proto.bucket_limit(1), 100);
  EXPECT_EQ(proto.bucket_limit(2), UpperEdge(100));
}

TEST(HistogramTest, WhatIsNoNumberIsNotCounted) {
  Histogram histogram;
  histogram.Add(std::vector<float>{std::numeric_limits<float>::quiet_NaN(),
                                   std::numeric_limits<float>::infinity()});
  EXPECT_EQ(histogram.ToProto().num(), 0);
  EXPECT_EQ(histogram.ToProto().bucket_size(), 0);
}

}  // namespace
}  // namespace taas
