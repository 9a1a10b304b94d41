#include "trainer/cuda/attention_plan.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/cuda/operation_graph.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

using Tensor = OperationGraph::Tensor;

// By which graph and variant pack name the tensors.
constexpr int64_t kQId = 1, kKId = 2, kVId = 3, kYId = 4, kLogSumsId = 5, kDyId = 6, kDqId = 7,
                  kDkId = 8, kDvId = 9, kSumsId = 10, kScaleId = 11, kFillId = 12, kOneId = 13;
constexpr int64_t kFirstVirtualId = 100, kFirstMaskId = 200;

constexpr float kFill = -std::numeric_limits<float>::infinity();
constexpr float kOne = 1;

// The largest that engines of all GPUs know.
constexpr int64_t kHeadMax = 128;

CudnnTensorShape Transposed(CudnnTensorShape shape) {
  std::swap(shape.dimensions[2], shape.dimensions[3]);
  std::swap(shape.strides[2], shape.strides[3]);
  return shape;
}

// Read by columns: a matrix's transpose, of the same dimensions.
CudnnTensorShape ByColumns(CudnnTensorShape shape) {
  std::swap(shape.strides[2], shape.strides[3]);
  return shape;
}

void AddForward(OperationGraph& graph, const CudnnAttentionShapes& shapes,
                OperationGraph::Attention* with) {
  with->q = graph.InMemory(kQId, kCudnnBFloat16, shapes.of_qkv);
  with->k = graph.InMemory(kKId, kCudnnBFloat16, shapes.of_qkv);
  with->v = graph.InMemory(kVId, kCudnnBFloat16, shapes.of_qkv);
  with->o = graph.InMemory(kYId, kCudnnBFloat16, shapes.of_y);
  with->scale = graph.Scalar(kScaleId);
  with->statistics = graph.InMemory(kLogSumsId, kCudnnFloat, shapes.rows);
  with->scores = shapes.scores;
  graph.Attend(*with);
}

// p: exp(scores - log sums), of scores that are made again.
Tensor SharesOf(OperationGraph& graph, const CudnnAttentionShapes& shapes, bool causal,
                const Tensor& q, const Tensor& k_transposed, const Tensor& scale) {
  const auto scores = [&] { return graph.Virtual(kCudnnFloat, shapes.scores); };
  const Tensor log_sums = graph.InMemory(kLogSumsId, kCudnnFloat, shapes.rows);
  const Tensor products = scores(), scaled = scores(), less = scores();
  graph.Matmul(q, k_transposed, products);
  graph.Pointwise(kCudnnMul, products, scale, scaled);
  graph.Pointwise(kCudnnSub, scaled, log_sums, less);
  Tensor seen = less;
  if (causal) {
    seen = scores();
    graph.CausalMask(less, graph.Scalar(kFillId), seen);
  }
  const Tensor shares = scores();
  graph.Pointwise(kCudnnExp, seen, shares);
  return shares;
}

// Σ dy y of each query, which is Σ dp p.
Tensor SumsOf(OperationGraph& graph, const CudnnAttentionShapes& shapes, const Tensor& dy) {
  const auto& [n, heads, steps, head] = shapes.of_y.dimensions;
  const Tensor y = graph.InMemory(kYId, kCudnnBFloat16, shapes.of_y);
  const Tensor products = graph.Virtual(
      kCudnnFloat, {.dimensions = shapes.of_y.dimensions,
                    .strides = {heads * steps * head, steps * head, head, 1}});
  const Tensor sums = graph.Virtual(kCudnnFloat, shapes.rows);
  const Tensor kept = graph.InMemory(kSumsId, kCudnnFloat, shapes.rows);
  graph.Pointwise(kCudnnMul, dy, y, products);
  graph.Sum(products, sums);
  // The pattern has a factor here, for dropout.
  graph.Pointwise(kCudnnMul, sums, graph.Scalar(kOneId), kept);
  return kept;
}

// In the order of the pattern that the library knows.
void AddBackward(OperationGraph& graph, const CudnnAttentionShapes& shapes, bool causal) {
  const auto scores = [&] { return graph.Virtual(kCudnnFloat, shapes.scores); };
  const auto by_columns = [&](const Tensor& of) {
    const Tensor turned = graph.Virtual(kCudnnBFloat16, ByColumns(shapes.scores));
    graph.Reshape(of, turned);
    return turned;
  };
  const auto of_qkv = [&](int64_t id) {
    return graph.InMemory(id, kCudnnBFloat16, shapes.of_qkv);
  };
  const Tensor dy = graph.InMemory(kDyId, kCudnnBFloat16, shapes.of_y);
  const Tensor q = of_qkv(kQId);
  const Tensor k_transposed = graph.InMemory(kKId, kCudnnBFloat16, Transposed(shapes.of_qkv));
  const Tensor v_transposed = graph.InMemory(kVId, kCudnnBFloat16, Transposed(shapes.of_qkv));
  const Tensor scale = graph.Scalar(kScaleId);
  const Tensor sums = SumsOf(graph, shapes, dy);
  const Tensor shares = SharesOf(graph, shapes, causal, q, k_transposed, scale);
  graph.Matmul(by_columns(shares), dy, of_qkv(kDvId));
  // ds = p (dp - sums) scale.
  const Tensor dp = scores(), less = scores(), ds = scores(), scaled = scores();
  graph.Matmul(dy, v_transposed, dp);
  graph.Pointwise(kCudnnSub, dp, sums, less);
  graph.Pointwise(kCudnnMul, less, shares, ds);
  graph.Pointwise(kCudnnMul, ds, scale, scaled);
  graph.Matmul(by_columns(scaled), q, of_qkv(kDkId));
  const Tensor k = graph.Virtual(kCudnnBFloat16, shapes.of_qkv);
  graph.Reshape(k_transposed, k);
  graph.Matmul(scaled, k, of_qkv(kDqId));
}

absl::StatusOr<std::unique_ptr<CudnnPlan>> PlanOf(const Cudnn& cudnn,
                                                  const AttentionShape& shape) {
  const CudnnAttentionShapes shapes = ShapesOf(shape);
  OperationGraph graph(cudnn, kAttentionAlignment, kFirstVirtualId);
  OperationGraph mask(cudnn, kAttentionAlignment, kFirstMaskId);
  if (shape.part == AttentionPart::kGradients) {
    AddBackward(graph, shapes, shape.causal);
  } else {
    OperationGraph::Attention with;
    if (shape.causal) {
      with.masked_from = mask.Virtual(kCudnnFloat, shapes.scores);
      with.masked_to = mask.Virtual(kCudnnFloat, shapes.scores);
      mask.CausalMask(with.masked_from, mask.Scalar(kFillId), with.masked_to);
      ASSIGN_OR_RETURN(with.mask, mask.Finish());
    }
    AddForward(graph, shapes, &with);
  }
  ASSIGN_OR_RETURN(const CudnnDescriptor* const whole, graph.Finish());
  return CudnnPlan::Make(cudnn, *whole, /*tensor_cores=*/true);
}

size_t SumsBytes(const AttentionShape& shape) {
  if (shape.part == AttentionPart::kOutputs) return 0;
  return Aligned(static_cast<size_t>(shape.examples * shape.heads * shape.steps) * sizeof(float));
}

void* Behind(void* memory, int64_t numbers) {
  return static_cast<uint16_t*>(memory) + numbers;
}

}  // namespace

std::string TextOf(const AttentionShape& shape) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  return std::string(shape.part == AttentionPart::kOutputs ? "outputs" : "gradients") + ": " +
         number(shape.examples) + " × " + number(shape.steps) + " steps × " +
         number(shape.heads) + " heads of " + number(shape.head) +
         (shape.causal ? ", causal" : "") + ", bfloat16";
}

CudnnAttentionShapes ShapesOf(const AttentionShape& shape) {
  const int64_t n = shape.examples, steps = shape.steps, heads = shape.heads;
  const auto columns = [&](int64_t width) {
    return CudnnTensorShape{.dimensions = {n, heads, steps, shape.head},
                            .strides = {steps * width, shape.head, width, 1}};
  };
  const auto rows = [&](int64_t width) {
    return CudnnTensorShape{.dimensions = {n, heads, steps, width},
                            .strides = {heads * steps * width, steps * width, width, 1}};
  };
  return {.of_qkv = columns(3 * shape.width()),
          .of_y = columns(shape.width()),
          .scores = rows(steps),
          .rows = rows(1)};
}

CudnnAttentionPlan::CudnnAttentionPlan(const AttentionShape& shape,
                                       std::unique_ptr<CudnnPlan> plan)
    : shape_(shape),
      scale_(1.0f / std::sqrt(static_cast<float>(shape.head))),
      sums_bytes_(SumsBytes(shape)),
      plan_(std::move(plan)) {}

absl::StatusOr<std::unique_ptr<CudnnAttentionPlan>> CudnnAttentionPlan::Make(
    const Cudnn& cudnn, const AttentionShape& shape) {
  if (cudnn.version() < kCudnnAttentionVersionMin) {
    return absl::UnimplementedError("cuDNN " + LibraryVersion(cudnn.version()) +
                                    " is too old for it: " +
                                    LibraryVersion(kCudnnAttentionVersionMin) +
                                    " or later is needed");
  }
  if (shape.head % 8 != 0 || shape.head > kHeadMax) {
    return absl::UnimplementedError("heads are multiples of 8 numbers there, of at most " +
                                    std::to_string(kHeadMax));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<CudnnPlan> plan, PlanOf(cudnn, shape));
  return std::make_unique<CudnnAttentionPlan>(shape, std::move(plan));
}

absl::StatusOr<std::unique_ptr<CudnnAttentionPlan>> CudnnAttentionPlan::FromJson(
    const Cudnn& cudnn, const AttentionShape& shape, std::string_view json) {
  ASSIGN_OR_RETURN(std::unique_ptr<CudnnPlan> plan, CudnnPlan::FromJson(cudnn, json));
  return std::make_unique<CudnnAttentionPlan>(shape, std::move(plan));
}

absl::Status CudnnAttentionPlan::Launch(const AttentionTensors& tensors, CuStream stream) const {
  std::vector<int64_t> ids = {kQId, kKId, kVId, kYId, kLogSumsId, kScaleId};
  const int64_t width = shape_.width();
  // The library reads scalars during the call.
  std::vector<void*> pointers = {tensors.qkv,
                                 Behind(tensors.qkv, width),
                                 Behind(tensors.qkv, 2 * width),
                                 tensors.y,
                                 tensors.log_sums,
                                 const_cast<float*>(&scale_)};
  const auto add = [&](int64_t id, void* pointer) {
    ids.push_back(id);
    pointers.push_back(pointer);
  };
  if (shape_.causal) add(kFillId, const_cast<float*>(&kFill));
  if (shape_.part == AttentionPart::kGradients) {
    add(kDyId, tensors.dy);
    add(kDqId, tensors.dqkv);
    add(kDkId, Behind(tensors.dqkv, width));
    add(kDvId, Behind(tensors.dqkv, 2 * width));
    add(kSumsId, tensors.workspace);
    add(kOneId, const_cast<float*>(&kOne));
  }
  return plan_->Launch("attend", ids, pointers,
                       static_cast<std::byte*>(tensors.workspace) + sums_bytes_, stream);
}

}  // namespace taas::cuda
