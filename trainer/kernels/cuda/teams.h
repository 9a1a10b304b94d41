// How work is shared out to the blocks of a launch: rows to teams (block_sums.h), elements to
// blocks that go round.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const Rows x = RowsOf(spec.inputs[0].shape);
//   return OfWarps(x) ? Launch(call, kXWarpKernel, TeamGrid(x), params)
//                     : Launch(call, kXBlockKernel, TeamGrid(x), params);

#ifndef TRAINER_KERNELS_CUDA_TEAMS_H_
#define TRAINER_KERNELS_CUDA_TEAMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trainer/graph/rows.h"
#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/channel_tiles.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

// Whether a warp takes a row, rather than a block.
inline bool OfWarps(const Rows& x) { return x.columns <= kWarpColumnsMax; }

// Of so many teams, or threads, as a block has `per_block` of.
inline Grid ForTeams(int64_t count, int64_t per_block) {
  return {.x = static_cast<unsigned>((count + per_block - 1) / per_block),
          .threads = kBlockThreads};
}

inline Grid TeamGrid(const Rows& x) { return ForTeams(x.rows, OfWarps(x) ? kWarpsOfBlock : 1); }

// Of blocks whose threads go round, each over some elements: more blocks than the largest GPU of
// today runs at once (132 multiprocessors with 8 each) only make more partial sums.
inline constexpr int64_t kRoundBlocksMax = 1'056;
inline constexpr int64_t kRoundElements = 1'024;  // Of a block at least, but for the last.

inline Grid ForRounds(int64_t count) {
  return {.x = static_cast<unsigned>(std::min<int64_t>(
              (count + kRoundElements - 1) / kRoundElements, kRoundBlocksMax)),
          .threads = kBlockThreads};
}

// Tiles of channels, with splits of the rows where sums over them are taken: enough to keep the GPU
// busy, each of several rows for each thread.
inline ChannelTiles TilesOf(const Rows& x) {
  ChannelTiles tiles{.rows = x.rows, .channels = x.columns};
  while (tiles.tile < x.columns && tiles.tile < static_cast<int>(kWarpThreads)) tiles.tile *= 2;
  const int64_t across = (x.columns + tiles.tile - 1) / tiles.tile;
  const int64_t least = 2 * kRowsAtOnce * (kBlockThreads / tiles.tile);
  tiles.splits = static_cast<int>(std::clamp<int64_t>(
      x.rows / least, 1, std::max<int64_t>(1, kRoundBlocksMax / std::max<int64_t>(1, across))));
  return tiles;
}

// Of a pass with `splits` along y.
inline Grid TileGrid(const ChannelTiles& tiles, int64_t splits) {
  return {.x = static_cast<unsigned>((tiles.channels + tiles.tile - 1) / tiles.tile),
          .y = static_cast<unsigned>(splits),
          .threads = kBlockThreads};
}

// Of a pass that has no sums: a thread takes kRowsAtOnce, or more than once as many where there are
// more than a grid has blocks.
inline Grid TilePassGrid(const ChannelTiles& tiles) {
  const int64_t rows = int64_t{kRowsAtOnce} * (kBlockThreads / tiles.tile);
  constexpr int64_t kGridYMax = 65'535;
  return TileGrid(tiles, std::min<int64_t>((tiles.rows + rows - 1) / rows, kGridYMax));
}

// Of the parts of two sums per channel and split.
inline size_t TilePartsBytes(const ChannelTiles& tiles) {
  return 2 * sizeof(float) * static_cast<size_t>(tiles.splits * tiles.channels);
}

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TEAMS_H_
