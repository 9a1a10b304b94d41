#include "tools/fuzz/target.h"

#include <algorithm>

namespace taas {
namespace {

constexpr size_t kLengthBytes = 2;

}  // namespace

std::vector<std::string_view> FuzzParts(std::string_view input, size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    size_t length = 0;
    for (size_t i = 0; i < std::min(kLengthBytes, input.size()); ++i) {
      length |= size_t{static_cast<uint8_t>(input[i])} << (8 * i);
    }
    input.remove_prefix(std::min(kLengthBytes, input.size()));
    parts.push_back(input.substr(0, length));
    input.remove_prefix(parts.back().size());
  }
  parts.push_back(input);
  return parts;
}

std::string JoinFuzzParts(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view& part : parts) {
    if (&part != parts.end() - 1) {
      out.push_back(static_cast<char>(part.size()));
      out.push_back(static_cast<char>(part.size() >> 8));
    }
    out.append(part);
  }
  return out;
}

}  // namespace taas
