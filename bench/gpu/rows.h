// The models that are compared with the processor's and measured on a GPU.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const Row& row : MeasuredRows(Size::kWhole)) …

#ifndef BENCH_GPU_ROWS_H_
#define BENCH_GPU_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/graph/tensor_type.h"
#include "trainer/model/model.h"

namespace taas::bench {

struct Row {
  std::string name;
  std::string model;      // The object spec.trainer.model.
  std::string optimizer;  // The object spec.trainer.optimizer.
  DataShape data;
  int64_t batch = 1;
  Precision precision = Precision::kFloat32;
  // How far a loss may be from the processor's, in parts of it.
  double tolerance = 1e-4;
};

// As they are, or so small that a GPU that is emulated computes them in a test.
enum class Size : uint8_t { kWhole, kSmall };

// At least one for each named model, of a batch with which the processor makes twenty steps in
// seconds.
std::vector<Row> ComparedRows(Size size);

// Those of the peers (peers.py), under the same names.
std::vector<Row> MeasuredRows(Size size);

}  // namespace taas::bench

#endif  // BENCH_GPU_ROWS_H_
