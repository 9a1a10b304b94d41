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

void AugmentImage(const ImageShape& shape, const AugmentOptions& options, uint64_t seed, float fill,
                  std::span<const float> in, std::span<float> out) {
  CHECK(std::ssize(in) == shape.pixels() && in.size() == out.size())
      << in.size() << " values of an image of " << shape.pixels();
  SeededRandom random(seed);
  const int64_t padding = options.crop_padding;
  // All are drawn, also what is not used: one option does not change what another does.
  const uint64_t places = 2 * static_cast<uint64_t>(padding) + 1;
  const int64_t down = static_cast<int64_t>(random.Below(places)) - padding;
  const int64_t right = static_cast<int64_t>(random.Below(places)) - padding;
  const bool mirrored = random.Below(2) == 1 && options.flip;
  float* to = out.data();
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x, to += shape.channels) {
      const int64_t from_y = y + down;
      const int64_t from_x = (mirrored ? shape.width - 1 - x : x) + right;
      if (from_y < 0 || from_y >= shape.height || from_x < 0 || from_x >= shape.width) {
        std::fill_n(to, shape.channels, fill);
      } else {
        std::copy_n(in.data() + (from_y * shape.width + from_x) * shape.channels, shape.channels,
                    to);
      }
    }
  }
}

}  // namespace taas
