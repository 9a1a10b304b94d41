// What the kernels take that move elements: next to each other, out of each other, or with two axes
// swapped. Elements are moved in units of 4, 8 or 16 bytes, in which all counts are.

#ifndef TRAINER_KERNELS_CUDA_MOVES_H_
#define TRAINER_KERNELS_CUDA_MOVES_H_

#include <cstdint>

namespace taas::cuda {

// A part of each row: of a tensor whose rows are `stride` apart, or zeros where there is none.
struct Piece {
  const void* x;
  int64_t stride;
  int64_t begin;  // In the row that is written.
};

// Row r of y is row r of each piece, one beside the other; rows of y are `stride` apart.
struct JoinParams {
  // More take another launch, which writes further columns.
  static constexpr int kPiecesMax = 32;

  Piece pieces[kPiecesMax];
  int count_of_pieces;
  void* y;
  int64_t rows;
  int64_t columns;  // That are written.
  int64_t stride;
  int unit_bytes;
};

// y[columns, rows, inner] = x[rows, columns, inner].
struct SwapParams {
  const void* x;
  void* y;
  int64_t count;
  int64_t rows;
  int64_t columns;
  int64_t inner;
  int unit_bytes;
};

// The same of floats, with inner 1.
struct SwapTilesParams {
  const float* x;
  float* y;
  int64_t rows;
  int64_t columns;
  int64_t tiles_of_columns;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_MOVES_H_
