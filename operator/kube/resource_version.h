// The order of resource versions.
//
// Kubernetes promises it for decimal numbers (KEP-5504); anything else has no order, and every
// comparison with it is false.
//
// Ownership: none. Threads: any. Errors: none.
//
//   if (IsLater(stored.meta.resource_version, seen.meta.resource_version)) return;

#ifndef OPERATOR_KUBE_RESOURCE_VERSION_H_
#define OPERATOR_KUBE_RESOURCE_VERSION_H_

#include <string_view>

namespace taas {

// A decimal number without leading zeros, other than 0.
bool IsOrdered(std::string_view version);
bool IsLater(std::string_view version, std::string_view than);
// Equal or earlier.
bool NotLater(std::string_view version, std::string_view than);

}  // namespace taas

#endif  // OPERATOR_KUBE_RESOURCE_VERSION_H_
