#include "cli/local/apply.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "operator/api/defaults.h"
#include "operator/api/manifest.h"
#include "operator/api/validation.h"
#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

struct KnownKind {
  std::string_view api_version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced;
};

constexpr std::array<KnownKind, 6> kKinds = {
    {{"v1", "Namespace", "namespaces", false},
     {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", true},
     {"v1", "Pod", "pods", true},
     {"v1", "Service", "services", true},
     {kApiGroupVersion, kTrainingJobKind, kTrainingJobPlural, true},
     {"kubeflow.org/v1", "TFJob", "tfjobs", true}}};

std::string Text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

const KnownKind* FindKnown(const std::string& api_version, const std::string& kind) {
  for (const KnownKind& known : kKinds) {
    if (known.api_version == api_version && known.kind == kind) return &known;
  }
  return nullptr;
}

absl::StatusOr<ManifestObject> ReadObject(std::string text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InvalidArgumentError("a document is not an object");
  const std::string api_version = Text(object, "apiVersion");
  const std::string kind = Text(object, "kind");
  const KnownKind* known = FindKnown(api_version, kind);
  if (known == nullptr) {
    return absl::InvalidArgumentError("no matches for kind \"" + kind + "\" in version \"" +
                                      api_version + "\" on the local cluster");
  }
  const Json meta = object.value("metadata", Json::object());
  ManifestObject out;
  out.kind = kind;
  out.name = meta.is_object() ? Text(meta, "name") : "";
  out.path = api_version == "v1" ? "/api/v1" : "/apis/" + api_version;
  if (known->namespaced) {
    out.ns = meta.is_object() ? Text(meta, "namespace") : "";
    if (out.ns.empty()) out.ns = "default";
    out.path += "/namespaces/" + out.ns;
  }
  out.path += "/" + std::string(known->plural);
  // Core kinds have no jobs among them, so the kind's name is enough.
  if (api_version != "v1") out.job = KindOfManifest(text);
  out.json = std::move(text);
  return out;
}

absl::Status EnsureNamespace(const std::string& ns, localkube::ApiCalls& calls) {
  const absl::Status found = calls.Get("/api/v1/namespaces/" + ns).status();
  if (!absl::IsNotFound(found)) return found;
  const Json object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}};
  return calls.Post("/api/v1/namespaces", object.dump()).status();
}

// Every member claimName, wherever a volume stands. A manifest is nested no deeper than 100 levels.
void CollectClaims(const Json& value, const std::string& ns, std::set<std::string>* out) {
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    if (key == "claimName" && member.is_string()) {
      out->insert(ns + "/" + member.get<std::string>());
    }
    CollectClaims(member, ns, out);
  }
}

}  // namespace

absl::StatusOr<Manifest> ReadManifest(const std::string& text, const std::string& file) {
  Manifest manifest{.file = file};
  absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(text);
  RETURN_IF_ERROR(documents.status()).With(file);
  for (std::string& document : *documents) {
    absl::StatusOr<ManifestObject> object = ReadObject(std::move(document));
    RETURN_IF_ERROR(object.status()).With(file);
    manifest.objects.push_back(*std::move(object));
  }
  return manifest;
}

std::vector<std::string> UnusedVolumes(const Manifest& manifest,
                                       const std::map<std::string, std::string>& bindings) {
  std::set<std::string> named;  // "NAMESPACE/CLAIM"
  for (const ManifestObject& object : manifest.objects) {
    const Json json = Json::parse(object.json, nullptr, /*allow_exceptions=*/false);
    CollectClaims(json, object.ns, &named);
    if (object.kind == "PersistentVolumeClaim") named.insert(object.ns + "/" + object.name);
  }
  std::vector<std::string> claims;
  std::string list;
  for (const std::string& one : named) {
    claims.push_back(one.substr(one.find('/') + 1));
    list += (list.empty() ? "" : ", ") + claims.back();
  }
  std::vector<std::string> sentences;
  for (const auto& [claim, path] : bindings) {
    // Without a namespace it is of all of them.
    const bool used = std::any_of(named.begin(), named.end(), [&claim = claim](const auto& one) {
      return one == claim || one.substr(one.find('/') + 1) == claim;
    });
    if (used) continue;
    const std::string meant = DidYouMean(claim.substr(claim.find('/') + 1), claims);
    sentences.push_back("--volume " + claim + "=" + path + ": " + manifest.file +
                        " names no claim " + claim + (meant.empty() ? "" : "; " + meant) +
                        (list.empty() ? "" : " (it names: " + list + ")"));
  }
  return sentences;
}

absl::Status ApplyManifest(Manifest* manifest, localkube::ApiCalls& calls) {
  for (ManifestObject& object : manifest->objects) {
    const std::string what = manifest->file + ": " + object.kind + " " + object.name;
    if (!object.ns.empty()) {
      RETURN_IF_ERROR(EnsureNamespace(object.ns, calls)).With(what);
    }
    const absl::StatusOr<std::string> made =
        calls.Post(object.path + "?fieldValidation=Strict", object.json);
    // The namespace of an earlier object may have been made for it.
    if (absl::IsAborted(made.status()) && object.kind == "Namespace") continue;
    RETURN_IF_ERROR(made.status()).With(what);
    const Json reply = Json::parse(*made, nullptr, /*allow_exceptions=*/false);
    if (object.name.empty() && reply.contains("metadata")) {
      object.name = Text(reply["metadata"], "name");
    }
  }
  return absl::OkStatus();
}

}  // namespace taas
