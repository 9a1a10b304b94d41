// Paths of the Kubernetes API, percent-encoded.
//
// Ownership: values. Threads: any. Errors: none; whatever the caller passes is encoded, so a name
// from a user cannot leave its place in the path.
//
//   ObjectPath(Resource::kPods, "ns", "a");                    // "/api/v1/namespaces/ns/pods/a"
//   SubresourcePath(Resource::kTrainingJobs, "ns", "mnist", "status");
//   WithQuery(CollectionPath(Resource::kPods, ""), {{"labelSelector", "taas.dev/job-name=mnist"}});

#ifndef OPERATOR_KUBE_API_PATH_H_
#define OPERATOR_KUBE_API_PATH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taas {

enum class Resource {
  kPods,
  kServices,
  kConfigMaps,
  kEvents,
  kNamespaces,
  kNodes,
  kPersistentVolumeClaims,
  kLeases,
  kTrainingJobs,
  kTfJobs,
  kVolcanoPodGroups,
  kCoschedulingPodGroups,
};

// "pods", "trainingjobs", …
std::string_view ResourceName(Resource resource);

// All objects in `ns`; an empty `ns` means all namespaces (or a resource without namespaces).
std::string CollectionPath(Resource resource, std::string_view ns);
std::string ObjectPath(Resource resource, std::string_view ns, std::string_view name);
std::string SubresourcePath(Resource resource, std::string_view ns, std::string_view name,
                            std::string_view subresource);

using Query = std::vector<std::pair<std::string, std::string>>;
// Pairs with an empty value are left out.
std::string WithQuery(std::string path, const Query& query);

// Everything but A-Z a-z 0-9 - . _ ~ becomes %XX.
std::string PercentEncode(std::string_view text);

// "key=value" of a label selector.
std::string LabelEquals(std::string_view key, std::string_view value);

}  // namespace taas

#endif  // OPERATOR_KUBE_API_PATH_H_
