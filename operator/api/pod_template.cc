#include "operator/api/pod_template.h"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"

namespace taas {
namespace {

constexpr char kGpuResource[] = "nvidia.com/gpu";
constexpr int32_t kPortMax = 65535;

// The container's index, -1 if it is to be added.
absl::StatusOr<int32_t> FindContainer(const std::vector<JsonField>& containers,
                                      const Dialect& dialect, bool may_add,
                                      const JsonField& pod_template) {
  for (size_t i = 0; i < containers.size(); ++i) {
    std::string name;
    RETURN_IF_ERROR(containers[i]["name"].Read(&name));
    if (name == dialect.container) return static_cast<int32_t>(i);
  }
  if (may_add) return -1;
  // A TFJob's container has its name, always; that of a TrainingJob may be the only one.
  if (dialect.kind == JobKind::kTrainingJob && containers.size() == 1) return 0;
  return absl::InvalidArgumentError(pod_template.path() + ".spec.containers: none of " +
                                    std::to_string(containers.size()) + " is named " +
                                    std::string(dialect.container));
}

absl::Status ReadPorts(const JsonField& container, const Dialect& dialect, RoleSpec* out) {
  ASSIGN_OR_RETURN(const std::vector<JsonField> ports, container["ports"].Items());
  for (const JsonField& declared : ports) {
    ContainerPort port;
    RETURN_IF_ERROR(declared["name"].Read(&port.name));
    const JsonField number = declared["containerPort"];
    if (!number.present()) continue;  // The API server says so of each pod.
    RETURN_IF_ERROR(number.Read(&port.port));
    if (port.port < 1 || port.port > kPortMax) return number.Wrong("a port from 1 to 65535");
    if (out->port == 0 && port.name == dialect.port_name) out->port = port.port;
    out->ports.push_back(std::move(port));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadGpuLimit(const JsonField& resources, int32_t* out) {
  const JsonField limit = resources["limits"][kGpuResource];
  // Kubernetes takes 2 and "2".
  if (!limit.present() || !limit.json().is_string()) return limit.Read(out);
  const std::string& text = limit.json().get_ref<const std::string&>();
  int32_t gpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (error != std::errc() || end != text.data() + text.size() || gpus < 0) {
    return limit.Wrong("a number of GPUs");
  }
  *out = gpus;
  return absl::OkStatus();
}

absl::Status ReadPodTemplate(const JsonField& pod_template, const Dialect& dialect, bool may_add,
                             RoleSpec* out) {
  RETURN_IF_ERROR(pod_template.Object().status());
  out->pod_template = pod_template.Text();
  ASSIGN_OR_RETURN(const std::vector<JsonField> containers,
                   pod_template["spec"]["containers"].Items());
  ASSIGN_OR_RETURN(out->container, FindContainer(containers, dialect, may_add, pod_template));
  if (out->container < 0) return absl::OkStatus();
  const JsonField& container = containers[out->container];
  RETURN_IF_ERROR(ReadPorts(container, dialect, out));
  return ReadGpuLimit(container["resources"], &out->gpu_limit);
}

}  // namespace taas
