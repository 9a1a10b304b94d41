#include "trainer/ring/bucket_plan.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr BucketLimits kLimits{.elements_min = 100, .beside_min = 0.1};

// Elements of each, and what of a step's work is done when it is there.
std::vector<OrderedGradient> OrderOf(const std::vector<std::pair<size_t, double>>& sizes) {
  std::vector<OrderedGradient> order;
  for (const auto& [elements, done] : sizes) {
    order.push_back({.variable = order.size(),
                     .end = (order.empty() ? 0 : order.back().end) + elements,
                     .done = done});
  }
  return order;
}

TEST(BucketPlanTest, GradientsGoTogetherInTheirOrderUntilTheyAreEnough) {
  EXPECT_THAT(PlanBuckets(OrderOf({{60, 0.4}, {40, 0.5}, {250, 0.6}, {99, 0.8}, {20, 1}}), kLimits),
              ElementsAre(Bucket{2, 100}, Bucket{3, 350}, Bucket{5, 469}));
}

TEST(BucketPlanTest, ASmallModelHasOneBucket) {
  EXPECT_THAT(PlanBuckets(OrderOf({{50, 0.5}, {40, 0.9}, {1'000, 1}}), kLimits),
              ElementsAre(Bucket{3, 1'090}));
  EXPECT_THAT(PlanBuckets(OrderOf({}), kLimits), ElementsAre(Bucket{0, 0}));
}

TEST(BucketPlanTest, WhereNoWorkIsLeftBesideItABucketDoesNotEnd) {
  EXPECT_THAT(PlanBuckets(OrderOf({{500, 0.95}, {10, 0.97}, {300, 1}}), kLimits),
              ElementsAre(Bucket{3, 810}));
}

TEST(BucketPlanTest, WhatOneStepFinishesIsInOneBucket) {
  EXPECT_THAT(PlanBuckets(OrderOf({{500, 0.5}, {10, 0.5}, {300, 1}}), kLimits),
              ElementsAre(Bucket{2, 510}, Bucket{3, 810}));
}

TEST(BucketPlanTest, TermsNameSizesAndGradientsAndTellAnotherOrderApart) {
  const std::vector<VariableInfo> variables = {{.name = "w1", .shape = Shape({10, 20})},
                                               {.name = "b1", .shape = Shape({20})}};
  std::vector<OrderedGradient> order = OrderOf({{20, 0.5}, {200, 1}});
  order[0].variable = 1;
  order[1].variable = 0;
  const std::vector<Bucket> buckets{{1, 20}, {2, 220}};
  const std::string terms = BucketTerms(buckets, order, variables);
  EXPECT_THAT(terms, HasSubstr("buckets of 20, 200 elements for the gradients of b1, w1 ("));
  EXPECT_EQ(BucketTerms(buckets, order, variables), terms);
  EXPECT_NE(BucketTerms({{2, 220}}, order, variables), terms);
  std::swap(order[0].variable, order[1].variable);
  EXPECT_NE(BucketTerms(buckets, order, variables), terms);
  // What lies behind the last bucket are tables.
  EXPECT_THAT(BucketTerms({{1, 20}}, order, variables),
              HasSubstr("buckets of 20 elements for the gradients of w1, and rows of b1 ("));
  // What is not listed counts as well.
  std::vector<VariableInfo> many;
  std::vector<std::pair<size_t, double>> sizes;
  for (int i = 0; i < 30; ++i) {
    many.push_back({.name = "v" + std::to_string(i), .shape = Shape({4})});
    sizes.emplace_back(4, i / 29.0);
  }
  const auto long_order = OrderOf(sizes);
  const auto one = PlanBuckets(long_order, kLimits);
  const std::string before = BucketTerms(one, long_order, many);
  many.back().name = "another";
  EXPECT_NE(BucketTerms(one, long_order, many), before);
  EXPECT_LT(before.size(), 300U);
}

}  // namespace
}  // namespace taas
