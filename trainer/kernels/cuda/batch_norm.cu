// Per channel: mean = Σ x / n, variance = Σ (x - mean)² / n, y = scale · (x - mean) / √(variance +
// epsilon) + offset.
//
// A block has a tile of channels and a split of the rows (channel_tiles.h). Each thread takes eight
// rows into registers, their mean and the squares around it, and joins such parts as Chan, Golub
// and LeVeque (1979) do: one pass over memory and no difference of large squares; lanes, then
// splits, are joined in their order. 4 bytes per element for the moments, 8 to normalize, 12 for
// the gradient of x, all bound by memory: a thread's channel stays the same, so what is divided and
// rooted is so once for all of its rows.

#include "trainer/kernels/cuda/batch_norm.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

// Of some rows of a channel.
struct Part {
  float rows = 0;
  float mean = 0;
  float squares = 0;  // Of what they differ from the mean.
};

__device__ void Join(Part* all, float rows, float mean, float squares) {
  const float total = all->rows + rows;
  const float share = rows / total;
  const float delta = mean - all->mean;
  all->mean += delta * share;
  all->squares += squares + delta * delta * share * all->rows;
  all->rows = total;
}

// Those of the lanes, in lane 0. By all threads of a block.
__device__ void JoinParts(const ChannelTiles& tiles, const TileThread& at, float* shared,
                          Part* part) {
  shared[threadIdx.x] = part->rows;
  shared[kBlockThreads + threadIdx.x] = part->mean;
  shared[2 * kBlockThreads + threadIdx.x] = part->squares;
  __syncthreads();
  if (at.lane != 0) return;
  for (int lane = 1; lane < at.lanes; ++lane) {
    const unsigned of = threadIdx.x + static_cast<unsigned>(lane * tiles.tile);
    if (shared[of] == 0) return;  // Nor have the lanes behind it any rows.
    Join(part, shared[of], shared[kBlockThreads + of], shared[2 * kBlockThreads + of]);
  }
}

}  // namespace

extern "C" __global__ void MomentPartsKernel(const MomentPartsParams p) {
  __shared__ float shared[3 * kBlockThreads];
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  Part part;
  ForTileRows(p.tiles, at, blockIdx.y, gridDim.y, [&](int64_t row, int64_t step, int rows) {
    float x[kRowsAtOnce];
    float sum = 0;
    for (int i = 0; i < kRowsAtOnce; ++i) {
      x[i] = i < rows ? p.x[(row + i * step) * channels + at.channel] : 0.0f;
      sum += x[i];
    }
    const float mean = sum / static_cast<float>(rows);
    float squares = 0;
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const float difference = i < rows ? x[i] - mean : 0.0f;
      squares += difference * difference;
    }
    Join(&part, static_cast<float>(rows), mean, squares);
  });
  JoinParts(p.tiles, at, shared, &part);
  if (at.lane != 0 || at.idle) return;
  float* const to = p.parts + int64_t{blockIdx.y} * 2 * channels + at.channel;
  to[0] = part.mean;
  to[channels] = part.squares;
}

extern "C" __global__ void MomentsKernel(const MomentsParams p) {
  __shared__ float shared[3 * kBlockThreads];
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  Part part;
  for (int split = at.lane; split < p.tiles.splits && !at.idle; split += at.lanes) {
    const float* const from = p.parts + int64_t{split} * 2 * channels + at.channel;
    const int64_t rows = SplitBegin(p.tiles.rows, split + 1, p.tiles.splits) -
                         SplitBegin(p.tiles.rows, split, p.tiles.splits);
    Join(&part, static_cast<float>(rows), from[0], from[channels]);
  }
  JoinParts(p.tiles, at, shared, &part);
  if (at.lane != 0 || at.idle) return;
  const float rows = static_cast<float>(p.tiles.rows);
  p.mean[at.channel] = part.mean;
  p.variance[at.channel] = part.squares / rows;
  p.unbiased[at.channel] = part.squares / (rows > 1 ? rows - 1 : 1);
}

extern "C" __global__ void NormalizeGradKernel(const NormalizeGradParams p) {
  const TileThread at(p.tiles);
  if (at.idle) return;
  const int64_t c = at.channel;
  const float inverse = 1.0f / sqrtf(p.variance[c] + p.epsilon);
  const float share = 1.0f / static_cast<float>(p.tiles.rows);
  const float factor = p.scale[c] * inverse;
  const float slope = -factor * inverse * p.dscale[c] * share;
  const float added = -factor * p.doffset[c] * share - slope * p.mean[c];
  ForTileRows(p.tiles, at, blockIdx.y, gridDim.y, [&](int64_t row, int64_t step, int rows) {
    float dx[kRowsAtOnce];
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const int64_t from = (row + i * step) * p.tiles.channels + c;
      dx[i] = i < rows ? factor * p.dy[from] + slope * p.x[from] + added : 0.0f;
    }
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (i < rows) p.dx[(row + i * step) * p.tiles.channels + c] = dx[i];
    }
  });
}

extern "C" __global__ void NormalizeKernel(const NormalizeParams p) {
  const TileThread at(p.tiles);
  if (at.idle) return;
  const int64_t c = at.channel;
  const float factor = 1.0f / sqrtf(p.variance[c] + p.epsilon) * p.scale[c];
  const float added = p.offset[c] - p.mean[c] * factor;
  ForTileRows(p.tiles, at, blockIdx.y, gridDim.y, [&](int64_t row, int64_t step, int rows) {
    float x[kRowsAtOnce];
    for (int i = 0; i < kRowsAtOnce; ++i) {
      x[i] = i < rows ? p.x[(row + i * step) * p.tiles.channels + c] : 0.0f;
    }
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (i < rows) p.y[(row + i * step) * p.tiles.channels + c] = x[i] * factor + added;
    }
  });
}
