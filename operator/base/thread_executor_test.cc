#include "operator/base/thread_executor.h"

#include <future>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(ThreadExecutorTest, TasksRunInTheOrderOfPosting) {
  const RealClock clock;
  ThreadExecutor executor(clock, "test");
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) executor.Post([&order, i] { order.push_back(i); });
  executor.Post([&done] { done.set_value(); });
  done.get_future().wait();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(ThreadExecutorTest, AnEarlierTimerOvertakesALaterOne) {
  const RealClock clock;
  ThreadExecutor executor(clock, "test");
  std::vector<int> order;
  std::promise<void> done;
  executor.Post([&] {
    executor.PostAfter(milliseconds(20), [&] {
      order.push_back(2);
      done.set_value();
    });
    executor.PostAfter(milliseconds(1), [&] { order.push_back(1); });
  });
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(ThreadExecutorTest, ATaskWakesAThreadThatSleepsUntilATimer) {
  const RealClock clock;
  ThreadExecutor executor(clock, "test");
  std::promise<void> asleep, done;
  executor.Post([&] {
    executor.PostAfter(hours(1), [] {});
    asleep.set_value();
  });
  asleep.get_future().wait();
  // A later timer leaves it asleep; an earlier one must not.
  executor.PostAfter(hours(2), [] {});
  executor.PostAfter(milliseconds(1), [&done] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(ThreadExecutorTest, ACancelledTaskNeverRuns) {
  const RealClock clock;
  bool ran = false;
  {
    ThreadExecutor executor(clock, "test");
    const auto id = executor.PostAfter(hours(1), [&ran] { ran = true; });
    EXPECT_TRUE(executor.Cancel(id));
    EXPECT_FALSE(executor.Cancel(id));
  }
  EXPECT_FALSE(ran);
}

TEST(ThreadExecutorTest, TheDestructorDropsWhatWaits) {
  const RealClock clock;
  bool ran = false;
  { ThreadExecutor(clock, "test").PostAfter(hours(1), [&ran] { ran = true; }); }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace taas
