// The processors and the memory of this process as a device. Its streams run a kernel in the thread
// that launches it, before Launch returns.
//
// Ownership, threads, errors: device.h's.
//
//   ASSIGN_OR_RETURN(const Buffer arena, CpuDevice().Allocate(plan.bytes));

#ifndef TRAINER_KERNELS_CPU_CPU_DEVICE_H_
#define TRAINER_KERNELS_CPU_CPU_DEVICE_H_

#include <cstddef>

#include "trainer/graph/device.h"

namespace taas {

// Of the memory of many models most is a few tensors of megabytes, which are read in strides: with
// pages of this size the processor finds them faster. Small models have no use for it.
inline constexpr size_t kHugePage = size_t{2} << 20;
inline constexpr size_t kHugePagesFrom = 4 * kHugePage;

// Lives as long as the process.
Device& CpuDevice();

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_CPU_DEVICE_H_
