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
#include <cstdint>

#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

// A tensor as a matrix whose rows are its last axis.
struct Rows {
  int64_t rows = 0;
  int64_t columns = 0;
};

inline Rows RowsOf(const Shape& shape) {
  const int64_t columns = shape.dim(shape.rank() - 1);
  return {columns == 0 ? 0 : shape.count() / columns, columns};
}

// Whether a warp takes a row, rather than a block.
inline bool OfWarps(const Rows& x) { return x.columns <= kWarpColumnsMax; }

inline Grid TeamGrid(const Rows& x) {
  const int64_t per_block = OfWarps(x) ? kWarpsOfBlock : 1;
  return {.x = static_cast<unsigned>((x.rows + per_block - 1) / per_block),
          .threads = kBlockThreads};
}

// Of blocks whose threads go round, each over some elements: more blocks than the largest GPU of
// today runs at once (132 multiprocessors with 8 each) only make more partial sums.
inline constexpr int64_t kRoundBlocksMax = 1'056;
inline constexpr int64_t kRoundElements = 1'024;  // Of a block at least, but for the last.

inline Grid ForRounds(int64_t count) {
  return {.x = static_cast<unsigned>(std::min<int64_t>(
              (count + kRoundElements - 1) / kRoundElements, kRoundBlocksMax)),
          .threads = kBlockThreads};
}

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TEAMS_H_
