#include "trainer/data/batch_plan.h"

#include <bit>

#include "operator/base/check.h"

namespace taas {
namespace {

// The finaliser of SplitMix64: every bit of the result depends on every bit of `x`.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

}  // namespace

BatchPlan::BatchPlan(Options options) : options_(options) {
  CHECK(options.examples >= 1) << "a plan needs examples";
  CHECK(options.batch_size >= 1) << "a batch has at least one example";
  const int bits = std::bit_width(static_cast<uint64_t>(options.examples - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
}

BatchPlan::EpochKeys BatchPlan::KeysOf(int64_t epoch) const {
  const uint64_t key =
      Mix(Mix(options_.seed + kGolden) + static_cast<uint64_t>(epoch) * kGolden);
  EpochKeys keys;
  for (size_t round = 0; round < keys.size(); ++round) {
    keys[round] = Mix(key + static_cast<uint64_t>(round) * kGolden);
  }
  return keys;
}

// Each round changes one half by a function of the other, so it can be undone: a permutation of [0,
// 2^bits). Values beyond the last example are permuted again until they fall inside; as fewer than
// half of all values are outside, that takes less than two turns on average.
int64_t BatchPlan::Permute(const EpochKeys& keys, uint64_t position) const {
  const uint64_t left_mask = (uint64_t{1} << left_bits_) - 1;
  const uint64_t right_mask = (uint64_t{1} << right_bits_) - 1;
  uint64_t value = position;
  do {
    uint64_t left = value >> right_bits_;
    uint64_t right = value & right_mask;
    for (size_t round = 0; round < keys.size(); round += 2) {
      left ^= Mix(keys[round] + right) & left_mask;
      right ^= Mix(keys[round + 1] + left) & right_mask;
    }
    value = (left << right_bits_) | right;
  } while (value >= static_cast<uint64_t>(options_.examples));
  return static_cast<int64_t>(value);
}

int64_t BatchPlan::IndexAt(int64_t position) const {
  return Permute(KeysOf(position / options_.examples),
                 static_cast<uint64_t>(position % options_.examples));
}

int64_t BatchPlan::EpochOf(int64_t batch) const {
  return batch * options_.batch_size / options_.examples;
}

void BatchPlan::Indices(int64_t batch, std::span<int64_t> out) const {
  CHECK(batch >= 0 && std::ssize(out) == options_.batch_size) << "batch " << batch;
  const int64_t first = batch * options_.batch_size;
  int64_t epoch = first / options_.examples;
  int64_t position = first % options_.examples;
  EpochKeys keys = KeysOf(epoch);
  for (int64_t& index : out) {
    if (position == options_.examples) {
      keys = KeysOf(++epoch);
      position = 0;
    }
    index = Permute(keys, static_cast<uint64_t>(position++));
  }
}

}  // namespace taas
