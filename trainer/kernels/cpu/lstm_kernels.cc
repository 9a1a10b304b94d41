#include "trainer/kernels/cpu/lstm_kernels.h"

#include <algorithm>
#include <memory>

#include "operator/base/status.h"
#include "trainer/kernels/cpu/onednn.h"
#include "trainer/kernels/cpu/product.h"
#include "trainer/kernels/cpu/repeated_product.h"
#include "trainer/kernels/cpu/scratch.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"
#include "trainer/loops/sequence_loops.h"

namespace taas {
namespace {

constexpr int64_t kGates = 4;

struct Layer {
  ProductMaker products;
  int64_t steps = 0;
  int64_t examples = 0;
  int64_t inputs = 0;
  int64_t units = 0;
  bool deterministic = false;

  bool rounds() const { return products.precision() == Precision::kBFloat16; }
  // Of products that wait for each other: they are small.
  int product_threads(int threads) const { return deterministic && !rounds() ? 1 : threads; }
  int64_t rows() const { return steps * examples; }
  int64_t columns() const { return kGates * units; }
};

Layer LayerOf(const KernelSpec& spec, const Shape& x, const Shape& recurrent) {
  return {.products = ProductMaker(spec),
          .steps = x.dim(0),
          .examples = x.dim(1),
          .inputs = x.dim(2),
          .units = recurrent.dim(0),
          .deterministic = spec.deterministic};
}

// Of the gates of all steps from the inputs.
GemmShape FromInputs(const Layer& layer) {
  return {.m = layer.rows(), .n = layer.columns(), .k = layer.inputs};
}
GemmShape ToInputs(const Layer& layer) {
  return {.m = layer.rows(), .n = layer.inputs, .k = layer.columns(), .transpose_b = true};
}
GemmShape ToInputWeights(const Layer& layer) {
  return {.m = layer.inputs, .n = layer.columns(), .k = layer.rows(), .transpose_a = true};
}
// The outputs of each step but the last with the gates of the step after it.
GemmShape ToRecurrentWeights(const Layer& layer) {
  return {.m = layer.units,
          .n = layer.columns(),
          .k = layer.rows() - layer.examples,
          .transpose_a = true};
}

absl::Status Multiply(const Layer& layer, GemmShape shape, const KernelCall& call, const float* a,
                      const float* b, float* out, void* scratch) {
  shape.threads = call.threads;
  return layer.products.Run(shape, a, b, out, scratch);
}

// Calls `cell(example)` for all examples of a step.
template <typename Cell>
void ForExamples(const Layer& layer, int threads, Cell cell) {
  ForRows(threads, layer.examples, layer.columns(), [&](const Range& share) {
    for (int64_t example = share.begin; example < share.end; ++example) cell(example);
  });
}

absl::Status Forward(const Layer& layer, RepeatedProduct& product, const KernelCall& call) {
  const SequenceLoops& loops = BestSequenceLoops();
  float* const y = call.out(0);
  float* const gates = call.out(1);
  float* const cells = call.out(2);
  const int64_t width = layer.columns();
  const int threads = layer.product_threads(call.threads);
  RETURN_IF_ERROR(Multiply(layer, FromInputs(layer), call, call.in(0), call.in(1), gates,
                           call.scratch));
  ForRows(call.threads, layer.rows(), width, [&](const Range& share) {
    float* const rows = gates + share.begin * width;
    BestLoops().bias_add(rows, call.in(3), rows, share.size(), width);
  });
  RETURN_IF_ERROR(product.Prepare(call.in(2), call.scratch, threads));
  for (int64_t step = 0; step < layer.steps; ++step) {
    const int64_t row = step * layer.examples;
    if (step > 0) {
      RETURN_IF_ERROR(product.Run(y + (row - layer.examples) * layer.units, gates + row * width,
                                  threads));
    }
    ForExamples(layer, call.threads, [&](int64_t example) {
      const int64_t at = (row + example) * layer.units;
      loops.lstm_cell({.gates = gates + (row + example) * width,
                       .before = step > 0 ? cells + at - layer.examples * layer.units : nullptr,
                       .cells = cells + at,
                       .y = y + at},
                      layer.units);
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> Lstm(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[0].shape, spec.inputs[2].shape);
  return MakeDnnl("make an LSTM", layer.product_threads(spec.threads), [&]() -> Kernel {
    const std::shared_ptr<RepeatedProduct> product =
        MakeRepeatedProduct({.rows = layer.examples,
                             .inner = layer.units,
                             .columns = layer.columns(),
                             .adds = true},
                            layer.rounds());
    return {.run = [layer, product](const KernelCall& call) {
              return Forward(layer, *product, call);
            },
            .scratch_bytes =
                std::max(product->bytes(), layer.products.ScratchBytes(FromInputs(layer))),
            .products = layer.products.precision()};
  });
}

struct BackwardScratch {
  float* dgates;   // Of all steps.
  float* dcells;   // Of one step.
  float* dbefore;  // What a step gives to the outputs of the step before.
  std::byte* blocks;  // Of products.

  static size_t Floats(const Layer& layer) {
    return static_cast<size_t>(layer.rows() * layer.columns() +
                               2 * layer.examples * layer.units);
  }
  BackwardScratch(const Layer& layer, void* scratch)
      : dgates(static_cast<float*>(scratch)),
        dcells(dgates + layer.rows() * layer.columns()),
        dbefore(dcells + layer.examples * layer.units),
        blocks(static_cast<std::byte*>(scratch) + Aligned(Floats(layer) * sizeof(float))) {}
};

// inputs: dy, x, w, r, y, gates, cells.
absl::Status BackwardSteps(const Layer& layer, RepeatedProduct& product,
                           const BackwardScratch& scratch, const KernelCall& call) {
  const SequenceLoops& loops = BestSequenceLoops();
  const int64_t width = layer.columns();
  const int threads = layer.product_threads(call.threads);
  std::fill_n(scratch.dcells, layer.examples * layer.units, 0.0f);
  RETURN_IF_ERROR(product.Prepare(call.in(3), scratch.blocks, threads));
  for (int64_t step = layer.steps; step-- > 0;) {
    const int64_t row = step * layer.examples;
    const bool last = step + 1 == layer.steps;
    ForExamples(layer, call.threads, [&](int64_t example) {
      const int64_t at = (row + example) * layer.units;
      const int64_t here = example * layer.units;
      const float* const cells = call.in(6) + at;
      loops.lstm_cell_grad({.gates = call.in(5) + (row + example) * width,
                            .before = step > 0 ? cells - layer.examples * layer.units : nullptr,
                            .cells = cells,
                            .dy = call.in(0) + at,
                            .dy_later = last ? nullptr : scratch.dbefore + here,
                            .dcells = scratch.dcells + here,
                            .dgates = scratch.dgates + (row + example) * width},
                           layer.units);
    });
    if (step > 0) {
      RETURN_IF_ERROR(product.Run(scratch.dgates + row * width, scratch.dbefore, threads));
    }
  }
  return absl::OkStatus();
}

absl::Status Backward(const Layer& layer, bool input_gradient, RepeatedProduct& product,
                      const KernelCall& call) {
  const BackwardScratch scratch(layer, call.scratch);
  RETURN_IF_ERROR(BackwardSteps(layer, product, scratch, call));
  const float* const dgates = scratch.dgates;
  if (input_gradient) {
    RETURN_IF_ERROR(Multiply(layer, ToInputs(layer), call, dgates, call.in(2), call.out(0),
                             scratch.blocks));
  }
  RETURN_IF_ERROR(Multiply(layer, ToInputWeights(layer), call, call.in(1), dgates, call.out(1),
                           scratch.blocks));
  RETURN_IF_ERROR(Multiply(layer, ToRecurrentWeights(layer), call, call.in(4),
                           dgates + layer.examples * layer.columns(), call.out(2),
                           scratch.blocks));
  BestLoops().sum_rows(dgates, call.out(3), layer.rows(), layer.columns());
  return absl::OkStatus();
}

absl::StatusOr<Kernel> LstmGrad(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[1].shape, spec.inputs[3].shape);
  const bool input_gradient = spec.attributes.Bool("input_gradient");
  return MakeDnnl("make an LSTM's gradient", layer.product_threads(spec.threads), [&]() -> Kernel {
    const std::shared_ptr<RepeatedProduct> product =
        MakeRepeatedProduct({.rows = layer.examples,
                             .inner = layer.columns(),
                             .columns = layer.units,
                             .transposed = true},
                            layer.rounds());
    size_t blocks = product->bytes();
    for (const GemmShape& shape :
         {ToInputs(layer), ToInputWeights(layer), ToRecurrentWeights(layer)}) {
      blocks = std::max(blocks, layer.products.ScratchBytes(shape));
    }
    return {.run = [layer, input_gradient, product](const KernelCall& call) {
              return Backward(layer, input_gradient, *product, call);
            },
            .scratch_bytes = Aligned(BackwardScratch::Floats(layer) * sizeof(float)) + blocks,
            .products = layer.products.precision()};
  });
}

}  // namespace

void AddLstmKernels(KernelRegistry* kernels) {
  kernels->Add("Lstm", "CPU", DType::kFloat32, Lstm);
  kernels->Add("LstmGrad", "CPU", DType::kFloat32, LstmGrad);
}

}  // namespace taas
