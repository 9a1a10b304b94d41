#include "localkube/api/rules/names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace taas::localkube {
namespace {

constexpr size_t kSubdomainMax = 253;
constexpr size_t kDnsLabelMax = 63;
// Of the part behind the slash, and of the value of a label.
constexpr size_t kNameMax = 63;

constexpr char kNameRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kValueRule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
    "'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsEdge(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsPart(std::string_view part) {
  if (part.empty() || !IsEdge(part.front()) || !IsEdge(part.back())) return false;
  return std::all_of(part.begin(), part.end(), [](char c) { return IsEdge(c) || c == '-'; });
}

bool IsNameEdge(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool IsName(std::string_view name) {
  if (name.empty() || !IsNameEdge(name.front()) || !IsNameEdge(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsNameEdge(c) || c == '-' || c == '_' || c == '.';
  });
}

std::string TooLong(size_t bytes_max) {
  return "must be no more than " + std::to_string(bytes_max) + " characters";
}

void CheckPrefix(std::string_view prefix, std::vector<std::string>* flaws) {
  if (prefix.empty()) {
    flaws->push_back("prefix part must be non-empty");
    return;
  }
  if (prefix.size() > kSubdomainMax) flaws->push_back("prefix part " + TooLong(kSubdomainMax));
  if (!IsSubdomain(prefix.substr(0, kSubdomainMax))) {
    flaws->push_back(std::string("prefix part ") + kSubdomainRule);
  }
}

}  // namespace

bool IsSubdomain(std::string_view name) {
  if (name.size() > kSubdomainMax) return false;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    if (!IsPart(name.substr(0, dot))) return false;
    name.remove_prefix(dot + 1);
  }
  return IsPart(name);
}

bool IsDnsLabel(std::string_view name) { return name.size() <= kDnsLabelMax && IsPart(name); }

std::vector<std::string> QualifiedNameFlaws(std::string_view name) {
  std::vector<std::string> flaws;
  const size_t slash = name.find('/');
  if (slash != std::string_view::npos && name.find('/', slash + 1) != std::string_view::npos) {
    return {std::string("a qualified name ") + kNameRule +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  if (slash != std::string_view::npos) {
    CheckPrefix(name.substr(0, slash), &flaws);
    name.remove_prefix(slash + 1);
  }
  if (name.empty()) {
    flaws.push_back("name part must be non-empty");
  } else if (name.size() > kNameMax) {
    flaws.push_back("name part " + TooLong(kNameMax));
  }
  if (!IsName(name)) flaws.push_back(std::string("name part ") + kNameRule);
  return flaws;
}

std::vector<std::string> LabelValueFlaws(std::string_view value) {
  std::vector<std::string> flaws;
  if (value.size() > kNameMax) flaws.push_back(TooLong(kNameMax));
  if (!value.empty() && !IsName(value)) flaws.push_back(kValueRule);
  return flaws;
}

}  // namespace taas::localkube
