#include "localkube/api/object_rules.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "localkube/api/config_rules.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/pod_rules.h"
#include "localkube/api/rules/metadata_rules.h"
#include "localkube/api/rules/names.h"
#include "localkube/api/rules/resource_rules.h"
#include "operator/api/json_depth.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

bool IsStringMap(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), [](const json& member) {
           return member.is_string();
         });
}

absl::Status CheckOwnerTypes(const json& owner) {
  const std::string place = "metadata.ownerReferences: ";
  if (!owner.is_object()) return BadRequest(place + "an entry is not an object");
  for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
    if (owner.contains(field) && !owner[field].is_string()) {
      return BadRequest(place + field + " is not a string");
    }
  }
  for (const char* field : {"controller", "blockOwnerDeletion"}) {
    if (owner.contains(field) && !owner[field].is_boolean() && !owner[field].is_null()) {
      return BadRequest(place + field + " is not true or false");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMetadata(const json& metadata) {
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "generateName"}) {
    if (metadata.contains(field) && !metadata[field].is_string()) {
      return BadRequest(std::string("metadata.") + field + ": is not a string");
    }
  }
  for (const char* field : {"labels", "annotations"}) {
    if (metadata.contains(field) && !IsStringMap(metadata[field])) {
      return BadRequest(std::string("metadata.") + field + ": is not a map of strings");
    }
  }
  for (const char* field : {"ownerReferences", "finalizers"}) {
    if (metadata.contains(field) && !metadata[field].is_array()) {
      return BadRequest(std::string("metadata.") + field + ": is not a list");
    }
  }
  for (const json& name : metadata.value("finalizers", json::array())) {
    if (!name.is_string()) return BadRequest("metadata.finalizers: is not a list of strings");
  }
  for (const json& owner : metadata.value("ownerReferences", json::array())) {
    RETURN_IF_ERROR(CheckOwnerTypes(owner));
  }
  return absl::OkStatus();
}

// The text at a pointer into a stored object, which an earlier version may have let in as anything.
std::string TextAt(const json& object, const char* pointer) {
  const json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : "";
}

// A null member is as if it were not there, as for Kubernetes' decoder.
void DropNulls(json* value) {
  if (!value->is_structured()) return;
  if (value->is_object()) {
    std::erase_if(value->get_ref<json::object_t&>(),
                  [](const auto& member) { return member.second.is_null(); });
  }
  for (json& member : *value) DropNulls(&member);
}

void SetIfAbsent(json* object, const char* field, const json& value) {
  if (!object->contains(field)) (*object)[field] = value;
}

void DefaultContainer(json* container) {
  if (!container->is_object()) return;
  SetIfAbsent(container, "resources", json::object());
  SetIfAbsent(container, "terminationMessagePath", "/dev/termination-log");
  SetIfAbsent(container, "terminationMessagePolicy", "File");
  const std::string image = TextAt(*container, "/image");
  const bool latest = image.find(':', image.rfind('/') + 1) == std::string::npos ||
                      (image.size() > 7 && image.substr(image.size() - 7) == ":latest");
  SetIfAbsent(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
  if (!container->contains("ports") || !(*container)["ports"].is_array()) return;
  for (json& port : (*container)["ports"]) {
    if (port.is_object()) SetIfAbsent(&port, "protocol", "TCP");
  }
}

void DefaultPod(json* pod) {
  json& spec = (*pod)["spec"];
  if (!spec.is_object()) return;
  SetIfAbsent(&spec, "restartPolicy", "Always");
  SetIfAbsent(&spec, "terminationGracePeriodSeconds", kDefaultGraceSeconds);
  SetIfAbsent(&spec, "dnsPolicy", "ClusterFirst");
  SetIfAbsent(&spec, "schedulerName", "default-scheduler");
  SetIfAbsent(&spec, "serviceAccountName", "default");
  SetIfAbsent(&spec, "securityContext", json::object());
  SetIfAbsent(&spec, "enableServiceLinks", true);
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list) || !spec[list].is_array()) continue;
    for (json& container : spec[list]) DefaultContainer(&container);
  }
}

void DefaultService(json* service) {
  json& spec = (*service)["spec"];
  if (!spec.is_object()) return;
  SetIfAbsent(&spec, "type", "ClusterIP");
  SetIfAbsent(&spec, "sessionAffinity", "None");
  if (!spec.contains("ports") || !spec["ports"].is_array()) return;
  for (json& port : spec["ports"]) {
    if (!port.is_object()) continue;
    SetIfAbsent(&port, "protocol", "TCP");
    if (port.contains("port")) SetIfAbsent(&port, "targetPort", port["port"]);
  }
}

// A claim is a directory of this machine: it is there as soon as it is asked for.
void BindClaim(json* claim) {
  json status = {{"phase", "Bound"}};
  const json spec = claim->value("spec", json::object());
  status["accessModes"] = spec.value("accessModes", json::array());
  const json::json_pointer storage("/resources/requests/storage");
  if (spec.contains(storage)) status["capacity"] = {{"storage", spec[storage]}};
  (*claim)["status"] = std::move(status);
}

void InitialStatus(const Kind& kind, json* object) {
  if (kind.kind == "Node") return;  // The node registers itself with its status.
  object->erase("status");
  if (kind.kind == "Pod") (*object)["status"] = {{"phase", "Pending"}, {"qosClass", "BestEffort"}};
  if (kind.kind == "Service") (*object)["status"] = {{"loadBalancer", json::object()}};
  if (kind.kind == "Namespace") (*object)["status"] = {{"phase", "Active"}};
  if (kind.kind == "PersistentVolumeClaim") BindClaim(object);
}

// The last deletion says what becomes of the dependants.
void SetPropagation(const std::string& propagation, json* metadata) {
  const auto before = metadata->find("finalizers");
  json list = json::array();
  if (before != metadata->end() && before->is_array()) list = *before;
  for (const std::string_view name : {kForegroundFinalizer, kOrphanFinalizer}) {
    const json value = std::string(name);
    const bool wanted =
        propagation == (name == kOrphanFinalizer ? "Orphan" : "Foreground");
    const bool there = std::find(list.begin(), list.end(), value) != list.end();
    if (wanted && !there) list.push_back(value);
    if (!wanted) std::erase(list.get_ref<json::array_t&>(), value);
  }
  if (!list.empty()) {
    (*metadata)["finalizers"] = std::move(list);
  } else if (before != metadata->end()) {
    metadata->erase("finalizers");
  }
}

// The part whose changes count in metadata.generation.
json Wish(json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

// A pod's spec without what may change: images, deadline, tolerations, grace; the node once.
json FixedPodSpec(const json& object, bool without_node) {
  json spec = object.value("spec", json::object());
  for (const char* field :
       {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"}) {
    spec.erase(field);
  }
  if (without_node) spec.erase("nodeName");
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list) || !spec[list].is_array()) continue;
    for (json& container : spec[list]) {
      if (container.is_object()) container.erase("image");
    }
  }
  return spec;
}

}  // namespace

absl::StatusOr<json> ParseBody(std::string_view text, const std::string& what) {
  if (IsNestedDeeper(text, kDepthMax)) {
    return BadRequest(what + " is nested deeper than " + std::to_string(kDepthMax) + " levels");
  }
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return BadRequest(what + " is not JSON");
  return value;
}

absl::StatusOr<json> ParseObject(std::string_view text) {
  ASSIGN_OR_RETURN(json object, ParseBody(text, "the body of the request"));
  if (!object.is_object()) return BadRequest("the body of the request is not a JSON object");
  if (!object.contains("metadata") || object["metadata"].is_null()) {
    object["metadata"] = json::object();
  }
  if (!object["metadata"].is_object()) return BadRequest("metadata: is not an object");
  auto& members = object["metadata"].get_ref<json::object_t&>();
  std::erase_if(members, [](const auto& member) { return member.second.is_null(); });
  RETURN_IF_ERROR(CheckMetadata(object["metadata"]));
  return object;
}

absl::Status CheckIdentity(const Kind& kind, const std::string& ns, const std::string& name,
                           const json& object) {
  const std::string api_version = object.value("apiVersion", kind.api_version());
  const std::string given_kind = object.value("kind", kind.kind);
  if (api_version != kind.api_version() || given_kind != kind.kind) {
    return BadRequest("the object provided is " + api_version + " " + given_kind +
                      ", the request is about " + kind.api_version() + " " + kind.kind);
  }
  const std::string given_ns = MetaText(object, "namespace");
  if (kind.namespaced && !given_ns.empty() && given_ns != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (!name.empty() && NameOf(object) != name) {
    return BadRequest("the name of the object (" + NameOf(object) +
                      ") does not match the name on the URL (" + name + ")");
  }
  return absl::OkStatus();
}

absl::Status CheckNew(const Kind& kind, const std::string& ns, const json& object) {
  RETURN_IF_ERROR(CheckIdentity(kind, ns, "", object));
  const std::string name = NameOf(object);
  if (!IsSubdomain(name)) {
    return Invalid(kind, name,
                   {{"metadata.name", std::string(name.empty() ? kFieldRequired : kFieldInvalid),
                     name.empty() ? "Required value: name or generateName is required"
                                  : "Invalid value: \"" + name + "\": " + kSubdomainRule}});
  }
  if (const auto flaws = MetadataFlaws(kind, nullptr, object["metadata"]); !flaws.empty()) {
    return Invalid(kind, name, flaws);
  }
  RETURN_IF_ERROR(CheckConfig(kind, object));
  if (kind.kind == "Pod") {
    RETURN_IF_ERROR(CheckPodSpec(kind, object));
  }
  return CheckResources(kind, object);
}

void StampNew(const Kind& kind, const std::string& ns, const Stamp& stamp, json* object) {
  (*object)["apiVersion"] = kind.api_version();
  (*object)["kind"] = kind.kind;
  json& metadata = (*object)["metadata"];
  if (MetaText(*object, "name").empty() && !MetaText(*object, "generateName").empty()) {
    metadata["name"] = MetaText(*object, "generateName") + stamp.name_suffix;
  }
  if (kind.namespaced) metadata["namespace"] = ns;
  metadata["uid"] = stamp.uid;
  metadata["creationTimestamp"] = stamp.now;
  for (const char* field : {"resourceVersion", "selfLink", "deletionTimestamp", "managedFields",
                            "deletionGracePeriodSeconds", "generation"}) {
    metadata.erase(field);
  }
  if (kind.has_generation) metadata["generation"] = 1;
  if (kind.has_status) InitialStatus(kind, object);
  if (kind.kind == "Namespace") {
    (*object)["spec"] = {{"finalizers", json::array({"kubernetes"})}};
    metadata["labels"]["kubernetes.io/metadata.name"] = NameOf(*object);
  }
}

void ApplyBuiltinDefaults(const Kind& kind, json* object) {
  if (!kind.custom && object->contains("spec")) DropNulls(&(*object)["spec"]);
  if (kind.kind == "Pod") DefaultPod(object);
  if (kind.kind == "Service") DefaultService(object);
  CompleteConfig(kind, object);
}

json CarryOver(const Kind& kind, const std::string& subresource, const json& old, json wanted) {
  json changed = old;
  if (subresource == "status") {
    if (wanted.contains("status")) {
      changed["status"] = std::move(wanted["status"]);
    } else {
      changed.erase("status");
    }
    if (kind.custom) return changed;
    for (const char* field : {"labels", "annotations"}) {
      if (wanted["metadata"].contains(field)) {
        changed["metadata"][field] = std::move(wanted["metadata"][field]);
      }
    }
    return changed;
  }
  const json& old_metadata = old["metadata"];
  changed = std::move(wanted);
  changed["apiVersion"] = kind.api_version();
  changed["kind"] = kind.kind;
  json& metadata = changed["metadata"];
  metadata.erase("managedFields");
  metadata.erase("selfLink");
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "generation",
                            "deletionTimestamp", "deletionGracePeriodSeconds", "generateName",
                            "resourceVersion"}) {
    if (old_metadata.contains(field)) {
      metadata[field] = old_metadata[field];
    } else {
      metadata.erase(field);
    }
  }
  if (kind.has_status) {
    changed.erase("status");
    if (old.contains("status")) changed["status"] = old["status"];
  }
  ApplyBuiltinDefaults(kind, &changed);
  if (kind.has_generation && Wish(old) != Wish(changed)) {
    metadata["generation"] = old_metadata.value("generation", int64_t{0}) + 1;
  }
  return changed;
}

absl::Status CheckStatusUpdate(const Kind& kind, const json& wanted) {
  if (kind.custom) return absl::OkStatus();  // Its schema says what a status is.
  const auto status = wanted.find("status");
  if (status != wanted.end() && status->is_object()) return absl::OkStatus();
  const bool given = status != wanted.end() && !status->is_null();
  return Invalid(kind, NameOf(wanted),
                 {{"status", std::string(given ? kFieldTypeInvalid : kFieldRequired),
                   given ? "Invalid value: \"" + std::string(status->type_name()) +
                               "\": must be an object"
                         : "Required value: an update of the status needs one"}});
}

absl::Status CheckUpdate(const Kind& kind, const json& old, const json& changed) {
  if (const auto flaws = MetadataFlaws(kind, &old["metadata"], changed["metadata"]);
      !flaws.empty()) {
    return Invalid(kind, NameOf(old), flaws);
  }
  RETURN_IF_ERROR(CheckConfigUpdate(kind, old, changed));
  if (kind.kind != "Pod") return CheckResources(kind, changed);
  // What is stored may be from a version that let more in; labels and status can still change.
  if (old.value("spec", json()) == changed.value("spec", json())) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPodSpec(kind, changed));
  RETURN_IF_ERROR(CheckResources(kind, changed));
  const bool unbound = TextAt(old, "/spec/nodeName").empty();
  if (FixedPodSpec(old, unbound) == FixedPodSpec(changed, unbound)) return absl::OkStatus();
  return Invalid(kind, NameOf(old),
                 {{"spec", "FieldValueForbidden",
                   "Forbidden: pod updates may not change fields other than "
                   "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                   "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                   "tolerations),`spec.terminationGracePeriodSeconds`"}});
}

bool SameObject(const json& a, const json& b) {
  if (a["metadata"].value("resourceVersion", "") == b["metadata"].value("resourceVersion", "")) {
    return a == b;
  }
  json left = a, right = b;
  left["metadata"].erase("resourceVersion");
  right["metadata"].erase("resourceVersion");
  return left == right;
}

std::string MetaText(const json& object, const char* field) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return "";
  const auto found = metadata->find(field);
  return found != metadata->end() && found->is_string() ? found->get<std::string>() : "";
}

std::string NameOf(const json& object) { return MetaText(object, "name"); }
std::string UidOf(const json& object) { return MetaText(object, "uid"); }

bool IsTerminating(const json& object) {
  return !MetaText(object, "deletionTimestamp").empty();
}

bool HasFinalizers(const json& object) {
  const json& metadata = object["metadata"];
  return metadata.contains("finalizers") && !metadata["finalizers"].empty();
}

bool IsReadyToGo(const Kind& kind, const json& object) {
  if (!IsTerminating(object) || HasFinalizers(object)) return false;
  if (kind.kind == "Namespace") return false;  // Until its content is gone.
  // The node says when a pod's processes have ended: it deletes with grace 0.
  return object["metadata"].value("deletionGracePeriodSeconds", int64_t{0}) == 0;
}

int64_t GraceOf(const Kind& kind, const DeleteOptions& options, const json& object) {
  if (kind.kind != "Pod") return 0;
  const std::string phase = TextAt(object, "/status/phase");
  // Nothing runs that could use the time.
  const bool runs = !TextAt(object, "/spec/nodeName").empty();
  if (!runs || phase == "Succeeded" || phase == "Failed") return 0;
  const json::json_pointer grace("/spec/terminationGracePeriodSeconds");
  const bool given = object.contains(grace) && object[grace].is_number_integer();
  const int64_t own = given ? object[grace].get<int64_t>() : kDefaultGraceSeconds;
  return std::clamp<int64_t>(options.grace_seconds.value_or(own), 0, kGraceSecondsMax);
}

bool MarkDeleted(const Kind& kind, const DeleteOptions& options, const std::string& now,
                 const std::string& now_plus_grace, int64_t grace, json* object) {
  json& metadata = (*object)["metadata"];
  if (!options.propagation.empty()) SetPropagation(options.propagation, &metadata);
  if (kind.kind == "Namespace") {
    json& status = (*object)["status"];
    if (!status.is_object()) status = json::object();
    status["phase"] = "Terminating";
  } else if (grace == 0 && !HasFinalizers(*object)) {
    return true;
  }
  const bool sooner = grace < metadata.value("deletionGracePeriodSeconds", int64_t{0});
  if (!IsTerminating(*object) || sooner) {
    metadata["deletionTimestamp"] = grace == 0 ? now : now_plus_grace;
    metadata["deletionGracePeriodSeconds"] = grace;
    if (metadata.contains("generation")) {
      metadata["generation"] = metadata["generation"].get<int64_t>() + 1;
    }
  }
  return false;
}

}  // namespace taas::localkube
