#include "trainer/data/permutation.h"

#include <bit>

#include "operator/base/check.h"

namespace taas {

Permutation::Permutation(int64_t size, uint64_t key) : size_(size) {
  CHECK(size >= 1) << "a permutation of " << size;
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  for (size_t round = 0; round < keys_.size(); ++round) {
    keys_[round] = Mix(key + static_cast<uint64_t>(round) * kGolden);
  }
}

// Each round changes one half by a function of the other, so it can be undone: a permutation of [0,
// 2^bits). Values beyond the last are permuted again until they fall inside; as fewer than half of
// all values are outside, that takes less than two turns on average.
int64_t Permutation::At(int64_t place) const {
  const uint64_t left_mask = (uint64_t{1} << left_bits_) - 1;
  const uint64_t right_mask = (uint64_t{1} << right_bits_) - 1;
  uint64_t value = static_cast<uint64_t>(place);
  do {
    uint64_t left = value >> right_bits_;
    uint64_t right = value & right_mask;
    for (size_t round = 0; round < keys_.size(); round += 2) {
      left ^= Mix(keys_[round] + right) & left_mask;
      right ^= Mix(keys_[round + 1] + left) & right_mask;
    }
    value = (left << right_bits_) | right;
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

}  // namespace taas
