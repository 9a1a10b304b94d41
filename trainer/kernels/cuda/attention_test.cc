// Attention and its gradient against their twins on the processor: rows of a warp and of a block,
// heads of an example and a head of examples, and parts of the scores.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/attention_ops.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t examples, steps, heads, head;
  bool causal;
  double spread = 2;  // Of queries, keys and values.
};

OpCase Attention(const Size& of) {
  return {.op = "Attention",
          .inputs = {RandomFloats(Shape({of.examples, of.steps, 3 * of.heads * of.head}), 1,
                                  -of.spread, of.spread)},
          .attributes = {{"heads", of.heads}, {"causal", of.causal}},
          .tolerance = 1e-5};
}

OpCase AttentionGrad(const Size& of) {
  const OpCase forward = Attention(of);
  std::vector<HostTensor> outputs = OnGpu(forward);
  return {.op = "AttentionGrad",
          .inputs = {RandomFloats(outputs[0].type.shape, 2), forward.inputs[0], outputs[0],
                     outputs[1]},
          .attributes = forward.attributes,
          .tolerance = 1e-5};
}

void ExpectTwins(const Size& of, const KernelRegistry* kernels = nullptr, int orders = 4) {
  for (OpCase op : {Attention(of), AttentionGrad(of)}) {
    op.kernels = kernels;
    op.orders = orders;
    ExpectTwin(op);
    if (testing::Test::HasFailure()) {
      FAIL() << of.examples << " examples, " << of.steps << " steps, " << of.heads << " heads of "
             << of.head << ", causal " << of.causal;
    }
  }
}

TEST(AttentionTest, AndItsGradientAreTheirTwins) {
  for (const bool causal : {true, false}) {
    for (const int64_t steps : {1, 5, 33}) {
      for (const int64_t examples : {1, 3}) {
        for (const int64_t heads : {1, 3}) {
          ExpectTwins({examples, steps, heads, /*head=*/5, causal});
        }
      }
    }
    ExpectTwins({/*examples=*/2, /*steps=*/9, /*heads=*/3, /*head=*/33, causal});
    ExpectTwins({/*examples=*/3, /*steps=*/9, /*heads=*/2, /*head=*/40, causal});
  }
}

// On a card by plans of cuDNN, where it has some; the emulator's products are in floats. Bits of
// bfloat16 are 2⁻⁸, and roundings of queries, keys, values, shares and results add up.
TEST(AttentionTest, InBFloat16ItIsTheTwinButForRounding) {
  for (const Size& of : {Size{2, 17, 2, 64, true}, Size{2, 17, 2, 64, false},
                         Size{3, 8, 2, 8, true}, Size{1, 70, 1, 16, true}}) {
    for (OpCase op : {Attention(of), AttentionGrad(of)}) {
      op.products = Precision::kBFloat16;
      op.tolerance = 2e-2;
      op.orders = 2;
      ExpectTwin(op);
    }
  }
}

TEST(AttentionTest, NoExampleIsNothing) { ExpectTwins({0, 3, 2, 4, true}); }

// Scores far beyond what exp can take: their largest is taken from them first.
TEST(AttentionTest, LargeScoresDoNotOverflow) {
  OpCase forward = Attention({2, 17, 2, 6, true, /*spread=*/40});
  forward.tolerance = 1e-4;  // Scores of thousands have errors of as many more.
  ExpectTwin(forward);
}

// Of 258 keys, which a block's threads go round twice, and of fewer than it has threads.
TEST(AttentionTest, RowsOfManyKeysAreABlocks) {
  KernelRegistry kernels;
  AddAttentionKernels(&kernels, {.queries_max = 6, .warp_keys_max = 251});
  ExpectTwins({1, 258, 1, 2, true}, &kernels, /*orders=*/2);
  KernelRegistry blocks;
  AddAttentionKernels(&blocks, {.warp_keys_max = 8});
  ExpectTwins({2, 9, 2, 5, false}, &blocks);
}

// Blocks of three queries, the last of one; two heads of the three, or examples, have room.
TEST(AttentionTest, PartsComeToTheSame) {
  for (const int64_t of_score : {1, 2}) {
    KernelRegistry kernels;
    AddAttentionKernels(&kernels,
                        {.queries_max = 3, .scores_bytes_max = of_score * 2 * 3 * 7 * 4});
    for (const bool causal : {true, false}) {
      for (const Size& of : {Size{2, 7, 3, 5, causal}, Size{3, 7, 2, 5, causal}}) {
        OpCase op = of_score == 1 ? Attention(of) : AttentionGrad(of);
        op.kernels = &kernels;
        ExpectTwin(op);
        EXPECT_EQ(CostsOf(op).launches, 2 * 2 * 3 * (of_score == 1 ? 3 : 6));
      }
    }
  }
}

// Of the four scores of a head a causal query sees three: they are read three times, which the
// caches keep, and all four are written; backwards both are read once, with three numbers of dy and
// of y for each row. All lanes of a row's warp read its first score, or its sum, at once. A product
// is a launch, too.
TEST(AttentionTest, WhatNoQuerySeesIsNotRead) {
  const Size causal{1, /*steps=*/2, /*heads=*/2, /*head=*/3, true};
  constexpr int kRows = 2 * 2, kSeen = 2 * 3, kScores = 2 * 4, kLanes = 32;
  EXPECT_EQ(CostsOf(Attention(causal)), (OpCosts{.launches = 3,
                                                 .barriers = 0,
                                                 .read_bytes = (3 * kSeen + kRows * kLanes) * 4,
                                                 .written_bytes = (kScores + kRows) * 4}));
  EXPECT_EQ(CostsOf(AttentionGrad(causal)),
            (OpCosts{.launches = 6,
                     .barriers = 0,
                     .read_bytes = (2 * kSeen + 2 * 3 * kRows + kRows * kLanes) * 4,
                     .written_bytes = 2 * kScores * 4}));
}

}  // namespace
}  // namespace taas::cuda
