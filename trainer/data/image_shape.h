// How the numbers of one example are arranged, where they are an image.
//
// Ownership: value type. Threads: any. Errors: none.

#ifndef TRAINER_DATA_IMAGE_SHAPE_H_
#define TRAINER_DATA_IMAGE_SHAPE_H_

#include <cstdint>

namespace taas {

// Of the features of one example that are an image, row by row, the channels of a pixel side by
// side; zeroes where they are none or the format does not tell.
struct ImageShape {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t pixels() const { return height * width * channels; }
  bool operator==(const ImageShape&) const = default;
};

// What becomes of the byte of a pixel: byte · scale + offset.
struct PixelScale {
  float scale = 1.0f / 255.0f;
  float offset = 0;
};

}  // namespace taas

#endif  // TRAINER_DATA_IMAGE_SHAPE_H_
