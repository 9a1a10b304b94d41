#include "operator/plan/container_json.h"

#include <algorithm>
#include <set>
#include <string>

#include "operator/api/defaults.h"
#include "operator/api/quantity.h"
#include "operator/plan/json_object.h"

namespace taas {
namespace {

using nlohmann::json;

json ParseOr(const std::string& text, json otherwise) {
  return text.empty() ? otherwise : json::parse(text);
}

void SetDefault(json& object, const char* key, json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

// Null, which the API takes for absent, reads as an empty object.
json ObjectIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? json::object() : *found;
}

// Values of `over` win, at every depth of objects.
json Merged(json under, const json& over) {
  if (!under.is_object() || !over.is_object()) return over;
  for (const auto& [key, value] : over.items()) {
    under[key] = under.contains(key) ? Merged(under[key], value) : value;
  }
  return under;
}

void CompleteResources(const PodSpec& pod, json& container) {
  json resources = ParseOr(pod.user.resources, json::object());
  resources = Merged(std::move(resources), ObjectIn(container, "resources"));
  if (pod.user.gpus > 0) {
    // A node gives what is requested only if it is also the limit.
    json& limits = resources["limits"];
    json& requests = resources["requests"];
    json count = std::to_string(pod.user.gpus);
    if (requests.contains(pod.gpu_resource)) count = requests[pod.gpu_resource];
    if (limits.contains(pod.gpu_resource)) count = limits[pod.gpu_resource];
    limits[pod.gpu_resource] = requests[pod.gpu_resource] = count;
  }
  if (!resources.empty()) container["resources"] = std::move(resources);
}

bool AsksForGpus(const json& container) {
  const json limits = ObjectIn(ObjectIn(container, "resources"), "limits");
  return std::any_of(limits.items().begin(), limits.items().end(),
                     [](const auto& item) { return IsGpuResource(item.key()); });
}

// Those that the trainer for NVIDIA's GPUs computes on: slices of MIG have names of their own.
int64_t CudaGpus(const PodSpec& pod, const json& container) {
  const json limits = ObjectIn(ObjectIn(container, "resources"), "limits");
  int64_t count = 0;
  for (const auto& [resource, amount] : limits.items()) {
    if (resource != pod.gpu_resource && !resource.starts_with("nvidia.com/")) continue;
    const std::string text = amount.is_string() ? amount.get<std::string>() : amount.dump();
    count += SaturatedMilli(text) / 1000;
  }
  return count;
}

// The trainer's image, unless the manifest or the template names one. What is to compute on GPUs
// is told so; another image's trainer may have no kernels for them, and would end.
void CompleteImage(const PodSpec& pod, Environment* ours, json& container) {
  if (container.contains("image")) return;
  const int64_t gpus = pod.cuda_image.empty() ? 0 : CudaGpus(pod, container);
  container["image"] = gpus > 0 ? pod.cuda_image : pod.image;
  // A parameter server adds on its processors.
  if (gpus == 0 || pod.role == Role::kPs) return;
  ours->push_back(
      {.name = std::string(kGpusVariable), .value = std::to_string(gpus), .yields = true});
}

json EnvJson(const EnvVariable& variable) {
  if (variable.config_map.empty()) {
    return JsonObject("name", variable.name, "value", variable.value);
  }
  json key = JsonObject("name", variable.config_map, "key", variable.value);
  return JsonObject("name", variable.name, "valueFrom",
                    JsonObject("configMapKeyRef", std::move(key)));
}

// Ours first, so that the user's can refer to them as $(TAAS_JOB); of the user's, those of the role
// replace those of the template.
void CompleteEnv(const PodSpec& pod, const Environment& ours, json& container) {
  const json of_role = ParseOr(pod.user.env, json::array());
  json users = json::array();
  std::set<std::string> role_names;
  for (const json& item : of_role) role_names.insert(item.value("name", ""));
  for (const json& item : container.value("env", json::array())) {
    if (role_names.count(item.value("name", "")) == 0) users.push_back(item);
  }
  for (const json& item : of_role) users.push_back(item);
  std::set<std::string> user_names;
  for (const json& item : users) user_names.insert(item.value("name", ""));
  json env = json::array();
  std::set<std::string> names;
  for (const EnvVariable& variable : ours) {
    if (variable.yields && user_names.count(variable.name) > 0) continue;
    env.push_back(EnvJson(variable));
    names.insert(variable.name);
  }
  // A process takes all the GPUs that it sees, also those of other pods of its node.
  if (pod.hide_gpus && !AsksForGpus(container)) {
    for (const auto& [name, value] :
         {std::pair("NVIDIA_VISIBLE_DEVICES", "void"), std::pair("CUDA_VISIBLE_DEVICES", "")}) {
      if (user_names.count(name) == 0) env.push_back(JsonObject("name", name, "value", value));
    }
  }
  for (json& item : users) {
    if (names.count(item.value("name", "")) == 0) env.push_back(std::move(item));
  }
  container["env"] = std::move(env);
  json sources = container.value("envFrom", json::array());
  for (json& source : ParseOr(pod.user.env_from, json::array())) {
    sources.push_back(std::move(source));
  }
  if (!sources.empty()) container["envFrom"] = std::move(sources);
}

void SetPort(json& ports, const std::string& name, int32_t number) {
  for (json& port : ports) {
    if (port.value("name", "") != name) continue;
    port["containerPort"] = number;
    return;
  }
  ports.push_back(JsonObject("name", name, "containerPort", number, "protocol", "TCP"));
}

void CompletePorts(const PodSpec& pod, json& container) {
  json ports = container.value("ports", json::array());
  SetPort(ports, pod.port_name, pod.cluster_port);
  if (pod.status_port != 0) SetPort(ports, std::string(kStatusPortName), pod.status_port);
  container["ports"] = std::move(ports);
}

// A mount of the template at the same path wins.
void CompleteMounts(const PodSpec& pod, json& container) {
  json mounts = container.value("volumeMounts", json::array());
  std::set<std::string> paths;
  for (const json& mount : mounts) paths.insert(mount.value("mountPath", ""));
  for (const VolumeSpec& volume : pod.volumes) {
    if (paths.count(volume.mount_path) > 0) continue;
    json mount = JsonObject("name", volume.name, "mountPath", volume.mount_path);
    if (volume.read_only) mount["readOnly"] = true;
    mounts.push_back(std::move(mount));
  }
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
}

}  // namespace

bool IsGpuResource(const std::string& resource) {
  return resource.find("gpu") != std::string::npos || resource.starts_with("nvidia.com/");
}

void CompleteContainer(const PodSpec& pod, Environment ours, json& container) {
  SetDefault(container, "name", pod.container);
  CompleteResources(pod, container);
  if (pod.bundled_trainer) {
    CompleteImage(pod, &ours, container);
    container.erase("command");
    container.erase("args");
    SetDefault(container, "terminationMessagePath", "/dev/termination-log");
    SetDefault(container, "terminationMessagePolicy", "File");
    SetDefault(container, "securityContext",
               {{"allowPrivilegeEscalation", false},
                {"readOnlyRootFilesystem", true},
                {"capabilities", {{"drop", {"ALL"}}}}});
  } else {
    // So that the job's message can quote the last line of a program that knows nothing of us.
    SetDefault(container, "terminationMessagePolicy", "FallbackToLogsOnError");
  }
  CompleteEnv(pod, ours, container);
  CompletePorts(pod, container);
  CompleteMounts(pod, container);
}

void CompleteInitContainers(json& pod_spec) {
  const auto found = pod_spec.find("initContainers");
  if (found == pod_spec.end() || !found->is_array()) return;
  for (json& container : *found) {
    if (container.is_object()) {
      SetDefault(container, "terminationMessagePolicy", "FallbackToLogsOnError");
    }
  }
}

}  // namespace taas
