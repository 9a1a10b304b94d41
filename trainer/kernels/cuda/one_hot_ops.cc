#include "trainer/kernels/cuda/one_hot_ops.h"

#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> OneHot(const KernelSpec& spec) {
  const Rows y = RowsOf(spec.outputs[0].shape);
  return Kernel{.run = [y](const KernelCall& call) {
    Grid grid = ForElements(y.rows * y.columns, 4);
    if (grid.x > 0) ++grid.x;  // The block that looks through the ids.
    return Launch(call, kOneHotKernel, grid,
                  {.ids = call.in_int64(0),
                   .y = call.out(),
                   .rows = y.rows,
                   .columns = y.columns,
                   .by_fours = y.columns % 4 == 0 && ByFours({call.out()}),
                   .report = {call.block, call.index}});
  }};
}

}  // namespace

void AddOneHotKernels(KernelRegistry* kernels) {
  kernels->Add("OneHot", kGpu, DType::kInt64, OneHot);
}

}  // namespace taas::cuda
