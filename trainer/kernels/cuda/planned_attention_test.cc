// Attention in bfloat16 by plans of a device, that of the driver and the cuDNN which stand for
// NVIDIA's, against the processor's in floats. With the cases of attention_test, which are linked
// in.

#include "trainer/kernels/cuda/planned_attention.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/attention_ops.h"
#include "trainer/kernels/cuda/fused_attention.h"
#include "trainer/kernels/cuda/testing/card_twin.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

// On which all cases of this program run.
class Card : public testing::Environment {
 public:
  void SetUp() override {
    gpu_ = std::make_unique<fake::FakeGpu>();
    twins_ = std::make_unique<CardTwins>(gpu_->device());
  }
  void TearDown() override {
    twins_.reset();
    gpu_->Close();
    EXPECT_EQ(gpu_->left(), fake::FakeCudaLeft{});
  }
  int Calls(const std::string& function) const { return gpu_->Calls(function); }

 private:
  std::unique_ptr<fake::FakeGpu> gpu_;
  std::unique_ptr<CardTwins> twins_;
};
const Card& kCard = *static_cast<const Card*>(testing::AddGlobalTestEnvironment(
    std::make_unique<Card>().release()));

struct Size {
  int64_t examples, steps, heads, head;
  bool causal;
};

// Products of the twin are in floats; bits of bfloat16 are 2⁻⁸, and roundings of queries, keys,
// values, shares and results add up.
constexpr double kTolerance = 2e-2;

std::vector<OpCase> CasesOf(const Size& of) {
  const Shape qkv({of.examples, of.steps, 3 * of.heads * of.head});
  OpCase forward{.op = "Attention",
                 .inputs = {RandomFloats(qkv, 1)},
                 .attributes = {{"heads", of.heads}, {"causal", of.causal}},
                 .tolerance = kTolerance,
                 .products = Precision::kBFloat16};
  const std::vector<HostTensor> outputs = OnGpu(forward);
  OpCase backward = forward;
  backward.op = "AttentionGrad";
  backward.inputs = {RandomFloats(outputs[0].type.shape, 2), forward.inputs[0], outputs[0],
                     outputs[1]};
  return {forward, backward};
}

TEST(PlannedAttentionTest, PlansComeToWhatTheProcessorDoes) {
  for (const Size& of : {Size{2, 7, 3, 8, true}, Size{2, 7, 3, 8, false}, Size{1, 33, 1, 64, true},
                         Size{3, 4, 2, 128, true}}) {
    const int executed = kCard.Calls("cudnnBackendExecute");
    for (const OpCase& op : CasesOf(of)) ExpectTwin(op);
    EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed + 1 + 2 * 2)
        << "each case runs twice, and one is the other's";
  }
}

// To round, to attend, to widen.
TEST(PlannedAttentionTest, EachIsThreeLaunches) {
  for (const OpCase& op : CasesOf({2, 5, 2, 16, true})) EXPECT_EQ(CostsOf(op).launches, 3) << op.op;
}

TEST(PlannedAttentionTest, OnlyProductsInBFloat16ArePlannedAndOnlyWhereSomebodyWants) {
  KernelRegistry unplanned;
  AddAttentionKernels(&unplanned, {.planned = false});
  const std::vector<OpCase> cases = CasesOf({2, 5, 2, 8, true});
  const int executed = kCard.Calls("cudnnBackendExecute");
  for (OpCase op : cases) {
    op.kernels = &unplanned;
    ExpectTwin(op);
    op.kernels = nullptr;
    for (const Precision products : {Precision::kFloat32, Precision::kTf32}) {
      op.products = products;
      ExpectTwin(op);
    }
  }
  EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed);
}

// The library has no plan for heads of five numbers, and nothing is attended to by nobody.
TEST(PlannedAttentionTest, WhatHasNoPlanIsComputedByProducts) {
  const int executed = kCard.Calls("cudnnBackendExecute");
  for (const Size& of : {Size{2, 7, 3, 5, true}, Size{0, 7, 3, 8, true}}) {
    for (const OpCase& op : CasesOf(of)) ExpectTwin(op);
  }
  EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed);
}

AttentionShape Shaped(int64_t examples, int64_t steps, int64_t heads) {
  return {.part = AttentionPart::kGradients,
          .examples = examples,
          .steps = steps,
          .heads = heads,
          .head = 64};
}

TEST(ExamplesAtOnceTest, AsManyAsHaveRoomInPartsOfOneSize) {
  // GPT-2: 24 MiB of an example.
  EXPECT_EQ(ExamplesAtOnce(Shaped(8, 1'024, 12)), 8);
  EXPECT_EQ(ExamplesAtOnce(Shaped(32, 1'024, 12)), 8);
  EXPECT_EQ(ExamplesAtOnce(Shaped(12, 1'024, 12)), 6);
  EXPECT_EQ(ExamplesAtOnce(Shaped(13, 1'024, 12)), 1);
  EXPECT_EQ(ExamplesAtOnce(Shaped(2, 16'384, 12)), 1) << "the device may say no";
  // Steps are rounded up to tiles: of 10 steps, 64 by 128.
  EXPECT_EQ(ExamplesAtOnce(Shaped(4, 10, 2), /*scores_bytes_max=*/4 * 2 * 64 * 128 * 2), 4);
  EXPECT_EQ(ExamplesAtOnce(Shaped(4, 10, 2), /*scores_bytes_max=*/4 * 2 * 64 * 128 * 2 - 1), 2);
  // Log sums of an example are 4 · 21 bytes: those of the second would begin where no plan wants.
  EXPECT_EQ(ExamplesAtOnce(Shaped(8, 7, 3), /*scores_bytes_max=*/1), 8);
  EXPECT_EQ(ExamplesAtOnce(Shaped(8, 7, 3), /*scores_bytes_max=*/4 * 3 * 64 * 128 * 2), 4);
}

}  // namespace
}  // namespace taas::cuda
