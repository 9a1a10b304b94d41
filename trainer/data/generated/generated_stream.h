// What makers of data draw from: a stream of random numbers for each purpose and example.
//
// Ownership: values. Threads: any. Errors: none.
//
//   SeededRandom random = ExampleStream(seed, 17);
//   const float noise = Gaussian(random);

#ifndef TRAINER_DATA_GENERATED_GENERATED_STREAM_H_
#define TRAINER_DATA_GENERATED_GENERATED_STREAM_H_

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "operator/base/random.h"

namespace taas {

// Streams that must not meet: the truth, of which there may be several, and each example's own.
inline constexpr uint64_t kTruthStream = 0x7472757468;
inline constexpr uint64_t kExampleStream = 0x6578616d706c65;

// Box-Muller.
inline float Gaussian(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.Unit()));
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * random.Unit()));
}

inline SeededRandom NumberedStream(uint64_t seed, uint64_t stream, uint64_t number) {
  SeededRandom mix(seed ^ stream);
  return SeededRandom(mix.Next() + number * 0xd1342543de82ef95);
}

inline SeededRandom ExampleStream(uint64_t seed, int64_t example) {
  return NumberedStream(seed, kExampleStream, static_cast<uint64_t>(example));
}

// `count` of the truth that has this number.
inline std::vector<float> TruthGaussians(uint64_t seed, uint64_t number, int64_t count) {
  SeededRandom random = NumberedStream(seed, kTruthStream, number);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = Gaussian(random);
  return values;
}

}  // namespace taas

#endif  // TRAINER_DATA_GENERATED_GENERATED_STREAM_H_
