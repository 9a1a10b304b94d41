#include "trainer/graph/kernel_registry.h"

#include <utility>

#include "operator/base/check.h"

namespace taas {

void KernelRegistry::Add(std::string_view op, std::string_view device_type, DType dtype,
                         KernelFactory factory) {
  std::tuple key(std::string(op), std::string(device_type), dtype);
  const bool added = kernels_.emplace(std::move(key), std::move(factory)).second;
  CHECK(added) << "two kernels for " << op << " on " << device_type << " of " << NameOf(dtype);
}

const KernelFactory* KernelRegistry::Find(std::string_view op, std::string_view device_type,
                                          DType dtype) const {
  const auto found = kernels_.find(std::tuple(std::string(op), std::string(device_type), dtype));
  return found == kernels_.end() ? nullptr : &found->second;
}

}  // namespace taas
