#include "trainer/kernels/cuda/layer_norm_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/row_quads.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

// Blocks that go round over rows of quads, whose sums norm_sums.cu joins: as many as the largest
// GPU has multiprocessors, each of which runs one by its registers.
int QuadsBlocks(const Rows& x) {
  constexpr int64_t kBlocks = 132;
  return static_cast<int>(std::clamp<int64_t>(x.rows / kWarpsOfBlock, 1, kBlocks));
}

size_t PartsBytes(const Rows& x) {
  const size_t of_quads = 2 * sizeof(float) * static_cast<size_t>(QuadsBlocks(x) * x.columns);
  return std::max(TilePartsBytes(x), of_quads);
}

absl::StatusOr<Kernel> LayerNorm(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run = [x, epsilon](const KernelCall& call) {
    const bool by_fours = ByFours({call.in(0), call.in(1), call.in(2), call.out(0)});
    const auto kernel = OfQuads(x.columns, by_fours) ? kLayerNormQuadsKernel
                        : OfWarps(x)                 ? kLayerNormWarpKernel
                                                     : kLayerNormBlockKernel;
    return Launch(call, kernel, TeamGrid(x),
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
  const auto run = [x](const KernelCall& call) -> absl::Status {
    auto* const parts = static_cast<float*>(call.scratch);
    const LayerNormGradParams params{.dy = call.in(0),
                                     .x = call.in(1),
                                     .scale = call.in(2),
                                     .mean = call.in(3),
                                     .inverse = call.in(4),
                                     .dx = call.out(0),
                                     .rows = x.rows,
                                     .columns = x.columns};
    const bool by_fours =
        ByFours({params.dy, params.x, params.scale, params.dx, call.out(1), call.out(2), parts});
    ChannelTiles tiles = TilesOf(x, by_fours);
    if (OfQuads(x.columns, by_fours)) {
      tiles.splits = QuadsBlocks(x);
      RETURN_IF_ERROR(Launch(call, kLayerNormGradQuadsKernel,
                             {.x = static_cast<unsigned>(tiles.splits), .threads = kBlockThreads},
                             {.of = params, .parts = parts}));
    } else {
      RETURN_IF_ERROR(Launch(call,
                             OfWarps(x) ? kLayerNormGradWarpKernel : kLayerNormGradBlockKernel,
                             TeamGrid(x), params));
      RETURN_IF_ERROR(Launch(call, kNormSumPartsKernel, TileGrid(tiles, tiles.splits),
                             {.dy = params.dy,
                              .x = params.x,
                              .mean = params.mean,
                              .inverse = params.inverse,
                              .relu = {},
                              .parts = parts,
                              .tiles = tiles}));
    }
    const ChannelTiles joining = JoiningTiles(tiles);
    return Launch(call, kNormSumsKernel, TileGrid(joining, 1),
                  {.parts = parts,
                   .variance = nullptr,
                   .dscale = call.out(1),
                   .doffset = call.out(2),
                   .epsilon = 0,
                   .tiles = joining});
  };
  return Kernel{.run = run, .scratch_bytes = PartsBytes(x)};
}

}  // namespace

void AddLayerNormKernels(KernelRegistry* kernels) {
  kernels->Add("LayerNorm", kGpu, DType::kFloat32, LayerNorm);
  kernels->Add("LayerNormGrad", kGpu, DType::kFloat32, LayerNormGrad);
}

}  // namespace taas::cuda
