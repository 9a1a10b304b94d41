// The names that Kubernetes takes: of objects, of labels and annotations, and values of labels.
//
// What is wrong with one is said in a kube-apiserver's words.
//
// Ownership: none. Threads: any. Errors: none.
//
//   if (!IsSubdomain(name)) return …("Invalid value: " + name + ": " + kSubdomainRule);
//   for (const std::string& flaw : QualifiedNameFlaws(key)) …

#ifndef LOCALKUBE_API_RULES_NAMES_H_
#define LOCALKUBE_API_RULES_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas::localkube {

inline constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline constexpr char kDnsLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

// Labels of lower case letters, digits and '-' between dots, none of them empty: no path leads out
// of a directory by such a name.
bool IsSubdomain(std::string_view name);
bool IsDnsLabel(std::string_view name);

// Of the key of a label or an annotation, or the name of a finalizer or a resource:
// "name", "example.com/Name". Empty: nothing.
std::vector<std::string> QualifiedNameFlaws(std::string_view name);
std::vector<std::string> LabelValueFlaws(std::string_view value);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_NAMES_H_
