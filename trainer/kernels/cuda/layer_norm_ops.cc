#include "trainer/kernels/cuda/layer_norm_ops.h"

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> LayerNorm(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run = [x, epsilon](const KernelCall& call) {
    return Launch(call, OfWarps(x) ? kLayerNormWarpKernel : kLayerNormBlockKernel, TeamGrid(x),
                  {.x = call.in(0),
                   .scale = call.in(1),
                   .offset = call.in(2),
                   .y = call.out(0),
                   .mean = call.out(1),
                   .inverse = call.out(2),
                   .rows = x.rows,
                   .columns = x.columns,
                   .epsilon = epsilon});
  }};
}

// inputs: dy, x, scale, mean, inverse.
absl::StatusOr<Kernel> LayerNormGrad(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const ChannelTiles tiles = TilesOf(x);
  const auto run = [x, tiles](const KernelCall& call) -> absl::Status {
    auto* const parts = static_cast<float*>(call.scratch);
    RETURN_IF_ERROR(Launch(
        call, OfWarps(x) ? kLayerNormGradWarpKernel : kLayerNormGradBlockKernel, TeamGrid(x),
        {.dy = call.in(0),
         .x = call.in(1),
         .scale = call.in(2),
         .mean = call.in(3),
         .inverse = call.in(4),
         .dx = call.out(0),
         .rows = x.rows,
         .columns = x.columns}));
    RETURN_IF_ERROR(Launch(call, kNormSumPartsKernel, TileGrid(tiles, tiles.splits),
                           {.dy = call.in(0),
                            .x = call.in(1),
                            .mean = call.in(3),
                            .inverse = call.in(4),
                            .parts = parts,
                            .tiles = tiles}));
    return Launch(call, kNormSumsKernel, TileGrid(tiles, 1),
                  {.parts = parts,
                   .variance = nullptr,
                   .dscale = call.out(1),
                   .doffset = call.out(2),
                   .epsilon = 0,
                   .tiles = tiles});
  };
  return Kernel{.run = run, .scratch_bytes = TilePartsBytes(tiles)};
}

}  // namespace

void AddLayerNormKernels(KernelRegistry* kernels) {
  kernels->Add("LayerNorm", kGpu, DType::kFloat32, LayerNorm);
  kernels->Add("LayerNormGrad", kGpu, DType::kFloat32, LayerNormGrad);
}

}  // namespace taas::cuda
