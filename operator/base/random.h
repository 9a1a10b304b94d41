// Random numbers as an interface, so that a seed repeats a run.
//
// Ownership: whoever makes a Random outlives its users. Threads: SystemRandom from any thread,
// SeededRandom from one. Errors: none.
//
//   SeededRandom random(seed);
//   const uint64_t die = 1 + random.Below(6);

#ifndef OPERATOR_BASE_RANDOM_H_
#define OPERATOR_BASE_RANDOM_H_

#include <cstdint>

namespace taas {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;
  // Uniform in [0, limit); `limit` is not 0.
  uint64_t Below(uint64_t limit);
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
};

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override;

 private:
  uint64_t state_;
};

// The kernel's entropy. For identities, not for experiments.
class SystemRandom : public Random {
 public:
  uint64_t Next() override;
};

}  // namespace taas

#endif  // OPERATOR_BASE_RANDOM_H_
