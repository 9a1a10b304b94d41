#include "trainer/graph/runtime.h"

#include <string>

#include "operator/base/status.h"
#include "trainer/graph/memory_uses.h"

namespace taas {

absl::StatusOr<LoneKernel> MakeKernel(const Runtime& runtime, std::string_view op,
                                      const KernelSpec& spec) {
  const KernelFactory* const factory = runtime.kernels.Find(op, runtime.type(), DType::kFloat32);
  if (factory == nullptr) {
    return absl::UnimplementedError("there is no " + std::string(op) + " for " +
                                    std::string(runtime.type()));
  }
  LoneKernel lone;
  ASSIGN_OR_RETURN(lone.kernel, (*factory)(spec));
  if (lone.kernel.scratch_bytes > 0) {
    ASSIGN_OR_RETURN(lone.scratch, AllocateFor(*runtime.devices[0], MemoryUse::kWorkspaces,
                                               lone.kernel.scratch_bytes));
  }
  return lone;
}

}  // namespace taas
