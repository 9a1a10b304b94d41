// The names that Kubernetes gives to most objects: DNS subdomains (RFC 1123).
//
// Ownership: none. Threads: any. Errors: none.
//
//   if (!IsSubdomain(name)) return …("Invalid value: " + name + ": " + kSubdomainRule);

#ifndef LOCALKUBE_API_SUBDOMAIN_H_
#define LOCALKUBE_API_SUBDOMAIN_H_

#include <string_view>

namespace taas::localkube {

inline constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character";

// Labels of lower case letters, digits and '-' between dots, none of them empty: no path leads out
// of a directory by such a name.
bool IsSubdomain(std::string_view name);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SUBDOMAIN_H_
