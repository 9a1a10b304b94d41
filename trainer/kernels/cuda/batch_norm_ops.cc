#include "trainer/kernels/cuda/batch_norm_ops.h"

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

float EpsilonOf(const KernelSpec& spec) {
  return static_cast<float>(spec.attributes.Number("epsilon"));
}

KernelFactory BatchNorm(bool relu) {
  return [relu](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Rows x = RowsOf(spec.inputs[0].shape);
    const auto run = [x, relu, epsilon = EpsilonOf(spec)](const KernelCall& call) -> absl::Status {
      const ChannelTiles tiles =
          TilesOf(x, ByFours({call.in(0), call.in(1), call.in(2), call.out(0), call.out(1),
                              call.out(2), call.out(3)}));
      const ChannelTiles joining = JoiningTiles(tiles);
      auto* const parts = static_cast<float*>(call.scratch);
      RETURN_IF_ERROR(Launch(call, kMomentPartsKernel, TileGrid(tiles, tiles.splits),
                             {.x = call.in(0), .parts = parts, .tiles = tiles}));
      RETURN_IF_ERROR(Launch(call, kMomentsKernel, TileGrid(joining, 1),
                             {.parts = parts,
                              .mean = call.out(1),
                              .variance = call.out(2),
                              .unbiased = call.out(3),
                              .tiles = joining}));
      return Launch(call, kNormalizeKernel, TilePassGrid(tiles),
                    {.x = call.in(0),
                     .y = call.out(0),
                     .norm = {.mean = call.out(1),
                              .variance = call.out(2),
                              .scale = call.in(1),
                              .offset = call.in(2),
                              .epsilon = epsilon},
                     .relu = relu,
                     .tiles = tiles});
    };
    return Kernel{.run = run, .scratch_bytes = TilePartsBytes(x)};
  };
}

// inputs: dy, x, scale, mean, variance, and behind a Relu offset.
KernelFactory BatchNormGrad(bool relu) {
  return [relu](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Rows x = RowsOf(spec.inputs[1].shape);
    const auto run = [x, relu, epsilon = EpsilonOf(spec)](const KernelCall& call) -> absl::Status {
      const ChannelNorm norm{.mean = call.in(3),
                             .variance = call.in(4),
                             .scale = call.in(2),
                             .offset = relu ? call.in(5) : nullptr,
                             .epsilon = epsilon};
      const ChannelTiles tiles =
          TilesOf(x, ByFours({call.in(0), call.in(1), norm.mean, norm.variance, norm.scale,
                              norm.offset, call.out(0), call.out(1), call.out(2)}));
      const ChannelTiles joining = JoiningTiles(tiles);
      auto* const parts = static_cast<float*>(call.scratch);
      RETURN_IF_ERROR(Launch(call, kNormSumPartsKernel, TileGrid(tiles, tiles.splits),
                             {.dy = call.in(0),
                              .x = call.in(1),
                              .mean = norm.mean,
                              .inverse = nullptr,
                              .relu = norm,
                              .parts = parts,
                              .tiles = tiles}));
      RETURN_IF_ERROR(Launch(call, kNormSumsKernel, TileGrid(joining, 1),
                             {.parts = parts,
                              .variance = norm.variance,
                              .dscale = call.out(1),
                              .doffset = call.out(2),
                              .epsilon = epsilon,
                              .tiles = joining}));
      return Launch(call, kNormalizeGradKernel, TilePassGrid(tiles),
                    {.dy = call.in(0),
                     .x = call.in(1),
                     .norm = norm,
                     .dscale = call.out(1),
                     .doffset = call.out(2),
                     .dx = call.out(0),
                     .tiles = tiles});
    };
    return Kernel{.run = run, .scratch_bytes = TilePartsBytes(x)};
  };
}

absl::StatusOr<Kernel> BatchNormInference(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [x, epsilon = EpsilonOf(spec)](const KernelCall& call) {
    const ChannelTiles tiles = TilesOf(x, ByFours({call.in(0), call.in(1), call.in(2), call.in(3),
                                                   call.in(4), call.out()}));
    return Launch(call, kNormalizeKernel, TilePassGrid(tiles),
                  {.x = call.in(0),
                   .y = call.out(0),
                   .norm = {.mean = call.in(3),
                            .variance = call.in(4),
                            .scale = call.in(1),
                            .offset = call.in(2),
                            .epsilon = epsilon},
                   .relu = false,
                   .tiles = tiles});
  }};
}

}  // namespace

void AddBatchNormKernels(KernelRegistry* kernels) {
  kernels->Add("BatchNorm", kGpu, DType::kFloat32, BatchNorm(false));
  kernels->Add("BatchNormGrad", kGpu, DType::kFloat32, BatchNormGrad(false));
  kernels->Add("BatchNormRelu", kGpu, DType::kFloat32, BatchNorm(true));
  kernels->Add("BatchNormReluGrad", kGpu, DType::kFloat32, BatchNormGrad(true));
  kernels->Add("BatchNormInference", kGpu, DType::kFloat32, BatchNormInference);
}

}  // namespace taas::cuda
