#include "operator/base/own_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>

namespace taas {
namespace {

bool IsAddress(int family, const std::string& text) {
  in6_addr unused;  // Room for either family.
  return ::inet_pton(family, text.c_str(), &unused) == 1;
}

std::string NameOf(std::string_view host) {
  std::string name(host.substr(0, host.find(':')));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with('.')) name.pop_back();
  return name;
}

}  // namespace

bool IsOwnHost(std::string_view host, const HostNames& names) {
  if (host.empty()) return true;
  if (host.front() == '[') {
    // A zone, as in fe80::1%eth0, is this machine's affair.
    const std::string_view inside = host.substr(1, host.find(']') - 1);
    return IsAddress(AF_INET6, std::string(inside.substr(0, inside.find('%'))));
  }
  const std::string name = NameOf(host);
  if (IsAddress(AF_INET, name) || name.find('.') == std::string::npos) return true;
  for (const std::string& other : names.others) {
    if (!other.empty() && name == NameOf(other)) return true;
  }
  const std::string domain = names.cluster_domain.empty() ? "cluster.local" : names.cluster_domain;
  if (name.ends_with(".svc") || name.ends_with(".svc." + domain)) return true;
  return !names.ns.empty() && name.ends_with("." + names.ns) &&
         name.find('.') == name.size() - names.ns.size() - 1;
}

}  // namespace taas
