#include "dashboard/events/reservoir.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void AddRange(int begin, int end, Reservoir<int>* points) {
  for (int i = begin; i < end; ++i) points->Add(i);
}

// What tensorboard.backend.event_processing.reservoir of TensorBoard 2.21 keeps of the same.
TEST(ReservoirTest, ThePointsKeptAreTensorBoards) {
  Reservoir<int> points(10);
  AddRange(0, 1000, &points);
  EXPECT_THAT(points.points(), ElementsAre(225, 304, 352, 505, 668, 789, 818, 924, 929, 999));
  points.Keep([](int point) { return point < 600; });
  EXPECT_THAT(points.points(), ElementsAre(225, 304, 352, 505));
  AddRange(600, 1200, &points);
  EXPECT_THAT(points.points(), ElementsAre(225, 505, 603, 604, 704, 885, 1005, 1066, 1182, 1199));
  points.Keep([](int) { return false; });
  EXPECT_THAT(points.points(), IsEmpty());
  AddRange(5, 50, &points);
  EXPECT_THAT(points.points(), ElementsAre(5, 8, 21, 25, 26, 35, 36, 40, 41, 49));
}

// One of ten points stays: of 25 that were seen 2 are taken to be, of 35 they are 4.
TEST(ReservoirTest, TheEstimateOfThoseSeenIsRoundedToEven) {
  Reservoir<int> even(10), odd(10);
  AddRange(0, 25, &even);
  AddRange(0, 35, &odd);
  for (Reservoir<int>* const points : {&even, &odd}) {
    points->Keep([](int point) { return point < 2; });
    AddRange(2000, 2040, points);
  }
  EXPECT_THAT(even.points(),
              ElementsAre(2006, 2012, 2013, 2016, 2027, 2032, 2034, 2035, 2038, 2039));
  EXPECT_THAT(odd.points(),
              ElementsAre(2001, 2004, 2005, 2007, 2026, 2027, 2028, 2030, 2035, 2039));
}

TEST(ReservoirTest, EveryPointIsKeptOrGivenBack) {
  Reservoir<int> points(3);
  int sum = 0;
  for (int i = 1; i <= 100; ++i) sum += points.Add(i).value_or(0);
  sum = std::accumulate(points.points().begin(), points.points().end(), sum);
  EXPECT_EQ(sum, 5050);
  EXPECT_EQ(points.points().back(), 100);
}

}  // namespace
}  // namespace taas::dashboard
