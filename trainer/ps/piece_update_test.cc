// Updates by gradients that list rows beside those by whole gradients: the same bits, for every
// rule and any mixture.

#include "trainer/ps/piece_update.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas::ps {
namespace {

using Floats = std::vector<float>;

struct Pushed {
  Floats whole, packed;
  std::vector<int32_t> ids;

  PieceGradient Whole() const { return {.values = whole}; }
  PieceGradient Rows(size_t width) const {
    return {.values = packed, .rows = GradientRows{.width = width, .ids = ids}};
  }
};

Pushed RandomPush(SeededRandom& random, size_t rows, size_t width, uint64_t lookups) {
  std::set<int32_t> ids;
  while (lookups-- > 0) ids.insert(static_cast<int32_t>(random.Below(rows)));
  Pushed pushed{.whole = Floats(rows * width), .packed = {}, .ids = {ids.begin(), ids.end()}};
  for (const int32_t id : pushed.ids) {
    for (size_t i = 0; i < width; ++i) {
      pushed.packed.push_back(static_cast<float>(2 * random.Unit() - 1));
      pushed.whole[static_cast<size_t>(id) * width + i] = pushed.packed.back();
    }
  }
  return pushed;
}

// Values and slots of a piece.
struct Held {
  std::vector<Floats> arrays, next;

  Held(const Optimizer& optimizer, size_t elements) : arrays{Floats(elements, 0.5f)} {
    for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
      arrays.emplace_back(elements, optimizer.slot_start(slot));
    }
    next = arrays;
  }
  void Update(const Optimizer& optimizer, const std::vector<PieceGradient>& gradients,
              int64_t step, bool in_place) {
    std::vector<Floats>& out = in_place ? arrays : next;
    for (Floats& array : next) std::ranges::fill(array, 77.0f);
    UpdatePiece(optimizer, gradients,
                {.in = arrays[0],
                 .out = out[0],
                 .slots_in = std::vector<std::span<const float>>(arrays.begin() + 1, arrays.end()),
                 .slots_out = std::vector<std::span<float>>(out.begin() + 1, out.end()),
                 .step = step});
    if (!in_place) std::swap(arrays, next);
  }
};

class PieceUpdateTest : public testing::TestWithParam<const char*> {};

TEST_P(PieceUpdateTest, AnyMixtureOfRowsAndWholeGradientsMakesTheSameBits) {
  const auto optimizer =
      Optimizer::Make({.name = GetParam(), .learning_rate = {.start = 0.1}});
  ASSERT_THAT(optimizer, IsOk());
  struct Case {
    size_t rows, width;
  };
  // Below and above the blocks in which means are made, of which rows lie across the borders.
  for (const Case& c : {Case{1, 1}, Case{7, 3}, Case{53, 17}, Case{1000, 16}, Case{777, 13}}) {
    for (const size_t pushes : {1, 2, 3, 5}) {
      SeededRandom random(c.rows + pushes);
      Held whole(**optimizer, c.rows * c.width), listed = whole, mixed = whole;
      for (int64_t step = 1; step <= 20; ++step) {
        std::vector<Pushed> pushed;
        std::vector<PieceGradient> all, rows, some;
        for (size_t i = 0; i < pushes; ++i) {
          pushed.push_back(RandomPush(random, c.rows, c.width, random.Below(40)));
        }
        for (const Pushed& push : pushed) {
          all.push_back(push.Whole());
          rows.push_back(push.Rows(c.width));
          some.push_back(random.Below(2) == 0 ? all.back() : rows.back());
        }
        whole.Update(**optimizer, all, step, /*in_place=*/true);
        listed.Update(**optimizer, rows, step, /*in_place=*/step % 2 == 0);
        mixed.Update(**optimizer, some, step, /*in_place=*/step % 3 == 0);
        for (size_t i = 0; i < whole.arrays.size(); ++i) {
          const size_t bytes = whole.arrays[i].size() * sizeof(float);
          ASSERT_EQ(std::memcmp(whole.arrays[i].data(), listed.arrays[i].data(), bytes), 0)
              << c.rows << " x " << c.width << ", " << pushes << " pushes, step " << step;
          ASSERT_EQ(std::memcmp(whole.arrays[i].data(), mixed.arrays[i].data(), bytes), 0)
              << c.rows << " x " << c.width << ", " << pushes << " pushes, step " << step;
        }
      }
    }
  }
}

// Of 64 MiB and more: what is updated out of place goes past the caches.
TEST(LargePieceUpdateTest, OutOfPlaceMakesTheSameBits) {
  const auto optimizer =
      Optimizer::Make({.name = "adagrad", .learning_rate = {.start = 0.1}, .average_decay = 0.9});
  ASSERT_THAT(optimizer, IsOk());
  constexpr size_t kElements = (size_t{1} << 24) + 3;
  SeededRandom random(5);
  Floats gradient(kElements);
  for (float& value : gradient) value = static_cast<float>(random.Below(1000)) - 500;
  Held in_place(**optimizer, kElements), beside = in_place;
  for (const size_t pushes : {1, 2}) {
    const std::vector<PieceGradient> gradients(pushes, PieceGradient{.values = gradient});
    const auto step = static_cast<int64_t>(pushes);
    in_place.Update(**optimizer, gradients, step, /*in_place=*/true);
    beside.Update(**optimizer, gradients, step, /*in_place=*/false);
    for (size_t i = 0; i < in_place.arrays.size(); ++i) {
      ASSERT_TRUE(in_place.arrays[i] == beside.arrays[i]) << pushes << " pushes, array " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, PieceUpdateTest,
                         testing::Values("sgd", "adagrad", "ftrl", "momentum", "adam"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace taas::ps
