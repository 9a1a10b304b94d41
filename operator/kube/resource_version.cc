#include "operator/kube/resource_version.h"

namespace taas {

bool IsOrdered(std::string_view version) {
  if (version.empty() || version[0] == '0') return false;
  return version.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsLater(std::string_view version, std::string_view than) {
  if (!IsOrdered(version) || !IsOrdered(than)) return false;
  if (version.size() != than.size()) return version.size() > than.size();
  return version > than;
}

bool NotLater(std::string_view version, std::string_view than) {
  return IsOrdered(version) && IsOrdered(than) && !IsLater(version, than);
}

}  // namespace taas
