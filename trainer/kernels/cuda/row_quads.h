// A row in a warp's registers, four neighbours at a time, so that it is read from memory once and
// all of its loads are under way at the same time.
//
// Ownership: values. Threads: all of a warp come. Errors: none.
//
//   RowQuads x;
//   x.Load(row, columns);
//   x.ForEach(columns, [&](float4& quad, Place<float4> at) { … });

#ifndef TRAINER_KERNELS_CUDA_ROW_QUADS_H_
#define TRAINER_KERNELS_CUDA_ROW_QUADS_H_

#include <cstdint>

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/places.h"

namespace taas::cuda {

// Of a lane; so a row has at most kWarpColumnsMax columns.
inline constexpr int kQuadsOfLane = kWarpColumnsMax / (4 * static_cast<int>(kWarpThreads));

// Whether rows of so many columns are quads: then each begins where one may.
inline bool OfQuads(int64_t columns, bool by_fours) {
  return by_fours && columns % 4 == 0 && columns <= kWarpColumnsMax;
}

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

__device__ inline float SumOf(float4 quad) { return quad.x + quad.y + (quad.z + quad.w); }

struct RowQuads {
  float4 quads[kQuadsOfLane];

  // The column of a lane's quad, maybe behind the row's end.
  __device__ static int64_t ColumnOf(int quad) {
    return (quad * int64_t{kWarpThreads} + threadIdx.x % kWarpThreads) * 4;
  }
  // Those behind the row's end are `beyond`.
  __device__ void Load(const float* row, int64_t columns, float beyond = 0) {
    for (int i = 0; i < kQuadsOfLane; ++i) {
      const Place<float4> from{ColumnOf(i)};
      quads[i] = Filled<float4>(beyond);
      if (from.i < columns) quads[i] = from.Load(row);
    }
  }
  // Calls `visit(quad, place)` for the lane's quads of the row.
  template <typename Visit>
  __device__ void ForEach(int64_t columns, const Visit& visit) {
    for (int i = 0; i < kQuadsOfLane; ++i) {
      const Place<float4> at{ColumnOf(i)};
      if (at.i < columns) visit(quads[i], at);
    }
  }
};

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ROW_QUADS_H_
