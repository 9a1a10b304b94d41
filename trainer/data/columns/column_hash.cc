#include "trainer/data/columns/column_hash.h"

#include <farmhash.h>

namespace taas {
namespace {

uint64_t ShiftMix(uint64_t value) { return value ^ (value >> 47); }

}  // namespace

uint64_t Fingerprint(std::string_view text) {
  return util::Fingerprint64(text.data(), text.size());
}

void Cross::Add(uint64_t value) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  uint64_t hash = hash_ ^ kMultiplier;
  hash ^= ShiftMix(value * kMultiplier) * kMultiplier;
  hash *= kMultiplier;
  hash = ShiftMix(hash) * kMultiplier;
  hash_ = ShiftMix(hash);
}

}  // namespace taas
