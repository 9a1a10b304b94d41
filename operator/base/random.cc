#include "operator/base/random.h"

#include <sys/random.h>

namespace taas {

uint64_t Random::Below(uint64_t limit) {
  // Values at the top that would favour small results are drawn again.
  const uint64_t excess = (UINT64_MAX % limit + 1) % limit;
  uint64_t value = Next();
  while (value > UINT64_MAX - excess) value = Next();
  return value % limit;
}

uint64_t SeededRandom::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t SystemRandom::Next() {
  uint64_t value = 0;
  // Requests of up to 256 bytes are never cut short once the kernel's pool is ready.
  while (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
  }
  return value;
}

}  // namespace taas
