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

// How far from the processor's a GPU's may be, in parts of the processor's.
struct Tolerance {
  // Any loss of twenty steps, each side by itself. What rounding makes of one step grows in the
  // next, as far as the model and the optimizer let it: bounds are ten times and more what the
  // processor itself differs by after a last bit of each variable was moved.
  double training = 1e-4;
  // Of steps that both begin with the same variables: any loss, any variable's gradient (the length
  // of the difference).
  double loss = 1e-5;
  double gradients = 1e-4;
};

struct Row {
  std::string name;
  std::string model;      // The object spec.trainer.model.
  std::string optimizer;  // The object spec.trainer.optimizer.
  DataShape data;
  int64_t batch = 1;
  Precision precision = Precision::kFloat32;
  Tolerance tolerance = {};
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
