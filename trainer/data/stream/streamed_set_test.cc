#include "trainer/data/stream/streamed_set.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/stream/fake_block_source.h"
#include "trainer/data/stream/streaming_options.h"

namespace taas {
namespace {

constexpr int64_t kExamples = 1003;
constexpr int64_t kBatch = 17;

struct Batch {
  std::vector<float> features = std::vector<float>(kBatch);
  std::vector<int32_t> labels = std::vector<int32_t>(kBatch);
  BatchRows rows() { return {.features = features, .labels = labels}; }
};

BatchPlan Plan() {
  return BatchPlan({.seed = 6,
                    .examples = kExamples,
                    .batch_size = kBatch,
                    .blocks = {.examples = 10, .per_window = 8}});
}

// A replica: it has a cache of its own.
class Replica {
 public:
  explicit Replica(const FakeBlockSource& source, int readers = 0)
      : set_(source, plan_, {.blocks_max = 16, .readers = readers}) {}

  std::vector<int64_t> Examples(int64_t batch) {
    std::vector<int64_t> indices(kBatch);
    plan_.Indices(batch, indices);
    set_.ReadAhead(batch);
    Batch got;
    EXPECT_THAT(set_.Gather(indices, got.rows()), IsOk());
    std::vector<int64_t> examples;
    for (size_t i = 0; i < kBatch; ++i) {
      examples.push_back(static_cast<int64_t>(got.features[i]));
      EXPECT_EQ(examples.back(), indices[i]);
      EXPECT_EQ(got.labels[i], examples.back() % 10);
    }
    return examples;
  }
  BlockCache::Stats stats() const { return set_.stats(); }

 private:
  const BatchPlan plan_ = Plan();
  StreamedSet set_;
};

TEST(StreamedSetTest, ThreeReplicasUseEachExampleOncePerEpoch) {
  const FakeBlockSource source({.examples = kExamples, .block_examples = 10});
  Replica replicas[] = {Replica(source), Replica(source, 1), Replica(source, 2)};
  // As leases go: some batches in turn to one, then to another.
  std::vector<int64_t> stream;
  for (int64_t batch = 0; batch * kBatch < 2 * kExamples; ++batch) {
    const std::vector<int64_t> more = replicas[batch / 4 % 3].Examples(batch);
    stream.insert(stream.end(), more.begin(), more.end());
  }
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> examples(stream.begin() + epoch * kExamples,
                                  stream.begin() + (epoch + 1) * kExamples);
    std::ranges::sort(examples);
    for (int64_t i = 0; i < kExamples; ++i) ASSERT_EQ(examples[i], i) << "epoch " << epoch;
  }
  for (const Replica& replica : replicas) EXPECT_LE(replica.stats().resident_max, 17);
}

// A replica that replaces another, in the middle of an epoch, knows nothing but the number.
TEST(StreamedSetTest, ANewReplicaGoesOnWhereTheLastOneWas) {
  const FakeBlockSource source({.examples = kExamples, .block_examples = 10});
  Replica whole(source);
  std::vector<std::vector<int64_t>> batches;
  for (int64_t batch = 0; batch < 90; ++batch) batches.push_back(whole.Examples(batch));
  Replica late(source, 2);
  for (int64_t batch = 41; batch < 90; ++batch) {
    EXPECT_EQ(late.Examples(batch), batches[static_cast<size_t>(batch)]) << batch;
  }
}

TEST(StreamedSetTest, AnEpochReadsEachBlockOnceAndFewMore) {
  const FakeBlockSource source({.examples = kExamples, .block_examples = 10});
  Replica replica(source);
  for (int64_t batch = 0; batch < kExamples / kBatch; ++batch) replica.Examples(batch);
  EXPECT_EQ(replica.stats().loads, source.blocks());
}

// Without a reader nobody but the training would read, and it never asks for the next window.
TEST(StreamedSetTest, TheNextWindowIsReadWhileThisOneIsTrainedOn) {
  FakeBlockSource source({.examples = kExamples, .block_examples = 10});
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int64_t> loaded;
  source.on_load = [&](int64_t block) {
    std::lock_guard lock(mutex);
    loaded.insert(block);
    changed.notify_all();
    return absl::OkStatus();
  };
  const BatchPlan plan = Plan();
  std::vector<int64_t> wanted = plan.BlocksOf(0);
  for (const int64_t block : plan.BlocksOf(1)) wanted.push_back(block);
  StreamedSet set(source, plan, {.blocks_max = 16, .readers = 2});
  set.ReadAhead(0);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] {
    return std::ranges::all_of(wanted, [&](int64_t block) { return loaded.count(block) > 0; });
  });
  EXPECT_EQ(loaded.size(), wanted.size());
}

TEST(StreamedSetTest, ADamagedBlockFailsTheBatchesThatNeedIt) {
  FakeBlockSource source({.examples = kExamples, .block_examples = 10});
  source.on_load = [](int64_t block) {
    return block == 42 ? absl::DataLossError("block 42") : absl::OkStatus();
  };
  StreamedSet set(source, Plan(), {.blocks_max = 16, .readers = 1});
  Batch batch;
  for (const bool damaged : {false, true}) {
    std::vector<int64_t> indices(kBatch, 7);
    if (damaged) indices[3] = 425;
    EXPECT_EQ(set.Gather(indices, batch.rows()).code(),
              damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk);
  }
}

TEST(StreamingOptionsTest, AWindowIsTheBufferAndNeverMore) {
  for (const int64_t buffer : {1, 2, 63, 64, 65, 100, 127, 128, 1'000, 10'000, 100'000'000}) {
    const BatchPlan::Blocks blocks = StreamingOptions{.shuffle_buffer = buffer}.blocks();
    const int64_t window = blocks.examples * blocks.per_window;
    EXPECT_LE(window, buffer);
    EXPECT_GT(window, buffer / 2);
    EXPECT_LE(blocks.per_window, StreamingOptions::kBlocksPerWindow);
  }
}

}  // namespace
}  // namespace taas
