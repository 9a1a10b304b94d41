#include "operator/base/task_queue.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr Clock::Time kStart{1h};

class TaskQueueTest : public testing::Test {
 protected:
  TaskQueue::Added Add(Clock::Duration delay, int number) {
    return queue_.Add(kStart, delay, [this, number] { ran_.push_back(number); });
  }
  void RunDue(Clock::Time now) {
    while (std::optional<TaskQueue::Task> task = queue_.TakeDue(now)) (*task)();
  }

  TaskQueue queue_;
  std::vector<int> ran_;
};

TEST_F(TaskQueueTest, TasksWithoutADelayKeepTheirOrderAndGoBeforeTimersOfLater) {
  Add(1ms, 3);
  Add(0ms, 1);
  Add(-5s, 2);
  RunDue(kStart + 1ms);
  EXPECT_THAT(ran_, ElementsAre(1, 2, 3));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(TaskQueueTest, ATimerHasItsTurnHoweverManyTasksFollow) {
  Add(1ms, 1);
  queue_.Add(kStart + 2ms, 0ms, [this] { ran_.push_back(2); });
  RunDue(kStart + 2ms);
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(TaskQueueTest, WhatIsNotDueStays) {
  Add(2s, 2);
  Add(1s, 1);
  RunDue(kStart + 1s - 1ms);
  EXPECT_THAT(ran_, ElementsAre());
  EXPECT_EQ(queue_.next_due(), kStart + 1s);
  RunDue(kStart + 1s);
  EXPECT_THAT(ran_, ElementsAre(1));
  EXPECT_EQ(queue_.next_due(), kStart + 2s);
}

TEST_F(TaskQueueTest, TheFirstIsToldOfItself) {
  EXPECT_TRUE(Add(2s, 0).first);
  EXPECT_FALSE(Add(3s, 0).first);
  EXPECT_TRUE(Add(1s, 0).first);
  EXPECT_TRUE(Add(0s, 0).first);
  EXPECT_FALSE(Add(0s, 0).first);
}

TEST_F(TaskQueueTest, ARemovedTaskComesBackOnceAndDoesNotRun) {
  const auto id = Add(0s, 1).id;
  Add(0s, 2);
  EXPECT_TRUE(queue_.Remove(id).has_value());
  EXPECT_FALSE(queue_.Remove(id).has_value());
  RunDue(kStart);
  EXPECT_THAT(ran_, ElementsAre(2));
  EXPECT_FALSE(queue_.Remove(id + 1).has_value()) << "it has been taken";
}

}  // namespace
}  // namespace taas
