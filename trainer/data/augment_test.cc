#include "trainer/data/augment.h"

#include <map>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

constexpr ImageShape kShape{.height = 2, .width = 3, .channels = 2};
const std::vector<float> kImage = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::vector<float> Augment(const AugmentOptions& options, uint64_t seed) {
  std::vector<float> out(kImage.size());
  AugmentImage<float>(kShape, options, seed, -1, kImage, out);
  return out;
}

TEST(AugmentTest, NothingAskedForChangesNothing) {
  EXPECT_FALSE(AugmentOptions().any());
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(Augment({}, seed), kImage);
}

TEST(AugmentTest, FlipMirrorsEachRowAndKeepsItsPixels) {
  int mirrored = 0;
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    const std::vector<float> got = Augment({.flip = true}, seed);
    if (got == kImage) continue;
    ++mirrored;
    ASSERT_THAT(got, ElementsAre(5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8));
  }
  EXPECT_NEAR(mirrored, 500, 60);
}

// Where the first pixel of the image went tells the place; the rest must follow from it.
TEST(AugmentTest, CropTakesEveryPlaceOfThePaddedImageAlikeOften) {
  std::map<std::vector<float>, int> seen;
  for (uint64_t seed = 0; seed < 9'000; ++seed) ++seen[Augment({.crop_padding = 1}, seed)];
  std::set<std::vector<float>> want;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) {
      std::vector<float> image;
      for (int y = down; y < down + 2; ++y) {
        for (int x = right; x < right + 3; ++x) {
          const bool inside = y >= 0 && y < 2 && x >= 0 && x < 3;
          for (int c = 0; c < 2; ++c) {
            image.push_back(inside ? kImage[static_cast<size_t>((y * 3 + x) * 2 + c)] : -1);
          }
        }
      }
      want.insert(image);
    }
  }
  ASSERT_EQ(seen.size(), want.size());
  for (const auto& [image, count] : seen) {
    EXPECT_TRUE(want.contains(image)) << ::testing::PrintToString(image);
    EXPECT_NEAR(count, 1'000, 150);
  }
}

TEST(AugmentTest, OneOptionDoesNotChangeTheOther) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> both = Augment({.crop_padding = 1, .flip = true}, seed);
    const bool mirrored = Augment({.flip = true}, seed) != kImage;
    std::vector<float> crop = Augment({.crop_padding = 1}, seed);
    if (!mirrored) {
      EXPECT_EQ(both, crop);
      continue;
    }
    for (size_t row = 0; row < 2; ++row) {
      for (size_t c = 0; c < 2; ++c) std::swap(crop[row * 6 + c], crop[row * 6 + 4 + c]);
    }
    EXPECT_EQ(both, crop);
  }
}

TEST(AugmentTest, SeedsDifferByJobEpochAndExample) {
  std::set<uint64_t> seeds;
  for (uint64_t job = 0; job < 10; ++job) {
    for (int64_t epoch = 0; epoch < 10; ++epoch) {
      for (int64_t example = 0; example < 10; ++example) {
        seeds.insert(AugmentSeed({job, epoch, example}));
        EXPECT_EQ(AugmentSeed({job, epoch, example}), AugmentSeed({job, epoch, example}));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 1'000u);
}

}  // namespace
}  // namespace taas
