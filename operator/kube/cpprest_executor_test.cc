#include "operator/kube/cpprest_executor.h"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "gtest/gtest.h"
#include "operator/kube/cpprest_io.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

// Longer than any of these tests takes when it passes.
constexpr auto kPatience = 20s;

class CpprestExecutorTest : public testing::Test {
 protected:
  // False if it takes too long.
  static bool Await(std::promise<void>& done) {
    return done.get_future().wait_for(kPatience) == std::future_status::ready;
  }
  // Returns once all that was posted before has run.
  void Settle() {
    std::promise<void> done;
    executor_.Post([&done] { done.set_value(); });
    ASSERT_TRUE(Await(done));
  }

  const RealClock clock_;
  CpprestExecutor executor_{clock_};
};

TEST_F(CpprestExecutorTest, TasksRunInTheOrderOfPostingOnTheThreadOfTheIo) {
  std::promise<std::thread::id> io;
  boost::asio::post(CpprestIo(), [&io] { io.set_value(std::this_thread::get_id()); });
  const std::thread::id io_thread = io.get_future().get();
  std::vector<int> order;
  std::thread::id ran_on;
  for (int i = 0; i < 100; ++i) {
    executor_.Post([&order, &ran_on, i] {
      order.push_back(i);
      ran_on = std::this_thread::get_id();
    });
  }
  Settle();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(ran_on, io_thread);
}

TEST_F(CpprestExecutorTest, ATaskPostedWithinATaskRunsAfterIt) {
  std::vector<int> order;
  std::promise<void> done;
  executor_.Post([&] {
    executor_.Post([&] {
      order.push_back(2);
      done.set_value();
    });
    order.push_back(1);
  });
  ASSERT_TRUE(Await(done));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(CpprestExecutorTest, AnEarlierTimerOvertakesALaterOne) {
  std::vector<int> order;
  std::promise<void> done;
  executor_.Post([&] {
    executor_.PostAfter(20ms, [&] {
      order.push_back(2);
      done.set_value();
    });
    executor_.PostAfter(1ms, [&] { order.push_back(1); });
  });
  ASSERT_TRUE(Await(done));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(CpprestExecutorTest, ATimerOfAnotherThreadIsWaitedForInsteadOfALaterOne) {
  std::promise<void> done;
  executor_.PostAfter(1h, [] {});
  Settle();
  executor_.PostAfter(2h, [] {});
  executor_.PostAfter(1ms, [&done] { done.set_value(); });
  EXPECT_TRUE(Await(done));
}

TEST_F(CpprestExecutorTest, ATimerRunsNoSoonerThanItShould) {
  std::promise<void> done;
  Clock::Time ran;
  const Clock::Time posted = clock_.Now();
  executor_.PostAfter(30ms, [&] {
    ran = clock_.Now();
    done.set_value();
  });
  ASSERT_TRUE(Await(done));
  EXPECT_GE(ran - posted, 30ms);
}

TEST_F(CpprestExecutorTest, ACancelledTaskNeverRuns) {
  bool ran = false;
  executor_.Post([&] {
    const Executor::TimerId id = executor_.PostAfter(0s, [&ran] { ran = true; });
    EXPECT_TRUE(executor_.Cancel(id));
    EXPECT_FALSE(executor_.Cancel(id));
  });
  Settle();
  EXPECT_FALSE(ran);
}

// A task that posts itself for ever, as a busy operator's do.
TEST_F(CpprestExecutorTest, IoHasItsTurnHoweverManyTasksWait) {
  std::atomic<bool> stop = false;
  std::function<void()> again = [&] {
    if (!stop) executor_.Post(again);
  };
  for (int i = 0; i < 100; ++i) executor_.Post(again);
  std::promise<void> turn;
  boost::asio::post(CpprestIo(), [&turn] { turn.set_value(); });
  EXPECT_TRUE(Await(turn));
  stop = true;
  Settle();
}

TEST_F(CpprestExecutorTest, StopWaitsForTheTaskThatRunsAndNoneRunsAfterIt) {
  // Goes on for so long after Stop has been called. A number of yields was minutes where many
  // others had something to do.
  constexpr auto kWhile = 5ms;
  std::promise<void> begun;
  std::atomic<bool> stopping = false, ended = false;
  bool ran = false;
  executor_.Post([&] {
    begun.set_value();
    while (!stopping) std::this_thread::yield();
    const Clock::Time until = clock_.Now() + kWhile;
    while (clock_.Now() < until) std::this_thread::yield();
    ended = true;
  });
  executor_.Post([&] { ran = true; });
  ASSERT_TRUE(Await(begun));
  stopping = true;
  executor_.Stop();
  EXPECT_TRUE(ended);
  std::promise<void> turn;
  boost::asio::post(CpprestIo(), [&turn] { turn.set_value(); });
  ASSERT_TRUE(Await(turn));
  EXPECT_FALSE(ran);
  executor_.Stop();
}

TEST_F(CpprestExecutorTest, TheDestructorDropsWhatWaits) {
  bool ran = false;
  const auto kept = std::make_shared<int>();
  {
    CpprestExecutor executor(clock_);
    executor.PostAfter(1h, [&ran, kept] { ran = true; });
  }
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(ran);
}

TEST_F(CpprestExecutorTest, WhatATaskCapturedMayPostWhenItIsDropped) {
  struct Poster {
    CpprestExecutor& executor;
    ~Poster() { executor.Post([] {}); }
  };
  CpprestExecutor executor(clock_);
  executor.PostAfter(1h, [poster = std::make_shared<Poster>(executor)] {});
}

}  // namespace
}  // namespace taas
