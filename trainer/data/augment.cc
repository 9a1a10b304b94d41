#include "trainer/data/augment.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/random.h"

namespace taas {

// Each number goes through the generator before the next is added, so that neighbouring examples
// and epochs have nothing in common.
uint64_t AugmentSeed(const AugmentOf& of) {
  const uint64_t job = SeededRandom(of.job).Next();
  const uint64_t epoch = SeededRandom(job + static_cast<uint64_t>(of.epoch)).Next();
  return SeededRandom(epoch + static_cast<uint64_t>(of.example)).Next();
}

namespace {

struct Move {
  int64_t right = 0;  // By how much the part that is cut out lies to the right.
  bool mirrored = false;
};

// Margin, the part of the row that is in the image, margin.
template <typename T>
void CopyRow(const ImageShape& shape, const T* from, const Move& move, T fill, T* to) {
  const int64_t width = shape.width, channels = shape.channels;
  // The margin on the right of what is cut out is on the left of its mirror image.
  const int64_t shift = move.mirrored ? -move.right : move.right;
  const int64_t begin = std::clamp<int64_t>(-shift, 0, width);
  const int64_t end = std::clamp<int64_t>(width - shift, 0, width);
  std::fill_n(to, begin * channels, fill);
  std::fill_n(to + end * channels, (width - end) * channels, fill);
  if (!move.mirrored) {
    std::copy_n(from + (begin + shift) * channels, (end - begin) * channels, to + begin * channels);
    return;
  }
  const T* const last = from + (width - begin - shift) * channels;
  to += begin * channels;
  if (channels == 1) {
    std::reverse_copy(last - (end - begin), last, to);
    return;
  }
  const T* pixel = last;
  for (int64_t x = begin; x < end; ++x) {
    pixel -= channels;
    for (int64_t channel = 0; channel < channels; ++channel) *to++ = pixel[channel];
  }
}

}  // namespace

template <typename T>
void AugmentImage(const ImageShape& shape, const AugmentOptions& options, uint64_t seed, T fill,
                  std::span<const T> in, std::span<T> out) {
  CHECK(std::ssize(in) == shape.pixels() && in.size() == out.size())
      << in.size() << " values of an image of " << shape.pixels();
  SeededRandom random(seed);
  const int64_t padding = options.crop_padding;
  // All are drawn, also what is not used: one option does not change what another does.
  const uint64_t places = 2 * static_cast<uint64_t>(padding) + 1;
  const int64_t down = static_cast<int64_t>(random.Below(places)) - padding;
  const int64_t right = static_cast<int64_t>(random.Below(places)) - padding;
  const bool mirrored = random.Below(2) == 1 && options.flip;
  const int64_t row = shape.width * shape.channels;
  T* to = out.data();
  for (int64_t y = 0; y < shape.height; ++y, to += row) {
    const int64_t from_y = y + down;
    if (from_y < 0 || from_y >= shape.height) {
      std::fill_n(to, row, fill);
      continue;
    }
    CopyRow(shape, in.data() + from_y * row, {.right = right, .mirrored = mirrored}, fill, to);
  }
}

template void AugmentImage(const ImageShape&, const AugmentOptions&, uint64_t, float,
                           std::span<const float>, std::span<float>);
template void AugmentImage(const ImageShape&, const AugmentOptions&, uint64_t, uint8_t,
                           std::span<const uint8_t>, std::span<uint8_t>);

}  // namespace taas
