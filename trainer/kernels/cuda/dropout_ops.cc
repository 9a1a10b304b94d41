#include "trainer/kernels/cuda/dropout_ops.h"

#include <string_view>

#include "operator/base/hash.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> Dropout(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float rate = static_cast<float>(spec.attributes.Number("rate"));
  const std::string_view stream = spec.attributes.Text("stream");
  const uint64_t layer = spec.seed ^ StableHash(stream.empty() ? spec.name : stream);
  return Kernel{.run = [n, rate, layer](const KernelCall& call) {
    return Launch(call, kDropoutKernel, ForElements(n, 4),
                  {.block = call.block,
                   .x = call.in(0),
                   .y = call.out(),
                   .count = n,
                   .layer = layer,
                   .rate = rate,
                   .by_fours = ByFours({call.in(0), call.out()})});
  }};
}

}  // namespace

void AddDropoutKernels(KernelRegistry* kernels) {
  kernels->Add("Dropout", kGpu, DType::kFloat32, Dropout);
}

}  // namespace taas::cuda
