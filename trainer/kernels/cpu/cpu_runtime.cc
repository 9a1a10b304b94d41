#include "trainer/kernels/cpu/cpu_runtime.h"

#include "trainer/kernels/cpu/cpu_device.h"
#include "trainer/kernels/cpu/cpu_kernels.h"

namespace taas {

Runtime CpuRuntime() { return {{&CpuDevice()}, StandardKernels()}; }

}  // namespace taas
