// The kernels of this tree's ops for NVIDIA GPUs, whose device type is "GPU".
//
// Each launches functions of kernels.h into the stream of its call, which is a GpuStream
// (launch.h), and returns before they run. Results are those of the processor's kernels but for the
// order of sums, and the same from run to run.
//
// Ownership: StandardCudaKernels lives as long as the program. Threads: any. Errors: see
// kernel_registry.h.
//
//   KernelRegistry mine;
//   AddCudaKernels(&mine);   // then the program's own

#ifndef TRAINER_KERNELS_CUDA_CUDA_KERNELS_H_
#define TRAINER_KERNELS_CUDA_CUDA_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddCudaKernels(KernelRegistry* kernels);

const KernelRegistry& StandardCudaKernels();

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CUDA_KERNELS_H_
