// Per channel: mean = Σ x / n, variance = Σ (x - mean)² / n, y = scale · (x - mean) / √(variance +
// epsilon) + offset.
//
// A block has a tile of channels and a split of the rows (channel_tiles.h). Each thread takes some
// rows into registers, their mean and the squares around it, and joins such parts as Chan, Golub
// and LeVeque (1979) do: one pass over memory and no difference of large squares; lanes, then
// splits, are joined in a fixed order, the splits of few channels by a block, since one that goes
// through hundreds of them waits for each. 4 bytes per element for the moments, 8 to normalize, 12
// for the gradient of x, all bound by memory: a thread's channels stay the same, so what is divided
// and rooted is so once for all of its rows.

#include "trainer/kernels/cuda/batch_norm.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

// Of some rows of a group of channels.
template <typename V>
struct Part {
  float rows = 0;
  V mean = {};
  V squares = {};  // Of what they differ from the mean.
};

// For the parts of a block's threads.
constexpr int kPartsShared = 2 * kBlockThreads + kBlockThreads / 4;

template <typename V>
__device__ void Join(Part<V>* all, float rows, V mean, V squares) {
  if (rows == 0) return;
  if (all->rows == 0) {
    *all = {rows, mean, squares};
    return;
  }
  const float total = all->rows + rows;
  const float share = rows / total;
  const float weight = share * all->rows;
  const V delta = Each([](float a, float b) { return a - b; }, mean, all->mean);
  all->mean = Each([share](float to, float d) { return to + d * share; }, all->mean, delta);
  all->squares =
      Each([weight](float to, float more, float d) { return to + (more + d * d * weight); },
           all->squares, squares, delta);
  all->rows = total;
}

// Those of the lanes, in lane 0. By all threads of a block.
template <typename V>
__device__ void JoinParts(const ChannelTiles& tiles, const TileThread& at, float4* shared,
                          Part<V>* part) {
  V* const means = reinterpret_cast<V*>(shared);
  V* const squares = reinterpret_cast<V*>(shared + kBlockThreads);
  float* const rows = reinterpret_cast<float*>(shared + 2 * kBlockThreads);
  JoinLanes(
      tiles, at,
      [&] {
        rows[threadIdx.x] = part->rows;
        means[threadIdx.x] = part->mean;
        squares[threadIdx.x] = part->squares;
      },
      [&](unsigned of) { Join(part, rows[of], means[of], squares[of]); });
}

template <typename V>
__device__ void MomentParts(const MomentPartsParams& p, float4* shared) {
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  Part<V> part;
  ForTileRows<V>(p.tiles, at, [&](int64_t row, int64_t step, int rows) {
    V x[kRowsOf<V>];
    V sum = {};
    for (int i = 0; i < kRowsOf<V>; ++i) {
      x[i] = {};
      if (i < rows) x[i] = Place<V>{(row + i * step) * channels + at.channel}.Load(p.x);
      sum = Each(Plus(), sum, x[i]);
    }
    const float count = static_cast<float>(rows);
    const V mean = Each([count](float all) { return all / count; }, sum);
    V squares = {};
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i >= rows) continue;
      squares = Each([](float to, float a, float b) { return to + (a - b) * (a - b); }, squares,
                     x[i], mean);
    }
    Join(&part, count, mean, squares);
  });
  JoinParts(p.tiles, at, shared, &part);
  if (at.lane != 0 || at.idle) return;
  const Place<V> to{int64_t{blockIdx.y} * 2 * channels + at.channel};
  to.Store(p.parts, part.mean);
  to.At(to.i + channels).Store(p.parts, part.squares);
}

template <typename V>
__device__ void Moments(const MomentsParams& p, float4* shared) {
  const TileThread at(p.tiles);
  const int64_t channels = p.tiles.channels;
  Part<V> part;
  for (int split = at.lane; split < p.tiles.splits && !at.idle; split += at.lanes) {
    const Place<V> from{int64_t{split} * 2 * channels + at.channel};
    const int64_t rows = SplitBegin(p.tiles.rows, split + 1, p.tiles.splits) -
                         SplitBegin(p.tiles.rows, split, p.tiles.splits);
    Join(&part, static_cast<float>(rows), from.Load(p.parts),
         from.At(from.i + channels).Load(p.parts));
  }
  JoinParts(p.tiles, at, shared, &part);
  if (at.lane != 0 || at.idle) return;
  const float rows = static_cast<float>(p.tiles.rows);
  if (part.rows == 0) part.mean = part.squares = Filled<V>(0.0f / rows);  // Of none: no number.
  const float fewer = rows > 1 ? rows - 1 : 1;
  const Place<V> c{at.channel};
  c.Store(p.mean, part.mean);
  c.Store(p.variance, Each([rows](float all) { return all / rows; }, part.squares));
  c.Store(p.unbiased, Each([fewer](float all) { return all / fewer; }, part.squares));
}

template <typename V>
__device__ void NormalizeGrad(const NormalizeGradParams& p) {
  const TileThread at(p.tiles);
  if (at.idle) return;
  const Place<V> c{at.channel};
  const float epsilon = p.norm.epsilon;
  const float share = 1.0f / static_cast<float>(p.tiles.rows);
  const V inverse =
      Each([epsilon](float of) { return 1.0f / sqrtf(of + epsilon); }, c.Load(p.norm.variance));
  const V factor = Each(Times(), c.Load(p.norm.scale), inverse);
  const V slope = Each([share](float f, float i, float d) { return -f * i * d * share; }, factor,
                       inverse, c.Load(p.dscale));
  const V added =
      Each([share](float f, float d, float s, float m) { return -f * d * share - s * m; }, factor,
           c.Load(p.doffset), slope, c.Load(p.norm.mean));
  const bool has_relu = p.norm.offset != nullptr;
  Affine<V> relu;
  if (has_relu) relu = Affine<V>(p.norm, c);
  ForTileRows<V>(p.tiles, at, [&](int64_t row, int64_t step, int rows) {
    V dx[kRowsOf<V>];
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i >= rows) continue;  // Not a way out: the loads of all rows come first.
      const Place<V> from{(row + i * step) * p.tiles.channels + at.channel};
      const V x = from.Load(p.x);
      V dy = from.Load(p.dy);
      if (has_relu) dy = relu.Passed(dy, x);
      dx[i] = Each([](float d, float of, float f, float s, float a) { return f * d + s * of + a; },
                   dy, x, factor, slope, added);
    }
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i < rows) Place<V>{(row + i * step) * p.tiles.channels + at.channel}.Store(p.dx, dx[i]);
    }
  });
}

template <typename V>
__device__ void Normalize(const NormalizeParams& p) {
  const TileThread at(p.tiles);
  if (at.idle) return;
  const Affine<V> norm(p.norm, {at.channel});
  const float least = p.relu ? 0.0f : -INFINITY;
  ForTileRows<V>(p.tiles, at, [&](int64_t row, int64_t step, int rows) {
    V x[kRowsOf<V>];
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i < rows) x[i] = Place<V>{(row + i * step) * p.tiles.channels + at.channel}.Load(p.x);
    }
    for (int i = 0; i < kRowsOf<V>; ++i) {
      if (i >= rows) continue;
      Place<V>{(row + i * step) * p.tiles.channels + at.channel}.Store(
          p.y, Each([least](float y) { return y < least ? least : y; }, norm.Of(x[i])));
    }
  });
}

}  // namespace

extern "C" __global__ void MomentPartsKernel(const MomentPartsParams p) {
  __shared__ float4 shared[kPartsShared];
  p.tiles.by_fours ? MomentParts<float4>(p, shared) : MomentParts<float>(p, shared);
}

extern "C" __global__ void MomentsKernel(const MomentsParams p) {
  __shared__ float4 shared[kPartsShared];
  p.tiles.by_fours ? Moments<float4>(p, shared) : Moments<float>(p, shared);
}

extern "C" __global__ void NormalizeGradKernel(const NormalizeGradParams p) {
  p.tiles.by_fours ? NormalizeGrad<float4>(p) : NormalizeGrad<float>(p);
}

extern "C" __global__ void NormalizeKernel(const NormalizeParams p) {
  p.tiles.by_fours ? Normalize<float4>(p) : Normalize<float>(p);
}
