#include "trainer/kernels/cuda/squared_error_ops.h"

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> SquaredError(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  const Grid grid = ForRounds(n);
  const auto run = [n, grid](const KernelCall& call) -> absl::Status {
    auto* const parts = static_cast<float*>(call.scratch);
    RETURN_IF_ERROR(Launch(call, kSquaredErrorKernel, grid,
                           {.a = call.in(0), .b = call.in(1), .parts = parts, .count = n}));
    return Launch(call, kMeanOfPartsKernel, {.threads = kBlockThreads},
                  {.parts = parts, .mean = call.out(), .count = grid.x, .divisor = n});
  };
  return Kernel{.run = run, .scratch_bytes = sizeof(float) * grid.x};
}

absl::StatusOr<Kernel> SquaredErrorGrad(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n](const KernelCall& call) {
    return Launch(call, kSquaredErrorGradKernel, ForElements(n),
                  {.a = call.in(0),
                   .b = call.in(1),
                   .dloss = call.in(2),
                   .da = call.out(),
                   .count = n});
  }};
}

}  // namespace

void AddSquaredErrorKernels(KernelRegistry* kernels) {
  kernels->Add("MeanSquaredError", kGpu, DType::kFloat32, SquaredError);
  kernels->Add("MeanSquaredErrorGrad", kGpu, DType::kFloat32, SquaredErrorGrad);
}

}  // namespace taas::cuda
