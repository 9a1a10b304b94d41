#include "trainer/data/stream/batch_prefetch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::Each;

// Batches whose numbers are all over them, and who made which.
class BatchPrefetchTest : public ::testing::Test {
 protected:
  static constexpr size_t kFeatures = 6;
  static constexpr size_t kRows = 2;

  BatchPrefetch::Options Ahead(int64_t ahead, int64_t in_step = 1) {
    return {.ahead = ahead,
            .in_step = in_step,
            .sizes = {.features = kFeatures, .labels = kRows, .targets = 0}};
  }
  absl::Status Make(int64_t batch, const BatchRows& rows) {
    std::ranges::fill(rows.features, static_cast<float>(batch));
    std::ranges::fill(rows.labels, static_cast<int32_t>(batch));
    std::lock_guard lock(mutex_);
    makers_[batch].push_back(std::this_thread::get_id());
    changed_.notify_all();
    return batch == bad_ ? absl::DataLossError("batch " + std::to_string(batch))
                         : absl::OkStatus();
  }
  BatchPrefetch::Make Maker() {
    return [this](int64_t batch, const BatchRows& rows) { return Make(batch, rows); };
  }
  absl::Status Take(BatchPrefetch& prefetch, int64_t batch) {
    std::vector<float> features(kFeatures, -1);
    std::vector<int32_t> labels(kRows, -1);
    const absl::Status status = prefetch.Take(batch, {.features = features, .labels = labels});
    EXPECT_THAT(features, Each(static_cast<float>(batch)));
    EXPECT_THAT(labels, Each(static_cast<int32_t>(batch)));
    return status;
  }
  void AwaitMade(int64_t batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return makers_.count(batch) > 0; });
  }
  // Whether the batch was made once, and not by this thread.
  bool MadeBeside(int64_t batch) {
    std::lock_guard lock(mutex_);
    return makers_[batch].size() == 1 && makers_[batch][0] != std::this_thread::get_id();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, std::vector<std::thread::id>> makers_;
  int64_t bad_ = -1;
};

TEST_F(BatchPrefetchTest, TheNextBatchesAreMadeWhileOneIsTrainedOn) {
  BatchPrefetch prefetch(Ahead(2), Maker());
  ASSERT_THAT(Take(prefetch, 0), IsOk());
  for (int64_t batch = 1; batch < 50; ++batch) {
    AwaitMade(batch);
    AwaitMade(batch + 1);
    ASSERT_THAT(Take(prefetch, batch), IsOk());
    EXPECT_TRUE(MadeBeside(batch)) << batch;
  }
}

TEST_F(BatchPrefetchTest, BatchesOfALeaseAndOfTheNextOneAreRight) {
  BatchPrefetch prefetch(Ahead(3), Maker());
  for (const int64_t first : {0, 48, 16, 160, 64}) {
    for (int64_t batch = first; batch < first + 16; ++batch) {
      ASSERT_THAT(Take(prefetch, batch), IsOk());
    }
    AwaitMade(first + 16);
  }
}

// Of three replicas that train in step, one has every third batch.
TEST_F(BatchPrefetchTest, ARegularStepIsLearnt) {
  BatchPrefetch prefetch(Ahead(1), Maker());
  for (const int64_t batch : {1, 4, 7}) ASSERT_THAT(Take(prefetch, batch), IsOk());
  for (int64_t batch = 10; batch < 100; batch += 3) {
    AwaitMade(batch);
    ASSERT_THAT(Take(prefetch, batch), IsOk());
    EXPECT_TRUE(MadeBeside(batch)) << batch;
  }
}

TEST_F(BatchPrefetchTest, BatchesOfTowersMayBeTakenInAnyOrder) {
  BatchPrefetch prefetch(Ahead(3, 3), Maker());
  for (const int64_t batch : {2, 0, 1}) ASSERT_THAT(Take(prefetch, batch), IsOk());
  for (int64_t step = 1; step < 20; ++step) {
    for (const int64_t tower : {1, 2, 0}) AwaitMade(3 * step + tower);
    for (const int64_t tower : {1, 2, 0}) {
      ASSERT_THAT(Take(prefetch, 3 * step + tower), IsOk());
      EXPECT_TRUE(MadeBeside(3 * step + tower));
    }
  }
}

TEST_F(BatchPrefetchTest, TowersTakeTheirBatchesAtTheSameTime) {
  BatchPrefetch prefetch(Ahead(6, 3), Maker());
  std::vector<std::thread> towers;
  for (int64_t step = 0; step < 30; ++step) {
    for (int64_t tower = 0; tower < 3; ++tower) {
      towers.emplace_back([&, batch = 3 * step + tower] {
        EXPECT_THAT(Take(prefetch, batch), IsOk());
      });
    }
    for (std::thread& tower : towers) tower.join();
    towers.clear();
  }
}

TEST_F(BatchPrefetchTest, AnErrorComesWithItsBatch) {
  bad_ = 3;
  BatchPrefetch prefetch(Ahead(4), Maker());
  ASSERT_THAT(Take(prefetch, 0), IsOk());
  AwaitMade(4);
  for (int64_t batch = 1; batch < 8; ++batch) {
    EXPECT_EQ(Take(prefetch, batch).code(),
              batch == 3 ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk);
  }
}

// Memory of batches that are lent, of which two are at a time.
struct LentMemory {
  LentMemory() {
    for (size_t i = 0; i < 3; ++i) {
      rows.push_back({.features = std::span(features).subspan(6 * i, 6),
                      .labels = std::span(labels).subspan(2 * i, 2)});
    }
  }
  std::vector<float> features = std::vector<float>(18, -1);
  std::vector<int32_t> labels = std::vector<int32_t>(6, -1);
  std::vector<BatchRows> rows;
};

TEST_F(BatchPrefetchTest, ALentBatchStaysAsItIsWhileTheNextOnesAreMade) {
  LentMemory memory;
  BatchPrefetch prefetch({.ahead = 1, .memory = memory.rows}, Maker());
  std::deque<BatchPrefetch::Lent> lent;
  for (int64_t batch = 0; batch < 40; ++batch) {
    if (lent.size() == 2) {
      prefetch.GiveBack(lent.front().slot);
      lent.pop_front();
    }
    const auto next = prefetch.Lend(batch);
    ASSERT_THAT(next, IsOk());
    lent.push_back(*next);
    AwaitMade(batch + 1);
    for (size_t i = 0; i < lent.size(); ++i) {
      const int64_t of = batch - std::ssize(lent) + 1 + static_cast<int64_t>(i);
      EXPECT_THAT(lent[i].rows.features, Each(static_cast<float>(of)));
      EXPECT_THAT(lent[i].rows.labels, Each(static_cast<int32_t>(of)));
    }
    EXPECT_EQ(MadeBeside(batch), batch > 0) << batch;
  }
}

TEST_F(BatchPrefetchTest, ABatchThatNobodyExpectedIsLentToo) {
  LentMemory memory;
  BatchPrefetch prefetch({.ahead = 1, .memory = memory.rows}, Maker());
  std::deque<BatchPrefetch::Lent> lent;
  for (const int64_t batch : {0, 1, 90, 7, 8, 9, 3}) {
    if (lent.size() == 2) {
      prefetch.GiveBack(lent.front().slot);
      lent.pop_front();
    }
    const auto next = prefetch.Lend(batch);
    ASSERT_THAT(next, IsOk());
    EXPECT_THAT(next->rows.features, Each(static_cast<float>(batch)));
    lent.push_back(*next);
  }
}

TEST_F(BatchPrefetchTest, ABatchThatCannotBeMadeIsNotLent) {
  LentMemory memory;
  BatchPrefetch prefetch({.ahead = 1, .memory = memory.rows}, Maker());
  ASSERT_THAT(prefetch.Lend(0), IsOk());
  bad_ = 1;
  for (int again = 0; again < 5; ++again) {
    const absl::Status status = prefetch.Lend(1).status();
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    if (status.ok()) prefetch.GiveBack(1);
  }
}

}  // namespace
}  // namespace taas
