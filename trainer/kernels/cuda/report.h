// How a GPU's kernels tell what is wrong with the data: the first fault by the order of a step's
// kernels, and of one kernel that of the lowest row, whatever the order of threads.
//
// A block looks through all labels or ids: its threads find their first bad one, and the least of
// those, an integer's minimum in shared memory, is the same in any order. Then one thread writes
// the Fault. So no two blocks may report in one launch; kernels that report are in one stream, one
// after the other. Where a kernel's other blocks compute, one more block of it does the looking.
//
// Ownership: borrows the block. Threads: see each function. Errors: none.
//
//   __shared__ unsigned long long first;
//   ReportFirstOutside(p.report, Fault::Kind::kId, p.ids, p.count, p.rows, &first);

#ifndef TRAINER_KERNELS_CUDA_REPORT_H_
#define TRAINER_KERNELS_CUDA_REPORT_H_

#include <cstdint>

#include "trainer/graph/step_block.h"

namespace taas::cuda {

// Of a KernelCall: its block, which lies on the device, and its index.
struct ReportTo {
  StepBlock* block;
  int32_t kernel;
};

// A fault if the loss is no number.
struct CheckLossParams {
  const float* loss;
  ReportTo report;
};

// out = loss, or NaN in a step that has a fault: a mean over several GPUs tells it to all of them.
struct LossUnlessFaultParams {
  const float* loss;
  const StepBlock* block;
  float* out;
};

// How far a GPU has come, for whoever looks at a copy of it: one more.
struct CountParams {
  int64_t* count;
};

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

// Keeps it if it is the first by the order of the kernels. By one thread of a launch.
__device__ inline void Report(const ReportTo& to, const Fault& fault) {
  Fault& first = to.block->fault;
  if (to.kernel >= first.kernel) return;
  first.kernel = to.kernel;
  first.kind = fault.kind;
  first.at = fault.at;
  first.bound = fault.bound;
  first.value = fault.value;
  first.loss = fault.loss;
}

// Reports the first of `ids` that is not from 0 below `bound`. By all threads of one block; `first`
// is in its shared memory.
template <typename Id>
__device__ void ReportFirstOutside(const ReportTo& to, Fault::Kind kind, const Id* ids,
                                   int64_t count, int64_t bound, unsigned long long* first) {
  constexpr unsigned long long kNone = ~0ull;
  if (threadIdx.x == 0) *first = kNone;
  __syncthreads();
  unsigned long long mine = kNone;
  // Without a way out, so that several loads are on their way at once.
  for (int64_t i = int64_t{threadIdx.x}; i < count; i += blockDim.x) {
    const bool outside = ids[i] < 0 || ids[i] >= bound;
    const auto at = static_cast<unsigned long long>(i);
    mine = outside && at < mine ? at : mine;
  }
  if (mine != kNone) atomicMin(first, mine);
  __syncthreads();
  if (threadIdx.x != 0 || *first == kNone) return;
  const auto at = static_cast<int64_t>(*first);
  Report(to, {.kind = kind, .at = at, .bound = bound, .value = ids[at]});
}

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_REPORT_H_
