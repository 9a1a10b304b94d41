// doffset = Σ dy, dscale = Σ dy · z over the rows, z = (x - mean) · inverse.
//
// A block has a tile of channels and a split of the rows (channel_tiles.h); a thread adds up some
// rows, then those sums, so that sums of a million terms keep their digits. Lanes, then splits, are
// added in a fixed order, the splits of few channels by a block. 8 bytes per element, bound by
// memory.

#include "trainer/kernels/cuda/norm_sums.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

constexpr int kSumsShared = 2 * kBlockThreads;

// Those of the lanes, in lane 0. By all threads of a block.
template <typename V>
__device__ void JoinSums(const ChannelTiles& tiles, const TileThread& at, float4* shared, V* sum,
                         V* products) {
  V* const sums = reinterpret_cast<V*>(shared);
  V* const all_products = reinterpret_cast<V*>(shared + kBlockThreads);
  JoinLanes(
      tiles, at,
      [&] {
        sums[threadIdx.x] = *sum;
        all_products[threadIdx.x] = *products;
      },
      [&](unsigned of) {
        *sum = Each(Plus(), *sum, sums[of]);
        *products = Each(Plus(), *products, all_products[of]);
      });
}

template <typename V>
__device__ void NormSumParts(const NormSumPartsParams& p, float4* shared) {
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  const bool of_row = p.inverse != nullptr;
  V mean = {};
  if (!of_row && !at.idle) mean = Place<V>{at.channel}.Load(p.mean);
  const bool has_relu = p.relu.offset != nullptr;
  Affine<V> relu;
  if (has_relu && !at.idle) relu = Affine<V>(p.relu, {at.channel});
  V sum = {}, products = {};
  ForTileRows<V>(p.tiles, at, [&](int64_t row, int64_t step, int rows) {
    V sum_here = {}, products_here = {};
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i >= rows) continue;  // Not a way out: the loads of all rows come first.
      const int64_t r = row + i * step;
      const Place<V> from{r * channels + at.channel};
      const V x = from.Load(p.x);
      V dy = from.Load(p.dy);
      if (has_relu) dy = relu.Passed(dy, x);
      const V of = of_row ? Filled<V>(p.mean[r]) : mean;
      const float inverse = of_row ? p.inverse[r] : 1.0f;
      sum_here = Each(Plus(), sum_here, dy);
      products_here = Each(
          [inverse](float to, float d, float z, float m) { return to + d * ((z - m) * inverse); },
          products_here, dy, x, of);
    }
    sum = Each(Plus(), sum, sum_here);
    products = Each(Plus(), products, products_here);
  });
  JoinSums(p.tiles, at, shared, &sum, &products);
  if (at.lane != 0 || at.idle) return;
  const Place<V> to{int64_t{blockIdx.y} * 2 * channels + at.channel};
  to.Store(p.parts, sum);
  to.At(to.i + channels).Store(p.parts, products);
}

template <typename V>
__device__ void NormSums(const NormSumsParams& p, float4* shared) {
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  V sum = {}, products = {};
  for (int split = at.lane; split < p.tiles.splits && !at.idle; split += at.lanes) {
    const Place<V> from{int64_t{split} * 2 * channels + at.channel};
    sum = Each(Plus(), sum, from.Load(p.parts));
    products = Each(Plus(), products, from.At(from.i + channels).Load(p.parts));
  }
  JoinSums(p.tiles, at, shared, &sum, &products);
  if (at.lane != 0 || at.idle) return;
  const Place<V> c{at.channel};
  c.Store(p.doffset, sum);
  if (p.variance != nullptr) {
    const float epsilon = p.epsilon;
    products = Each([epsilon](float all, float v) { return all * (1.0f / sqrtf(v + epsilon)); },
                    products, c.Load(p.variance));
  }
  c.Store(p.dscale, products);
}

}  // namespace

extern "C" __global__ void NormSumPartsKernel(const NormSumPartsParams p) {
  __shared__ float4 shared[kSumsShared];
  p.tiles.by_fours ? NormSumParts<float4>(p, shared) : NormSumParts<float>(p, shared);
}

extern "C" __global__ void NormSumsKernel(const NormSumsParams p) {
  __shared__ float4 shared[kSumsShared];
  p.tiles.by_fours ? NormSums<float4>(p, shared) : NormSums<float>(p, shared);
}
