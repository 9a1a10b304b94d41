// A tensor as a matrix whose rows are its last axis.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const auto [rows, columns] = RowsOf(spec.inputs[0].shape);

#ifndef TRAINER_GRAPH_ROWS_H_
#define TRAINER_GRAPH_ROWS_H_

#include <cstdint>

#include "trainer/graph/tensor_type.h"

namespace taas {

struct Rows {
  int64_t rows = 0;
  int64_t columns = 0;
};

inline Rows RowsOf(const Shape& shape) {
  const int64_t columns = shape.dim(shape.rank() - 1);
  return {columns == 0 ? 0 : shape.count() / columns, columns};
}

}  // namespace taas

#endif  // TRAINER_GRAPH_ROWS_H_
