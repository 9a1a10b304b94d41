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

std::vector<std::pair<std::string, DType>> KernelRegistry::Of(
    std::string_view device_type) const {
  std::vector<std::pair<std::string, DType>> list;
  for (const auto& [key, factory] : kernels_) {
    if (std::get<1>(key) == device_type) list.emplace_back(std::get<0>(key), std::get<2>(key));
  }
  return list;
}

}  // namespace taas
