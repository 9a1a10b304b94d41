#include "trainer/data/stream/train_input.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/augment.h"

namespace taas {
namespace {

// A window that is trained on, and the next one, which is read meanwhile.
constexpr int64_t kWindowsInMemory = 2;

// Batches of data in memory that are made ahead: to gather and augment one takes less than a step,
// or it would take no longer with more.
constexpr int64_t kAheadInMemory = 1;

BatchPlan PlanOf(const DataSets& data, const TrainInput::Options& options) {
  BatchPlan::Options plan{.seed = options.seed,
                          .examples = data.train_examples(),
                          .batch_size = options.batch_size};
  if (data.stream) plan.blocks = data.streaming.blocks();
  return BatchPlan(plan);
}

}  // namespace

TrainInput::TrainInput(const DataSets& data, const Options& options)
    : data_(data),
      seed_(options.seed),
      plan_(PlanOf(data, options)),
      lends_(!options.memory.empty()) {
  if (data.stream) {
    const StreamingOptions& streaming = data.streaming;
    stream_.emplace(*data.stream, plan_,
                    BlockCache::Options{
                        .blocks_max = kWindowsInMemory * streaming.blocks().per_window,
                        .readers = static_cast<int>(streaming.readers)});
  }
  const auto make = [this](int64_t batch, const BatchRows& out) { return Make(batch, out); };
  if (lends_) {
    CHECK(options.memory.size() > kLentMax) << "no memory for batches ahead";
    const auto ahead = static_cast<int64_t>(options.memory.size() - kLentMax);
    prefetch_.emplace(BatchPrefetch::Options{.ahead = ahead, .memory = options.memory}, make);
    return;
  }
  if (!data.stream || data.streaming.prefetch == 0) return;
  prefetch_.emplace(BatchPrefetch::Options{.ahead = data.streaming.prefetch * options.towers,
                                           .in_step = options.towers,
                                           .sizes = SizesOf(data, options.batch_size)},
                    make);
}

BatchPrefetch::Sizes TrainInput::SizesOf(const DataSets& data, int64_t batch_size) {
  const auto rows = static_cast<size_t>(batch_size);
  const auto all = [rows](int64_t width) { return rows * static_cast<size_t>(width); };
  const Dataset& train = data.train;
  return {.features = all(train.features() - train.pixels() - train.ids()),
          .pixels = all(train.pixels()),
          .seeds = data.augment.any() && train.pixels() > 0 ? rows : 0,
          .ids = all(train.ids()),
          .labels = all(train.labels_per_example()),
          .targets = all(train.target_width())};
}

int64_t TrainInput::AheadOf(const DataSets& data) {
  return data.stream ? data.streaming.prefetch : kAheadInMemory;
}

absl::Status TrainInput::Fill(int64_t batch, const BatchRows& rows) {
  return prefetch_ ? prefetch_->Take(batch, rows) : Make(batch, rows);
}

absl::Status TrainInput::Make(int64_t batch, const BatchRows& rows) {
  // Of each thread that fills batches, so that a step allocates nothing.
  thread_local std::vector<int64_t> indices;
  indices.resize(static_cast<size_t>(plan_.batch_size()));
  plan_.Indices(batch, indices);
  if (stream_) {
    stream_->ReadAhead(batch);
    RETURN_IF_ERROR(stream_->Gather(indices, rows));
  } else {
    GatherRows(data_.train, indices, rows);
  }
  if (data_.augment.any()) Augment(batch, indices, rows);
  return absl::OkStatus();
}

void TrainInput::Augment(int64_t batch, std::span<const int64_t> indices,
                         const BatchRows& rows) const {
  CHECK(data_.train.pixels() == 0 || rows.features.empty()) << "pixels are augmented as pixels";
  const size_t width = rows.features.size() / indices.size();
  thread_local std::vector<float> image;  // As indices in Make.
  image.resize(width);
  for (size_t row = 0; row < indices.size(); ++row) {
    const int64_t position = batch * plan_.batch_size() + static_cast<int64_t>(row);
    const uint64_t seed = AugmentSeed(
        {.job = seed_, .epoch = plan_.EpochAt(position), .example = indices[row]});
    if (!rows.seeds.empty()) rows.seeds[row] = static_cast<int64_t>(seed);
    if (rows.features.empty()) continue;
    const std::span<float> values = rows.features.subspan(row * width, width);
    std::ranges::copy(values, image.begin());
    AugmentImage<float>(data_.train.image(), data_.augment, seed, 0, image, values);
  }
}

}  // namespace taas
