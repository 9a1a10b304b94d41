// Toy data made from a seed: for tests, for examples without files, and to see a trainer run at
// all.
//
// Classification: one random centre per class, examples scattered around it. Regression: targets
// are a random linear function of random features plus a little noise. Waves: images, or sequences
// of vectors, of plane waves with noise; the class is a wave's direction and length, and its phase
// is random, so that no class has a centre and no linear model tells them apart.
//
// Ownership: the caller owns the result. Threads: any. Errors: none; CHECKs its options.
//
//   Dataset train = GenerateClassification(
//       {.seed = 1, .examples = 1000, .features = 20, .classes = 3});

#ifndef TRAINER_DATA_GENERATED_GENERATED_H_
#define TRAINER_DATA_GENERATED_GENERATED_H_

#include <cstdint>

#include "trainer/data/dataset.h"

namespace taas {

struct GeneratedOptions {
  uint64_t seed = 0;
  // Examples are drawn from here on: train and test sets of one seed share their truth, not
  // examples.
  int64_t first = 0;
  int64_t examples = 0;
  int64_t features = 0;
  int32_t classes = 0;  // 0 for regression.
  ImageShape image{};   // Of waves; else unused.
};

// classes ≥ 1. A softmax regression gets nearly all of them right, chance a 1/classes.
Dataset GenerateClassification(const GeneratedOptions& options);
// classes ≥ 1; image.pixels() is `features`.
Dataset GenerateWaves(const GeneratedOptions& options);
// One target per example; the best possible mean squared error is kRegressionNoise².
Dataset GenerateRegression(const GeneratedOptions& options);

inline constexpr float kRegressionNoise = 0.1f;

}  // namespace taas

#endif  // TRAINER_DATA_GENERATED_GENERATED_H_
