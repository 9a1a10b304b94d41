// y[i] = table[ids[i]]; dtable[r] = Σ dy[i] over the i with ids[i] = r, in their order.
//
// A warp copies a row. For the gradient, uses (row, position) are sorted, tiles of 256 by counting
// how many are less, then runs by merging: a thread finds each one's place in the other run by
// bisection, so a launch merges all pairs of runs, and log2(n / 256) launches sort. Then each tile
// counts the rows that begin in it, and lists them behind those of the tiles before; and a warp
// adds up 32 columns of a row, or 32 times four (places.h): no two warps write one element, each
// sum has one order, no atomics on floats. 8 bytes per element of dy or y; sorting moves 16 bytes
// per id and pass, which is little beside rows of a hundred floats.

#include "trainer/kernels/cuda/embedding.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas;
using namespace taas::cuda;

namespace {

__device__ unsigned RowOf(RowUse use) { return static_cast<unsigned>(use >> 32); }

// The lookup that has that position among all ids.
__device__ const Lookup& LookupOf(const Lookups& lookups, int64_t position) {
  int i = lookups.lookups_count - 1;
  while (position < lookups.lookups[i].first) --i;
  return lookups.lookups[i];
}

__device__ RowUse UseOf(const Lookups& lookups, int64_t position) {
  const Lookup& lookup = LookupOf(lookups, position);
  const int64_t id = lookup.ids[position - lookup.first];
  const bool known = id >= 0 && id < lookups.rows;
  return (known ? static_cast<RowUse>(id) : RowUse{kNoRow}) << 32 | static_cast<RowUse>(position);
}

// How many of `run`, which is sorted, are less.
__device__ int64_t LessThan(RowUse use, const RowUse* run, int64_t count) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (run[middle] < use) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Calls `visit(row, column)` for all of `rows` rows, a warp's lanes side by side, a V's columns
// each.
template <typename V, typename Visit>
__device__ void ForRowParts(int64_t rows, int64_t width, const Visit& visit) {
  constexpr int64_t kColumns = sizeof(V) / sizeof(float);
  const int64_t parts = (width + kWarpThreads * kColumns - 1) / (kWarpThreads * kColumns);
  const int64_t warps = int64_t{gridDim.x} * kWarpsOfBlock;
  const int64_t lane = threadIdx.x % kWarpThreads;
  for (int64_t i = TeamRow<kWarpThreads>(); i < rows * parts; i += warps) {
    const int64_t row = i / parts;
    const int64_t column = ((i - row * parts) * kWarpThreads + lane) * kColumns;
    if (column < width) visit(row, column);
  }
}

template <typename V>
__device__ void AddRows(const AddRowsParams& p) {
  const int64_t width = p.lookups.width;
  ForRowParts<V>(*p.rows_count, width, [&](int64_t i, int64_t column) {
    V sum = {};
    for (int32_t at = p.begins[i]; at < p.begins[i + 1]; ++at) {
      const auto position = static_cast<int64_t>(p.uses[at] & 0xffffffff);
      const Lookup& lookup = LookupOf(p.lookups, position);
      const Place<V> from{(position - lookup.first) * width + column};
      sum = Each(Plus(), sum, from.Load(lookup.dy));
    }
    Place<V>{p.rows[i] * width + column}.Store(p.table, sum);
  });
}

template <typename V>
__device__ void CopyRow(const EmbeddingParams& p, int64_t i, int64_t id) {
  constexpr int64_t kColumns = sizeof(V) / sizeof(float);
  for (int64_t c = threadIdx.x % kWarpThreads * kColumns; c < p.width;
       c += kWarpThreads * kColumns) {
    Place<V>{i * p.width + c}.Store(p.y, Place<V>{id * p.width + c}.Load(p.table));
  }
}

// How many rows begin in a tile, and how many of them before this thread's use.
struct Begins {
  bool any;   // One begins here, be it that of the ids which the table has not.
  bool row;   // One of the table does.
  int before;
  int of_tile;
};

// By all threads of a block, whose tile it is.
__device__ Begins BeginsOf(const RowUse* uses, int64_t count, int* warps) {
  const int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const unsigned lane = threadIdx.x % kWarpThreads, warp = threadIdx.x / kWarpThreads;
  const unsigned row = i < count ? RowOf(uses[i]) : kNoRow;
  Begins begins{};
  begins.any = i < count && (i == 0 || row != RowOf(uses[i - 1]));
  begins.row = begins.any && row != kNoRow;
  const unsigned mine = __ballot_sync(kAllLanes, begins.row);
  if (lane == 0) warps[warp] = __popc(mine);
  __syncthreads();
  begins.before = __popc(mine & ((1u << lane) - 1));
  for (unsigned other = 0; other < kWarpsOfBlock; ++other) {
    if (other < warp) begins.before += warps[other];
    begins.of_tile += warps[other];
  }
  return begins;
}

}  // namespace

extern "C" __global__ void AddRowsKernel(const AddRowsParams p) {
  p.by_fours ? AddRows<float4>(p) : AddRows<float>(p);
}

extern "C" __global__ void ClearRowsKernel(const ClearRowsParams p) {
  ForRowParts<float>(*p.rows_count, p.width, [&](int64_t i, int64_t column) {
    p.table[p.rows[i] * p.width + column] = 0;
  });
}

extern "C" __global__ void CountRowsKernel(const CountRowsParams p) {
  __shared__ int warps[kWarpsOfBlock];
  const Begins begins = BeginsOf(p.uses, p.count, warps);
  if (threadIdx.x == 0) p.rows_of_tiles[blockIdx.x] = begins.of_tile;
}

extern "C" __global__ void EmbeddingKernel(const EmbeddingParams p) {
  __shared__ unsigned long long first;
  if (blockIdx.x + 1 == gridDim.x) {
    ReportFirstOutside(p.report, Fault::Kind::kId, p.ids, p.count, p.rows, &first);
    return;
  }
  const int64_t i = TeamRow<kWarpThreads>();
  if (i >= p.count) return;  // The last block's warps may have none.
  const int64_t id = p.ids[i];
  if (id < 0 || id >= p.rows) return;  // It is no place in memory.
  p.by_fours ? CopyRow<float4>(p, i, id) : CopyRow<float>(p, i, id);
}

extern "C" __global__ void ListRowsKernel(const ListRowsParams p) {
  __shared__ int warps[kWarpsOfBlock];
  __shared__ int earlier;
  if (threadIdx.x == 0) earlier = 0;
  const Begins begins = BeginsOf(p.uses, p.count, warps);
  int mine = 0;
  for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += kBlockThreads) {
    mine += p.rows_of_tiles[tile];
  }
  if (mine > 0) atomicAdd(&earlier, mine);  // Of whole numbers: any order gives the same.
  __syncthreads();
  const int at = earlier + begins.before;
  const int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (begins.row) p.rows[at] = static_cast<int32_t>(RowOf(p.uses[i]));
  // The end of the last row's uses, too: that of the ids which the table has not.
  if (begins.any) p.begins[at] = static_cast<int32_t>(i);
  if (threadIdx.x != 0 || blockIdx.x + 1 != gridDim.x) return;
  const int listed = earlier + begins.of_tile;
  *p.rows_count = listed;
  const bool all = p.count == 0 || RowOf(p.uses[p.count - 1]) != kNoRow;
  if (all) p.begins[listed] = static_cast<int32_t>(p.count);
}

extern "C" __global__ void MergeUsesKernel(const MergeUsesParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  const int64_t pair = i / (2 * p.run) * (2 * p.run);
  const int64_t middle = pair + p.run < p.count ? pair + p.run : p.count;
  const int64_t end = pair + 2 * p.run < p.count ? pair + 2 * p.run : p.count;
  const RowUse use = p.from[i];
  // Behind those of its own run that are less and those of the other one.
  const int64_t place = i < middle ? i + LessThan(use, p.from + middle, end - middle)
                                   : i - middle + pair + LessThan(use, p.from + pair, p.run);
  p.to[place] = use;
}

extern "C" __global__ void TileUsesKernel(const TileUsesParams p) {
  __shared__ RowUse tile[kTileUses];
  __shared__ unsigned long long first;
  if (blockIdx.x + 1 == gridDim.x) {
    // The first list that has one reports: the others come too late.
    for (int i = 0; i < p.lookups.lookups_count; ++i) {
      const Lookup& lookup = p.lookups.lookups[i];
      const bool last = i + 1 == p.lookups.lookups_count;
      const int64_t end = last ? p.lookups.count : p.lookups.lookups[i + 1].first;
      ReportFirstOutside(p.report, Fault::Kind::kId, lookup.ids, end - lookup.first,
                         p.lookups.rows, &first);
      __syncthreads();
    }
    return;
  }
  const int64_t begin = int64_t{blockIdx.x} * kTileUses;
  const int64_t left = p.lookups.count - begin;
  const int count = left < kTileUses ? static_cast<int>(left) : kTileUses;
  const int i = static_cast<int>(threadIdx.x);
  const RowUse mine = i < count ? UseOf(p.lookups, begin + i) : 0;
  if (i < count) tile[i] = mine;
  __syncthreads();
  if (i >= count) return;  // The last tile may have fewer.
  int less = 0;
  for (int other = 0; other < count; ++other) less += tile[other] < mine ? 1 : 0;
  p.uses[begin + less] = mine;
}
