#include "localkube/api/subdomain.h"

#include <algorithm>
#include <cstddef>

namespace taas::localkube {
namespace {

constexpr size_t kNameMax = 253;

bool IsEdge(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsPart(std::string_view part) {
  if (part.empty() || !IsEdge(part.front()) || !IsEdge(part.back())) return false;
  return std::all_of(part.begin(), part.end(), [](char c) { return IsEdge(c) || c == '-'; });
}

}  // namespace

bool IsSubdomain(std::string_view name) {
  if (name.size() > kNameMax) return false;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    if (!IsPart(name.substr(0, dot))) return false;
    name.remove_prefix(dot + 1);
  }
  return IsPart(name);
}

}  // namespace taas::localkube
