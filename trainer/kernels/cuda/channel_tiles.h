// How kernels share out a matrix [rows, channels] whose channels each have numbers of their own: a
// thread has a channel, or four neighbours that it moves at once (places.h); a block has a tile of
// such groups, side by side, and as many rows at a time as its threads make; so a warp moves whole
// lines of memory whether channels are many or few.
//
// Ownership: values. Threads: see each function. Errors: none.
//
//   const TileThread at(p.tiles);
//   ForTileRows<V>(p.tiles, at, [&](int64_t row, int64_t step, int rows) { … });

#ifndef TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_
#define TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_

#include <cstdint>

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/places.h"

namespace taas::cuda {

// Rows that a thread has on their way at once, which hides the memory's delay: those of four
// channels are twice as many bytes.
inline constexpr int kRowsAtOnce = 8, kRowsOfFoursAtOnce = 4;

struct ChannelTiles {
  int64_t rows = 0;
  int64_t channels = 0;
  int tile = 1;    // Groups of a block: a power of two, at most a warp's lanes.
  int splits = 1;  // Of the rows, each with sums of its own: blocks along y.
  bool by_fours = false;  // Groups are of four channels, else of one.

  int64_t width() const { return by_fours ? 4 : 1; }
  int64_t rows_at_once() const { return by_fours ? kRowsOfFoursAtOnce : kRowsAtOnce; }
};

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

template <typename V>
inline constexpr int kRowsOf = sizeof(V) == sizeof(float) ? kRowsAtOnce : kRowsOfFoursAtOnce;

// Of this thread: its channel, the first of its group, and which of the block's rows.
struct TileThread {
  int64_t channel;
  int lane;
  int lanes;
  bool idle;  // There is no such channel: the last tile may be partly idle.

  __device__ explicit TileThread(const ChannelTiles& tiles)
      : channel((int64_t{blockIdx.x} * tiles.tile + threadIdx.x % tiles.tile) *
                (tiles.by_fours ? 4 : 1)),
        lane(static_cast<int>(threadIdx.x) / tiles.tile),
        lanes(static_cast<int>(kBlockThreads) / tiles.tile),
        idle(channel >= tiles.channels) {}
};

// Where split `i` of `splits` begins.
__device__ inline int64_t SplitBegin(int64_t rows, int64_t i, int64_t splits) {
  return rows * i / splits;
}

// Calls `visit(row, step, rows)` for this thread's rows of the block's split (along y), up to
// kRowsOf<V> at a time: row, row + step, ….
template <typename V, typename Visit>
__device__ void ForTileRows(const ChannelTiles& tiles, const TileThread& at, const Visit& visit) {
  if (at.idle) return;
  const int64_t end = SplitBegin(tiles.rows, int64_t{blockIdx.y} + 1, gridDim.y);
  const int64_t step = at.lanes;
  for (int64_t row = SplitBegin(tiles.rows, blockIdx.y, gridDim.y) + at.lane; row < end;
       row += kRowsOf<V> * step) {
    const int64_t left = (end - row + step - 1) / step;
    visit(row, step, left < kRowsOf<V> ? static_cast<int>(left) : kRowsOf<V>);
  }
}

// Joins what the lanes of each group have: each of the first half with that half a tile's lanes
// away, then each of the first quarter, and so on; the result is lane 0's. `put` writes what the
// thread has to its place in shared memory, `join(place)` adds what is in another's. By all threads
// of a block.
template <typename Put, typename Join>
__device__ void JoinLanes(const ChannelTiles& tiles, const TileThread& at, const Put& put,
                          const Join& join) {
  put();
  for (int half = at.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (at.lane >= half) continue;
    join(threadIdx.x + static_cast<unsigned>(half * tiles.tile));
    put();
  }
}

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CHANNEL_TILES_H_
