// Small random changes of images, by which a model learns from more than there are: a crop of the
// image with a margin around it, and its mirror image.
//
// What is drawn depends on nothing but the seed of the job, the epoch and the example: whichever
// replica trains it, and after whatever restart, it sees the same image.
//
// Ownership: pure functions over the caller's memory. Threads: any. Errors: none; CHECKed.
//
//   AugmentImage<float>(set.image(), {.crop_padding = 4, .flip = true},
//                       AugmentSeed({.job = seed, .epoch = 2, .example = 17}), 0, in, out);

#ifndef TRAINER_DATA_AUGMENT_H_
#define TRAINER_DATA_AUGMENT_H_

#include <cstdint>
#include <span>

#include "trainer/data/image_shape.h"

namespace taas {

struct AugmentOptions {
  // Pixels of margin on each side, from which a part of the image's own size is cut; 0: none.
  // Smaller than the image.
  int64_t crop_padding = 0;
  // Mirrored from left to right, every second one on average.
  bool flip = false;

  bool any() const { return crop_padding > 0 || flip; }
};

struct AugmentOf {
  uint64_t job = 0;
  int64_t epoch = 0;
  int64_t example = 0;
};
uint64_t AugmentSeed(const AugmentOf& of);

// `fill` is what the margin holds. `in` and `out` have shape.pixels() values and do not overlap. Of
// float and uint8_t.
template <typename T>
void AugmentImage(const ImageShape& shape, const AugmentOptions& options, uint64_t seed, T fill,
                  std::span<const T> in, std::span<T> out);

}  // namespace taas

#endif  // TRAINER_DATA_AUGMENT_H_
