// Images of handwritten-looking digits, drawn from a seed: what the main example trains on where
// there is no network and no MNIST.
//
// Each image is one of several ways to write a digit, as strokes whose points move a little, bent,
// turned, sheared, scaled and shifted at random, drawn with a random pen and noise. The difficulty
// is fixed by digits_test: a softmax regression stays below 0.93, a multilayer perceptron is well
// above it.
//
// Ownership: the caller owns the result. Threads: any. Errors: none.
//
//   const DigitImages digits = DrawDigits({.seed = 1, .count = 10000});

#ifndef TRAINER_DATA_GENERATED_DIGITS_H_
#define TRAINER_DATA_GENERATED_DIGITS_H_

#include <cstdint>
#include <vector>

namespace taas {

inline constexpr int kDigitSide = 28;
inline constexpr int kDigitPixels = kDigitSide * kDigitSide;
inline constexpr int kDigitClasses = 10;

struct DigitImages {
  std::vector<uint8_t> pixels;  // kDigitPixels per image, row by row, 255 is ink.
  std::vector<uint8_t> labels;
};

struct DigitOptions {
  uint64_t seed = 0;
  int64_t first = 0;  // Image i of a seed is the same wherever a call begins.
  int64_t count = 0;
};

DigitImages DrawDigits(const DigitOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_GENERATED_DIGITS_H_
