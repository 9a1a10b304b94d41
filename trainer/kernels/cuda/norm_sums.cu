// doffset = Σ dy, dscale = Σ dy · z over the rows, z = (x - mean) · inverse.
//
// A block has a tile of channels and a split of the rows (channel_tiles.h); a thread adds up eight
// rows, then those sums, so that sums of a million terms keep their digits. Lanes, then splits, are
// added in their order. 8 bytes per element, bound by memory.

#include "trainer/kernels/cuda/norm_sums.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

extern "C" __global__ void NormSumPartsKernel(const NormSumPartsParams p) {
  __shared__ float shared[2 * kBlockThreads];
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  const bool of_row = p.inverse != nullptr;
  const float mean = of_row || at.idle ? 0.0f : p.mean[at.channel];
  float sum = 0, products = 0;
  ForTileRows(p.tiles, at, blockIdx.y, gridDim.y, [&](int64_t row, int64_t step, int rows) {
    float sum_here = 0, products_here = 0;
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (i >= rows) continue;  // Not a way out: the loads of all rows come first.
      const int64_t r = row + i * step;
      const int64_t from = r * channels + at.channel;
      const float dy = p.dy[from];
      const float x = p.x[from];
      sum_here += dy;
      products_here += dy * (of_row ? (x - p.mean[r]) * p.inverse[r] : x - mean);
    }
    sum += sum_here;
    products += products_here;
  });
  JoinLanes(p.tiles, at, shared, &sum, &products);
  if (at.lane != 0 || at.idle) return;
  float* const to = p.parts + int64_t{blockIdx.y} * 2 * channels + at.channel;
  to[0] = sum;
  to[channels] = products;
}

extern "C" __global__ void NormSumsKernel(const NormSumsParams p) {
  __shared__ float shared[2 * kBlockThreads];
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  float sum = 0, products = 0;
  for (int split = at.lane; split < p.tiles.splits && !at.idle; split += at.lanes) {
    const float* const from = p.parts + int64_t{split} * 2 * channels + at.channel;
    sum += from[0];
    products += from[channels];
  }
  JoinLanes(p.tiles, at, shared, &sum, &products);
  if (at.lane != 0 || at.idle) return;
  const int64_t c = at.channel;
  p.doffset[c] = sum;
  p.dscale[c] = p.variance == nullptr ? products
                                      : products * (1.0f / sqrtf(p.variance[c] + p.epsilon));
}
