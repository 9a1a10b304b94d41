#include "localkube/api/discovery.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "localkube/api/custom_kinds.h"
#include "localkube/api/kinds.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// The API that we follow. kubectl compares it with its own version.
constexpr char kMinor[] = "34";
constexpr char kGitVersion[] = "v1.34.4+taas";

using GroupVersion = std::pair<std::string, std::string>;

std::map<GroupVersion, std::vector<const Kind*>> ByGroup() {
  std::map<GroupVersion, std::vector<const Kind*>> groups;
  for (const Kind& kind : Kinds()) groups[{kind.group, kind.version}].push_back(&kind);
  // Has no kind of ours, but is where clients look whether pods can be evicted.
  groups[{"policy", "v1"}];
  return groups;
}

std::string Join(const GroupVersion& gv) {
  return gv.first.empty() ? gv.second : gv.first + "/" + gv.second;
}

json Verbs(const Kind& kind) {
  if (kind.measured) return {"get", "list"};
  if (kind.review) return json::array({"create"});
  if (kind.read_only) return {"get", "list", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

struct Subresource {
  std::string name;
  std::string group, version, kind;
  json verbs;
};

std::vector<Subresource> Subresources(const Kind& kind) {
  std::vector<Subresource> all;
  const json writable = {"get", "patch", "update"};
  if (kind.kind == "Pod") {
    all.push_back({"binding", "", "v1", "Binding", json::array({"create"})});
    all.push_back({"eviction", "policy", "v1", "Eviction", json::array({"create"})});
    all.push_back({"log", "", "v1", "Pod", json::array({"get"})});
  }
  if (kind.has_scale) all.push_back({"scale", "autoscaling", "v1", "Scale", writable});
  if (kind.has_status) {
    all.push_back({"status", kind.group, kind.version, kind.kind, writable});
  }
  return all;
}

json ResourceList(const GroupVersion& gv, const std::vector<const Kind*>& kinds) {
  json resources = json::array();
  for (const Kind* kind : kinds) {
    json resource = {{"name", kind->plural},
                     {"singularName", kind->singular},
                     {"namespaced", kind->namespaced},
                     {"kind", kind->kind},
                     {"verbs", Verbs(*kind)}};
    if (!kind->short_names.empty()) resource["shortNames"] = kind->short_names;
    if (!kind->categories.empty()) resource["categories"] = kind->categories;
    resources.push_back(std::move(resource));
    for (const Subresource& sub : Subresources(*kind)) {
      json entry = {{"name", kind->plural + "/" + sub.name},
                    {"singularName", ""},
                    {"namespaced", kind->namespaced},
                    {"kind", sub.kind},
                    {"verbs", sub.verbs}};
      if (sub.group != kind->group) {
        entry["group"] = sub.group;
        entry["version"] = sub.version;
      }
      resources.push_back(std::move(entry));
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", Join(gv)},
          {"resources", std::move(resources)}};
}

json GroupOf(const GroupVersion& gv) {
  const json version = {{"groupVersion", Join(gv)}, {"version", gv.second}};
  return {{"name", gv.first}, {"versions", json::array({version})}, {"preferredVersion", version}};
}

json GroupList() {
  json groups = json::array();
  for (const auto& [gv, kinds] : ByGroup()) {
    if (!gv.first.empty()) groups.push_back(GroupOf(gv));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json ResponseKind(const std::string& group, const std::string& version, const std::string& kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

// apidiscovery.k8s.io/v2: all groups and their resources in one answer.
json Aggregated(bool core) {
  json items = json::array();
  for (const auto& [gv, kinds] : ByGroup()) {
    if (gv.first.empty() != core) continue;
    json resources = json::array();
    for (const Kind* kind : kinds) {
      json resource = {{"resource", kind->plural},
                       {"responseKind", ResponseKind(kind->group, kind->version, kind->kind)},
                       {"scope", kind->namespaced ? "Namespaced" : "Cluster"},
                       {"singularResource", kind->singular},
                       {"verbs", Verbs(*kind)}};
      if (!kind->short_names.empty()) resource["shortNames"] = kind->short_names;
      if (!kind->categories.empty()) resource["categories"] = kind->categories;
      for (const Subresource& sub : Subresources(*kind)) {
        resource["subresources"].push_back(
            {{"subresource", sub.name},
             {"responseKind", ResponseKind(sub.group, sub.version, sub.kind)},
             {"verbs", sub.verbs}});
      }
      resources.push_back(std::move(resource));
    }
    const json version = {{"version", gv.second},
                          {"freshness", "Current"},
                          {"resources", std::move(resources)}};
    json metadata = {{"creationTimestamp", nullptr}};
    if (!core) metadata["name"] = gv.first;
    items.push_back({{"metadata", std::move(metadata)}, {"versions", json::array({version})}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

json Version() {
  return {{"major", "1"},
          {"minor", kMinor},
          {"gitVersion", kGitVersion},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""},
          {"compiler", "C++"},
          {"platform", "linux/amd64"}};
}

json QueryParameter(const char* name) {
  return {{"name", name},
          {"in", "query"},
          {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
}

std::string SchemaName(const Kind& kind) {
  return (kind.group.empty() ? "core" : kind.group) + "." + kind.version + "." + kind.kind;
}

// The schema that `kubectl explain` shows. Of the built-in kinds only that they are objects.
json SchemaOf(const Kind& kind) {
  json schema = {{"type", "object"}};
  if (kind.custom) {
    schema = CustomKindOf(kind).open_api;
  }
  schema["x-kubernetes-group-version-kind"] =
      json::array({ResponseKind(kind.group, kind.version, kind.kind)});
  return schema;
}

// kubectl looks here for two things: that the server validates fields itself, and schemas to
// explain.
json OpenApi(const std::vector<const Kind*>& kinds) {
  json paths = json::object();
  json schemas = json::object();
  for (const Kind* kind : kinds) {
    std::string path = kind->group.empty() ? "/api/v1" : "/apis/" + kind->api_version();
    path += kind->namespaced ? "/namespaces/{namespace}/" : "/";
    path += kind->plural + (kind->review ? "" : "/{name}");
    json operation = {
        {"x-kubernetes-group-version-kind",
         ResponseKind(kind->group, kind->version, kind->kind)},
        {"parameters", json::array({QueryParameter("dryRun"), QueryParameter("fieldManager"),
                                    QueryParameter("fieldValidation")})},
        {"responses", {{"200", {{"description", "OK"}}}}}};
    const char* first = kind->review ? "post" : "get";
    operation["x-kubernetes-action"] = first;
    paths[path][first] = operation;
    // Where kubectl looks whether fieldValidation is known, even for a review, which nobody
    // patches: without it `kubectl create -f` asks for OpenAPI v2 next, which there is not.
    if (!kind->read_only) {
      operation["x-kubernetes-action"] = "patch";
      operation["requestBody"]["content"]["application/merge-patch+json"] = json::object();
      paths[path]["patch"] = operation;
    }
    schemas[SchemaName(*kind)] = SchemaOf(*kind);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", kGitVersion}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

json OpenApiIndex() {
  json paths = json::object();
  for (const auto& [gv, kinds] : ByGroup()) {
    const std::string path = (gv.first.empty() ? "api/" : "apis/") + Join(gv);
    paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
  }
  return {{"paths", std::move(paths)}};
}

std::optional<json> PlainAnswer(const std::string& path) {
  if (path == "/version") return Version();
  if (path == "/api") {
    return json{{"kind", "APIVersions"}, {"versions", json::array({"v1"})}};
  }
  if (path == "/apis") return GroupList();
  if (path == "/openapi/v3") return OpenApiIndex();
  for (const auto& [gv, kinds] : ByGroup()) {
    const std::string root = (gv.first.empty() ? "/api/" : "/apis/") + Join(gv);
    if (path == root) return ResourceList(gv, kinds);
    if (path == "/openapi/v3" + root) return OpenApi(kinds);
    if (!gv.first.empty() && path == "/apis/" + gv.first) {
      json group = GroupOf(gv);
      group["kind"] = "APIGroup";
      group["apiVersion"] = "v1";
      return group;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Discovered> Discover(const std::string& path, const std::string& accept) {
  if (path == "/healthz" || path == "/readyz" || path == "/livez") {
    return Discovered{"text/plain", "ok"};
  }
  const bool root = path == "/api" || path == "/apis";
  if (root && accept.find("v=v2;as=APIGroupDiscoveryList") != std::string::npos) {
    return Discovered{"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                      Aggregated(path == "/api").dump()};
  }
  const std::optional<json> answer = PlainAnswer(path);
  if (!answer.has_value()) return std::nullopt;
  return Discovered{"application/json", answer->dump()};
}

}  // namespace taas::localkube
