// How kernels share out a matrix [rows, channels] whose channels each have numbers of their own: a
// block has a tile of channels, side by side, and as many rows at a time as its threads make; so a
// warp moves whole lines of memory whether channels are many or few.
//
// Ownership: values. Threads: see each function. Errors: none.
//
//   const TileThread at(p.tiles);
//   ForTileRows(p.tiles, at, blockIdx.y, gridDim.y,
//               [&](int64_t row, int64_t step, int rows) { … });

#ifndef TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_
#define TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_

#include <cstdint>

#include "trainer/kernels/cuda/block_sums.h"

namespace taas::cuda {

struct ChannelTiles {
  int64_t rows = 0;
  int64_t channels = 0;
  int tile = 1;    // Channels of a block: a power of two, at most a warp's lanes.
  int splits = 1;  // Of the rows, each with sums of its own: blocks along y.
};

// Rows that a thread has on their way at once: what hides the memory's delay.
inline constexpr int kRowsAtOnce = 8;

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

// Of this thread: its channel, and which of the block's rows.
struct TileThread {
  int64_t channel;
  int lane;
  int lanes;
  bool idle;  // There is no such channel: the last tile may be partly idle.

  __device__ explicit TileThread(const ChannelTiles& tiles)
      : channel(int64_t{blockIdx.x} * tiles.tile + threadIdx.x % tiles.tile),
        lane(static_cast<int>(threadIdx.x) / tiles.tile),
        lanes(static_cast<int>(kBlockThreads) / tiles.tile),
        idle(channel >= tiles.channels) {}
};

// Where split `i` of `splits` begins.
__device__ inline int64_t SplitBegin(int64_t rows, int64_t i, int64_t splits) {
  return rows * i / splits;
}

// Calls `visit(row, step, rows)` for this thread's rows of the split, up to kRowsAtOnce at a time:
// row, row + step, ….
template <typename Visit>
__device__ void ForTileRows(const ChannelTiles& tiles, const TileThread& at, int64_t split,
                            int64_t splits, const Visit& visit) {
  if (at.idle) return;
  const int64_t end = SplitBegin(tiles.rows, split + 1, splits);
  const int64_t step = at.lanes;
  for (int64_t row = SplitBegin(tiles.rows, split, splits) + at.lane; row < end;
       row += kRowsAtOnce * step) {
    const int64_t left = (end - row + step - 1) / step;
    visit(row, step, left < kRowsAtOnce ? static_cast<int>(left) : kRowsAtOnce);
  }
}

// Adds up two sums of the lanes of each channel, in their order; the result is in lane 0. By all
// threads of a block; `shared` is 2 · kBlockThreads.
__device__ inline void JoinLanes(const ChannelTiles& tiles, const TileThread& at, float* shared,
                                 float* first, float* second) {
  shared[threadIdx.x] = *first;
  shared[kBlockThreads + threadIdx.x] = *second;
  __syncthreads();
  if (at.lane != 0) return;
  for (int lane = 1; lane < at.lanes; ++lane) {
    *first += shared[threadIdx.x + lane * tiles.tile];
    *second += shared[kBlockThreads + threadIdx.x + lane * tiles.tile];
  }
}

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_
