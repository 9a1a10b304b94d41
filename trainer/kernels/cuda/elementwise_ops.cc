#include "trainer/kernels/cuda/elementwise_ops.h"

#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> Scale(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float factor = static_cast<float>(spec.attributes.Number("factor"));
  return Kernel{.run = [n, factor](const KernelCall& call) {
    return Launch(call, kScaleKernel, ForElements(n),
                  {.x = call.in(0), .y = call.out(), .count = n, .factor = factor});
  }};
}

}  // namespace

void AddElementwiseKernels(KernelRegistry* kernels) {
  kernels->Add("Scale", kGpu, DType::kFloat32, Scale);
}

}  // namespace taas::cuda
