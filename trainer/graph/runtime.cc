#include "trainer/graph/runtime.h"

#include <string>

namespace taas {

absl::StatusOr<Kernel> MakeKernel(const Runtime& runtime, std::string_view op,
                                  const KernelSpec& spec) {
  const KernelFactory* const factory = runtime.kernels.Find(op, runtime.type(), DType::kFloat32);
  if (factory != nullptr) return (*factory)(spec);
  return absl::UnimplementedError("there is no " + std::string(op) + " for " +
                                  std::string(runtime.type()));
}

}  // namespace taas
