#include "trainer/kernels/cuda/lstm_ops.h"

#include <algorithm>
#include <cstddef>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/product_ops.h"
#include "trainer/kernels/cuda/sums_ops.h"

namespace taas::cuda {
namespace {

constexpr int64_t kGates = 4;

struct Layer {
  int64_t steps = 0, examples = 0, inputs = 0, units = 0;
  Precision precision = Precision::kFloat32;

  int64_t rows() const { return steps * examples; }
  int64_t columns() const { return kGates * units; }
  int64_t cells() const { return examples * units; }  // Of a step.
  int64_t gates() const { return examples * columns(); }
};

Layer LayerOf(const KernelSpec& spec, const Shape& x, const Shape& recurrent) {
  return {.steps = x.dim(0),
          .examples = x.dim(1),
          .inputs = x.dim(2),
          .units = recurrent.dim(0),
          .precision = spec.products};
}

// Scratch memory for one product or sum at a time.
struct Workspace {
  void* at;
  size_t bytes;
};

absl::Status Run(const KernelCall& call, const Layer& layer, const Workspace& workspace,
                 Product product) {
  product.precision = layer.precision;
  product.workspace = workspace.at;
  product.workspace_bytes = workspace.bytes;
  return Multiply(call, product);
}

// inputs: x, w, r, biases; outputs: y, gates, cells.
absl::Status Forward(const KernelCall& call, const Layer& layer, const Workspace& workspace) {
  float* const y = call.out(0);
  float* const gates = call.out(1);
  float* const cells = call.out(2);
  RETURN_IF_ERROR(Run(call, layer, workspace,
                      {.m = layer.rows(), .n = layer.columns(), .k = layer.inputs,
                       .a = call.in(0), .b = call.in(1), .c = gates}));
  for (int64_t step = 0; step < layer.steps; ++step) {
    const int64_t at = step * layer.cells(), before = at - layer.cells();
    float* const now = gates + step * layer.gates();
    if (step > 0) {
      RETURN_IF_ERROR(Run(call, layer, workspace,
                          {.m = layer.examples, .n = layer.columns(), .k = layer.units,
                           .adds = true, .a = y + before, .b = call.in(2), .c = now}));
    }
    RETURN_IF_ERROR(Launch(call, kLstmCellKernel, ForElements(layer.cells()),
                           {.gates = now,
                            .biases = call.in(3),
                            .before = step > 0 ? cells + before : nullptr,
                            .cells = cells + at,
                            .y = y + at,
                            .count = layer.cells(),
                            .units = layer.units}));
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> Lstm(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[0].shape, spec.inputs[2].shape);
  const size_t workspace = WorkspaceBytesFor(layer.rows(), layer.columns());
  return Kernel{.run =
                    [layer, workspace](const KernelCall& call) {
                      return Forward(call, layer, {call.scratch, workspace});
                    },
                .scratch_bytes = workspace,
                .products = spec.products};
}

// Of the gradient, one behind the other.
struct Scratch {
  float* dgates;   // Of all steps.
  float* dcells;   // Of one step.
  float* dbefore;  // What a step gives to the outputs of the step before.
  Workspace workspace;

  // Each begins with a line.
  static int64_t Aligned(int64_t floats) { return (floats + 63) / 64 * 64; }
  static int64_t Floats(const Layer& layer) {
    return Aligned(layer.steps * layer.gates()) + 2 * Aligned(layer.cells());
  }
  static size_t WorkspaceBytes(const Layer& layer) {
    return std::max({WorkspaceBytesFor(layer.rows(), layer.inputs),
                     WorkspaceBytesFor(layer.examples, layer.units),
                     WorkspaceBytesFor(std::max(layer.inputs, layer.units), layer.columns()),
                     ColumnSumsScratchBytes(layer.rows(), layer.columns())});
  }
  static size_t Bytes(const Layer& layer) {
    return static_cast<size_t>(Floats(layer)) * sizeof(float) + WorkspaceBytes(layer);
  }
  Scratch(const Layer& layer, void* memory)
      : dgates(static_cast<float*>(memory)),
        dcells(dgates + Aligned(layer.steps * layer.gates())),
        dbefore(dcells + Aligned(layer.cells())),
        workspace{dbefore + Aligned(layer.cells()), WorkspaceBytes(layer)} {}
};

// inputs: dy, x, w, r, y, gates, cells.
absl::Status BackwardSteps(const KernelCall& call, const Layer& layer, const Scratch& scratch) {
  for (int64_t step = layer.steps; step-- > 0;) {
    const int64_t at = step * layer.cells();
    float* const dgates = scratch.dgates + step * layer.gates();
    RETURN_IF_ERROR(
        Launch(call, kLstmCellGradKernel, ForElements(layer.cells()),
               {.gates = call.in(5) + step * layer.gates(),
                .before = step > 0 ? call.in(6) + at - layer.cells() : nullptr,
                .cells = call.in(6) + at,
                .dy = call.in(0) + at,
                .dy_later = step + 1 < layer.steps ? scratch.dbefore : nullptr,
                .dcells = scratch.dcells,
                .dgates = dgates,
                .count = layer.cells(),
                .units = layer.units}));
    if (step == 0) break;
    RETURN_IF_ERROR(Run(call, layer, scratch.workspace,
                        {.m = layer.examples, .n = layer.units, .k = layer.columns(),
                         .transpose_b = true, .a = dgates, .b = call.in(3),
                         .c = scratch.dbefore}));
  }
  return absl::OkStatus();
}

// outputs: dx, dw, dr, dbiases.
absl::Status Backward(const KernelCall& call, const Layer& layer, bool input_gradient) {
  const Scratch scratch(layer, call.scratch);
  RETURN_IF_ERROR(BackwardSteps(call, layer, scratch));
  const float* const dgates = scratch.dgates;
  if (input_gradient) {
    RETURN_IF_ERROR(Run(call, layer, scratch.workspace,
                        {.m = layer.rows(), .n = layer.inputs, .k = layer.columns(),
                         .transpose_b = true, .a = dgates, .b = call.in(2),
                         .c = call.out(0)}));
  }
  RETURN_IF_ERROR(Run(call, layer, scratch.workspace,
                      {.m = layer.inputs, .n = layer.columns(), .k = layer.rows(),
                       .transpose_a = true, .a = call.in(1), .b = dgates, .c = call.out(1)}));
  // The outputs of each step but the last with the gates of the step after it.
  RETURN_IF_ERROR(Run(call, layer, scratch.workspace,
                      {.m = layer.units, .n = layer.columns(),
                       .k = layer.rows() - layer.examples, .transpose_a = true,
                       .a = call.in(4), .b = dgates + layer.gates(), .c = call.out(2)}));
  return LaunchColumnSums(call, {.rows = layer.rows(),
                                 .columns = layer.columns(),
                                 .x = dgates,
                                 .y = call.out(3),
                                 .scratch = scratch.workspace.at});
}

absl::StatusOr<Kernel> LstmGrad(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[1].shape, spec.inputs[3].shape);
  const bool input_gradient = spec.attributes.Bool("input_gradient");
  return Kernel{.run =
                    [layer, input_gradient](const KernelCall& call) {
                      return Backward(call, layer, input_gradient);
                    },
                .scratch_bytes = Scratch::Bytes(layer),
                .products = spec.products};
}

}  // namespace

void AddLstmKernels(KernelRegistry* kernels) {
  kernels->Add("Lstm", kGpu, DType::kFloat32, Lstm);
  kernels->Add("LstmGrad", kGpu, DType::kFloat32, LstmGrad);
}

}  // namespace taas::cuda
