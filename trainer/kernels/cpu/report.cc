#include "trainer/kernels/cpu/report.h"

#include <mutex>

#include "operator/base/check.h"

namespace taas {

void Report(const KernelCall& call, Fault fault) {
  CHECK(call.block != nullptr) << "a kernel has nowhere to report to: " << FaultText(fault);
  static std::mutex mutex;  // Kernels of a session run side by side.
  const std::lock_guard lock(mutex);
  Fault& first = call.block->fault;
  if (call.index >= first.kernel) return;
  fault.kernel = call.index;
  first = fault;
}

}  // namespace taas
