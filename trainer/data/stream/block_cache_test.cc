#include "trainer/data/stream/block_cache.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/stream/fake_block_source.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

float First(const BlockCache::Block& block) {
  float value = -1;
  block->GatherFeatures(std::array<int64_t, 1>{0}, &value);
  return value;
}

class BlockCacheTest : public ::testing::Test {
 protected:
  // Remembers what is loaded, in which order.
  absl::Status Note(int64_t block) {
    std::lock_guard lock(mutex_);
    loaded_.push_back(block);
    changed_.notify_all();
    return absl::OkStatus();
  }
  void AwaitLoads(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return loaded_.size() >= count; });
  }
  std::vector<int64_t> Loaded() {
    std::lock_guard lock(mutex_);
    return loaded_;
  }

  FakeBlockSource source_{{.examples = 95, .block_examples = 10}};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> loaded_;
};

TEST_F(BlockCacheTest, ABlockIsLoadedOnceAndKept) {
  source_.on_load = [this](int64_t block) { return Note(block); };
  BlockCache cache(source_, {.blocks_max = 2});
  for (int i = 0; i < 3; ++i) {
    const auto block = cache.Get(4);
    ASSERT_THAT(block, IsOk());
    EXPECT_EQ(First(*block), 40);
  }
  EXPECT_THAT(Loaded(), ElementsAre(4));
  EXPECT_EQ((*cache.Get(9))->examples(), 5);
}

TEST_F(BlockCacheTest, TheOneThatWasNotUsedForLongestGoes) {
  source_.on_load = [this](int64_t block) { return Note(block); };
  BlockCache cache(source_, {.blocks_max = 2});
  for (const int64_t block : {1, 2, 1, 3, 1, 2}) ASSERT_THAT(cache.Get(block), IsOk());
  EXPECT_THAT(Loaded(), ElementsAre(1, 2, 3, 2));
  EXPECT_EQ(cache.stats().resident, 2);
  EXPECT_EQ(cache.stats().resident_max, 2);
}

TEST_F(BlockCacheTest, ReadersLoadBeforeAnybodyAsks) {
  source_.on_load = [this](int64_t block) { return Note(block); };
  BlockCache cache(source_, {.blocks_max = 3, .readers = 1});
  cache.ReadAhead({7, 2, 5});
  AwaitLoads(3);
  EXPECT_THAT(Loaded(), ElementsAre(7, 2, 5));
  for (const int64_t block : {7, 2, 5}) ASSERT_THAT(cache.Get(block), IsOk());
  EXPECT_EQ(cache.stats().loads, 3);
}

// Else a list that is too long would drop what it has just read, and read it again, for ever.
TEST_F(BlockCacheTest, ReadingAheadStopsAtTheBoundAndGoesOnWithTheNextList) {
  source_.on_load = [this](int64_t block) { return Note(block); };
  BlockCache cache(source_, {.blocks_max = 3, .readers = 1});
  cache.ReadAhead({0, 1, 2, 3, 4});
  AwaitLoads(3);
  cache.ReadAhead({2, 3, 4});
  AwaitLoads(5);
  EXPECT_THAT(Loaded(), ElementsAre(0, 1, 2, 3, 4));
  for (const int64_t block : {2, 3, 4}) ASSERT_THAT(cache.Get(block), IsOk());
  EXPECT_EQ(cache.stats().loads, 5);
  EXPECT_EQ(cache.stats().resident_max, 3);
}

TEST_F(BlockCacheTest, WhoNeedsABlockThatIsBeingReadWaitsForIt) {
  std::latch begun(1), go_on(1);
  source_.on_load = [&](int64_t block) {
    begun.count_down();
    go_on.wait();
    return Note(block);
  };
  BlockCache cache(source_, {.blocks_max = 3, .readers = 1});
  cache.ReadAhead({6});
  begun.wait();
  std::thread asker([&] {
    const auto block = cache.Get(6);
    ASSERT_THAT(block, IsOk());
    EXPECT_EQ(First(*block), 60);
  });
  go_on.count_down();
  asker.join();
  EXPECT_THAT(Loaded(), ElementsAre(6));
}

TEST_F(BlockCacheTest, AnErrorOfAReaderComesToWhoNeedsTheBlock) {
  source_.on_load = [this](int64_t block) {
    (void)Note(block);
    return absl::DataLossError("block " + std::to_string(block) + " is damaged");
  };
  BlockCache cache(source_, {.blocks_max = 3, .readers = 1});
  cache.ReadAhead({6});
  AwaitLoads(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(cache.Get(6), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("block 6")));
  }
  EXPECT_THAT(cache.Get(8), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("block 8")));
}

// A disk may be away for a moment while a reader is at it.
TEST_F(BlockCacheTest, AnErrorThatHasPassedIsForgotten) {
  bool fails = true;
  source_.on_load = [&](int64_t block) {
    (void)Note(block);
    return fails ? absl::UnavailableError("away") : absl::OkStatus();
  };
  BlockCache cache(source_, {.blocks_max = 3});
  EXPECT_THAT(cache.Get(6), StatusIs(absl::StatusCode::kUnavailable, "away"));
  fails = false;
  EXPECT_THAT(cache.Get(6), IsOk());
}

TEST_F(BlockCacheTest, ABlockOutlivesTheCacheInTheHandsOfItsUser) {
  std::optional<BlockCache> cache(std::in_place, source_, BlockCache::Options{.blocks_max = 1});
  const BlockCache::Block block = *cache->Get(3);
  ASSERT_THAT(cache->Get(4), IsOk());
  EXPECT_EQ(cache->stats().resident, 2);
  cache.reset();
  EXPECT_EQ(First(block), 30);
}

TEST_F(BlockCacheTest, ManyThreadsGetTheirBlocksWithinTheBound) {
  constexpr int64_t kThreads = 4;
  BlockCache cache(source_, {.blocks_max = 2, .readers = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < 500; ++i) {
        const int64_t number = (i * (thread + 1) + thread) % source_.blocks();
        if (i % 16 == 0) cache.ReadAhead({number, (number + 1) % 10});
        const auto block = cache.Get(number);
        if (!block.ok() || First(*block) != static_cast<float>(number * 10)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.stats().resident_max, 2 + kThreads + 2);
}

}  // namespace
}  // namespace taas
