#include "operator/plan/pod_json.h"

#include "nlohmann/json.hpp"
#include "operator/api/defaults.h"
#include "operator/api/dialect.h"

namespace taas {
namespace {

using nlohmann::json;

// Time for a last checkpoint after SIGTERM; Kubernetes' own default, said so that the trainer can
// rely on it.
constexpr int kTerminationGraceSeconds = 30;
// A pod stays bound to a node that does not answer for this long: a switch that restarts takes
// less.
constexpr int kNodeLossSeconds = 60;
// Claims become writable for this group; also the group of the trainer image's user.
constexpr int kVolumeGroup = 65532;

json Owner(JobKind kind, const std::string& job, const std::string& uid) {
  const Dialect& dialect = DialectOf(kind);
  return {{"apiVersion", dialect.group_version}, {"kind", dialect.kind_name}, {"name", job},
          {"uid", uid},           {"controller", true},    {"blockOwnerDeletion", true}};
}

json Toleration(const char* key) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", kNodeLossSeconds}};
}

json Container(const PodSpec& pod) {
  json env = json::array();
  for (const auto& [name, value] : pod.env) env.push_back({{"name", name}, {"value", value}});
  json mounts = json::array();
  for (const VolumeSpec& volume : pod.volumes) {
    json mount = {{"name", volume.name}, {"mountPath", volume.mount_path}};
    if (volume.read_only) mount["readOnly"] = true;
    mounts.push_back(std::move(mount));
  }
  json container = {
      {"name", kTrainerContainer},
      {"image", pod.image},
      {"env", std::move(env)},
      {"ports",
       {{{"name", kTrainerPortName}, {"containerPort", pod.cluster_port}, {"protocol", "TCP"}},
        {{"name", kStatusPortName}, {"containerPort", pod.status_port}, {"protocol", "TCP"}}}},
      {"terminationMessagePath", "/dev/termination-log"},
      {"terminationMessagePolicy", "File"},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", true},
        {"capabilities", {{"drop", {"ALL"}}}}}},
  };
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
  return container;
}

json AvoidNodes(const std::vector<std::string>& nodes) {
  const json expression = {
      {"key", "kubernetes.io/hostname"}, {"operator", "NotIn"}, {"values", nodes}};
  json term = {{"matchExpressions", json::array({expression})}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", json::array({std::move(term)})}}}}}};
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::string> PodJson(const PodSpec& pod) {
  json volumes = json::array();
  for (const VolumeSpec& volume : pod.volumes) {
    json source = json::parse(volume.source, nullptr, /*allow_exceptions=*/false);
    if (!source.is_object()) {
      return absl::InvalidArgumentError("make pod " + pod.ns + "/" + pod.name +
                                        ": the source of volume " + volume.name +
                                        " is not a JSON object");
    }
    source["name"] = volume.name;
    volumes.push_back(std::move(source));
  }
  json spec = {
      {"restartPolicy", "Never"},
      {"automountServiceAccountToken", false},
      {"enableServiceLinks", false},
      {"terminationGracePeriodSeconds", kTerminationGraceSeconds},
      {"securityContext",
       {{"runAsNonRoot", true},
        {"fsGroup", kVolumeGroup},
        {"fsGroupChangePolicy", "OnRootMismatch"},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"tolerations",
       {Toleration("node.kubernetes.io/not-ready"), Toleration("node.kubernetes.io/unreachable")}},
      {"containers", json::array({Container(pod)})},
  };
  if (!volumes.empty()) spec["volumes"] = std::move(volumes);
  if (!pod.hostname.empty()) spec["hostname"] = pod.hostname;
  if (!pod.subdomain.empty()) spec["subdomain"] = pod.subdomain;
  if (!pod.avoid_nodes.empty()) spec["affinity"] = AvoidNodes(pod.avoid_nodes);
  const json object = {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata",
                        {{"name", pod.name},
                         {"namespace", pod.ns},
                         {"labels", pod.labels},
                         {"annotations", pod.annotations},
                         {"ownerReferences", json::array({Owner(pod.owner_kind, pod.job_name, pod.job_uid)})}}},
                       {"spec", std::move(spec)}};
  return Dump(object);
}

std::string ServiceJson(const CreateService& service) {
  json ports = json::array();
  for (const ServicePort& port : service.ports) {
    ports.push_back({{"name", port.name}, {"port", port.port}, {"protocol", "TCP"}});
  }
  const json owner = Owner(service.owner_kind, service.job_name, service.job_uid);
  return Dump({{"apiVersion", "v1"},
               {"kind", "Service"},
               {"metadata",
                {{"name", service.name},
                 {"namespace", service.ns},
                 {"labels", service.labels},
                 {"ownerReferences", json::array({owner})}}},
               {"spec",
                {{"clusterIP", "None"},
                 {"publishNotReadyAddresses", true},
                 {"selector", service.selector},
                 {"ports", std::move(ports)}}}});
}

}  // namespace taas
