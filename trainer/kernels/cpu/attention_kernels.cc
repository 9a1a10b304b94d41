#include "trainer/kernels/cpu/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/kernels/cpu/product.h"
#include "trainer/kernels/cpu/scratch.h"
#include "trainer/loops/parallel.h"
#include "trainer/loops/sequence_loops.h"

namespace taas {
namespace {

// Queries of one block: products of it are large enough for the matrix kernel, and its scores for
// 1,024 keys are a quarter of a megabyte.
constexpr int64_t kBlock = 64;

// One attention op with its shape. A head's queries, keys and values are columns of qkv.
struct Shaped {
  ProductMaker products;
  int64_t examples = 0;
  int64_t steps = 0;
  int64_t heads = 0;
  int64_t width = 0;  // Of all heads.
  bool causal = true;

  int64_t head() const { return width / heads; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head())); }
  int64_t parts() const { return examples * heads; }
  // Of the scores of one block.
  int64_t scores() const { return std::min(kBlock, steps) * steps; }
};

Shaped ShapedOf(const KernelSpec& spec, const Shape& qkv) {
  return {.products = ProductMaker(spec),
          .examples = qkv.dim(0),
          .steps = qkv.dim(1),
          .heads = spec.attributes.Int("heads"),
          .width = qkv.dim(2) / 3,
          .causal = spec.attributes.Bool("causal")};
}

// Block `index` of the queries of one head.
struct Block {
  int64_t first = 0;    // Its first query.
  int64_t queries = 0;
  int64_t keys = 0;     // That one of them sees.

  int64_t seen(const Shaped& shaped, int64_t row) const {
    return shaped.causal ? first + row + 1 : keys;
  }
};

int64_t BlocksOf(const Shaped& shaped) { return (shaped.steps + kBlock - 1) / kBlock; }

Block BlockAt(const Shaped& shaped, int64_t index) {
  Block block{.first = index * kBlock};
  block.queries = std::min(kBlock, shaped.steps - block.first);
  block.keys = shaped.causal ? block.first + block.queries : shaped.steps;
  return block;
}

// Where head `part` of all examples begins.
struct Place {
  int64_t qkv = 0;
  int64_t y = 0;
  int64_t sums = 0;
};

Place PlaceOf(const Shaped& shaped, int64_t part) {
  const int64_t example = part / shaped.heads;
  const int64_t head = part % shaped.heads;
  return {.qkv = example * shaped.steps * 3 * shaped.width + head * shaped.head(),
          .y = example * shaped.steps * shaped.width + head * shaped.head(),
          .sums = part * shaped.steps};
}

// The products of a block. In each of them one factor or the result is of queries by keys; the
// strides are of what lies in memory in that place.
GemmShape Scores(const Shaped& s, const Block& block, int64_t a_stride) {
  return {.m = block.queries, .n = block.keys, .k = s.head(), .transpose_b = true,
          .a_stride = a_stride, .b_stride = 3 * s.width};
}
GemmShape ByQuery(const Shaped& s, const Block& block, int64_t out_stride) {
  return {.m = block.queries, .n = s.head(), .k = block.keys, .b_stride = 3 * s.width,
          .out_stride = out_stride};
}
GemmShape AddByKey(const Shaped& s, const Block& block, int64_t b_stride) {
  return {.m = block.keys, .n = s.head(), .k = block.queries, .transpose_a = true, .beta = 1,
          .b_stride = b_stride, .out_stride = 3 * s.width};
}

// What one thread works on.
struct Workspace {
  float* scores;    // Of one block; backwards those of dS follow.
  void* products;   // Scratch memory of a product.

  static size_t ProductBytes(const Shaped& s) {
    const Block largest{.queries = std::min(kBlock, s.steps), .keys = s.steps};
    size_t bytes = 0;
    for (const GemmShape& shape : {Scores(s, largest, 0), ByQuery(s, largest, 0),
                                   AddByKey(s, largest, 0)}) {
      bytes = std::max(bytes, s.products.ScratchBytes(shape));
    }
    return bytes;
  }
  // With the scores of `blocks` blocks.
  static size_t Bytes(const Shaped& s, int64_t blocks) {
    return Aligned(static_cast<size_t>(blocks * s.scores()) * sizeof(float)) + ProductBytes(s);
  }
};

// Adds up what went wrong in parts that run at the same time.
class Outcome {
 public:
  explicit Outcome(int64_t parts) : results_(static_cast<size_t>(parts)) {}
  absl::Status& of(int64_t part) { return results_[static_cast<size_t>(part)]; }
  absl::Status Take() {
    for (absl::Status& result : results_) {
      if (!result.ok()) return std::exchange(result, absl::OkStatus());
    }
    return absl::OkStatus();
  }

 private:
  std::vector<absl::Status> results_;
};

absl::Status ForwardHead(const Shaped& s, int64_t part, const KernelCall& call,
                         const Workspace& space) {
  const SequenceLoops& loops = BestSequenceLoops();
  const Place at = PlaceOf(s, part);
  const float* const q = call.in(0) + at.qkv;
  const float* const k = q + s.width;
  const float* const v = k + s.width;
  for (int64_t index = 0; index < BlocksOf(s); ++index) {
    const Block block = BlockAt(s, index);
    RETURN_IF_ERROR(s.products.Run(Scores(s, block, 3 * s.width), q + block.first * 3 * s.width,
                                   k, space.scores, space.products));
    for (int64_t row = 0; row < block.queries; ++row) {
      float* const from = space.scores + row * block.keys;
      const int64_t seen = block.seen(s, row);
      call.out(1)[at.sums + block.first + row] = loops.softmax_row(from, s.scale(), seen);
      std::fill(from + seen, from + block.keys, 0.0f);
    }
    RETURN_IF_ERROR(s.products.Run(ByQuery(s, block, s.width), space.scores, v,
                                   call.out() + at.y + block.first * s.width, space.products));
  }
  return absl::OkStatus();
}

// dV += Pᵀ dY; dP = dY Vᵀ; dS = P · (dP - Σ dY·Y) · scale; dQ = dS K; dK += dSᵀ Q.
absl::Status BackwardBlock(const Shaped& s, const Block& block, const Place& at,
                           const KernelCall& call, const Workspace& space) {
  const SequenceLoops& loops = BestSequenceLoops();
  float* const p = space.scores;
  float* const dp = p + s.scores();
  const int64_t stride = 3 * s.width;
  const float* const q = call.in(1) + at.qkv;
  const float* const k = q + s.width;
  const float* const v = k + s.width;
  float* const dq = call.out() + at.qkv;
  float* const dk = dq + s.width;
  float* const dv = dk + s.width;
  const float* const dy = call.in(0) + at.y + block.first * s.width;
  const float* const y = call.in(2) + at.y + block.first * s.width;
  const auto multiply = [&](const GemmShape& shape, const float* a, const float* b, float* out) {
    return s.products.Run(shape, a, b, out, space.products);
  };
  RETURN_IF_ERROR(multiply(Scores(s, block, stride), q + block.first * stride, k, p));
  RETURN_IF_ERROR(multiply(Scores(s, block, s.width), dy, v, dp));
  for (int64_t row = 0; row < block.queries; ++row) {
    const int64_t seen = block.seen(s, row);
    float* const p_row = p + row * block.keys;
    float* const dp_row = dp + row * block.keys;
    const float mean = loops.dot(dy + row * s.width, y + row * s.width, s.head());
    loops.softmax_row_grad(p_row, dp_row, s.scale(), call.in(3)[at.sums + block.first + row], mean,
                           seen);
    std::fill(p_row + seen, p_row + block.keys, 0.0f);
    std::fill(dp_row + seen, dp_row + block.keys, 0.0f);
  }
  RETURN_IF_ERROR(multiply(AddByKey(s, block, s.width), p, dy, dv));
  RETURN_IF_ERROR(multiply(ByQuery(s, block, stride), dp, k, dq + block.first * stride));
  return multiply(AddByKey(s, block, stride), dp, q + block.first * stride, dk);
}

absl::Status BackwardHead(const Shaped& s, int64_t part, const KernelCall& call,
                          const Workspace& space) {
  const Place at = PlaceOf(s, part);
  for (int64_t step = 0; step < s.steps; ++step) {
    float* const row = call.out() + at.qkv + step * 3 * s.width;
    std::fill_n(row + s.width, s.head(), 0.0f);
    std::fill_n(row + 2 * s.width, s.head(), 0.0f);
  }
  for (int64_t index = 0; index < BlocksOf(s); ++index) {
    RETURN_IF_ERROR(BackwardBlock(s, BlockAt(s, index), at, call, space));
  }
  return absl::OkStatus();
}

using ComputeHead = absl::Status (*)(const Shaped&, int64_t part, const KernelCall&,
                                     const Workspace&);

// The heads of all examples, shared out among the threads; each thread has room for the scores of
// `blocks` blocks, and for a product's scratch memory.
Kernel ForHeads(const KernelSpec& spec, const Shaped& s, ComputeHead compute, int64_t blocks) {
  const auto outcome = std::make_shared<Outcome>(s.parts());
  const auto run = [s, outcome, compute, blocks](const KernelCall& call) {
    auto* const scratch = static_cast<std::byte*>(call.scratch);
    const int64_t shares = std::min<int64_t>(call.threads, s.parts());
    ParallelFor(call.threads, shares, [&](int64_t share) {
      std::byte* const own = scratch + static_cast<size_t>(share) * Workspace::Bytes(s, blocks);
      const Workspace space{
          .scores = reinterpret_cast<float*>(own),
          .products = own + Workspace::Bytes(s, blocks) - Workspace::ProductBytes(s)};
      const Range range = ShareOf(s.parts(), shares, share);
      for (int64_t part = range.begin; part < range.end; ++part) {
        outcome->of(part) = compute(s, part, call, space);
      }
    });
    return outcome->Take();
  };
  return {.run = run,
          .scratch_bytes = Workspace::Bytes(s, blocks) * static_cast<size_t>(spec.threads),
          .products = s.products.precision()};
}

absl::StatusOr<Kernel> Attention(const KernelSpec& spec) {
  return ForHeads(spec, ShapedOf(spec, spec.inputs[0].shape), ForwardHead, /*blocks=*/1);
}

absl::StatusOr<Kernel> AttentionGrad(const KernelSpec& spec) {
  return ForHeads(spec, ShapedOf(spec, spec.inputs[1].shape), BackwardHead, /*blocks=*/2);
}

}  // namespace

void AddAttentionKernels(KernelRegistry* kernels) {
  kernels->Add("Attention", "CPU", DType::kFloat32, Attention);
  kernels->Add("AttentionGrad", "CPU", DType::kFloat32, AttentionGrad);
}

}  // namespace taas
