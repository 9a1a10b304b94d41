// The functions of kernels.h as they are on the processor, by their numbers.
//
// Ownership: none. Threads: as the emulator's. Errors: none.
//
//   emulator.Run(launch, [&] { kEmulatedFunctions[kernel](params); });

#ifndef TRAINER_KERNELS_CUDA_TESTING_EMULATED_FUNCTIONS_H_
#define TRAINER_KERNELS_CUDA_TESTING_EMULATED_FUNCTIONS_H_

#include "trainer/cuda/emulate/cuda_on_host.h"

#include "trainer/kernels/cuda/kernels.h"

namespace taas::cuda {

using EmulatedFunction = void (*)(const void* params);

inline constexpr EmulatedFunction kEmulatedFunctions[] = {
#define TAAS_KERNEL_CALL(function, params) \
  [](const void* p) { ::function(*static_cast<const params*>(p)); },
    TAAS_CUDA_KERNELS(TAAS_KERNEL_CALL)
#undef TAAS_KERNEL_CALL
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TESTING_EMULATED_FUNCTIONS_H_
