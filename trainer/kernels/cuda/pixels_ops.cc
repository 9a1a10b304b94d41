#include "trainer/kernels/cuda/pixels_ops.h"

#include <algorithm>

#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// Of an image with its own move: enough beside the draw, and most images are one block's.
constexpr int64_t kFloatsOfBlock = 4'096;
// As many as a grid has.
constexpr int64_t kBlocksOfImageMax = 65'535;

absl::StatusOr<Kernel> DecodePixels(const KernelSpec& spec) {
  const Shape& x = spec.inputs[0].shape;
  const float scale = static_cast<float>(spec.attributes.Number("scale"));
  const float offset = static_cast<float>(spec.attributes.Number("offset"));
  if (spec.inputs.size() == 1) {
    return Kernel{.run = [n = x.count(), scale, offset](const KernelCall& call) {
      const bool by_fours = ByFours({call.out()}) && AlignmentOf({call.inputs[0]}) >= 4;
      return Launch(call, kDecodePixelsKernel, ForElements(n, 4),
                    {.x = call.in_uint8(0),
                     .y = call.out(),
                     .count = n,
                     .scale = scale,
                     .offset = offset,
                     .by_fours = by_fours});
    }};
  }
  const AugmentPixelsParams all{.x = nullptr,
                                .seeds = nullptr,
                                .y = nullptr,
                                .height = x.dim(1),
                                .width = x.dim(2),
                                .channels = x.dim(3),
                                .padding = spec.attributes.Int("crop_padding"),
                                .flips = spec.attributes.Bool("flip"),
                                .scale = scale,
                                .offset = offset};
  const int64_t floats = all.height * all.width * all.channels;
  const int64_t blocks = (floats + kFloatsOfBlock - 1) / kFloatsOfBlock;
  const Grid grid{.x = static_cast<unsigned>(x.dim(0)),
                  .y = static_cast<unsigned>(std::min(blocks, kBlocksOfImageMax))};
  return Kernel{.run = [all, grid](const KernelCall& call) {
    AugmentPixelsParams p = all;
    p.x = call.in_uint8(0);
    p.seeds = call.in_int64(1);
    p.y = call.out();
    return Launch(call, kAugmentPixelsKernel, grid, p);
  }};
}

}  // namespace

void AddPixelKernels(KernelRegistry* kernels) {
  kernels->Add("DecodePixels", kGpu, DType::kUint8, DecodePixels);
}

}  // namespace taas::cuda
