#include "trainer/kernels/cpu/image_kernels.h"

#include <span>
#include <string_view>
#include <utility>

#include "operator/base/hash.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "trainer/data/augment.h"
#include "trainer/graph/step_block.h"
#include "trainer/graph/window.h"
#include "trainer/loops/image_loops.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"

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

// A share of the images, and where its elements begin.
struct Share {
  PoolShape shape;
  int64_t number = 0;
  int64_t in = 0;
  int64_t out = 0;
};

template <typename Part>
void ForImages(int threads, const PoolShape& shape, Part part) {
  const int64_t in = shape.in[0] * shape.in[1] * shape.channels;
  const int64_t out = shape.out[0] * shape.out[1] * shape.channels;
  const int64_t shares = SharesOf(shape.images * in);
  ParallelFor(threads, shares, [&](int64_t i) {
    const Range range = ShareOf(shape.images, shares, i);
    Share share{.shape = shape, .number = i, .in = range.begin * in, .out = range.begin * out};
    share.shape.images = range.size();
    part(share);
  });
}

// Byte by byte as Dataset::GatherFeatures.
absl::StatusOr<Kernel> DecodePixels(const KernelSpec& spec) {
  const auto decode = [scale = static_cast<float>(spec.attributes.Number("scale")),
                       offset = static_cast<float>(spec.attributes.Number("offset")),
                       &loops = BestLoops()](const uint8_t* x, float* out, int64_t n) {
    loops.scale_bytes(x, scale, out, n);
    if (offset == 0) return;
    for (int64_t i = 0; i < n; ++i) out[i] += offset;
  };
  const Shape& x = spec.inputs[0].shape;
  if (spec.inputs.size() == 1) {
    return Kernel{.run = [decode, n = x.count()](const KernelCall& call) {
      ForParts(call.threads, n, [&](int64_t at, int64_t count) {
        decode(call.in_uint8(0) + at, call.out() + at, count);
      });
      return absl::OkStatus();
    }};
  }
  const ImageShape shape{x.dim(1), x.dim(2), x.dim(3)};
  const AugmentOptions options{.crop_padding = spec.attributes.Int("crop_padding"),
                               .flip = spec.attributes.Bool("flip")};
  const int64_t images = x.dim(0), shares = SharesOf(x.count());
  const auto run = [=](const KernelCall& call) {
    const size_t pixels = static_cast<size_t>(shape.pixels());
    ParallelFor(call.threads, shares, [&](int64_t share) {
      const Range range = ShareOf(images, shares, share);
      // One image, which stays in the first caches, and is bytes as long as it is moved.
      const std::span moved(static_cast<uint8_t*>(call.scratch) + share * shape.pixels(), pixels);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const std::span image(call.in_uint8(0) + i * shape.pixels(), pixels);
        AugmentImage<uint8_t>(shape, options, static_cast<uint64_t>(call.in_int64(1)[i]), 0, image,
                              moved);
        decode(moved.data(), call.out() + i * shape.pixels(), shape.pixels());
      }
    });
    return absl::OkStatus();
  };
  return Kernel{.run = run, .scratch_bytes = static_cast<size_t>(shares * shape.pixels())};
}

absl::StatusOr<Kernel> MaxPool(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    ForImages(call.threads, shape, [&](const Share& share) {
      loops.max_pool(share.shape, call.in(0) + share.in, call.out() + share.out);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> MaxPoolGradOf(const KernelSpec& spec, bool after_relu) {
  ASSIGN_OR_RETURN(PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[1].shape));
  shape.after_relu = after_relu;
  const auto run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    ForImages(call.threads, shape, [&](const Share& share) {
      loops.max_pool_grad(share.shape, call.in(0) + share.out, call.in(1) + share.in,
                          call.in(2) + share.out, call.out() + share.in,
                          static_cast<float*>(call.scratch) + share.number * shape.channels);
    });
    return absl::OkStatus();
  };
  return Kernel{.run = run,
                .scratch_bytes = static_cast<size_t>(kSharesMax * shape.channels) * sizeof(float)};
}

absl::StatusOr<Kernel> MaxPoolGrad(const KernelSpec& spec) { return MaxPoolGradOf(spec, false); }

absl::StatusOr<Kernel> MaxPoolReluGrad(const KernelSpec& spec) { return MaxPoolGradOf(spec, true); }

absl::StatusOr<Kernel> AvgPool(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.inputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    ForImages(call.threads, shape, [&](const Share& share) {
      loops.avg_pool(share.shape, call.in(0) + share.in, call.out() + share.out);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> AvgPoolGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(spec.attributes, spec.outputs[0].shape));
  return Kernel{.run = [shape, &loops = BestImageLoops()](const KernelCall& call) {
    ForImages(call.threads, shape, [&](const Share& share) {
      loops.avg_pool_grad(share.shape, call.in(0) + share.out, call.out() + share.in);
    });
    return absl::OkStatus();
  }};
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
    SeededRandom random(layer ^ (static_cast<uint64_t>(call.block->step) * 0x9e3779b97f4a7c15ULL));
    const uint32_t key = static_cast<uint32_t>(random.Next());
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      loops.dropout({.key = key, .first = at}, rate, call.in(0) + at, call.out() + at, count);
    });
    return absl::OkStatus();
  }};
}

}  // namespace

void AddImageKernels(KernelRegistry* kernels) {
  kernels->Add("DecodePixels", "CPU", DType::kUint8, DecodePixels);
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
  };
  add("MaxPool", MaxPool);
  add("MaxPoolGrad", MaxPoolGrad);
  add("MaxPoolReluGrad", MaxPoolReluGrad);
  add("AvgPool", AvgPool);
  add("AvgPoolGrad", AvgPoolGrad);
  add("MovingAverage", MovingAverage);
  add("Dropout", Dropout);
}

}  // namespace taas
