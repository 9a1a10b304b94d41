#include "trainer/kernels/cuda/softmax_loss_ops.h"

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/row_quads.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

// With `gradient` output 1 is that of the logits, else their softmax.
KernelFactory SoftmaxLoss(bool gradient) {
  return [gradient](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Rows x = RowsOf(spec.inputs[0].shape);
    const float dloss = gradient ? static_cast<float>(spec.attributes.Number("dloss")) : 0;
    const float factor = dloss / static_cast<float>(x.rows);
    const auto run = [=](const KernelCall& call) -> absl::Status {
      auto* const row_losses = static_cast<float*>(call.scratch);
      const SoftmaxLossParams params{.logits = call.in(0),
                                     .labels = call.in_int32(1),
                                     .result = call.out(1),
                                     .row_losses = row_losses,
                                     .rows = x.rows,
                                     .classes = x.columns,
                                     .scale = gradient ? factor : 1,
                                     .at_label = gradient ? factor : 0};
      const bool by_fours = ByFours({params.logits, params.result});
      const auto kernel = OfQuads(x.columns, by_fours) ? kSoftmaxLossQuadsKernel
                          : OfWarps(x)                 ? kSoftmaxLossWarpKernel
                                                       : kSoftmaxLossBlockKernel;
      RETURN_IF_ERROR(Launch(call, kernel, TeamGrid(x), params));
      return Launch(call, kMeanLossKernel, {.threads = kBlockThreads},
                    {.row_losses = row_losses,
                     .labels = call.in_int32(1),
                     .loss = call.out(0),
                     .rows = x.rows,
                     .classes = x.columns,
                     .report = {call.block, call.index}});
    };
    return Kernel{.run = run, .scratch_bytes = sizeof(float) * static_cast<size_t>(x.rows)};
  };
}

absl::StatusOr<Kernel> SoftmaxLossGrad(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [x](const KernelCall& call) {
    Grid grid = TeamGrid(x);
    grid.x += 1;  // It looks at the labels.
    return Launch(call, OfWarps(x) ? kSoftmaxLossGradWarpKernel : kSoftmaxLossGradBlockKernel, grid,
                  {.probabilities = call.in(0),
                   .labels = call.in_int32(1),
                   .dloss = call.in(2),
                   .dlogits = call.out(),
                   .rows = x.rows,
                   .classes = x.columns,
                   .by_fours = x.columns % 4 == 0 && ByFours({call.in(0), call.out()}),
                   .report = {call.block, call.index}});
  }};
}

}  // namespace

void AddSoftmaxLossKernels(KernelRegistry* kernels) {
  kernels->Add("SparseSoftmaxCrossEntropy", kGpu, DType::kFloat32, SoftmaxLoss(false));
  kernels->Add("SparseSoftmaxCrossEntropyAndGrad", kGpu, DType::kFloat32, SoftmaxLoss(true));
  kernels->Add("SparseSoftmaxCrossEntropyGrad", kGpu, DType::kFloat32, SoftmaxLossGrad);
}

}  // namespace taas::cuda
