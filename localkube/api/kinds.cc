#include "localkube/api/kinds.h"

#include <cctype>
#include <memory>

namespace taas::localkube {
namespace {

constexpr char kAuthentication[] = "authentication.k8s.io";
constexpr char kAuthorization[] = "authorization.k8s.io";

// Its resource is named as the kind is.
Kind Review(Kind kind) {
  kind.version = "v1";
  for (const char letter : kind.kind) {
    kind.singular += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  kind.plural = kind.singular + "s";
  kind.review = true;
  return kind;
}

}  // namespace

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind>* const kKinds = [] {
    auto kinds = std::make_unique<std::vector<Kind>>(std::vector<Kind>{
        {.version = "v1", .plural = "configmaps", .singular = "configmap", .kind = "ConfigMap",
         .short_names = {"cm"}},
        {.version = "v1", .plural = "events", .singular = "event", .kind = "Event",
         .short_names = {"ev"},
         .selectable = {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
                        "involvedObject.uid", "involvedObject.apiVersion",
                        "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                        "reportingComponent", "source", "type"}},
        {.version = "v1", .plural = "namespaces", .singular = "namespace", .kind = "Namespace",
         .short_names = {"ns"}, .namespaced = false, .has_status = true,
         .selectable = {"status.phase"}},
        {.version = "v1", .plural = "nodes", .singular = "node", .kind = "Node",
         .short_names = {"no"}, .namespaced = false, .has_status = true,
         .selectable = {"spec.unschedulable"}},
        {.version = "v1", .plural = "persistentvolumeclaims",
         .singular = "persistentvolumeclaim", .kind = "PersistentVolumeClaim",
         .short_names = {"pvc"}, .has_status = true},
        {.version = "v1", .plural = "pods", .singular = "pod", .kind = "Pod",
         .short_names = {"po"}, .categories = {"all"}, .has_status = true,
         .has_generation = true,
         .selectable = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                        "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                        "status.podIP", "status.nominatedNodeName"}},
        {.version = "v1", .plural = "secrets", .singular = "secret", .kind = "Secret",
         .selectable = {"type"}},
        {.version = "v1", .plural = "serviceaccounts", .singular = "serviceaccount",
         .kind = "ServiceAccount", .short_names = {"sa"}},
        {.version = "v1", .plural = "services", .singular = "service", .kind = "Service",
         .short_names = {"svc"}, .categories = {"all"}, .has_status = true,
         .selectable = {"spec.clusterIP", "spec.type"}},
        {.group = "apiextensions.k8s.io", .version = "v1",
         .plural = "customresourcedefinitions", .singular = "customresourcedefinition",
         .kind = "CustomResourceDefinition", .short_names = {"crd", "crds"},
         .categories = {"api-extensions"}, .namespaced = false, .read_only = true},
        Review({.group = kAuthentication, .kind = "SelfSubjectReview", .namespaced = false}),
        Review({.group = kAuthentication, .kind = "TokenReview", .namespaced = false}),
        Review({.group = kAuthorization, .kind = "LocalSubjectAccessReview"}),
        Review({.group = kAuthorization, .kind = "SelfSubjectAccessReview", .namespaced = false}),
        Review({.group = kAuthorization, .kind = "SelfSubjectRulesReview", .namespaced = false}),
        Review({.group = kAuthorization, .kind = "SubjectAccessReview", .namespaced = false}),
        {.group = "coordination.k8s.io", .version = "v1", .plural = "leases",
         .singular = "lease", .kind = "Lease"},
        {.group = "kubeflow.org", .version = "v1", .plural = "tfjobs", .singular = "tfjob",
         .kind = "TFJob", .categories = {"all"}, .has_status = true, .has_generation = true,
         .custom = true},
        {.group = "metrics.k8s.io", .version = "v1beta1", .plural = "nodes",
         .kind = "NodeMetrics", .namespaced = false, .read_only = true, .measured = true},
        {.group = "metrics.k8s.io", .version = "v1beta1", .plural = "pods",
         .kind = "PodMetrics", .read_only = true, .measured = true},
        {.group = "taas.dev", .version = "v1", .plural = "trainingjobs",
         .singular = "trainingjob", .kind = "TrainingJob", .short_names = {"tj"},
         .categories = {"all"}, .has_status = true, .has_scale = true,
         .has_generation = true, .custom = true},
    });
    return kinds.release();  // For the life of the process.
  }();
  return *kKinds;
}

const Kind* FindKind(std::string_view group, std::string_view version, std::string_view plural) {
  for (const Kind& kind : Kinds()) {
    if (kind.group == group && kind.version == version && kind.plural == plural) return &kind;
  }
  return nullptr;
}

const Kind* FindResource(std::string_view resource) {
  for (const Kind& kind : Kinds()) {
    if (kind.resource() == resource) return &kind;
  }
  return nullptr;
}

}  // namespace taas::localkube
