#include "trainer/kernels/cuda/attention_ops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/planned_attention.h"
#include "trainer/kernels/cuda/product_ops.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

// One attention op with its shape, and how it is cut into parts.
struct Shaped {
  int64_t examples = 0, steps = 0, heads = 0;
  int64_t width = 0;  // Of all heads.
  bool causal = true;
  Precision precision = Precision::kFloat32;
  int64_t queries = 0;   // Of a block; the last may have fewer.
  int64_t at_once = 0;   // Heads.
  size_t workspace = 0;  // Bytes, of the products.
  int64_t warp_keys_max = 0;

  int64_t head() const { return width / heads; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head())); }
  // Whether a product is of heads of one example, rather than of one head of examples.
  bool of_heads() const { return heads >= examples; }
  int64_t most() const { return std::max(heads, examples); }
  int64_t least() const { return std::min(heads, examples); }
  int64_t blocks() const { return (steps + queries - 1) / queries; }
  // Of a part, without its gradients.
  size_t scores_bytes() const {
    return Aligned(static_cast<size_t>(at_once * queries * steps) * sizeof(float));
  }
};

// `of_score`: numbers that there are for each.
Shaped ShapedOf(const KernelSpec& spec, const Shape& qkv, const AttentionLimits& limits,
                int64_t of_score) {
  Shaped s{.examples = qkv.dim(0),
           .steps = qkv.dim(1),
           .heads = spec.attributes.Int("heads"),
           .width = qkv.dim(2) / 3,
           .causal = spec.attributes.Bool("causal"),
           .precision = spec.products,
           .warp_keys_max = limits.warp_keys_max};
  s.queries = std::min(s.steps, limits.queries_max);
  const int64_t of_one = of_score * s.queries * s.steps * static_cast<int64_t>(sizeof(float));
  s.at_once = std::clamp<int64_t>(limits.scores_bytes_max / of_one, 1, s.most());
  s.workspace = WorkspaceBytesFor(s.at_once * s.steps, std::max(s.queries, s.head()));
  return s;
}

// Some heads, of each of which a block of queries, and where they lie.
struct Part {
  int64_t count = 0;  // Of heads.
  int64_t first = 0, queries = 0;
  int64_t keys = 0;  // That one of them sees.
  bool last = false;  // Of the blocks.
  int64_t qkv = 0, y = 0, log_sums = 0;  // Of the first head and its step 0.

  ScoreRows rows(const Shaped& s) const {
    return {.rows = count * queries,
            .queries = queries,
            .keys = keys,
            .first = first,
            .causal = s.causal};
  }
};

Part PartAt(const Shaped& s, int64_t outer, int64_t inner, int64_t block) {
  const int64_t example = s.of_heads() ? outer : inner;
  const int64_t head = s.of_heads() ? inner : outer;
  Part part{.count = std::min(s.at_once, s.most() - inner), .first = block * s.queries};
  part.queries = std::min(s.queries, s.steps - part.first);
  part.last = part.first + part.queries == s.steps;
  part.keys = s.causal ? part.first + part.queries : s.steps;
  part.y = example * s.steps * s.width + head * s.head();
  part.qkv = part.y + 2 * example * s.steps * s.width;
  part.log_sums = (example * s.heads + head) * s.steps;
  return part;
}

// Calls `step` with each part. The last block of queries comes first: it sees all keys, and sums
// over queries begin with it.
template <typename Step>
absl::Status ForParts(const Shaped& s, Step step) {
  for (int64_t outer = 0; outer < s.least(); ++outer) {
    for (int64_t inner = 0; inner < s.most(); inner += s.at_once) {
      for (int64_t block = s.blocks(); block-- > 0;) {
        RETURN_IF_ERROR(step(PartAt(s, outer, inner, block)));
      }
    }
  }
  return absl::OkStatus();
}

// How the matrices of a part's heads lie.
struct Lie {
  int64_t row, apart;
};
struct Lies {
  Lie a, b, c;
};

// Also in gradients of them.
Lie InQkv(const Shaped& s) {
  return {3 * s.width, s.of_heads() ? s.head() : s.steps * 3 * s.width};
}
Lie InY(const Shaped& s) { return {s.width, s.of_heads() ? s.head() : s.steps * s.width}; }
Lie InScores(const Part& part) { return {part.keys, part.queries * part.keys}; }

Grid SoftmaxGrid(const Part& part, bool of_warps) {
  return ForTeams(part.count * part.queries, of_warps ? kWarpsOfBlock : 1);
}

int64_t LogSumsApart(const Shaped& s) { return s.of_heads() ? s.steps : s.heads * s.steps; }

// The products of all heads of a part.
class Products {
 public:
  Products(const KernelCall& call, const Shaped& s, const Part& part, void* workspace)
      : call_(call), shaped_(s), part_(part), workspace_(workspace) {}

  // Of queries with keys, or of dy with values.
  absl::Status Scores(const float* a, const Lie& a_lie, const float* b, float* scores) const {
    return Run({.m = part_.queries, .n = part_.keys, .k = shaped_.head(), .transpose_b = true,
                .a = a, .b = b, .c = scores},
               {a_lie, InQkv(shaped_), InScores(part_)});
  }
  // Of scores with values or keys.
  absl::Status ByQuery(const float* scores, const float* b, float* c, const Lie& c_lie) const {
    return Run({.m = part_.queries, .n = shaped_.head(), .k = part_.keys, .a = scores, .b = b,
                .c = c},
               {InScores(part_), InQkv(shaped_), c_lie});
  }
  // Of scores with dy or queries, added up over the blocks.
  absl::Status ByKey(const float* scores, const float* b, const Lie& b_lie, float* c) const {
    return Run({.m = part_.keys, .n = shaped_.head(), .k = part_.queries, .transpose_a = true,
                .adds = !part_.last, .a = scores, .b = b, .c = c},
               {InScores(part_), b_lie, InQkv(shaped_)});
  }

 private:
  absl::Status Run(Product product, const Lies& lies) const {
    product.a_row = lies.a.row;
    product.b_row = lies.b.row;
    product.c_row = lies.c.row;
    product.batch = part_.count;
    product.a_apart = lies.a.apart;
    product.b_apart = lies.b.apart;
    product.c_apart = lies.c.apart;
    product.precision = shaped_.precision;
    product.workspace = workspace_;
    product.workspace_bytes = shaped_.workspace;
    return Multiply(call_, product);
  }

  const KernelCall& call_;
  const Shaped& shaped_;
  const Part& part_;
  void* const workspace_;
};

// inputs: qkv; outputs: y, log sums.
absl::Status Forward(const KernelCall& call, const Shaped& s, const Part& part) {
  auto* const scratch = static_cast<std::byte*>(call.scratch);
  auto* const scores = reinterpret_cast<float*>(scratch);
  const Products products(call, s, part, scratch + s.scores_bytes());
  const float* const q = call.in(0) + part.qkv;
  const float* const k = q + s.width;
  const float* const v = k + s.width;
  RETURN_IF_ERROR(products.Scores(q + part.first * InQkv(s).row, InQkv(s), k, scores));
  const bool of_warps = part.keys <= s.warp_keys_max;
  RETURN_IF_ERROR(Launch(call, of_warps ? kAttentionWarpKernel : kAttentionBlockKernel,
                         SoftmaxGrid(part, of_warps),
                         {.scores = scores,
                          .log_sums = call.out(1) + part.log_sums + part.first,
                          .log_sums_apart = LogSumsApart(s),
                          .scale = s.scale(),
                          .rows = part.rows(s)}));
  return products.ByQuery(scores, v, call.out() + part.y + part.first * s.width, InY(s));
}

// inputs: dy, qkv, y, log sums. dV += Pᵀ dY; dP = dY Vᵀ; dS = P · (dP - Σ dY·Y) · scale;
// dQ = dS K; dK += dSᵀ Q.
absl::Status Backward(const KernelCall& call, const Shaped& s, const Part& part) {
  auto* const scratch = static_cast<std::byte*>(call.scratch);
  auto* const p = reinterpret_cast<float*>(scratch);
  auto* const dp = reinterpret_cast<float*>(scratch + s.scores_bytes());
  const Products products(call, s, part, scratch + 2 * s.scores_bytes());
  const Lie qkv = InQkv(s);
  const float* const keys = call.in(1) + part.qkv + s.width;
  const float* const values = keys + s.width;
  const float* const q = call.in(1) + part.qkv + part.first * qkv.row;
  float* const dkeys = call.out() + part.qkv + s.width;
  float* const dvalues = dkeys + s.width;
  const int64_t y = part.y + part.first * s.width;
  const float* const dy = call.in(0) + y;
  RETURN_IF_ERROR(products.Scores(q, qkv, keys, p));
  RETURN_IF_ERROR(products.Scores(dy, InY(s), values, dp));
  const bool of_warps = part.keys <= s.warp_keys_max;
  RETURN_IF_ERROR(Launch(
      call, of_warps ? kAttentionGradWarpKernel : kAttentionGradBlockKernel,
      SoftmaxGrid(part, of_warps),
      {.dy = dy,
       .y = call.in(2) + y,
       .log_sums = call.in(3) + part.log_sums + part.first,
       .p = p,
       .dp = dp,
       .y_apart = InY(s).apart,
       .log_sums_apart = LogSumsApart(s),
       .width = s.width,
       .head = s.head(),
       .scale = s.scale(),
       .rows = part.rows(s)}));
  RETURN_IF_ERROR(products.ByKey(p, dy, InY(s), dvalues));
  RETURN_IF_ERROR(
      products.ByQuery(dp, keys, call.out() + part.qkv + part.first * qkv.row, qkv));
  return products.ByKey(dp, q, qkv, dkeys);
}

using ComputePart = absl::Status (*)(const KernelCall&, const Shaped&, const Part&);

// Scratch memory: the scores of a part, `of_score` times, and the products' workspace.
Kernel KernelOf(const Shaped& s, ComputePart compute, int64_t of_score) {
  return {.run =
              [s, compute](const KernelCall& call) {
                return ForParts(s, [&](const Part& part) { return compute(call, s, part); });
              },
          .scratch_bytes = static_cast<size_t>(of_score) * s.scores_bytes() + s.workspace,
          .products = s.precision};
}

}  // namespace

void AddAttentionKernels(KernelRegistry* kernels, const AttentionLimits& limits) {
  const auto make = [limits](const KernelSpec& spec, AttentionPart part) {
    const bool forward = part == AttentionPart::kOutputs;
    const int64_t of_score = forward ? 1 : 2;
    const Shaped s = ShapedOf(spec, spec.inputs[forward ? 0 : 1].shape, limits, of_score);
    if (limits.planned) {
      std::optional<Kernel> planned =
          PlannedAttention(spec, {.part = part,
                                  .examples = s.examples,
                                  .steps = s.steps,
                                  .heads = s.heads,
                                  .head = s.head(),
                                  .causal = s.causal});
      if (planned) return *std::move(planned);
    }
    return KernelOf(s, forward ? Forward : Backward, of_score);
  };
  const auto add = [&](std::string_view op, AttentionPart part) {
    kernels->Add(op, kGpu, DType::kFloat32,
                 [make, part](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
                   return make(spec, part);
                 });
  };
  add("Attention", AttentionPart::kOutputs);
  add("AttentionGrad", AttentionPart::kGradients);
}

}  // namespace taas::cuda
