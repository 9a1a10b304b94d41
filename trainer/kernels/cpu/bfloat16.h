// Products of float32 numbers that are rounded to bfloat16 first and added up in float32: the parts
// of which matrix products (bfloat16_gemm.h) and convolutions (bfloat16_conv.h) consist.
//
// A bfloat16 is the upper half of a float32: the same range with 8 significant bits. AVX512_BF16
// has one instruction that adds two products of such numbers to a float32, which is twice as many
// multiplications as float32's has. Its operands are pairs: two neighbours along the dimension that
// is summed over, in 32 bits. Rounding is to nearest, ties to even; NaN and infinities stay. The
// instructions take numbers below 2^-126 as zero.
//
// A tile is up to kTileRows rows and kTileColumns columns of a result, which stay in registers
// while the sum runs. Its left factor is read pair by pair from wherever it lies; of its right
// factor the columns lie side by side in panels. (Goto and van de Geijn 2008: anatomy of matrix
// multiplication.)
//
// Ownership: none; no output overlaps an input. Threads: any. Errors: none; all but HasBFloat16
// need a processor that has them. Without one, trainer/loops/bfloat16_loops.h rounds.
//
//   if (HasBFloat16()) MultiplyTile({.a = …, .b = …, .out = y, .rows = 12, .columns = 32});

#ifndef TRAINER_KERNELS_CPU_BFLOAT16_H_
#define TRAINER_KERNELS_CPU_BFLOAT16_H_

#include <cstdint>

namespace taas {

// The first of two numbers is in the lower half, and first in memory.
using BFloat16Pair = uint32_t;

// Whether this machine has AVX512_BF16.
bool HasBFloat16();

// 24 registers of sums, two of the right factor, and one of the left: of the 32 that there are.
inline constexpr int kTileRows = 12;
inline constexpr int kTileColumns = 32;
// Numbers of one register.
inline constexpr int kVector = 16;

inline int64_t PairsOf(int64_t n) { return (n + 1) / 2; }

void RoundRow(const float* x, uint16_t* out, int64_t n);

// out[i] = {even[i], odd[i]}; a null row is zeros. Up to the next multiple of kVector zeros follow.
void PairRows(const float* even, const float* odd, BFloat16Pair* out, int64_t n);

// The same of all rows of a matrix [rows, columns]: pairs of rows, `out_step` from one to the next.
void PackRowPairs(const float* x, int64_t stride, int64_t rows, int64_t columns,
                  BFloat16Pair* out, int64_t out_step);

// Of `rows` (at most kVector) rows of n numbers, the pairs of one place side by side:
// out[p * out_step + row] = {x[row][2p], x[row][2p + 1]}. What is missing, in rows or in the last
// pair, is zero. out has kVector rows.
void PairColumns(const float* x, int64_t x_stride, int rows, BFloat16Pair* out, int64_t out_step,
                 int64_t n);

// out (+)= Σ a · b. The sum runs over `segments` of `pairs`: of the left factor a segment is where
// pairs lie at one distance; the right factor's lie one behind the other.
struct Tile {
  const void* a = nullptr;
  int64_t a_row = 0;      // Bytes from the pair of one row to that of the next.
  int64_t a_pair = 4;     // Bytes from one pair to the next.
  int64_t a_segment = 0;  // Bytes from one segment to the next.
  int64_t segments = 1;
  int64_t pairs = 0;  // Of a segment.
  // PanelWidth(columns) pairs side by side.
  const BFloat16Pair* b = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;  // Floats from row to row.
  int rows = 0;            // 1 to kTileRows.
  int columns = 0;         // 1 to kTileColumns.
  bool adds = false;
};

inline int PanelWidth(int64_t columns) { return columns > kVector ? kTileColumns : kVector; }

void MultiplyTile(const Tile& tile);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_BFLOAT16_H_
