#include "operator/kube/work_queue.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class WorkQueueTest : public testing::Test {
 protected:
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  std::unique_ptr<WorkQueue> NewQueue(WorkQueue::Options options = {}) {
    return std::make_unique<WorkQueue>(executor_, options,
                                       [this](const std::string& key) { started_.push_back(key); });
  }

  SimExecutor executor_{{.in_order = true}};
  std::vector<std::string> started_;
  std::unique_ptr<WorkQueue> queue_ = NewQueue();
};

TEST_F(WorkQueueTest, AKeyThatWaitsIsNotQueuedTwice) {
  queue_->Add("a");
  queue_->Add("a");
  queue_->Add("b");
  EXPECT_EQ(queue_->depth(), 2u);
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "b"));
}

TEST_F(WorkQueueTest, AKeyIsNeverAtWorkTwiceAndRunsOnceMoreHoweverOftenItWasAdded) {
  queue_->Add("a");
  Run();
  queue_->Add("a");
  queue_->Add("a");
  Run();
  EXPECT_THAT(started_, ElementsAre("a"));
  queue_->Done("a");
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "a"));
  queue_->Done("a");
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "a"));
}

// Symptom: a job waited a minute for its pod because somebody else had made 120 large ones before.
TEST_F(WorkQueueTest, NamespacesTakeTurns) {
  queue_ = NewQueue({.in_flight_limit = 1});
  for (const char* key : {"job/a/1", "job/a/2", "job/a/3", "job/b/1", "job/c/1", "job/b/2"}) {
    queue_->Add(key);
  }
  for (int i = 0; i < 6; ++i) {
    Run();
    queue_->Done(started_.back());
  }
  EXPECT_THAT(started_, ElementsAre("job/a/1", "job/b/1", "job/c/1", "job/a/2", "job/b/2",
                                    "job/a/3"));
  EXPECT_EQ(queue_->depth(), 0u);
}

// Symptom: that all pods of a job run was told seconds later where many other jobs waited for
// theirs to be made.
TEST_F(WorkQueueTest, KeysOfTheFastLaneDoNotWaitForThoseOfTheSlowOne) {
  queue_ = NewQueue({.in_flight_limit = 2});
  for (const char* key : {"s1", "s2", "s3", "s4"}) queue_->Add(key);
  Run();
  EXPECT_THAT(started_, ElementsAre("s1", "s2"));
  EXPECT_TRUE(queue_->GoSlow("s1"));
  EXPECT_FALSE(queue_->OthersAreSlow("s1"));
  EXPECT_TRUE(queue_->OthersAreSlow("s2"));
  EXPECT_TRUE(queue_->GoSlow("s2"));
  EXPECT_TRUE(queue_->GoSlow("s2")) << "it is there already";
  Run();  // They made room in the fast lane.
  EXPECT_THAT(started_, ElementsAre("s1", "s2", "s3", "s4"));
  for (const char* key : {"s3", "s4"}) {
    EXPECT_FALSE(queue_->GoSlow(key));
    queue_->Done(key);
  }
  queue_->Add("s3");  // Waits in its lane all the same.
  queue_->Add("fast");
  Run();
  EXPECT_THAT(started_, ElementsAre("s1", "s2", "s3", "s4", "fast"));
  queue_->Done("fast");
  queue_->Done("s1");
  Run();
  EXPECT_THAT(started_, ElementsAre("s1", "s2", "s3", "s4", "fast", "s3"));
  EXPECT_TRUE(queue_->GoSlow("s3"));
  for (const char* key : {"s2", "s3"}) queue_->Done(key);
  Run();
  EXPECT_EQ(started_.back(), "s4");
  queue_->Done("s4");
  EXPECT_FALSE(queue_->OthersAreSlow(""));
  EXPECT_EQ(queue_->in_flight(), 0u);
  EXPECT_EQ(queue_->depth(), 0u);
}

// Symptom: of 200 jobs that ended together none was told to have ended before the ends of all had
// been noted.
TEST_F(WorkQueueTest, WhoGoesOnIsLookedAtBeforeThoseThatWait) {
  queue_ = NewQueue({.in_flight_limit = 1});
  for (const char* key : {"job/a/1", "job/a/2", "job/b/1"}) queue_->Add(key);
  Run();
  queue_->Add("job/a/1");  // Its own event; one run is enough for both.
  queue_->DoneGoOn("job/a/1");
  Run();
  EXPECT_THAT(started_, ElementsAre("job/a/1", "job/a/1"));
  queue_->Done("job/a/1");
  for (int i = 0; i < 2; ++i) {
    Run();
    queue_->Done(started_.back());
  }
  EXPECT_THAT(started_, ElementsAre("job/a/1", "job/a/1", "job/b/1", "job/a/2"));
  EXPECT_EQ(queue_->depth(), 0u);
}

TEST_F(WorkQueueTest, WhoGoesOnStaysInItsLane) {
  queue_ = NewQueue({.in_flight_limit = 1});
  queue_->Add("slow");
  Run();
  EXPECT_TRUE(queue_->GoSlow("slow"));
  queue_->DoneGoOn("slow");
  EXPECT_TRUE(queue_->OthersAreSlow(""));
  queue_->Add("fast");
  Run();
  EXPECT_THAT(started_, ElementsAre("slow", "fast", "slow"));
}

// Symptom: each of a thousand pods' events led to a look at all thousand.
TEST_F(WorkQueueTest, AKeyThatRestsRunsOnceWhenItHasRestedHoweverOftenItWasAdded) {
  queue_ = NewQueue({.in_flight_limit = 1});
  queue_->Add("a");
  Run();
  queue_->Add("a");
  queue_->Done("a", 50ms);
  queue_->Add("a");
  queue_->AddAfter("a", 10ms);
  queue_->Add("b");
  Run(49ms);
  EXPECT_THAT(started_, ElementsAre("a", "b")) << "who rests keeps no other from its turn";
  queue_->Done("b");
  Run(1ms);
  EXPECT_THAT(started_, ElementsAre("a", "b", "a"));
  queue_->Done("a", 50ms);
  Run(1s);
  EXPECT_THAT(started_, ElementsAre("a", "b", "a")) << "nothing was added meanwhile";
  queue_->Add("a");
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "b", "a", "a"));
}

TEST_F(WorkQueueTest, WhatComesDueAfterARestIsNotLostAndAQueueMayEndInTheMiddleOfOne) {
  queue_->Add("a");
  Run();
  queue_->AddAfter("a", 80ms);
  queue_->Done("a", 50ms);
  Run(79ms);
  EXPECT_THAT(started_, ElementsAre("a"));
  Run(1ms);
  EXPECT_THAT(started_, ElementsAre("a", "a"));
  queue_->Done("a", 50ms);
  queue_->Add("a");
  queue_.reset();
  Run(1s);
  EXPECT_THAT(started_, ElementsAre("a", "a"));
}

TEST_F(WorkQueueTest, NoMoreKeysAreAtWorkThanTheLimit) {
  queue_ = NewQueue({.in_flight_limit = 2});
  for (const char* key : {"a", "b", "c"}) queue_->Add(key);
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "b"));
  EXPECT_EQ(queue_->in_flight(), 2u);
  queue_->Done("b");
  Run();
  EXPECT_THAT(started_, ElementsAre("a", "b", "c"));
}

TEST_F(WorkQueueTest, TheEarlierOfTwoDelaysWins) {
  queue_->AddAfter("a", 10s);
  queue_->AddAfter("a", 2s);
  queue_->AddAfter("a", 5s);
  Run(2s);
  EXPECT_THAT(started_, ElementsAre("a"));
  queue_->Done("a");
  Run(60s);
  EXPECT_THAT(started_, ElementsAre("a"));
}

TEST_F(WorkQueueTest, FailuresWaitLongerEachTimeUpToFiveMinutes) {
  for (const auto delay : {5ms, 10ms, 20ms}) {
    queue_->Retry("a");
    Run(delay - 1ms);
    EXPECT_EQ(queue_->in_flight(), 0u);
    Run(1ms);
    ASSERT_EQ(queue_->in_flight(), 1u);
    queue_->Done("a");
  }
  for (int i = 0; i < 100; ++i) {
    queue_->Retry("a");
    Run(300s);
    ASSERT_EQ(queue_->in_flight(), 1u);
    queue_->Done("a");
  }
  EXPECT_EQ(queue_->failures("a"), 103u);
}

TEST_F(WorkQueueTest, ForgetStartsTheDelaysAnew) {
  for (int i = 0; i < 10; ++i) {
    queue_->Retry("a");
    Run(300s);
    queue_->Done("a");
  }
  queue_->Forget("a");
  EXPECT_EQ(queue_->failures("a"), 0u);
  queue_->Retry("a");
  started_.clear();
  Run(5ms);
  EXPECT_THAT(started_, ElementsAre("a"));
}

TEST_F(WorkQueueTest, OneKeysFailuresDoNotDelayAnother) {
  for (int i = 0; i < 20; ++i) {
    queue_->Retry("bad");
    Run(300s);
    queue_->Done("bad");
  }
  started_.clear();
  queue_->Retry("bad");
  queue_->Retry("good");
  Run(5ms);
  EXPECT_THAT(started_, ElementsAre("good"));
}

TEST_F(WorkQueueTest, NothingRunsAfterTheQueueIsGone) {
  queue_->Add("a");
  queue_->AddAfter("b", 1s);
  queue_.reset();
  Run(10s);
  EXPECT_TRUE(started_.empty());
}

TEST_F(WorkQueueTest, DoneWithinProcessIsAllowed) {
  std::unique_ptr<WorkQueue> queue;
  int runs = 0;
  queue = std::make_unique<WorkQueue>(executor_, WorkQueue::Options{}, [&](const std::string& key) {
    if (++runs < 3) queue->Add(key);
    queue->Done(key);
  });
  queue->Add("a");
  Run();
  EXPECT_EQ(runs, 3);
}

// The promise in full, over random histories: what was added last is always looked at afterwards.
TEST(WorkQueueRandomTest, EveryAddIsFollowedByARunThatStartsAfterIt) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SimExecutor executor({.seed = seed});
    SeededRandom random(seed);
    std::map<std::string, int> version, seen;
    std::set<std::string> at_work;
    std::unique_ptr<WorkQueue> queue;
    queue = std::make_unique<WorkQueue>(
        executor, WorkQueue::Options{.in_flight_limit = 3}, [&](const std::string& key) {
          EXPECT_TRUE(at_work.insert(key).second) << "twice at work, seed " << seed;
          EXPECT_LE(at_work.size(), 3u);
          seen[key] = version[key];
          executor.PostAfter(std::chrono::milliseconds(random.Below(20)), [&, key] {
            at_work.erase(key);
            if (random.Below(4) == 0) queue->Retry(key);
            random.Below(4) == 0 ? queue->DoneGoOn(key) : queue->Done(key);
          });
        });
    for (int i = 0; i < 50; ++i) {
      const std::string key(1, static_cast<char>('a' + random.Below(5)));
      executor.PostAfter(std::chrono::milliseconds(random.Below(100)), [&, key] {
        ++version[key];
        queue->Add(key);
      });
    }
    executor.RunUntil(executor.clock().Now() + 1s);
    EXPECT_EQ(seen, version) << "seed " << seed;
  }
}

}  // namespace
}  // namespace taas
