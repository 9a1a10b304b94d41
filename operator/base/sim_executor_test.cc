#include "operator/base/sim_executor.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

std::vector<int> OrderOf(uint64_t seed) {
  SimExecutor executor({.seed = seed});
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) executor.Post([&order, i] { order.push_back(i); });
  executor.RunUntil(executor.clock().Now());
  return order;
}

TEST(SimExecutorTest, OneSeedRepeatsAndManySeedsSeeManyOrders) {
  EXPECT_EQ(OrderOf(7), OrderOf(7));
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 200; ++seed) orders.insert(OrderOf(seed));
  EXPECT_EQ(orders.size(), 24u);
}

TEST(SimExecutorTest, TimeJumpsToTheNextTimer) {
  SimExecutor executor({});
  const Clock::Time start = executor.clock().Now();
  Clock::Time ran;
  executor.PostAfter(hours(10), [&] { ran = executor.clock().Now(); });
  ASSERT_TRUE(executor.RunOne());
  EXPECT_EQ(ran - start, hours(10));
  EXPECT_FALSE(executor.RunOne());
}

TEST(SimExecutorTest, RunUntilLeavesLaterTimersWaiting) {
  SimExecutor executor({});
  int runs = 0;
  executor.PostAfter(seconds(1), [&] { ++runs; });
  const auto late = executor.PostAfter(seconds(3), [&] { ++runs; });
  executor.RunUntil(executor.clock().Now() + seconds(2));
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(executor.Cancel(late));
  EXPECT_EQ(executor.waiting(), 0u);
}

}  // namespace
}  // namespace taas
