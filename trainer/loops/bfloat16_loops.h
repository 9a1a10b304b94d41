// Float32 numbers as bfloat16, the upper half of a float32: the same range with 8 significant bits.
// One version per instruction set, as loops.h has them; all give the same bits.
//
// Ownership: none. Threads: any. Errors: none.
//
//   BestBFloat16Loops().round(gradients, narrow, n);

#ifndef TRAINER_LOOPS_BFLOAT16_LOOPS_H_
#define TRAINER_LOOPS_BFLOAT16_LOOPS_H_

#include <bit>
#include <cstdint>
#include <span>

namespace taas {

// To nearest, ties to even; NaN and infinities stay.
inline uint16_t RoundToBFloat16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  constexpr uint32_t kInfinity = 0x7F800000, kSign = 0x80000000, kQuiet = 0x40;
  if ((bits & ~kSign) > kInfinity) return static_cast<uint16_t>(bits >> 16 | kQuiet);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float FromBFloat16(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }

struct BFloat16Loops {
  // As RoundToBFloat16.
  void (*round)(const float* x, uint16_t* out, int64_t n);
  void (*widen)(const uint16_t* x, float* out, int64_t n);
  // sum += x, in float32.
  void (*add)(const uint16_t* x, float* sum, int64_t n);
};

const BFloat16Loops& BestBFloat16Loops();
// All versions that this machine can run, the baseline first. For tests.
std::span<const BFloat16Loops* const> SupportedBFloat16Loops();

}  // namespace taas

#endif  // TRAINER_LOOPS_BFLOAT16_LOOPS_H_
