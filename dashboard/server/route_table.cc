#include "dashboard/server/route_table.h"

#include <utility>

namespace taas::dashboard {
namespace {

std::vector<std::string> PartsOf(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    parts.emplace_back(pattern.substr(0, slash));
    pattern = slash == std::string_view::npos ? "" : pattern.substr(slash + 1);
  }
  return parts;
}

bool Fits(const std::vector<std::string>& parts, const std::vector<std::string>& segments) {
  if (segments.size() != parts.size() + 1) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != "*" && parts[i] != segments[i + 1]) return false;
  }
  return true;
}

}  // namespace

void RouteTable::Add(std::string method, std::string_view pattern, ApiHandler handler) {
  entries_.push_back({std::move(method), PartsOf(pattern), std::move(handler)});
}

RouteTable::Found RouteTable::Find(std::string_view method,
                                   const std::vector<std::string>& segments) const {
  Found found;
  for (const Entry& entry : entries_) {
    if (!Fits(entry.parts, segments)) continue;
    found.methods += (found.methods.empty() ? "" : ", ") + entry.method;
    if (entry.method == method && found.handler == nullptr) found.handler = &entry.handler;
  }
  return found;
}

std::vector<std::string> RouteTable::Names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) {
    std::string name = entry.method + " ";
    for (size_t i = 0; i < entry.parts.size(); ++i) name += (i > 0 ? "/" : "") + entry.parts[i];
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace taas::dashboard
