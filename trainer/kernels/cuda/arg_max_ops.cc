#include "trainer/kernels/cuda/arg_max_ops.h"

#include <algorithm>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

// A warp for each row, however long.
int64_t BlocksOf(int64_t rows) { return (rows + kWarpsOfBlock - 1) / kWarpsOfBlock; }

absl::StatusOr<Kernel> ArgMax(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [x](const KernelCall& call) {
    return Launch(call, kArgMaxKernel,
                  {.x = static_cast<unsigned>(BlocksOf(x.rows)), .threads = kBlockThreads},
                  {.x = call.in(0),
                   .y = call.out_int32(),
                   .rows = x.rows,
                   .columns = static_cast<int>(x.columns)});
  }};
}

absl::StatusOr<Kernel> Accuracy(const KernelSpec& spec) {
  // One thread adds the counts: few enough that it takes no longer than the launch.
  constexpr int64_t kBlocksMax = 64;
  const Rows x = RowsOf(spec.inputs[0].shape);
  const auto blocks = static_cast<unsigned>(std::min(BlocksOf(x.rows), kBlocksMax));
  const auto run = [x, blocks](const KernelCall& call) -> absl::Status {
    auto* const counts = static_cast<int32_t*>(call.scratch);
    RETURN_IF_ERROR(Launch(call, kCountRightKernel, {.x = blocks, .threads = kBlockThreads},
                           {.x = call.in(0),
                            .labels = call.in_int32(1),
                            .counts = counts,
                            .rows = x.rows,
                            .columns = static_cast<int>(x.columns)}));
    return Launch(call, kShareRightKernel, {.threads = 1},
                  {.counts = counts,
                   .count_of_counts = static_cast<int>(blocks),
                   .y = call.out(),
                   .rows = x.rows});
  };
  return Kernel{.run = run, .scratch_bytes = blocks * sizeof(int32_t)};
}

}  // namespace

void AddArgMaxKernels(KernelRegistry* kernels) {
  kernels->Add("ArgMax", kGpu, DType::kFloat32, ArgMax);
  kernels->Add("Accuracy", kGpu, DType::kFloat32, Accuracy);
}

}  // namespace taas::cuda
