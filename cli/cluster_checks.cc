#include "cli/cluster_checks.h"

#include <algorithm>
#include <cstdlib>

#include "cli/job_table.h"
#include "operator/api/dialect.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Level = Finding::Level;

// The oldest release whose rules in the schema (CEL with messages and paths) are all there.
constexpr int kMinorMin = 28;
// An operator answers within a second; a minute allows for one that has just restarted.
constexpr std::chrono::seconds kOperatorTime{60};

std::string Text(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json ParsedOrNull(const absl::StatusOr<std::string>& reply) {
  if (!reply.ok()) return Json();
  const Json json = Json::parse(*reply, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

std::string Words(const absl::Status& status) { return std::string(status.message()); }

// The schema of the first version that is stored; null where there is none.
Json StoredSchema(const Json& crd) {
  const auto versions = Json::json_pointer("/spec/versions");
  const auto schema = Json::json_pointer("/schema/openAPIV3Schema");
  if (!crd.is_object() || !crd.contains(versions) || !crd.at(versions).is_array()) return Json();
  for (const Json& version : crd.at(versions)) {
    if (version.value("storage", false) && version.contains(schema)) return version.at(schema);
  }
  return Json();
}

// Where two schemas differ first; empty: nowhere.
std::string FirstDifference(const Json& ours, const Json& theirs) {
  const Json patch = Json::diff(theirs, ours);
  return patch.empty() ? "" : patch[0].value("path", "/");
}

std::string InstallHint(JobKind kind) {
  return "kubectl apply --server-side -f crds/" + std::string(DialectOf(kind).plural) + ".yaml";
}

std::string RightText(const Right& right) {
  return right.verb + " " + right.resource +
         (right.subresource.empty() ? "" : "/" + right.subresource);
}

}  // namespace

Finding CheckVersion(const absl::StatusOr<std::string>& reply) {
  if (!reply.ok()) {
    return {Level::kFail, "API server", Words(reply.status()),
            "start the cluster (`taas local up`), or name another with --kubeconfig or --context"};
  }
  const Json version = ParsedOrNull(reply);
  const std::string name = Text(version, "gitVersion");
  const int minor = std::atoi(Text(version, "minor").c_str());
  if (name.empty()) {
    return {Level::kFail, "API server", "what answers is not Kubernetes",
            "look at the server's address in the kubeconfig"};
  }
  if (Text(version, "major") == "1" && minor < kMinorMin) {
    return {Level::kWarn, "API server", "Kubernetes " + name,
            "rules of the schema need 1." + std::to_string(kMinorMin) + " or newer"};
  }
  return {Level::kOk, "API server", "Kubernetes " + name, ""};
}

bool IsLocalCluster(const absl::StatusOr<std::string>& version) {
  return Text(ParsedOrNull(version), "gitVersion").find("+taas") != std::string::npos;
}

std::string CrdName(JobKind kind) {
  const Dialect& dialect = DialectOf(kind);
  return std::string(dialect.plural) + "." + std::string(dialect.group());
}

Finding CheckCrd(JobKind kind, const absl::StatusOr<std::string>& reply) {
  const std::string check = "CRD " + std::string(DialectOf(kind).plural);
  // TFJobs are for those who have them.
  const Level missing = kind == JobKind::kTfJob ? Level::kWarn : Level::kFail;
  if (absl::IsNotFound(reply.status())) {
    return {missing, check, CrdName(kind) + " is not installed", InstallHint(kind)};
  }
  if (!reply.ok()) {
    return {Level::kWarn, check, Words(reply.status()), "ask for the right to read it"};
  }
  const Json installed = StoredSchema(ParsedOrNull(reply));
  const Json ours = StoredSchema(Json::parse(
      kind == JobKind::kTfJob ? TfJobCrdJson() : TrainingJobCrdJson()));
  const std::string difference = FirstDifference(ours, installed);
  if (difference.empty()) {
    return {Level::kOk, check, CrdName(kind) + " is that of this release", ""};
  }
  return {Level::kWarn, check,
          CrdName(kind) + " is not that of this release: it differs at " + difference,
          kind == JobKind::kTfJob
              ? "if it is training-operator's, that is all right as long as only one of the two "
                "operators runs"
              : InstallHint(kind)};
}

const std::vector<Right>& NeededRights() {
  static const std::vector<Right> kRights = [] {
    std::vector<Right> rights;
    for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
      const Dialect& dialect = DialectOf(kind);
      const std::string group(dialect.group());
      for (const char* verb : {"create", "get", "list", "watch", "patch", "delete"}) {
        rights.push_back({verb, group, std::string(dialect.plural), ""});
      }
    }
    rights.push_back({"list", "", "pods", ""});
    rights.push_back({"get", "", "pods", "log"});
    rights.push_back({"list", "", "events", ""});
    return rights;
  }();
  return kRights;
}

std::string AccessReview(const Right& right, const std::string& ns) {
  return Json{{"apiVersion", "authorization.k8s.io/v1"},
              {"kind", "SelfSubjectAccessReview"},
              {"spec",
               {{"resourceAttributes",
                 {{"namespace", ns},
                  {"verb", right.verb},
                  {"group", right.group},
                  {"resource", right.resource},
                  {"subresource", right.subresource}}}}}}
      .dump();
}

Finding CheckRights(const std::vector<absl::StatusOr<std::string>>& replies,
                    const std::string& ns) {
  std::string denied;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (absl::IsNotFound(replies[i].status())) {
      return {Level::kOk, "rights", "this server asks nobody for rights", ""};
    }
    if (!replies[i].ok()) {
      return {Level::kWarn, "rights", Words(replies[i].status()),
              "the cluster's administrator can tell which rights there are"};
    }
    const Json review = ParsedOrNull(replies[i]);
    const auto at = Json::json_pointer("/status/allowed");
    if (review.is_object() && review.contains(at) && review.at(at) == Json(true)) continue;
    denied += (denied.empty() ? "" : ", ") + RightText(NeededRights()[i]);
  }
  if (denied.empty()) {
    return {Level::kOk, "rights", "all that taas does is allowed in namespace " + ns, ""};
  }
  return {Level::kWarn, "rights", "not allowed in namespace " + ns + ": " + denied,
          "ask the cluster's administrator for a role with these rights"};
}

namespace {

std::string NotThereHint(const std::string& ns) {
  return "create jobs in one of its namespaces, or have " + ns +
         " added to the operator's --namespaces (operator.namespaces of the chart)";
}

}  // namespace

Finding CheckOperator(const std::vector<Job>& jobs, int operator_pods_running, bool is_local,
                      const OperatorScope& scope, const std::string& ns, Clock::WallTime now) {
  if (const std::string elsewhere = scope.WhyNotIn(ns); !elsewhere.empty()) {
    return {Level::kFail, "operator", elsewhere, NotThereHint(ns)};
  }
  for (const Job& job : jobs) {
    const bool seen = job.status.observed_generation > 0 || !job.status.conditions.empty();
    // Another controller's, or too young to tell.
    if (seen || !job.spec.managed_by.empty() || !job.meta.creation_time.has_value() ||
        now - *job.meta.creation_time < kOperatorTime) {
      continue;
    }
    const std::string waits = "job " + job.meta.ns + "/" + job.meta.name +
                              " waits for one since " + FormatSince(job.meta.creation_time, now);
    if (const std::string elsewhere = scope.WhyNotIn(job.meta.ns); !elsewhere.empty()) {
      return {Level::kFail, "operator", waits + ": " + elsewhere, NotThereHint(job.meta.ns)};
    }
    return {Level::kFail, "operator", waits,
            "start taas-operator, and see in its log whether it may read this namespace"};
  }
  if (is_local) return {Level::kOk, "operator", "inside the local cluster", ""};
  if (operator_pods_running > 0) {
    return {Level::kOk, "operator",
            std::to_string(operator_pods_running) + " pods of taas-operator run", ""};
  }
  const bool worked = std::any_of(jobs.begin(), jobs.end(), [](const Job& job) {
    return job.status.observed_generation > 0;
  });
  if (worked) return {Level::kOk, "operator", "every job has been seen by one", ""};
  return {Level::kWarn, "operator", "no pod of it is to be seen and no job shows one at work",
          "start taas-operator, or look again when a job exists"};
}

Finding CheckNodes(const absl::Status& listed, const std::map<std::string, NodeUse>& nodes) {
  if (!listed.ok()) {
    return {Level::kWarn, "nodes", Words(listed), "`taas top node` needs the right to list nodes"};
  }
  int ready = 0;
  int64_t gpus = 0;
  for (const auto& [name, node] : nodes) {
    if (node.state != "Ready") continue;
    ++ready;
    gpus += node.total.gpus;
  }
  const std::string text = std::to_string(ready) + " of " + std::to_string(nodes.size()) +
                           " ready, " + std::to_string(gpus) + " GPUs on them";
  if (ready > 0) return {Level::kOk, "nodes", text, ""};
  return {Level::kFail, "nodes", text, "no pod can run: `kubectl describe nodes` says why"};
}

}  // namespace taas
