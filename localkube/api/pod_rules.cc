#include "localkube/api/pod_rules.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "localkube/api/kube_status.h"
#include "localkube/api/rules/names.h"
#include "operator/api/field_error.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// The types of Kubernetes' Go structs, as their decoder names them.
enum class Type { kText, kWhole, kFlag, kObject, kTexts, kTextMap, kQuantities, kObjects };

struct Field {
  const char* name;
  Type type;
  std::span<const Field> members = {};  // Of kObject, and of each element of kObjects.
};

constexpr Field kKeyRef[] = {{"name", Type::kText}, {"key", Type::kText}};
constexpr Field kFieldRef[] = {{"fieldPath", Type::kText}};
constexpr Field kEnvSource[] = {{"fieldRef", Type::kObject, kFieldRef},
                                {"configMapKeyRef", Type::kObject, kKeyRef},
                                {"secretKeyRef", Type::kObject, kKeyRef}};
constexpr Field kEnv[] = {{"name", Type::kText},
                          {"value", Type::kText},
                          {"valueFrom", Type::kObject, kEnvSource}};
constexpr Field kPort[] = {{"name", Type::kText},
                           {"containerPort", Type::kWhole},
                           {"hostPort", Type::kWhole},
                           {"protocol", Type::kText}};
constexpr Field kMount[] = {{"name", Type::kText},
                            {"mountPath", Type::kText},
                            {"subPath", Type::kText},
                            {"readOnly", Type::kFlag}};
constexpr Field kResources[] = {{"limits", Type::kQuantities}, {"requests", Type::kQuantities}};
constexpr Field kContainer[] = {{"name", Type::kText},
                                {"image", Type::kText},
                                {"imagePullPolicy", Type::kText},
                                {"command", Type::kTexts},
                                {"args", Type::kTexts},
                                {"workingDir", Type::kText},
                                {"env", Type::kObjects, kEnv},
                                {"envFrom", Type::kObjects},
                                {"ports", Type::kObjects, kPort},
                                {"resources", Type::kObject, kResources},
                                {"volumeMounts", Type::kObjects, kMount},
                                {"terminationMessagePath", Type::kText},
                                {"terminationMessagePolicy", Type::kText}};
constexpr Field kClaim[] = {{"claimName", Type::kText}, {"readOnly", Type::kFlag}};
constexpr Field kHostPath[] = {{"path", Type::kText}, {"type", Type::kText}};
constexpr Field kVolume[] = {{"name", Type::kText},
                             {"persistentVolumeClaim", Type::kObject, kClaim},
                             {"hostPath", Type::kObject, kHostPath},
                             {"emptyDir", Type::kObject}};
constexpr Field kPodSpec[] = {{"containers", Type::kObjects, kContainer},
                              {"initContainers", Type::kObjects, kContainer},
                              {"volumes", Type::kObjects, kVolume},
                              {"nodeName", Type::kText},
                              {"nodeSelector", Type::kTextMap},
                              {"restartPolicy", Type::kText},
                              {"terminationGracePeriodSeconds", Type::kWhole},
                              {"activeDeadlineSeconds", Type::kWhole},
                              {"hostname", Type::kText},
                              {"subdomain", Type::kText},
                              {"schedulerName", Type::kText},
                              {"serviceAccountName", Type::kText},
                              {"dnsPolicy", Type::kText},
                              {"hostNetwork", Type::kFlag},
                              {"enableServiceLinks", Type::kFlag},
                              {"tolerations", Type::kObjects},
                              {"affinity", Type::kObject},
                              {"securityContext", Type::kObject}};
constexpr Field kPod[] = {{"spec", Type::kObject, kPodSpec}};

// Names that become names of directories, and of hosts.
constexpr size_t kLabelMax = 63;
constexpr char kLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character";

constexpr const char* kRestartPolicies[] = {"Always", "OnFailure", "Never"};

const char* GoType(Type type) {
  switch (type) {
    case Type::kText: return "string";
    case Type::kWhole: return "int64";
    case Type::kFlag: return "bool";
    case Type::kObject: return "object";
    case Type::kTexts: return "[]string";
    case Type::kTextMap: return "map[string]string";
    case Type::kQuantities: return "map[string]resource.Quantity";
    case Type::kObjects: return "[]object";
  }
  return "";
}

bool IsWhole(const json& value) {
  if (!value.is_number_integer()) return false;
  return !value.is_number_unsigned() ||
         value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
}

bool IsText(const json& value) { return value.is_string(); }
bool IsQuantity(const json& value) { return value.is_string() || value.is_number(); }

bool Has(const json& value, Type type) {
  switch (type) {
    case Type::kText: return value.is_string();
    case Type::kWhole: return IsWhole(value);
    case Type::kFlag: return value.is_boolean();
    case Type::kObject: return value.is_object();
    case Type::kTexts:
      return value.is_array() && std::all_of(value.begin(), value.end(), IsText);
    case Type::kTextMap:
      return value.is_object() && std::all_of(value.begin(), value.end(), IsText);
    case Type::kQuantities:
      return value.is_object() && std::all_of(value.begin(), value.end(), IsQuantity);
    case Type::kObjects: return value.is_array();
  }
  return false;
}

absl::Status WrongType(const json& value, const std::string& path, const char* type) {
  return BadRequest("Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal " +
                    std::string(value.type_name()) + " into Go struct field " + path +
                    " of type " + type);
}

absl::Status CheckTypes(const json& object, std::span<const Field> fields,
                        const std::string& prefix) {
  for (const Field& field : fields) {
    const auto found = object.find(field.name);
    if (found == object.end()) continue;
    const std::string path = prefix + field.name;
    if (!Has(*found, field.type)) return WrongType(*found, path, GoType(field.type));
    if (field.type == Type::kObject) {
      RETURN_IF_ERROR(CheckTypes(*found, field.members, path + "."));
    }
    if (field.type != Type::kObjects) continue;
    for (size_t i = 0; i < found->size(); ++i) {
      const json& element = (*found)[i];
      const std::string place = path + "[" + std::to_string(i) + "]";
      if (!element.is_object()) return WrongType(element, place, GoType(Type::kObject));
      RETURN_IF_ERROR(CheckTypes(element, field.members, place + "."));
    }
  }
  return absl::OkStatus();
}

bool IsLabelEdge(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsLabel(const std::string& name) {
  if (name.empty() || name.size() > kLabelMax) return false;
  if (!IsLabelEdge(name.front()) || !IsLabelEdge(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsLabelEdge(c) || c == '-'; });
}

// The values of one pod, whose types are right.
class PodValues {
 public:
  std::vector<FieldError> Check(const json& spec) {
    if (!spec.contains("containers") || spec["containers"].empty()) Require("spec.containers");
    for (const char* list : {"containers", "initContainers"}) {
      const json containers = spec.value(list, json::array());
      for (size_t i = 0; i < containers.size(); ++i) {
        CheckContainer(containers[i],
                       std::string("spec.") + list + "[" + std::to_string(i) + "].");
      }
    }
    const json volumes = spec.value("volumes", json::array());
    for (size_t i = 0; i < volumes.size(); ++i) {
      CheckVolume(volumes[i], "spec.volumes[" + std::to_string(i) + "].");
    }
    CheckEnding(spec);
    return std::move(errors_);
  }

 private:
  void Require(const std::string& path) {
    errors_.push_back({path, std::string(kFieldRequired), "Required value"});
  }
  void Refuse(const std::string& path, const std::string& value, const std::string& why) {
    errors_.push_back(
        {path, std::string(kFieldInvalid), "Invalid value: " + value + ": " + why});
  }

  void CheckContainer(const json& container, const std::string& path) {
    CheckName(container, path + "name", &container_names_);
    if (container.value("image", "").empty()) Require(path + "image");
    const json mounts = container.value("volumeMounts", json::array());
    for (size_t i = 0; i < mounts.size(); ++i) {
      CheckMount(mounts[i], path + "volumeMounts[" + std::to_string(i) + "].");
    }
  }

  void CheckVolume(const json& volume, const std::string& path) {
    CheckName(volume, path + "name", &volume_names_);
    if (!volume.contains("persistentVolumeClaim")) return;
    const std::string claim = volume["persistentVolumeClaim"].value("claimName", "");
    const std::string place = path + "persistentVolumeClaim.claimName";
    if (claim.empty()) {
      Require(place);
    } else if (!IsSubdomain(claim)) {
      Refuse(place, Quoted(claim), kSubdomainRule);
    }
  }

  void CheckMount(const json& mount, const std::string& path) {
    if (mount.value("name", "").empty()) Require(path + "name");
    if (mount.value("mountPath", "").empty()) Require(path + "mountPath");
    const std::string sub_path = mount.value("subPath", "");
    if (!sub_path.empty() && sub_path.front() == '/') {
      Refuse(path + "subPath", Quoted(sub_path), "must be a relative path");
    } else if (("/" + sub_path + "/").find("/../") != std::string::npos) {
      Refuse(path + "subPath", Quoted(sub_path), "must not contain '..'");
    }
  }

  // A DNS label that none of `taken` has.
  void CheckName(const json& owner, const std::string& path, std::set<std::string>* taken) {
    const std::string name = owner.value("name", "");
    if (name.empty()) {
      Require(path);
    } else if (!IsLabel(name)) {
      Refuse(path, Quoted(name), kLabelRule);
    } else if (!taken->insert(name).second) {
      errors_.push_back({path, std::string(kFieldDuplicate), "Duplicate value: " + Quoted(name)});
    }
  }

  static std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

  void CheckEnding(const json& spec) {
    for (const char* field : {"terminationGracePeriodSeconds", "activeDeadlineSeconds"}) {
      const int64_t seconds = spec.value(field, int64_t{0});
      if (seconds >= 0) continue;
      Refuse(std::string("spec.") + field, std::to_string(seconds),
             "must be greater than or equal to 0");
    }
    const std::string policy = spec.value("restartPolicy", kRestartPolicies[0]);
    if (std::count(std::begin(kRestartPolicies), std::end(kRestartPolicies), policy) > 0) return;
    errors_.push_back({"spec.restartPolicy", std::string(kFieldNotSupported),
                       "Unsupported value: \"" + policy +
                           "\": supported values: \"Always\", \"OnFailure\", \"Never\""});
  }

  std::vector<FieldError> errors_;
  std::set<std::string> container_names_;
  std::set<std::string> volume_names_;
};

}  // namespace

absl::Status CheckPodSpec(const Kind& kind, const json& pod) {
  RETURN_IF_ERROR(CheckTypes(pod, kPod, ""));
  const std::vector<FieldError> errors = PodValues().Check(pod.value("spec", json::object()));
  if (errors.empty()) return absl::OkStatus();
  return Invalid(kind, pod["metadata"].value("name", ""), errors);
}

}  // namespace taas::localkube
