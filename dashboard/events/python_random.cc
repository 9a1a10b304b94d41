#include "dashboard/events/python_random.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

namespace taas::dashboard {

// `init_by_array` of the reference code, for the key {0}.
PythonRandom::PythonRandom() {
  state_[0] = 19650218;
  const auto mixed = [this](size_t i, uint32_t factor) {
    return (state_[i - 1] ^ state_[i - 1] >> 30) * factor;
  };
  for (size_t i = 1; i < kWords; ++i) {
    state_[i] = mixed(i, 1812433253) + static_cast<uint32_t>(i);
  }
  size_t i = 1;
  const auto advance = [this, &i] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (size_t round = 0; round < kWords; ++round) {
    state_[i] ^= mixed(i, 1664525);
    advance();
  }
  for (size_t round = 1; round < kWords; ++round) {
    state_[i] = (state_[i] ^ mixed(i, 1566083941)) - static_cast<uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000;
}

void PythonRandom::Twist() {
  constexpr size_t kAhead = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t joined =
        (state_[i] & 0x80000000) | (state_[(i + 1) % kWords] & 0x7fffffff);
    state_[i] = state_[(i + kAhead) % kWords] ^ joined >> 1 ^ ((joined & 1) != 0 ? 0x9908b0df : 0);
  }
  used_ = 0;
}

uint32_t PythonRandom::NextWord() {
  if (used_ == kWords) Twist();
  uint32_t word = state_[used_++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680;
  word ^= word << 15 & 0xefc60000;
  return word ^ word >> 18;
}

uint64_t PythonRandom::Below(uint64_t limit) {
  const int bits = std::bit_width(limit);
  for (;;) {
    uint64_t drawn = 0;
    if (bits <= 32) {
      drawn = NextWord() >> (32 - bits);
    } else {
      drawn = NextWord();
      drawn |= static_cast<uint64_t>(NextWord() >> (64 - bits)) << 32;
    }
    if (drawn < limit) return drawn;
  }
}

namespace {

// Where Python changes from a list of all that are left to a set of those that were drawn: by the
// memory that its set would take.
bool DrawsFromList(size_t size, size_t count) {
  size_t set_size = 21;
  if (count > 5) {
    size_t power = 1;
    while (power < count * 3) power *= 4;
    set_size += power;
  }
  return size <= set_size;
}

}  // namespace

std::vector<size_t> SortedSample(size_t size, size_t count) {
  PythonRandom random;
  std::vector<size_t> chosen;
  chosen.reserve(count);
  if (DrawsFromList(size, count)) {
    std::vector<size_t> left(size);
    std::iota(left.begin(), left.end(), size_t{0});
    while (chosen.size() < count) {
      const size_t drawn = random.Below(left.size());
      chosen.push_back(left[drawn]);
      left[drawn] = left.back();
      left.pop_back();
    }
  } else {
    std::unordered_set<size_t> drawn;
    while (chosen.size() < count) {
      const size_t index = random.Below(size);
      if (drawn.insert(index).second) chosen.push_back(index);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace taas::dashboard
