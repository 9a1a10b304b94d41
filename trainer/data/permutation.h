// A seeded permutation of 0 … size - 1 without a table: a Feistel network with cycle walking, so
// there is nothing to compute before the first question and nothing to keep.
//
// Ownership: value type. Threads: const methods from any thread. Errors: none; CHECKed.
//
//   const Permutation order(examples, Mix(seed));
//   order.At(0);  // Which example comes first.

#ifndef TRAINER_DATA_PERMUTATION_H_
#define TRAINER_DATA_PERMUTATION_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace taas {

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// The finaliser of SplitMix64: every bit of the result depends on every bit of `x`.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Permutation {
 public:
  // `size` is at least 1.
  Permutation(int64_t size, uint64_t key);

  int64_t size() const { return size_; }
  // `place` is in [0, size).
  int64_t At(int64_t place) const;

 private:
  // Four rounds of a good round function already pass for random; two more cost nothing here.
  static constexpr size_t kRounds = 6;

  int64_t size_;
  int left_bits_ = 0;
  int right_bits_ = 0;
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace taas

#endif  // TRAINER_DATA_PERMUTATION_H_
