#include "trainer/kernels/cpu/image_kernels.h"

#include <string_view>
#include <utility>

#include "operator/base/hash.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "trainer/graph/window.h"
#include "trainer/kernels/cpu/image_loops.h"
#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

absl::StatusOr<PoolShape> PoolShapeOf(const Attributes& attributes, const Shape& images) {
  ASSIGN_OR_RETURN(const Window::Pair kernel, PairOf(attributes, "size"));
  ASSIGN_OR_RETURN(const Window window,
                   WindowOf(attributes, {images.dim(1), images.dim(2)}, kernel));
  PoolShape shape{.images = images.dim(0), .channels = images.dim(3)};
  for (size_t axis = 0; axis < 2; ++axis) {
    shape.in[axis] = window.in[axis];
    shape.out[axis] = window.out[axis];
    shape.kernel[axis] = window.kernel[axis];
    shape.stride[axis] = window.stride[axis];
    shape.before[axis] = window.before[axis];
  }
  return shape;
}

absl::StatusOr<Kernel> MaxPool(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    loops.max_pool(shape, call.in(0), call.out());
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> MaxPoolGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[1].shape));
  return Kernel{.run =
                    [shape, &loops = BestImageLoops()](const KernelCall& call) {
                      loops.max_pool_grad(shape, call.in(0), call.in(1), call.in(2), call.out(),
                                          static_cast<float*>(call.scratch));
                      return absl::OkStatus();
                    },
                .scratch_bytes = static_cast<size_t>(shape.channels) * sizeof(float)};
}

absl::StatusOr<Kernel> AvgPool(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    loops.avg_pool(shape, call.in(0), call.out());
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> AvgPoolGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.outputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    loops.avg_pool_grad(shape, call.in(0), call.out());
    return absl::OkStatus();
  }};
}

// x as a matrix: rows of channels.
struct Rows {
  int64_t rows = 0;
  int64_t channels = 0;

  size_t scratch(size_t arrays) const {
    return arrays * static_cast<size_t>(channels) * sizeof(float);
  }
};

Rows RowsOf(const Shape& x) {
  const int64_t channels = x.dim(x.rank() - 1);
  return {channels == 0 ? 0 : x.count() / channels, channels};
}

absl::StatusOr<Kernel> BatchNorm(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run =
                    [x, epsilon, &loops = BestImageLoops()](const KernelCall& call) {
                      auto* const scratch = static_cast<float*>(call.scratch);
                      loops.moments(call.in(0), x.rows, x.channels,
                                    {.mean = call.out(1),
                                     .variance = call.out(2),
                                     .unbiased = call.out(3)},
                                    scratch);
                      loops.normalize({.mean = call.out(1),
                                       .variance = call.out(2),
                                       .scale = call.in(1),
                                       .offset = call.in(2),
                                       .epsilon = epsilon},
                                      call.in(0), x.rows, x.channels, call.out(0), scratch);
                      return absl::OkStatus();
                    },
                .scratch_bytes = x.scratch(2)};
}

absl::StatusOr<Kernel> BatchNormGrad(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[1].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run =
                    [x, epsilon, &loops = BestImageLoops()](const KernelCall& call) {
                      loops.normalize_grad({.mean = call.in(3),
                                            .variance = call.in(4),
                                            .scale = call.in(2),
                                            .epsilon = epsilon},
                                           call.in(0), call.in(1), x.rows, x.channels,
                                           {.dx = call.out(0),
                                            .dscale = call.out(1),
                                            .doffset = call.out(2)},
                                           static_cast<float*>(call.scratch));
                      return absl::OkStatus();
                    },
                .scratch_bytes = x.scratch(3)};
}

absl::StatusOr<Kernel> BatchNormInference(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run =
                    [x, epsilon, &loops = BestImageLoops()](const KernelCall& call) {
                      loops.normalize({.mean = call.in(3),
                                       .variance = call.in(4),
                                       .scale = call.in(1),
                                       .offset = call.in(2),
                                       .epsilon = epsilon},
                                      call.in(0), x.rows, x.channels, call.out(),
                                      static_cast<float*>(call.scratch));
                      return absl::OkStatus();
                    },
                .scratch_bytes = x.scratch(2)};
}

absl::StatusOr<Kernel> MovingAverage(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float share = static_cast<float>(1 - spec.attributes.Number("decay"));
  return Kernel{.run = [n, share, &loops = BestLoops()](const KernelCall& call) {
    loops.approach(call.in(0), call.in(1), share, call.out(), n);
    return absl::OkStatus();
  }};
}

// The numbers depend on the session's seed, on the layer and on the step only: not on threads, nor
// on what else runs.
absl::StatusOr<Kernel> Dropout(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float rate = static_cast<float>(spec.attributes.Number("rate"));
  const std::string_view stream = spec.attributes.Text("stream");
  const uint64_t layer = spec.seed ^ StableHash(stream.empty() ? spec.name : stream);
  return Kernel{.run = [n, rate, layer, &loops = BestImageLoops()](const KernelCall& call) {
    SeededRandom random(layer ^ (static_cast<uint64_t>(call.step) * 0x9e3779b97f4a7c15ULL));
    loops.dropout(static_cast<uint32_t>(random.Next()), rate, call.in(0), call.out(), n);
    return absl::OkStatus();
  }};
}

}  // namespace

void AddImageKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
  };
  add("MaxPool", MaxPool);
  add("MaxPoolGrad", MaxPoolGrad);
  add("AvgPool", AvgPool);
  add("AvgPoolGrad", AvgPoolGrad);
  add("BatchNorm", BatchNorm);
  add("BatchNormGrad", BatchNormGrad);
  add("BatchNormInference", BatchNormInference);
  add("MovingAverage", MovingAverage);
  add("Dropout", Dropout);
}

}  // namespace taas
