#include "trainer/data/batch_plan.h"

#include <algorithm>

#include "operator/base/check.h"

namespace taas {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What permutes the blocks of an epoch, and the examples of its windows: each has a key that has
// nothing to do with those of the others.
constexpr uint64_t kOfBlocks = 0xb10c;
constexpr uint64_t kOfWindows = 0x3190;

uint64_t Key(uint64_t epoch_key, uint64_t of, int64_t number) {
  return Mix(epoch_key ^ Mix(of + static_cast<uint64_t>(number) * kGolden));
}

}  // namespace

BatchPlan::BatchPlan(Options options) : options_(options) {
  CHECK(options.examples >= 1) << "a plan needs examples";
  CHECK(options.batch_size >= 1) << "a batch has at least one example";
  // Without blocks the epoch is one block, in which everything is permuted at once.
  if (options.blocks.examples == 0) options_.blocks = {options.examples, 1};
  CHECK(options_.blocks.examples >= 1 && options_.blocks.per_window >= 1) << "an empty window";
}

int64_t BatchPlan::blocks() const { return DivideUp(options_.examples, options_.blocks.examples); }

int64_t BatchPlan::windows_per_epoch() const {
  return DivideUp(blocks(), options_.blocks.per_window);
}

int64_t BatchPlan::last_block_examples() const {
  return options_.examples - (blocks() - 1) * options_.blocks.examples;
}

BatchPlan::Order BatchPlan::OrderOf(int64_t epoch) const {
  const uint64_t key =
      Mix(Mix(options_.seed + kGolden) + static_cast<uint64_t>(epoch) * kGolden);
  const int64_t count = blocks();
  return {.epoch = epoch,
          .key = key,
          .last_slot = static_cast<int64_t>(Key(key, kOfBlocks, 0) % static_cast<uint64_t>(count)),
          .other_blocks = Permutation(std::max<int64_t>(1, count - 1), Key(key, kOfBlocks, 1))};
}

int64_t BatchPlan::StartOf(const Order& order, int64_t slot) const {
  const int64_t missing = options_.blocks.examples - last_block_examples();
  return slot * options_.blocks.examples - (slot > order.last_slot ? missing : 0);
}

int64_t BatchPlan::SlotAt(const Order& order, int64_t place) const {
  const int64_t size = options_.blocks.examples;
  if (place < StartOf(order, order.last_slot)) return place / size;
  if (place < StartOf(order, order.last_slot + 1)) return order.last_slot;
  return (place + size - last_block_examples()) / size;
}

int64_t BatchPlan::BlockIn(const Order& order, int64_t slot) const {
  if (slot == order.last_slot) return blocks() - 1;
  return order.other_blocks.At(slot < order.last_slot ? slot : slot - 1);
}

// Slots are shared out evenly, lest a last window of a few blocks be hardly mixed.
BatchPlan::Window BatchPlan::MakeWindow(int64_t position) const {
  const int64_t epoch = EpochAt(position);
  const int64_t first = epoch * options_.examples;
  const Order order = OrderOf(epoch);
  const int64_t per_window = DivideUp(blocks(), windows_per_epoch());
  const int64_t window = SlotAt(order, position - first) / per_window;
  const int64_t begin = StartOf(order, window * per_window);
  const int64_t end = StartOf(order, std::min(blocks(), (window + 1) * per_window));
  // One window is the whole epoch: its key is the epoch's.
  const uint64_t key =
      windows_per_epoch() == 1 ? order.key : Key(order.key, kOfWindows, window);
  return {order, first + begin, first + end, Permutation(end - begin, key)};
}

int64_t BatchPlan::IndexIn(const Window& window, int64_t position) const {
  const int64_t begin = window.begin - window.order.epoch * options_.examples;
  const int64_t place = begin + window.within.At(position - window.begin);
  const int64_t slot = SlotAt(window.order, place);
  return BlockIn(window.order, slot) * options_.blocks.examples + place -
         StartOf(window.order, slot);
}

int64_t BatchPlan::IndexAt(int64_t position) const {
  return IndexIn(MakeWindow(position), position);
}

int64_t BatchPlan::EpochOf(int64_t batch) const { return EpochAt(batch * options_.batch_size); }

int64_t BatchPlan::WindowAt(int64_t position) const {
  const int64_t epoch = EpochAt(position);
  const int64_t per_window = DivideUp(blocks(), windows_per_epoch());
  const int64_t slot = SlotAt(OrderOf(epoch), position % options_.examples);
  return epoch * windows_per_epoch() + slot / per_window;
}

std::vector<int64_t> BatchPlan::BlocksOf(int64_t window) const {
  const Order order = OrderOf(window / windows_per_epoch());
  const int64_t per_window = DivideUp(blocks(), windows_per_epoch());
  const int64_t first = window % windows_per_epoch() * per_window;
  std::vector<int64_t> list;
  for (int64_t slot = first; slot < std::min(blocks(), first + per_window); ++slot) {
    list.push_back(BlockIn(order, slot));
  }
  return list;
}

void BatchPlan::Indices(int64_t batch, std::span<int64_t> out) const {
  CHECK(batch >= 0 && std::ssize(out) == options_.batch_size) << "batch " << batch;
  int64_t position = batch * options_.batch_size;
  Window window = MakeWindow(position);
  for (int64_t& index : out) {
    if (position == window.end) window = MakeWindow(position);
    index = IndexIn(window, position++);
  }
}

}  // namespace taas
