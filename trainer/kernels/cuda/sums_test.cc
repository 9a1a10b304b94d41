// Sums over neighbouring axes against the processor's, at odd sizes; every load and store is
// watched.

#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

using Ints = std::vector<int64_t>;

// Of sums, which are added up in another order.
constexpr double kTolerance = 1e-5;

struct Case {
  Ints shape;
  Ints axes;
};

void ExpectTwins(const Case& of) {
  for (const char* const op : {"ReduceSum", "ReduceMean"}) {
    ExpectTwin({.op = op,
                .inputs = {RandomFloats(Shape(of.shape), 1, -0.5, 1)},
                .attributes = {{"axes", of.axes}},
                .tolerance = kTolerance});
  }
}

TEST(SumsTest, OfRowsAreTheirTwins) {
  // By warps, by blocks, by parts.
  for (const Ints& shape : std::vector<Ints>{{0, 5},    {3, 0},     {1, 1},      {9, 1},
                                             {2, 31},   {8, 32},    {9, 33},     {3, 128},
                                             {65, 130}, {3, 129},   {2, 1'024},  {3, 1'025},
                                             {2, 8'193}}) {
    ExpectTwins({shape, {1}});
  }
}

TEST(SumsTest, OfColumnsAreTheirTwins) {
  for (const Ints& shape : std::vector<Ints>{{0, 5},   {5, 0},   {1, 2},    {3, 31},   {7, 32},
                                             {8, 33},  {9, 65},  {33, 2},   {40, 3},   {257, 10},
                                             {63, 16}, {64, 17}, {127, 33}, {300, 33}}) {
    ExpectTwins({shape, {0}});
  }
}

TEST(SumsTest, OfAxesInTheMiddleAreTheirTwins) {
  for (const Case& of : std::vector<Case>{{{2, 3, 4}, {1}},
                                          {{2, 3, 4}, {0, 1}},
                                          {{2, 3, 4}, {1, 2}},
                                          {{2, 3, 4}, {0, 1, 2}},
                                          {{2, 3, 4}, {}},
                                          {{}, {}},
                                          {{7}, {0}},
                                          {{3, 130, 5}, {1}},
                                          {{3, 130, 65}, {1}},
                                          {{2, 5, 3, 7}, {0, 1, 2}}}) {
    ExpectTwins(of);
  }
}

TEST(SumsTest, LossesOfAllElementsAreTheirTwins) {
  for (const int64_t n : {0, 1, 31, 32, 33, 127, 129, 1'023, 1'025, 8'200}) {
    for (const char* const op : {"L1Loss", "L2Loss"}) {
      ExpectTwin({.op = op, .inputs = {RandomFloats(Shape({n}), 1)}, .tolerance = kTolerance});
    }
  }
}

TEST(SumsTest, SumsAndLossesCostTwoLaunchesWhereOneBlockIsTooFew) {
  EXPECT_EQ(CostsOf({.op = "ReduceSum",
                     .inputs = {RandomFloats(Shape({10, 100}), 1)},
                     .attributes = {{"axes", Ints{1}}}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 40}));
  // Two parts, of which a block's eight warps add up; then they.
  EXPECT_EQ(CostsOf({.op = "L2Loss", .inputs = {RandomFloats(Shape({10'000}), 1)}}),
            (OpCosts{.launches = 2,
                     .barriers = 4,
                     .read_bytes = 40'000 + 2 * 256 * 8 * 4 + 8,
                     .written_bytes = 2 * 8 * 4 + 8 + 4}));
  // Eight parts, and then they; of each block its threads' sums lie in shared memory.
  EXPECT_EQ(CostsOf({.op = "ReduceSum",
                     .inputs = {RandomFloats(Shape({512, 32}), 1)},
                     .attributes = {{"axes", Ints{0}}}}),
            (OpCosts{.launches = 2,
                     .barriers = 9,
                     .read_bytes = 512 * 32 * 4 + 8 * 32 * 4 + 9 * 1'024,
                     .written_bytes = 8 * 32 * 4 + 32 * 4 + 9 * 1'024}));
}

TEST(ExpandTest, RepeatsAlongItsAxes) {
  struct Expanded {
    Ints x, shape, axes;
  };
  for (const Expanded& of : std::vector<Expanded>{{{}, {}, {}},
                                                  {{}, {2, 3}, {}},
                                                  {{5}, {0, 5}, {0}},
                                                  {{5}, {5, 0}, {1}},
                                                  {{5}, {7, 5}, {0}},
                                                  {{5}, {5, 7}, {1}},
                                                  {{33}, {33, 33}, {1}},
                                                  {{2, 4}, {2, 3, 4}, {1}},
                                                  {{3, 32}, {3, 11, 32}, {1}},
                                                  {{2, 7}, {2, 3, 5, 7}, {1, 2}}}) {
    for (const bool mean : {false, true}) {
      ExpectTwin({.op = "Expand",
                  .inputs = {RandomFloats(Shape(of.x), 1)},
                  .attributes = {{"shape", of.shape}, {"axes", of.axes}, {"mean", mean}}});
    }
  }
}

TEST(ExpandTest, EachElementIsWrittenOnce) {
  EXPECT_EQ(CostsOf({.op = "Expand",
                     .inputs = {RandomFloats(Shape({100}), 1)},
                     .attributes = {{"shape", Ints{10, 100}}, {"axes", Ints{0}}}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 4'000}));
}

}  // namespace
}  // namespace taas::cuda
