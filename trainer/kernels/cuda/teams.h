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

// Tiles of channels, with splits of the rows where sums over them are taken: as many blocks as the
// largest GPU runs at once (132 multiprocessors, 3 blocks each by their registers), so that none
// runs alone at the end, of as many rows for each thread as it has on their way at once, or more.
// `by_fours`: memory allows it.
inline ChannelTiles TilesOf(const Rows& x, bool by_fours) {
  constexpr int64_t kBlocks = 396;
  ChannelTiles tiles{.rows = x.rows, .channels = x.columns};
  tiles.by_fours = by_fours && x.columns % 4 == 0;
  const int64_t groups = x.columns / tiles.width();
  while (tiles.tile < groups && tiles.tile < static_cast<int>(kWarpThreads)) tiles.tile *= 2;
  const int64_t across = std::max<int64_t>(1, (groups + tiles.tile - 1) / tiles.tile);
  const int64_t least = tiles.rows_at_once() * (kBlockThreads / tiles.tile);
  const int64_t most = std::max<int64_t>(1, kBlocks / across);
  tiles.splits = static_cast<int>(std::clamp<int64_t>(x.rows / least, 1, most));
  return tiles;
}

// Of the pass that joins the splits: few groups a block, as many as a line of memory's sector has,
// so that many lanes share the splits.
inline ChannelTiles JoiningTiles(ChannelTiles tiles) {
  tiles.tile = std::min(tiles.tile, tiles.by_fours ? 2 : 8);
  return tiles;
}

// Of a pass with `splits` along y.
inline Grid TileGrid(const ChannelTiles& tiles, int64_t splits) {
  const int64_t of_block = tiles.tile * tiles.width();
  return {.x = static_cast<unsigned>((tiles.channels + of_block - 1) / of_block),
          .y = static_cast<unsigned>(splits),
          .threads = kBlockThreads};
}

// Of a pass that has no sums: a thread takes as many rows as it has on their way at once, or more
// than once as many where that would be more blocks than kRoundBlocksMax, so that what is said of
// its channels is computed for many rows.
inline Grid TilePassGrid(const ChannelTiles& tiles) {
  const int64_t rows = tiles.rows_at_once() * (kBlockThreads / tiles.tile);
  const Grid across = TileGrid(tiles, 1);
  const int64_t most = std::max<int64_t>(1, kRoundBlocksMax / std::max(1u, across.x));
  return TileGrid(tiles, std::min<int64_t>((tiles.rows + rows - 1) / rows, most));
}

// Of the parts of two sums per channel and split, whether by fours or not.
inline size_t TilePartsBytes(const Rows& x) {
  const int splits = std::max(TilesOf(x, true).splits, TilesOf(x, false).splits);
  return 2 * sizeof(float) * static_cast<size_t>(splits * x.columns);
}

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TEAMS_H_
