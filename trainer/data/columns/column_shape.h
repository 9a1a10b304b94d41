// One number of an example, where its numbers are feature columns.
//
// Ownership: value type. Threads: any. Errors: none.

#ifndef TRAINER_DATA_COLUMNS_COLUMN_SHAPE_H_
#define TRAINER_DATA_COLUMNS_COLUMN_SHAPE_H_

#include <cstdint>
#include <string>

namespace taas {

struct ColumnShape {
  std::string name;
  // The number is an id from 0 to categories - 1; 0: it is a quantity.
  int64_t categories = 0;
  bool crossed = false;  // The categories are those of several columns together.

  bool operator==(const ColumnShape&) const = default;
};

}  // namespace taas

#endif  // TRAINER_DATA_COLUMNS_COLUMN_SHAPE_H_
