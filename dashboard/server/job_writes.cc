#include "dashboard/server/job_writes.h"

#include <algorithm>
#include <utility>

#include "operator/api/dialect.h"
#include "operator/api/json_depth.h"
#include "operator/api/json_field.h"
#include "operator/api/manifest.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr char kMergePatch[] = "application/merge-patch+json";

std::string PathOf(JobKind kind, const std::string& ns, const std::string& name) {
  const Resource resource =
      kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
  return name.empty() ? CollectionPath(resource, ns) : ObjectPath(resource, ns, name);
}

absl::StatusOr<JobKind> KindOf(const Json& object) {
  const std::string api_version = TextOf(object, "apiVersion");
  const std::string kind_name = TextOf(object, "kind");
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    const Dialect& dialect = DialectOf(kind);
    if (kind_name == dialect.kind_name && api_version == dialect.group_version) return kind;
  }
  return absl::InvalidArgumentError(
      "the manifest is of kind \"" + kind_name + "\" and apiVersion \"" + api_version +
      "\"; here are made TrainingJob of taas.dev/v1 and TFJob of kubeflow.org/v1");
}

// A change is a few words: see JobChange of dashboard/web.
constexpr size_t kChangeBytesMax = 4 << 10;
// A job names its own namespace, and perhaps that of a queue or of an affinity; each one more is a
// question to the API server.
constexpr size_t kNamespacesNamedMax = 4;
// Of a DNS label.
constexpr size_t kNamespaceBytesMax = 63;

absl::Status AddWorkers(const WatchedJob& job, int64_t workers, Json* patch) {
  for (const WatchedRole& role : job.roles) {
    if (role.role != Role::kWorker) continue;
    Json& spec = (*patch)["spec"][job.kind == JobKind::kTfJob ? "tfReplicaSpecs" : "roles"];
    spec[role.key]["replicas"] = workers;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the job has no workers to scale");
}

}  // namespace

std::vector<std::string> NamespacesNamed(std::string_view manifest, const std::string& ns) {
  constexpr std::string_view kKey = "namespace";
  std::vector<std::string> out = {ns.empty() ? "default" : ns};
  const auto skip = [&manifest](std::string_view characters) {
    manifest.remove_prefix(std::min(manifest.find_first_not_of(characters), manifest.size()));
  };
  for (size_t at; (at = manifest.find(kKey)) != std::string_view::npos;) {
    manifest.remove_prefix(at + kKey.size());
    skip("\"' ");
    if (manifest.empty() || manifest.front() != ':') continue;
    skip(":");
    skip("\"' \t\r\n");
    const std::string name(manifest.substr(
        0, manifest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-")));
    if (name.empty() || name.size() > kNamespaceBytesMax) continue;
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    if (out.size() == kNamespacesNamedMax) break;
  }
  return out;
}

absl::StatusOr<HttpRequest> CreateRequest(std::string_view manifest, const std::string& ns,
                                          bool dry_run) {
  ASSIGN_OR_RETURN(const std::vector<std::string> documents, ManifestDocuments(manifest));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError("the manifest has " + std::to_string(documents.size()) +
                                      " documents; submit one job at a time");
  }
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(documents[0]));
  ASSIGN_OR_RETURN(const JobKind kind, KindOf(object));
  const Json metadata = object.value("metadata", Json::object());
  std::string place = metadata.is_object() ? TextOf(metadata, "namespace") : "";
  if (place.empty()) place = ns.empty() ? "default" : ns;
  HttpRequest request{.verb = Verb::kPost, .body = documents[0]};
  // As kubectl does: a misspelt field is an error and not a job that does something else.
  request.path = WithQuery(PathOf(kind, place, ""), {{"fieldValidation", "Strict"},
                                                     {"fieldManager", "taas-dashboard"},
                                                     {"dryRun", dry_run ? "All" : ""}});
  return request;
}

absl::StatusOr<HttpRequest> ChangeRequest(const WatchedJob& job, std::string_view change) {
  if (change.size() > kChangeBytesMax) {
    return absl::InvalidArgumentError("change job " + job.key() + ": " +
                                      std::to_string(change.size()) + " bytes; a change has at "
                                      "most " + std::to_string(kChangeBytesMax));
  }
  ASSIGN_OR_RETURN(const Json wanted, ParseJsonObject(change));
  Json patch;
  for (const auto& [key, value] : wanted.items()) {
    if (key == "suspend" && value.is_boolean()) {
      Json& spec = patch["spec"];
      (job.kind == JobKind::kTfJob ? spec["runPolicy"] : spec)["suspend"] = value;
    } else if (key == "workers" && value.is_number_unsigned()) {
      RETURN_IF_ERROR(AddWorkers(job, value.get<int64_t>(), &patch));
    } else {
      return absl::InvalidArgumentError("change job " + job.key() + ": \"" + key +
                                        "\" is not `suspend` (true or false) or `workers` (a "
                                        "number)");
    }
  }
  if (patch.is_null()) return absl::InvalidArgumentError("change job " + job.key() + ": nothing");
  // The job that was looked at, not a later one of its name.
  patch["metadata"]["uid"] = job.meta.uid;
  return HttpRequest{.verb = Verb::kPatch,
                     .path = WithQuery(PathOf(job.kind, job.meta.ns, job.meta.name),
                                       {{"fieldManager", "taas-dashboard"}}),
                     .body = DumpJson(patch),
                     .content_type = kMergePatch};
}

HttpRequest DeleteRequest(const WatchedJob& job) {
  return {.verb = Verb::kDelete,
          .path = PathOf(job.kind, job.meta.ns, job.meta.name),
          .body = DumpJson({{"apiVersion", "v1"},
                            {"kind", "DeleteOptions"},
                            {"propagationPolicy", "Background"},
                            {"preconditions", {{"uid", job.meta.uid}}}})};
}

std::vector<std::string> WarningsOf(std::string_view header) {
  std::vector<std::string> out;
  for (size_t begin = header.find('"'); begin != std::string_view::npos;
       begin = header.find('"', begin)) {
    std::string text;
    size_t at = begin + 1;
    for (; at < header.size() && header[at] != '"'; ++at) {
      if (header[at] == '\\' && at + 1 < header.size()) ++at;
      text += header[at];
    }
    out.push_back(std::move(text));
    begin = std::min(at + 1, header.size());
  }
  return out;
}

std::string WithoutManagedFields(std::string_view text) {
  // What is nested without end is written by recursion, and is nothing to be read either.
  if (IsNestedDeeper(text, kJsonDepthMax)) return std::string(text);
  nlohmann::ordered_json object =
      nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::string(text);
  if (object.contains("metadata") && object["metadata"].is_object()) {
    object["metadata"].erase("managedFields");
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace taas::dashboard
