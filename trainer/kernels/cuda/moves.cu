// y[place(i)] = x[i]. Four units a thread, one every 256, so that a warp moves whole lines; a unit
// is as large as all pieces of rows, and where they begin, are multiples of. Bound by memory:
// 8 bytes per element of 4, or 4 where zeros are written.
//
// Where the first two axes are swapped and nothing lies behind them, neighbours that are read are
// not those that are written: a block takes a tile of 32 × 32 floats through shared memory, whose
// rows are a float longer, so that a column's lie in 32 banks. A warp moves a row of the tile.

#include "trainer/kernels/cuda/moves.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

constexpr int kOfAThread = 4;
constexpr unsigned kTile = 32;
constexpr unsigned kTileWarps = 8;

// Calls `move` with the number of each unit of this thread.
template <typename Move>
__device__ void ForUnits(int64_t count, Move move) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x * kOfAThread + threadIdx.x;
  for (int k = 0; k < kOfAThread; ++k) {
    const int64_t i = first + k * int64_t{blockDim.x};
    if (i >= count) return;  // The last block is partly idle.
    move(i);
  }
}

template <typename Unit>
__device__ void Join(const JoinParams& p) {
  ForUnits(p.rows * p.columns, [&](int64_t i) {
    const int64_t row = i / p.columns, column = i - row * p.columns;
    int k = 0;
    while (k + 1 < p.count_of_pieces && p.pieces[k + 1].begin <= column) ++k;
    const Piece& piece = p.pieces[k];
    Unit unit{};
    if (piece.x != nullptr) {
      unit = static_cast<const Unit*>(piece.x)[row * piece.stride + column - piece.begin];
    }
    static_cast<Unit*>(p.y)[row * p.stride + column] = unit;
  });
}

template <typename Unit>
__device__ void Swap(const SwapParams& p) {
  ForUnits(p.count, [&](int64_t i) {
    const int64_t pair = i / p.inner, at = i - pair * p.inner;
    const int64_t column = pair / p.rows, row = pair - column * p.rows;
    static_cast<Unit*>(p.y)[i] =
        static_cast<const Unit*>(p.x)[(row * p.columns + column) * p.inner + at];
  });
}

}  // namespace

extern "C" __global__ void JoinKernel(const JoinParams p) {
  if (p.unit_bytes == 16) return Join<float4>(p);
  if (p.unit_bytes == 8) return Join<float2>(p);
  Join<float>(p);
}

extern "C" __global__ void SwapKernel(const SwapParams p) {
  if (p.unit_bytes == 16) return Swap<float4>(p);
  if (p.unit_bytes == 8) return Swap<float2>(p);
  Swap<float>(p);
}

extern "C" __global__ void SwapTilesKernel(const SwapTilesParams p) {
  __shared__ float tile[kTile][kTile + 1];
  const int64_t first_row = blockIdx.x / p.tiles_of_columns * kTile;
  const int64_t first_column = blockIdx.x % p.tiles_of_columns * kTile;
  const unsigned lane = threadIdx.x % kTile, warp = threadIdx.x / kTile;
  for (unsigned k = warp; k < kTile; k += kTileWarps) {
    const int64_t row = first_row + k, column = first_column + lane;
    if (row < p.rows && column < p.columns) tile[k][lane] = p.x[row * p.columns + column];
  }
  __syncthreads();
  for (unsigned k = warp; k < kTile; k += kTileWarps) {
    const int64_t row = first_row + lane, column = first_column + k;
    if (row < p.rows && column < p.columns) p.y[column * p.rows + row] = tile[lane][k];
  }
}
