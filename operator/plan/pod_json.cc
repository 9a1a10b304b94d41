#include "operator/plan/pod_json.h"

#include <algorithm>
#include <set>

#include "operator/api/dialect.h"
#include "operator/api/template_check.h"
#include "operator/base/status.h"
#include "operator/plan/container_json.h"
#include "operator/plan/json_object.h"
#include "operator/plan/new_object.h"
#include "operator/plan/template_words.h"
#include "operator/plan/tf_config.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// Time for a last checkpoint after SIGTERM; Kubernetes' own default, said so that the trainer can
// rely on it.
constexpr int kTerminationGraceSeconds = 30;
// Claims become writable for this group; also the group of the trainer image's user.
constexpr int kVolumeGroup = 65532;

json WithOurs(json users, const std::map<std::string, std::string>& ours) {
  if (!users.is_object()) users = json::object();
  for (const auto& [key, value] : ours) users[key] = value;
  return users;
}

// `users`: labels and annotations, of which ours win.
json MetadataOf(const NewObject& object, const json& users = json::object()) {
  const Dialect& dialect = DialectOf(object.owner_kind);
  json owners = json::array();
  owners.push_back(JsonObject("apiVersion", dialect.group_version, "kind", dialect.kind_name,
                              "name", object.job_name, "uid", object.job_uid, "controller", true,
                              "blockOwnerDeletion", true));
  json metadata =
      JsonObject("name", object.name, "namespace", object.ns, "ownerReferences", std::move(owners));
  for (const auto& [key, ours] :
       {std::pair("labels", &object.labels), std::pair("annotations", &object.annotations)}) {
    json all = WithOurs(users.value(key, json()), *ours);
    if (!all.empty()) metadata[key] = std::move(all);
  }
  return metadata;
}

void SetDefault(json& object, const char* key, json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

std::string TextIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Says it for this taint: one without a key tolerates every taint, one without an effect all of a
// key's.
bool Covers(const json& toleration, std::string_view taint) {
  if (!toleration.is_object()) return false;
  const std::string key = TextIn(toleration, "key");
  const std::string effect = TextIn(toleration, "effect");
  const bool every = key.empty() && TextIn(toleration, "operator") == "Exists";
  return (every || key == taint) && (effect.empty() || effect == "NoExecute");
}

// How long the pod stays bound to a node that does not answer, unless the template says: of two
// tolerations of one taint the shorter would count.
void AddTolerations(const PodSpec& pod, json& spec) {
  json tolerations = spec.value("tolerations", json::array());
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool said = std::any_of(tolerations.begin(), tolerations.end(),
                                  [&](const json& other) { return Covers(other, key); });
    if (said) continue;
    tolerations.push_back(JsonObject("key", key, "operator", "Exists", "effect", "NoExecute",
                                     "tolerationSeconds", pod.node_loss_seconds));
  }
  spec["tolerations"] = std::move(tolerations);
}

// Terms are alternatives, so what must hold in any case goes into each of them.
void Require(json& spec, const json& expression) {
  json& required = spec["affinity"]["nodeAffinity"]
                       ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (required.is_null() || required.empty()) required = json::array({json::object()});
  for (json& term : required) term["matchExpressions"].push_back(expression);
}

// By the node's name, which spec.nodeName has; its label of the host's name may be another.
void Avoid(json& spec, const std::string& node) {
  constexpr int kWeightMax = 100;  // Of the API.
  json& preferred =
      spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  if (!preferred.is_array()) preferred = json::array();
  // The API takes one value per field, and one term each lets the others count where all are bad.
  json field = JsonObject("key", "metadata.name", "operator", "NotIn", "values",
                          json::array({node}));
  preferred.push_back(JsonObject("weight", kWeightMax, "preference",
                                 JsonObject("matchFields", json::array({std::move(field)}))));
}

void AddAffinity(const PodSpec& pod, json& spec) {
  for (const std::string& node : pod.avoid_nodes) Avoid(spec, node);
  if (!pod.user.gpu_type.empty()) {
    Require(spec, {{"key", "nvidia.com/gpu.product"},
                   {"operator", "In"},
                   {"values", json::array({pod.user.gpu_type})}});
  }
}

// A volume of the template under the same name wins.
absl::Status AddVolumes(const PodSpec& pod, json& spec) {
  json volumes = spec.value("volumes", json::array());
  std::set<std::string> names;
  for (const json& volume : volumes) names.insert(volume.value("name", ""));
  for (const VolumeSpec& volume : pod.volumes) {
    json source = json::parse(volume.source, nullptr, /*allow_exceptions=*/false);
    if (!source.is_object()) {
      return absl::InvalidArgumentError("make pod " + pod.ns + "/" + pod.name +
                                        ": the source of volume " + volume.name +
                                        " is not a JSON object");
    }
    if (!names.insert(volume.name).second) continue;
    source["name"] = volume.name;
    volumes.push_back(std::move(source));
  }
  if (!volumes.empty()) spec["volumes"] = std::move(volumes);
  return absl::OkStatus();
}

// Where the template does not bring the container it is made, before the sidecars: tools look at
// the first one.
json& ContainerOf(const PodSpec& pod, json& spec) {
  json& containers = spec["containers"];
  if (containers.is_null()) containers = json::array();
  const int32_t index = pod.user.container;
  if (index >= 0 && static_cast<size_t>(index) < containers.size()) {
    return containers[static_cast<size_t>(index)];
  }
  containers.insert(containers.begin(), json::object());
  return containers[0];
}

absl::StatusOr<Environment> EnvironmentOf(const PodSpec& pod) {
  if (pod.cluster == nullptr) return Environment();
  const ClusterFacts& facts = *pod.cluster;
  const AddressBook addresses(facts.job, facts.ledger, facts.addresses);
  return ReplicaEnvironment(facts.job, facts.ledger, addresses, pod.role, pod.index,
                            facts.cluster);
}

absl::StatusOr<json> SpecOf(const PodSpec& pod, json spec) {
  spec["restartPolicy"] = pod.restart_policy;
  if (pod.bundled_trainer) {
    // The trainer needs nothing of the API server.
    SetDefault(spec, "automountServiceAccountToken", false);
    SetDefault(spec, "enableServiceLinks", false);
    SetDefault(spec, "terminationGracePeriodSeconds", kTerminationGraceSeconds);
    SetDefault(spec, "securityContext",
               JsonObject("runAsNonRoot", true, "fsGroup", kVolumeGroup,  //
                          "fsGroupChangePolicy", "OnRootMismatch",        //
                          "seccompProfile", JsonObject("type", "RuntimeDefault")));
  }
  if (!pod.priority_class.empty()) SetDefault(spec, "priorityClassName", pod.priority_class);
  if (!pod.scheduler_name.empty()) SetDefault(spec, "schedulerName", pod.scheduler_name);
  ASSIGN_OR_RETURN(Environment environment, EnvironmentOf(pod));
  CompleteContainer(pod, std::move(environment), ContainerOf(pod, spec));
  CompleteInitContainers(spec);
  AddTolerations(pod, spec);
  AddAffinity(pod, spec);
  RETURN_IF_ERROR(AddVolumes(pod, spec));
  if (!pod.hostname.empty()) spec["hostname"] = pod.hostname;
  if (!pod.subdomain.empty()) spec["subdomain"] = pod.subdomain;
  return spec;
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::StatusOr<std::string> MakePod(const PodSpec& pod) {
  json pod_template = json::object();
  if (!pod.user.pod_template.empty()) pod_template = json::parse(pod.user.pod_template);
  json theirs = json::object();
  if (pod_template.contains("spec")) theirs = std::move(pod_template["spec"]);
  ASSIGN_OR_RETURN(json spec, SpecOf(pod, std::move(theirs)));
  json metadata = MetadataOf(pod, pod_template.value("metadata", json::object()));
  return Dump(JsonObject("apiVersion", "v1", "kind", "Pod", "metadata", std::move(metadata), "spec",
                         std::move(spec)));
}

// The fields of the template that are of a wrong type; if none is, what was thrown.
std::string WhyNot(const PodSpec& pod, const std::string& thrown) {
  if (pod.cluster == nullptr) return thrown;
  const Job& job = pod.cluster->job;
  std::vector<FieldError> errors = CheckTemplate(job, pod.role, TemplatePathOf(job, pod.role));
  std::erase_if(errors, [](const FieldError& error) { return error.reason != kFieldTypeInvalid; });
  return errors.empty() ? thrown : FormatFieldErrors(errors);
}

}  // namespace

absl::StatusOr<std::string> PodJson(const PodSpec& pod) {
  try {
    return MakePod(pod);
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError("make pod " + pod.ns + "/" + pod.name +
                                      ": the template, env, envFrom or resources of role " +
                                      std::string(RoleName(pod.role)) +
                                      " cannot be followed: " + WhyNot(pod, error.what()));
  }
}

std::string ServiceJson(const CreateService& service) {
  json ports = json::array();
  for (const ServicePort& port : service.ports) {
    ports.push_back(JsonObject("name", port.name, "port", port.port, "protocol", "TCP"));
  }
  json spec = JsonObject("clusterIP", "None", "publishNotReadyAddresses", true, "selector",
                         service.selector, "ports", std::move(ports));
  return Dump(JsonObject("apiVersion", "v1", "kind", "Service", "metadata", MetadataOf(service),
                         "spec", std::move(spec)));
}

std::string ConfigMapJson(const CreateConfigMap& map) {
  return Dump({{"apiVersion", "v1"},
               {"kind", "ConfigMap"},
               {"metadata", MetadataOf(map)},
               {"immutable", true},
               {"data", {{map.key, map.value}}}});
}

std::string PodGroupJson(const CreatePodGroup& group) {
  const bool volcano = group.scheduler == GangScheduler::kVolcano;
  json metadata = MetadataOf(group);
  metadata["annotations"] = {{std::string(kPodGroupSpecAnnotation), group.spec}};
  return Dump({{"apiVersion",
                volcano ? "scheduling.volcano.sh/v1beta1" : "scheduling.x-k8s.io/v1alpha1"},
               {"kind", "PodGroup"},
               {"metadata", std::move(metadata)},
               {"spec", json::parse(group.spec)}});
}

}  // namespace taas
