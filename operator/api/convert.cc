#include "operator/api/convert.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "operator/api/defaults.h"
#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/api/json_field.h"
#include "operator/api/template_check.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/api/validation.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// A TrainingJob must have a limit; training-operator has none where the manifest names none.
constexpr int32_t kMostRestarts = 1'000'000;

const char* PolicyName(CleanPodPolicy policy) {
  switch (policy) {
    case CleanPodPolicy::kRunning: return "Running";
    case CleanPodPolicy::kAll: return "All";
    case CleanPodPolicy::kNone: return "None";
  }
  return "None";
}

class Converter {
 public:
  Converter(const Json& source, const Job& job) : source_(source), job_(job) {}

  Conversion Convert() && {
    Json out = {{"apiVersion", std::string(kApiGroupVersion)},
                {"kind", std::string(kTrainingJobKind)},
                {"metadata", Metadata()}};
    Json& spec = out["spec"];
    spec["roles"] = Roles();
    Policies(&spec);
    Scheduling(&spec);
    Network(&spec);
    Differences();
    return {DumpJson(out), std::move(warnings_)};
  }

 private:
  void Warn(const std::string& sentence) { warnings_.push_back(sentence); }

  Json Metadata() {
    Json metadata = Json::object();
    for (const char* field : {"name", "generateName", "namespace", "labels", "annotations"}) {
      const auto value = source_["metadata"].find(field);
      if (value != source_["metadata"].end() && !value->is_null()) metadata[field] = *value;
    }
    if (metadata.contains("annotations")) {
      // All are the TFJob's: kubectl's copy of its manifest, the operator's ledger, and what stands
      // in the spec of a TrainingJob.
      metadata["annotations"].erase("kubectl.kubernetes.io/last-applied-configuration");
      metadata["annotations"].erase(std::string(kLedgerAnnotation));
      metadata["annotations"].erase(std::string(kPendingDeadlineAnnotation));
      if (metadata["annotations"].empty()) metadata.erase("annotations");
    }
    return metadata;
  }

  // The key under which a role stands in the TFJob.
  std::string KeyOf(Role role) const {
    for (const auto& [key, ignored] : source_["spec"]["tfReplicaSpecs"].items()) {
      const std::optional<TfRole> known = TfRoleFromKey(key);
      if (known.has_value() && known->role == role && !ignored.is_null()) return key;
    }
    return "";
  }

  Json Roles() {
    Json roles = Json::object();
    for (const auto& [role, spec] : job_.spec.roles) {
      Json converted = {{"replicas", spec.replicas},
                        {"restartPolicy", std::string(RestartPolicyName(spec.restart_policy))},
                        {"template", Template(role, spec)}};
      if (role == Role::kEvaluator && spec.replicas > 1) {
        Warn("A TrainingJob has at most one evaluator; tfReplicaSpecs." + KeyOf(role) +
             ".replicas was " + std::to_string(spec.replicas) + " and is 1 now.");
        converted["replicas"] = 1;
      }
      if (role == Role::kPs && spec.replicas > kMostPs) {
        Warn("A TrainingJob has at most " + std::to_string(kMostPs) + " parameter servers; there "
             "were " + std::to_string(spec.replicas) + ".");
        converted["replicas"] = kMostPs;
      }
      roles[std::string(RoleName(role))] = std::move(converted);
    }
    return roles;
  }

  Json Template(Role role, const RoleSpec& spec) {
    Json pod = Json::parse(spec.pod_template);
    const std::string at = "tfReplicaSpecs." + KeyOf(role) + ".template.";
    if (pod["spec"].contains("restartPolicy")) {
      Warn(at + "spec.restartPolicy has no effect, as it had none: the role's restartPolicy "
                "counts; it is left out.");
      pod["spec"].erase("restartPolicy");
    }
    if (pod.contains("metadata")) KeepLabels(at, &pod);
    Json& container = pod["spec"]["containers"][spec.container];
    container["name"] = std::string(kTrainerContainer);
    if (container.contains("ports")) RenamePort(&container);
    return pod;
  }

  void KeepLabels(const std::string& at, Json* pod) {
    Json metadata = Json::object();
    for (const auto& [field, value] : (*pod)["metadata"].items()) {
      if (field == "labels" || field == "annotations") {
        if (!value.is_null()) metadata[field] = value;
      } else if (!value.is_null()) {
        Warn(at + "metadata." + field + " has no effect on a pod and is left out.");
      }
    }
    pod->erase("metadata");
    if (!metadata.empty()) (*pod)["metadata"] = std::move(metadata);
  }

  // The operator declares the port of the job's own traffic under its own name.
  static void RenamePort(Json* container) {
    Json ports = Json::array();
    for (const Json& port : (*container)["ports"]) {
      if (TextOf(port, "name") != DialectOf(JobKind::kTfJob).port_name) ports.push_back(port);
    }
    (*container)["ports"] = ports;
    if (ports.empty()) container->erase("ports");
  }

  void Policies(Json* spec) {
    const JobSpec& from = job_.spec;
    (*spec)["cleanPodPolicy"] = PolicyName(from.clean_pod_policy);
    (*spec)["exitCodes"] = {{"preset", "AtLeast128"}};
    (*spec)["suspend"] = from.suspend;
    if (from.backoff_limit.has_value() && *from.backoff_limit <= kMostRestarts) {
      (*spec)["backoffLimit"] = *from.backoff_limit;
    } else {
      (*spec)["backoffLimit"] = kMostRestarts;
      Warn("A TFJob without backoffLimit restarts without end; backoffLimit is " +
           std::to_string(kMostRestarts) + " now, the most that a TrainingJob takes.");
    }
    if (from.active_deadline_seconds == 0) {
      (*spec)["activeDeadlineSeconds"] = 1;
      Warn("activeDeadlineSeconds was 0 and is 1 now, the least that a TrainingJob takes.");
    } else if (from.active_deadline_seconds.has_value()) {
      (*spec)["activeDeadlineSeconds"] = *from.active_deadline_seconds;
    }
    if (from.pending_deadline_seconds.has_value()) {
      (*spec)["pendingDeadlineSeconds"] = *from.pending_deadline_seconds;
    }
    if (from.ttl_seconds_after_finished.has_value()) {
      (*spec)["ttlSecondsAfterFinished"] = *from.ttl_seconds_after_finished;
    }
    if (from.success_policy != SuccessPolicy::kAllWorkers) return;
    const auto worker = from.roles.find(Role::kWorker);
    if (worker == from.roles.end() || worker->second.replicas == 0) {
      Warn("successPolicy AllWorkers needs workers; it is Auto now: the chief's success counts.");
      return;
    }
    (*spec)["successPolicy"] = "AllWorkers";
  }

  void Scheduling(Json* spec) {
    const SchedulingPolicy& from = job_.spec.scheduling;
    Json policy = Json::object();
    PutName(from.queue, "queue", kMostQueue, &policy);
    PutName(from.priority_class, "priorityClassName", kMostClass, &policy);
    if (from.min_available.has_value()) {
      int32_t total = 0;
      for (const Json& role : (*spec)["roles"]) total += role["replicas"].get<int32_t>();
      policy["minAvailable"] = std::min(*from.min_available, total);
    }
    if (!policy.empty()) (*spec)["schedulingPolicy"] = std::move(policy);
    if (!from.min_resources.empty()) {
      Warn("runPolicy.schedulingPolicy.minResources has no counterpart: the operator adds up what "
           "the pods ask for.");
    }
    if (from.schedule_timeout_seconds.has_value()) {
      Warn("runPolicy.schedulingPolicy.scheduleTimeoutSeconds has no counterpart: "
           "spec.pendingDeadlineSeconds releases a job that does not run in time.");
    }
  }

  // A TFJob takes any text here, a TrainingJob the names that an object can have.
  void PutName(const std::string& name, const char* field, size_t length_max, Json* policy) {
    if (name.empty()) return;
    static const std::regex kName(
        "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    if (name.size() <= length_max && std::regex_match(name, kName)) {
      (*policy)[field] = name;
    } else {
      Warn("runPolicy.schedulingPolicy names \"" + name + "\", which no object can be called; " +
           "spec.schedulingPolicy." + field + " is left out.");
    }
  }

  // A TrainingJob has one port for all roles.
  void Network(Json* spec) {
    std::set<int32_t> ports;
    for (const auto& [role, from] : job_.spec.roles) {
      ports.insert(from.port == 0 ? kTrainerPort : from.port);
    }
    int32_t port = *ports.begin();
    if (ports.size() > 1) {
      Warn("Roles had different ports named tfjob-port; spec.network.port is " +
           std::to_string(port) + " for all, so a program that does not read TF_CONFIG may listen "
           "on another.");
    }
    if (port == kStatusPort) {
      port = kTrainerPort;
      Warn("Port " + std::to_string(kStatusPort) + " is that of /status; spec.network.port is " +
           std::to_string(port) + " now.");
    }
    (*spec)["network"] = {{"port", port}, {"evaluatorInCluster", "All"}};
  }

  void Differences() {
    const JobSpec& from = job_.spec;
    if (from.chief_is_master) {
      Warn("The role " + KeyOf(Role::kChief) + " is called chief now: in the names of pods and in "
           "TF_CONFIG, too.");
    }
    if (from.dynamic_worker) {
      Warn("enableDynamicWorker has no counterpart: TF_CONFIG lists all workers.");
    }
    if (!from.managed_by.empty()) {
      Warn("runPolicy.managedBy " + from.managed_by + " has no counterpart: this operator runs the "
           "TrainingJob.");
    }
    const Json run_policy = source_["spec"].value("runPolicy", Json::object());
    for (const char* field :
         {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit"}) {
      const bool twice = run_policy.is_object() && run_policy.contains(field) &&
                         source_["spec"].contains(field);
      if (!twice) continue;
      Warn(std::string("spec.") + field + " stood beside spec.runPolicy." + field +
           ", which counts.");
    }
    Warn("Pods are reached as NAME-ROLE-N.NAME.NAMESPACE.svc instead of by a service each; "
         "TF_CONFIG says so, programs with addresses of their own must follow.");
  }

  // As in the CRD.
  static constexpr int32_t kMostPs = 1000;
  static constexpr size_t kMostQueue = 63;
  static constexpr size_t kMostClass = 253;

  const Json& source_;
  const Job& job_;
  std::vector<std::string> warnings_;
};

}  // namespace

absl::StatusOr<Conversion> ConvertTfJob(std::string_view json) {
  if (!Validate(JobKind::kTfJob, json).empty()) {
    return absl::InvalidArgumentError("convert a TFJob: " +
                                      FormatFieldErrors(ValidateAll(JobKind::kTfJob, json)));
  }
  ASSIGN_OR_RETURN(const Job job, DecodeJob(JobKind::kTfJob, json));
  ASSIGN_OR_RETURN(const Json source, ParseJsonObject(json));
  Conversion converted = Converter(source, job).Convert();
  // A name that fits NAME-ps-0 alone may be too long with another limit; say it here, not later.
  const std::vector<FieldError> left = Validate(JobKind::kTrainingJob, converted.manifest);
  if (!left.empty()) {
    return absl::InvalidArgumentError("convert a TFJob: as a TrainingJob it would be refused: " +
                                      FormatFieldErrors(left));
  }
  // Templates are taken over as they are, with their mistakes: a server takes them as well.
  for (const FieldError& error : CheckTemplates(JobKind::kTfJob, source)) {
    converted.warnings.push_back(FormatFieldError(error));
  }
  return converted;
}

}  // namespace taas
