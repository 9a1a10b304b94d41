#include "bench/gpu/attention_cases.h"

namespace taas::bench {
namespace {

using cuda::AttentionPart;
using cuda::AttentionShape;

KernelInput Floats(const Shape& shape) { return {.type = {DType::kFloat32, shape}}; }

}  // namespace

std::vector<AttentionCase> AttentionCases(Size size) {
  std::vector<AttentionCase> models = {
      {.name = "GPT-2, 8 x 1024",
       .shape = {.examples = 8, .steps = 1'024, .heads = 12, .head = 64}},
      {.name = "GPT-2, 32 x 256",
       .shape = {.examples = 32, .steps = 256, .heads = 12, .head = 64}},
      {.name = "heads of 128, 4 x 2048",
       .shape = {.examples = 4, .steps = 2'048, .heads = 16, .head = 128}}};
  std::vector<AttentionCase> cases;
  for (AttentionCase of : models) {
    if (size == Size::kSmall) of.shape = {.examples = 2, .steps = 6, .heads = 2, .head = 8};
    for (const AttentionPart part : {AttentionPart::kOutputs, AttentionPart::kGradients}) {
      of.shape.part = part;
      cases.push_back(of);
    }
  }
  return cases;
}

KernelCase KernelOf(const AttentionCase& of) {
  const AttentionShape& s = of.shape;
  const KernelInput qkv = Floats(Shape({s.examples, s.steps, 3 * s.width()}));
  const KernelInput y = Floats(Shape({s.examples, s.steps, s.width()}));
  KernelCase kernel{.name = of.name,
                    .op = "Attention",
                    .inputs = {qkv},
                    .attributes = {{"heads", s.heads}, {"causal", s.causal}},
                    .products = Precision::kBFloat16};
  if (s.part == AttentionPart::kGradients) {
    kernel.op = "AttentionGrad";
    kernel.inputs = {y, qkv, y, Floats(Shape({s.examples, s.heads, s.steps}))};
  }
  return kernel;
}

int64_t FlopOf(const AttentionCase& of) {
  const AttentionShape& s = of.shape;
  const int64_t products = s.part == AttentionPart::kOutputs ? 2 : 5;
  const int64_t all = 2 * products * s.examples * s.heads * s.steps * s.steps * s.head;
  return s.causal ? all / 2 : all;
}

}  // namespace taas::bench
