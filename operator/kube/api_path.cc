#include "operator/kube/api_path.h"

#include "operator/base/check.h"

namespace taas {
namespace {

struct Place {
  std::string_view group;  // "/api/v1" or "/apis/GROUP/VERSION".
  std::string_view name;
};

Place PlaceOf(Resource resource) {
  switch (resource) {
    case Resource::kPods:
      return {"/api/v1", "pods"};
    case Resource::kServices:
      return {"/api/v1", "services"};
    case Resource::kConfigMaps:
      return {"/api/v1", "configmaps"};
    case Resource::kEvents:
      return {"/api/v1", "events"};
    case Resource::kNamespaces:
      return {"/api/v1", "namespaces"};
    case Resource::kNodes:
      return {"/api/v1", "nodes"};
    case Resource::kPersistentVolumeClaims:
      return {"/api/v1", "persistentvolumeclaims"};
    case Resource::kLeases:
      return {"/apis/coordination.k8s.io/v1", "leases"};
    case Resource::kTrainingJobs:
      return {"/apis/taas.dev/v1", "trainingjobs"};
    case Resource::kTfJobs:
      return {"/apis/kubeflow.org/v1", "tfjobs"};
    case Resource::kVolcanoPodGroups:
      return {"/apis/scheduling.volcano.sh/v1beta1", "podgroups"};
    case Resource::kCoschedulingPodGroups:
      return {"/apis/scheduling.x-k8s.io/v1alpha1", "podgroups"};
  }
  CHECK(false) << "unknown resource " << static_cast<int>(resource);
  return {};
}

}  // namespace

std::string_view ResourceName(Resource resource) { return PlaceOf(resource).name; }

std::string CollectionPath(Resource resource, std::string_view ns) {
  const Place place = PlaceOf(resource);
  std::string path(place.group);
  if (!ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  return path + "/" + std::string(place.name);
}

std::string ObjectPath(Resource resource, std::string_view ns, std::string_view name) {
  return CollectionPath(resource, ns) + "/" + PercentEncode(name);
}

std::string SubresourcePath(Resource resource, std::string_view ns, std::string_view name,
                            std::string_view subresource) {
  return ObjectPath(resource, ns, name) + "/" + PercentEncode(subresource);
}

std::string WithQuery(std::string path, const Query& query) {
  char separator = '?';
  for (const auto& [key, value] : query) {
    if (value.empty()) continue;
    path += separator + PercentEncode(key) + "=" + PercentEncode(value);
    separator = '&';
  }
  return path;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string LabelEquals(std::string_view key, std::string_view value) {
  return std::string(key) + "=" + std::string(value);
}

}  // namespace taas
