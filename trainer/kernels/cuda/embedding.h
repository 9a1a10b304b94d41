// Rows of a table by their ids, and the gradient of the table: whole, or of the rows alone that are
// looked up.

#ifndef TRAINER_KERNELS_CUDA_EMBEDDING_H_
#define TRAINER_KERNELS_CUDA_EMBEDDING_H_

#include <cstdint>

#include "trainer/kernels/cuda/report.h"

namespace taas::cuda {

// y[i] = table[ids[i]]; a row of an id that the table has not is left alone. One block more than
// ids need reports the first of those.
struct EmbeddingParams {
  const float* table;
  const int64_t* ids;
  float* y;
  int64_t count;
  int64_t rows;
  int64_t width;
  bool by_fours;  // places.h.
  ReportTo report;
};

// Where an id is used: the row above the position among all ids, so that sorted they are by row,
// and of one row in their order. Ids that the table has not have row kNoRow and are last.
using RowUse = unsigned long long;
inline constexpr unsigned kNoRow = 0xffffffff;

// One lookup's ids, and the gradients that arrive at them.
struct Lookup {
  const float* dy = nullptr;
  const int64_t* ids = nullptr;
  int64_t first = 0;  // The position of its first id among all.
};

// The lookups of one table.
struct Lookups {
  static constexpr int kMax = 64;
  Lookup lookups[kMax] = {};
  int lookups_count = 0;
  int64_t count = 0;  // Of all ids.
  int64_t rows = 0;   // Of the table.
  int64_t width = 0;
};

// uses = those of all ids, sorted by tiles of kTileUses; reports the first id that the table has
// not, of the first lookup that has one.
struct TileUsesParams {
  Lookups lookups;
  RowUse* uses;
  ReportTo report;
};

// `to` = from, runs of `run` merged two by two.
struct MergeUsesParams {
  const RowUse* from;
  RowUse* to;
  int64_t count;
  int64_t run;
};

// rows_of_tiles[i] = how many rows begin in the i-th tile of as many uses as a block has threads.
struct CountRowsParams {
  const RowUse* uses;
  int32_t* rows_of_tiles;
  int64_t count;
};

// rows = those that are used, ascending, each once; begins[i] = the first of the uses of row i, and
// behind the last row's the end of its uses; *rows_count = how many rows. A block for each tile,
// and one where there is none.
struct ListRowsParams {
  const RowUse* uses;
  const int32_t* rows_of_tiles;
  int32_t* rows;
  int32_t* rows_count;
  int32_t* begins;
  int64_t count;
};

// Clears the rows of a table that are listed.
struct ClearRowsParams {
  float* table;
  const int32_t* rows;
  const int32_t* rows_count;
  int64_t width;
};

// table[rows[i]] = the sum of what arrives at its uses, in their order.
struct AddRowsParams {
  Lookups lookups;
  const RowUse* uses;
  const int32_t* rows;
  const int32_t* rows_count;
  const int32_t* begins;
  float* table;
  bool by_fours;  // places.h.
};

// Of a tile that is sorted by counting: each thread looks at all others'.
inline constexpr int kTileUses = 256;

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_EMBEDDING_H_
