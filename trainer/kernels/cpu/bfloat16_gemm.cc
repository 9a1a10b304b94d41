#include "trainer/kernels/cpu/bfloat16_gemm.h"

#include <algorithm>

#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// Pairs of a sum that are added up at a time: a panel of so many (32 kB) stays near the first cache
// while the tiles of a column pass.
constexpr int64_t kBlockPairs = 256;
// Tiles of rows that pass by all panels before the next ones: of so many the left factor (480 kB)
// stays in the second cache.
constexpr int64_t kBlockTiles = 40;
// Row pairs of a right factor that are put in order across all panels: as many streams of memory as
// processors follow.
constexpr int64_t kStreams = 4;
// Pairs in a cache line.
constexpr int64_t kLine = 16;
// Rows of a panel of a left factor that is stored transposed: whole registers, and whole tiles.
constexpr int64_t kLeftPanel = 48;

// Multiplications that are worth a thread: some microseconds of them.
constexpr int64_t kSharedWork = int64_t{1} << 19;

int64_t Rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// A stored row of pairs of a left factor that is not transposed. An odd number of lines: rows then
// lie in different sets of the caches.
int64_t LeftRowPairs(const GemmShape& s) {
  const int64_t lines = Rounded(PairsOf(s.k), kLine) / kLine;
  return (lines | 1) * kLine;
}

int64_t AStride(const GemmShape& s) {
  return s.a_stride > 0 ? s.a_stride : (s.transpose_a ? s.m : s.k);
}
int64_t BStride(const GemmShape& s) {
  return s.b_stride > 0 ? s.b_stride : (s.transpose_b ? s.k : s.n);
}
int64_t OutStride(const GemmShape& s) { return s.out_stride > 0 ? s.out_stride : s.n; }

int64_t RightPanels(const GemmShape& s) { return (s.n + kTileColumns - 1) / kTileColumns; }
int64_t RowTiles(const GemmShape& s) { return (s.m + kTileRows - 1) / kTileRows; }

// Where a tile begins in the packed left factor, and how it goes on from there.
Tile LeftTile(const GemmShape& s, const BFloat16Pair* left, int64_t row, int64_t first_pair) {
  constexpr int64_t kBytes = sizeof(BFloat16Pair);
  if (!s.transpose_a) {
    const int64_t width = LeftRowPairs(s);
    return {.a = left + row * width + first_pair, .a_row = width * kBytes, .a_pair = kBytes};
  }
  const int64_t panel = row / kLeftPanel;
  return {.a = left + (panel * PairsOf(s.k) + first_pair) * kLeftPanel + row % kLeftPanel,
          .a_row = kBytes,
          .a_pair = kLeftPanel * kBytes};
}

// The part of the result in rows of tiles and in panels.
struct Region {
  Range tiles, panels;
};

void MultiplyBlock(const GemmShape& s, const BFloat16Pair* left, const BFloat16Pair* right,
                   float* out, const Region& region) {
  const int64_t pairs = PairsOf(s.k);
  const int64_t blocks = (pairs + kBlockPairs - 1) / kBlockPairs;
  for (int64_t block = 0; block < blocks; ++block) {
    const Range of = ShareOf(pairs, blocks, block);
    for (int64_t panel = region.panels.begin; panel < region.panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      const int columns = static_cast<int>(std::min<int64_t>(kTileColumns, s.n - column));
      const BFloat16Pair* const b =
          right + panel * pairs * kTileColumns + of.begin * PanelWidth(columns);
      for (int64_t at = region.tiles.begin; at < region.tiles.end; ++at) {
        const int64_t row = at * kTileRows;
        Tile tile = LeftTile(s, left, row, of.begin);
        tile.pairs = of.size();
        tile.b = b;
        tile.out = out + row * OutStride(s) + column;
        tile.out_stride = OutStride(s);
        tile.rows = static_cast<int>(std::min<int64_t>(kTileRows, s.m - row));
        tile.columns = columns;
        tile.adds = s.beta != 0 || block > 0;
        MultiplyTile(tile);
      }
    }
  }
}

void MultiplyRegion(const GemmShape& s, const BFloat16Pair* left, const BFloat16Pair* right,
                    float* out, const Region& region) {
  for (int64_t first = region.tiles.begin; first < region.tiles.end; first += kBlockTiles) {
    const int64_t last = std::min(first + kBlockTiles, region.tiles.end);
    MultiplyBlock(s, left, right, out, {.tiles = {first, last}, .panels = region.panels});
  }
}

// A right factor that is stored [k, n].
void PackRightRows(const GemmShape& s, const float* b, const Range& panels, BFloat16Pair* to) {
  const int64_t stride = BStride(s);
  for (int64_t row = 0; row < s.k; row += 2 * kStreams) {
    const int64_t rows = std::min(2 * kStreams, s.k - row);
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      const int64_t columns = std::min<int64_t>(kTileColumns, s.n - column);
      const int width = PanelWidth(columns);
      PackRowPairs(b + row * stride + column, stride, rows, columns,
                   to + panel * PairsOf(s.k) * kTileColumns + row / 2 * width, width);
    }
  }
}

// One that is stored [n, k].
void PackRightColumns(const GemmShape& s, const float* b, const Range& panels, BFloat16Pair* to) {
  const int64_t stride = BStride(s);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    BFloat16Pair* const out = to + panel * PairsOf(s.k) * kTileColumns;
    const int64_t column = panel * kTileColumns;
    const int64_t columns = std::min<int64_t>(kTileColumns, s.n - column);
    for (int64_t first = 0; first < columns; first += kVector) {
      const int rows = static_cast<int>(std::min<int64_t>(kVector, columns - first));
      PairColumns(b + (column + first) * stride, stride, rows, out + first, PanelWidth(columns),
                  s.k);
    }
  }
}

}  // namespace

size_t PackedRightBytes(const GemmShape& s) {
  return static_cast<size_t>(RightPanels(s) * PairsOf(s.k) * kTileColumns) * sizeof(BFloat16Pair);
}

size_t PackedLeftBytes(const GemmShape& s) {
  const int64_t pairs = s.transpose_a ? Rounded(s.m, kLeftPanel) * PairsOf(s.k)
                                      : s.m * LeftRowPairs(s);
  return static_cast<size_t>(Rounded(pairs, kLine)) * sizeof(BFloat16Pair);
}

size_t BFloat16GemmScratch(const GemmShape& s) { return PackedLeftBytes(s) + PackedRightBytes(s); }

void PackRight(const GemmShape& s, const float* b, void* packed) {
  auto* const to = static_cast<BFloat16Pair*>(packed);
  ForRows(s.threads, RightPanels(s), PairsOf(s.k) * kTileColumns, [&](const Range& panels) {
    (s.transpose_b ? PackRightColumns : PackRightRows)(s, b, panels, to);
  });
}

void PackLeft(const GemmShape& s, const float* a, void* packed) {
  auto* const to = static_cast<BFloat16Pair*>(packed);
  const int64_t stride = AStride(s);
  if (!s.transpose_a) {
    const int64_t width = LeftRowPairs(s);
    ForRows(s.threads, s.m, s.k, [&](const Range& rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        // The second of a last pair is a number of no one's: it must be zero, whatever was there.
        BFloat16Pair* const out = to + row * width;
        out[PairsOf(s.k) - 1] = 0;
        RoundRow(a + row * stride, reinterpret_cast<uint16_t*>(out), s.k);
      }
    });
    return;
  }
  const int64_t pairs = PairsOf(s.k);
  ForRows(s.threads, Rounded(s.m, kLeftPanel) / kLeftPanel, pairs * kLeftPanel,
          [&](const Range& panels) {
            for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
              const int64_t row = panel * kLeftPanel;
              PackRowPairs(a + row, stride, s.k, std::min(kLeftPanel, s.m - row),
                           to + panel * pairs * kLeftPanel, kLeftPanel);
            }
          });
}

void MultiplyPacked(const GemmShape& s, const void* left, const void* right, float* out) {
  if (s.k == 0) {
    for (int64_t row = 0; row < s.m && s.beta == 0; ++row) {
      std::fill_n(out + row * OutStride(s), s.n, 0.0f);
    }
    return;
  }
  const auto* const a = static_cast<const BFloat16Pair*>(left);
  const auto* const b = static_cast<const BFloat16Pair*>(right);
  const Range tiles{0, RowTiles(s)}, panels{0, RightPanels(s)};
  // Along the longer side, a share per thread.
  const bool rows = tiles.size() >= panels.size();
  const int64_t length = rows ? tiles.size() : panels.size();
  const int64_t worth = std::max<int64_t>(1, s.m * s.n * s.k / kSharedWork);
  const int64_t shares = std::min({int64_t{s.threads}, length, worth});
  ParallelFor(s.threads, shares, [&](int64_t i) {
    Region region{tiles, panels};
    (rows ? region.tiles : region.panels) = ShareOf(length, shares, i);
    MultiplyRegion(s, a, b, out, region);
  });
}

void BFloat16Gemm(const GemmShape& s, const float* a, const float* b, float* out, void* scratch) {
  if (s.m == 0 || s.n == 0) return;
  auto* const right = static_cast<std::byte*>(scratch) + PackedLeftBytes(s);
  if (s.k > 0) {
    PackLeft(s, a, scratch);
    PackRight(s, b, right);
  }
  MultiplyPacked(s, scratch, right, out);
}

}  // namespace taas
