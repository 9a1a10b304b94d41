#include "trainer/kernels/cuda/batch_norm_ops.h"

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

float EpsilonOf(const KernelSpec& spec) {
  return static_cast<float>(spec.attributes.Number("epsilon"));
}

absl::StatusOr<Kernel> BatchNorm(const KernelSpec& spec) {
  const ChannelTiles tiles = TilesOf(RowsOf(spec.inputs[0].shape));
  const auto run = [tiles, epsilon = EpsilonOf(spec)](const KernelCall& call) -> absl::Status {
    auto* const parts = static_cast<float*>(call.scratch);
    RETURN_IF_ERROR(Launch(call, kMomentPartsKernel, TileGrid(tiles, tiles.splits),
                           {.x = call.in(0), .parts = parts, .tiles = tiles}));
    RETURN_IF_ERROR(Launch(call, kMomentsKernel, TileGrid(tiles, 1),
                           {.parts = parts,
                            .mean = call.out(1),
                            .variance = call.out(2),
                            .unbiased = call.out(3),
                            .tiles = tiles}));
    return Launch(call, kNormalizeKernel, TilePassGrid(tiles),
                  {.x = call.in(0),
                   .mean = call.out(1),
                   .variance = call.out(2),
                   .scale = call.in(1),
                   .offset = call.in(2),
                   .y = call.out(0),
                   .epsilon = epsilon,
                   .tiles = tiles});
  };
  return Kernel{.run = run, .scratch_bytes = TilePartsBytes(tiles)};
}

// inputs: dy, x, scale, mean, variance.
absl::StatusOr<Kernel> BatchNormGrad(const KernelSpec& spec) {
  const ChannelTiles tiles = TilesOf(RowsOf(spec.inputs[1].shape));
  const auto run = [tiles, epsilon = EpsilonOf(spec)](const KernelCall& call) -> absl::Status {
    auto* const parts = static_cast<float*>(call.scratch);
    RETURN_IF_ERROR(Launch(call, kNormSumPartsKernel, TileGrid(tiles, tiles.splits),
                           {.dy = call.in(0),
                            .x = call.in(1),
                            .mean = call.in(3),
                            .inverse = nullptr,
                            .parts = parts,
                            .tiles = tiles}));
    RETURN_IF_ERROR(Launch(call, kNormSumsKernel, TileGrid(tiles, 1),
                           {.parts = parts,
                            .variance = call.in(4),
                            .dscale = call.out(1),
                            .doffset = call.out(2),
                            .epsilon = epsilon,
                            .tiles = tiles}));
    return Launch(call, kNormalizeGradKernel, TilePassGrid(tiles),
                  {.dy = call.in(0),
                   .x = call.in(1),
                   .scale = call.in(2),
                   .mean = call.in(3),
                   .variance = call.in(4),
                   .dscale = call.out(1),
                   .doffset = call.out(2),
                   .dx = call.out(0),
                   .epsilon = epsilon,
                   .tiles = tiles});
  };
  return Kernel{.run = run, .scratch_bytes = TilePartsBytes(tiles)};
}

absl::StatusOr<Kernel> BatchNormInference(const KernelSpec& spec) {
  const ChannelTiles tiles = TilesOf(RowsOf(spec.inputs[0].shape));
  return Kernel{.run = [tiles, epsilon = EpsilonOf(spec)](const KernelCall& call) {
    return Launch(call, kNormalizeKernel, TilePassGrid(tiles),
                  {.x = call.in(0),
                   .mean = call.in(3),
                   .variance = call.in(4),
                   .scale = call.in(1),
                   .offset = call.in(2),
                   .y = call.out(0),
                   .epsilon = epsilon,
                   .tiles = tiles});
  }};
}

}  // namespace

void AddBatchNormKernels(KernelRegistry* kernels) {
  kernels->Add("BatchNorm", kGpu, DType::kFloat32, BatchNorm);
  kernels->Add("BatchNormGrad", kGpu, DType::kFloat32, BatchNormGrad);
  kernels->Add("BatchNormInference", kGpu, DType::kFloat32, BatchNormInference);
}

}  // namespace taas::cuda
