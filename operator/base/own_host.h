// Whether the host that a request names is this program. A browser that was told another site's
// name for our address (DNS rebinding) lets that site's page read what we serve, and names that
// site: whoever else asks does so by an address, as localhost, or by a name of ours.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (!IsOwnHost(request[http::field::host], names)) return Refuse(421, kNotOurHost);

#ifndef OPERATOR_BASE_OWN_HOST_H_
#define OPERATOR_BASE_OWN_HOST_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas {

// What a program is called, beside its address.
struct HostNames {
  std::string ns;              // Its own in a cluster; empty: not known.
  std::string cluster_domain;  // Empty: cluster.local.
  std::vector<std::string> others;  // Such as the machine's name; empty ones do not count.
};

// `host` as a request says it, with or without a port: an address, localhost, one of the others, or
// a service's name: NAME, NAME.NAMESPACE of our own, NAME.NAMESPACE.svc, NAME.NAMESPACE.svc.DOMAIN.
// Empty is right as well: no browser sends none.
bool IsOwnHost(std::string_view host, const HostNames& names);

inline constexpr std::string_view kNotOurHost =
    "this is not the host that was asked: ask by its address, as localhost or by the name of its "
    "service";

}  // namespace taas

#endif  // OPERATOR_BASE_OWN_HOST_H_
