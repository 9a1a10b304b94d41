#include "localkube/api/rest.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "localkube/api/kube_status.h"
#include "localkube/api/selectors.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// How often an update starts over because somebody else wrote in between. Each round somebody's
// write
// succeeded, so only a flood of writers to one object exhausts it.
constexpr int kConflictRetriesMax = 50;
// As Kubernetes: no vowels (no words), no digits that look like letters.
constexpr char kSuffixLetters[] = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;
constexpr char kStale[] =
    "the object has been modified; please apply your changes to the latest version and try again";

// As in Kubernetes: what a cluster cannot do without.
constexpr const char* kImmortalNamespaces[] = {"default", "kube-public", "kube-system"};

absl::Status CheckMortal(const Target& target) {
  if (target.kind->kind != "Namespace") return absl::OkStatus();
  const bool immortal = std::count(std::begin(kImmortalNamespaces), std::end(kImmortalNamespaces),
                                   target.name) > 0;
  if (!immortal) return absl::OkStatus();
  return Forbidden(*target.kind, target.name, "this namespace may not be deleted");
}

std::string RevisionOf(const json& object) { return MetaText(object, "resourceVersion"); }

std::string Dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The success Status of a deletion, as a kube-apiserver answers it.
std::string DeletedBody(const Target& target, const std::string& uid) {
  json details = {{"name", target.name}, {"kind", target.kind->plural}, {"uid", uid}};
  if (!target.kind->group.empty()) details["group"] = target.kind->group;
  return Dump({{"kind", "Status"},
               {"apiVersion", "v1"},
               {"metadata", json::object()},
               {"status", "Success"},
               {"details", details}});
}

absl::Status CheckPreconditions(const Target& target, const json& object, const std::string& uid,
                                const std::string& revision) {
  if (!uid.empty() && uid != UidOf(object)) {
    return Conflict(*target.kind, target.name,
                    "Precondition failed: UID in precondition: " + uid +
                        ", UID in object meta: " + UidOf(object));
  }
  if (!revision.empty() && revision != "0" && revision != RevisionOf(object)) {
    return Conflict(*target.kind, target.name, kStale);
  }
  return absl::OkStatus();
}

}  // namespace

std::string Rest::NewUid() {
  std::lock_guard lock(random_mutex_);
  const uint64_t high = (random_.Next() & ~0xf000ull) | 0x4000ull;  // Version 4 of RFC 4122.
  const uint64_t low = (random_.Next() & ~(3ull << 62)) | (2ull << 62);
  char text[37];
  snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
           static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xffff),
           static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low << 16 >> 16));
  return text;
}

std::string Rest::NewSuffix() {
  std::lock_guard lock(random_mutex_);
  std::string suffix;
  for (int i = 0; i < kSuffixLength; ++i) {
    suffix += kSuffixLetters[random_.Below(sizeof kSuffixLetters - 1)];
  }
  return suffix;
}

absl::Status Rest::ToKube(const absl::Status& status, const Target& target) const {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return NotFound(*target.kind, target.name);
    case absl::StatusCode::kAlreadyExists:
      return AlreadyExists(*target.kind, target.name);
    case absl::StatusCode::kAborted:
      return Conflict(*target.kind, target.name, kStale);
    default:
      return status;
  }
}

absl::StatusOr<StoreEntry> Rest::Put(const StoreKey& key, uint64_t expected, json object,
                                     bool remove) {
  return store_.Commit({.key = key,
                        .expected_revision = expected,
                        .remove = remove,
                        .render = [&object](uint64_t revision) {
                          object["metadata"]["resourceVersion"] = std::to_string(revision);
                          return Dump(object);
                        }});
}

absl::StatusOr<json> Rest::Read(const Target& target) const {
  const auto entry = store_.Get(target.key());
  if (!entry.ok()) return ToKube(entry.status(), target);
  return json::parse(*entry->text);
}

absl::Status Rest::CheckNamespace(const Kind& kind, const std::string& ns) const {
  if (!kind.namespaced) return absl::OkStatus();
  const Target target{FindKind("", "v1", "namespaces"), "", ns, ""};
  ASSIGN_OR_RETURN(const json object, Read(target));
  if (!IsTerminating(object)) return absl::OkStatus();
  return Forbidden(kind, "",
                   "unable to create new content in namespace " + ns +
                       " because it is being terminated");
}

absl::StatusOr<WriteResult> Rest::Create(const Kind& kind, const std::string& ns,
                                         std::string_view body, const WriteOptions& options) {
  if (kind.read_only) return MethodNotAllowed();
  WriteResult result{.code = 201};
  ASSIGN_OR_RETURN(json object, ParseObject(body));
  if (kind.custom) {
    RETURN_IF_ERROR(CheckJobText(kind, body, options.validation, &result.warnings));
  }
  if (kind.kind == "Pod") {
    RETURN_IF_ERROR(DropUnknownOfPod(options.validation, &object, &result.warnings));
  }
  RETURN_IF_ERROR(CheckIdentity(kind, ns, "", object));
  RETURN_IF_ERROR(CheckNamespace(kind, ns));
  const bool generated = NameOf(object).empty();
  ApplyBuiltinDefaults(kind, &object);
  StampNew(kind, ns,
           {.uid = NewUid(), .now = FormatRfc3339(clock_.WallNow()), .name_suffix = NewSuffix()},
           &object);
  if (kind.custom) {
    RETURN_IF_ERROR(AdmitNewJob(kind, &object));
  }
  RETURN_IF_ERROR(CheckNew(kind, ns, object));
  if (kind.custom && advice_ != nullptr && options.validation != FieldValidation::kIgnore) {
    for (std::string& sentence : advice_(ns, object)) {
      result.warnings.push_back(std::move(sentence));
    }
  }
  const Target target{&kind, ns, NameOf(object), ""};
  if (options.dry_run) {
    if (!generated && store_.Get(target.key()).ok()) return AlreadyExists(kind, target.name);
    result.text = Dump(object);
    return result;
  }
  const auto entry = Put(target.key(), 0, std::move(object), false);
  if (!entry.ok()) return ToKube(entry.status(), target);
  result.text = *entry->text;
  return result;
}

absl::StatusOr<WriteResult> Rest::Update(const Target& target, bool dry_run,
                                         const Change& change) {
  for (int round = 0; round < kConflictRetriesMax; ++round) {
    const auto entry = store_.Get(target.key());
    if (!entry.ok()) return ToKube(entry.status(), target);
    const json old = json::parse(*entry->text);
    ASSIGN_OR_RETURN(json changed, change(old));
    if (SameObject(old, changed)) return WriteResult{.text = *entry->text, .warnings = {}};
    const bool remove = IsReadyToGo(*target.kind, changed);
    if (dry_run) return WriteResult{.text = Dump(changed), .warnings = {}};
    const auto written = Put(target.key(), entry->revision, std::move(changed), remove);
    if (written.ok()) return WriteResult{.text = *written->text, .warnings = {}};
    // Somebody was faster: look again. What the client demanded of the revision is checked again
    // too.
    if (written.status().code() != absl::StatusCode::kAborted) {
      return ToKube(written.status(), target);
    }
  }
  return Conflict(*target.kind, target.name, kStale);
}

absl::StatusOr<json> Rest::Merge(const Target& target, const json& old, json wanted,
                                 const WriteOptions& options,
                                 std::vector<std::string>* warnings) const {
  const Kind& kind = *target.kind;
  RETURN_IF_ERROR(CheckPreconditions(target, old, UidOf(wanted), RevisionOf(wanted)));
  RETURN_IF_ERROR(CheckIdentity(kind, target.ns, target.name, wanted));
  if (target.subresource == "status") {
    RETURN_IF_ERROR(CheckStatusUpdate(kind, wanted));
  }
  // What is stored may be from a version that let more in.
  const bool pod = kind.kind == "Pod" && target.subresource.empty();
  if (pod && old.value("spec", json()) != wanted.value("spec", json())) {
    warnings->clear();
    RETURN_IF_ERROR(DropUnknownOfPod(options.validation, &wanted, warnings));
  }
  if (kind.custom) {
    warnings->clear();
    RETURN_IF_ERROR(CheckJobText(kind, old, wanted, options.validation, warnings));
    CompleteJob(kind, &wanted);  // Before it is compared: a default that was left out is no change.
  }
  json changed = CarryOver(kind, target.subresource, old, std::move(wanted));
  if (kind.custom) {
    RETURN_IF_ERROR(AdmitJobUpdate(kind, old, &changed));
  }
  RETURN_IF_ERROR(CheckUpdate(kind, old, changed));
  return changed;
}

absl::StatusOr<WriteResult> Rest::Replace(const Target& target, std::string_view body,
                                          const WriteOptions& options) {
  const Kind& kind = *target.kind;
  if (kind.read_only) return MethodNotAllowed();
  ASSIGN_OR_RETURN(const json sent, ParseObject(body));
  const bool scale = target.subresource == "scale";
  if (kind.custom && !scale && RevisionOf(sent).empty()) {
    return Invalid(kind, target.name,
                   {{"metadata.resourceVersion", "FieldValueInvalid",
                     "Invalid value: 0: must be specified for an update"}});
  }
  std::vector<std::string> warnings;
  const auto change = [&](const json& old) -> absl::StatusOr<json> {
    if (!scale) return Merge(target, old, sent, options, &warnings);
    RETURN_IF_ERROR(CheckPreconditions(target, old, UidOf(sent), RevisionOf(sent)));
    json wanted = old;
    RETURN_IF_ERROR(ApplyScale(kind, sent, &wanted));
    return Merge(target, old, std::move(wanted), options, &warnings);
  };
  ASSIGN_OR_RETURN(WriteResult result, Update(target, options.dry_run, change));
  if (scale) result.text = Dump(ScaleOf(kind, json::parse(result.text)));
  result.warnings = std::move(warnings);
  return result;
}

absl::StatusOr<WriteResult> Rest::Patch(const Target& target, PatchType type,
                                        std::string_view body, const WriteOptions& options) {
  const Kind& kind = *target.kind;
  if (kind.read_only) return MethodNotAllowed();
  if (kind.custom && type == PatchType::kStrategic) return UnsupportedPatch(kind);
  ASSIGN_OR_RETURN(const json patch, ParseBody(body, "the patch"));
  const bool scale = target.subresource == "scale";
  std::vector<std::string> warnings;
  const auto change = [&](const json& old) -> absl::StatusOr<json> {
    const json shown = scale ? ScaleOf(kind, old) : old;
    auto patched = ApplyPatch(type, shown, patch);
    if (!patched.ok()) {
      return Invalid(kind, target.name,
                     {{"patch", "FieldValueInvalid",
                       "Invalid value: " + std::string(patched.status().message())}});
    }
    // A patch that names a revision demands it; the others take what is there.
    if (!scale) {
      ASSIGN_OR_RETURN(json wanted, ParseObject(Dump(*patched)));
      return Merge(target, old, std::move(wanted), options, &warnings);
    }
    RETURN_IF_ERROR(CheckPreconditions(target, old, "", RevisionOf(*patched)));
    json wanted = old;
    RETURN_IF_ERROR(ApplyScale(kind, *patched, &wanted));
    return Merge(target, old, std::move(wanted), options, &warnings);
  };
  ASSIGN_OR_RETURN(WriteResult result, Update(target, options.dry_run, change));
  if (scale) result.text = Dump(ScaleOf(kind, json::parse(result.text)));
  result.warnings = std::move(warnings);
  return result;
}

absl::StatusOr<WriteResult> Rest::Delete(const Target& target, const DeleteOptions& options) {
  if (target.kind->read_only) return MethodNotAllowed();
  RETURN_IF_ERROR(CheckMortal(target));
  for (int round = 0; round < kConflictRetriesMax; ++round) {
    const auto entry = store_.Get(target.key());
    if (!entry.ok()) return ToKube(entry.status(), target);
    json object = json::parse(*entry->text);
    RETURN_IF_ERROR(
        CheckPreconditions(target, object, options.uid, options.resource_version));
    const json before = object;
    const int64_t grace = GraceOf(*target.kind, options, object);
    const Clock::WallTime now = clock_.WallNow();
    const bool remove =
        MarkDeleted(*target.kind, options, FormatRfc3339(now),
                    FormatRfc3339(now + std::chrono::seconds(grace)), grace, &object);
    const std::string uid = UidOf(object);
    if (options.dry_run || (!remove && SameObject(before, object))) {
      return WriteResult{.text = remove ? DeletedBody(target, uid) : Dump(object), .warnings = {}};
    }
    const auto written = Put(target.key(), entry->revision, std::move(object), remove);
    if (written.ok()) {
      const bool as_object = !remove || target.kind->kind == "Pod";
      return WriteResult{.text = as_object ? *written->text : DeletedBody(target, uid),
                         .warnings = {}};
    }
    if (written.status().code() != absl::StatusCode::kAborted) {
      return ToKube(written.status(), target);
    }
  }
  return Conflict(*target.kind, target.name, kStale);
}

absl::StatusOr<WriteResult> Rest::Bind(const Target& pod, std::string_view body) {
  ASSIGN_OR_RETURN(const json binding, ParseObject(body));
  const std::string node = FieldText(binding, "target.name");
  if (node.empty()) return BadRequest("bind pod " + pod.name + ": target.name is required");
  const auto change = [&](const json& old) -> absl::StatusOr<json> {
    RETURN_IF_ERROR(CheckPreconditions(pod, old, UidOf(binding), ""));
    const std::string assigned = FieldText(old, "spec.nodeName");
    if (IsTerminating(old)) {
      return Conflict(*pod.kind, pod.name, "pod " + pod.name + " is being deleted");
    }
    if (!assigned.empty()) {
      return Conflict(*pod.kind, pod.name,
                      "pod " + pod.name + " is already assigned to node \"" + assigned + "\"");
    }
    json changed = old;
    changed["spec"]["nodeName"] = node;
    json& conditions = changed["status"]["conditions"];
    if (!conditions.is_array()) conditions = json::array();
    std::erase_if(conditions.get_ref<json::array_t&>(), [](const json& condition) {
      return condition.value("type", "") == "PodScheduled";
    });
    conditions.push_back({{"type", "PodScheduled"},
                          {"status", "True"},
                          {"lastTransitionTime", FormatRfc3339(clock_.WallNow())}});
    return changed;
  };
  RETURN_IF_ERROR(Update(pod, false, change).status());
  return WriteResult{
      .code = 201,
      .text = Dump({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()},
                    {"status", "Success"}, {"code", 201}}),
      .warnings = {}};
}

absl::StatusOr<WriteResult> Rest::Evict(const Target& pod, const DeleteOptions& options) {
  ASSIGN_OR_RETURN(const json before, Read(pod));
  RETURN_IF_ERROR(CheckPreconditions(pod, before, options.uid, options.resource_version));
  if (!options.dry_run && !IsTerminating(before)) {
    const std::string now = FormatRfc3339(clock_.WallNow());
    RETURN_IF_ERROR(Edit(pod, [&](json* object) {
      if (UidOf(*object) != UidOf(before)) return;
      json& conditions = (*object)["status"]["conditions"];
      if (!conditions.is_array()) conditions = json::array();
      std::erase_if(conditions.get_ref<json::array_t&>(), [](const json& condition) {
        return condition.value("type", "") == "DisruptionTarget";
      });
      conditions.push_back({{"type", "DisruptionTarget"},
                            {"status", "True"},
                            {"reason", "EvictionByEvictionAPI"},
                            {"message", "Eviction API: evicting"},
                            {"lastTransitionTime", now}});
    }));
  }
  DeleteOptions deletion = options;
  deletion.uid = UidOf(before);
  deletion.resource_version.clear();  // It was the one before the mark.
  RETURN_IF_ERROR(Delete(pod, deletion).status());
  return WriteResult{
      .code = 201,
      .text = Dump({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()},
                    {"status", "Success"}, {"code", 201}}),
      .warnings = {}};
}

absl::Status Rest::Remove(const Target& target, const std::string& uid) {
  for (int round = 0; round < kConflictRetriesMax; ++round) {
    const auto entry = store_.Get(target.key());
    if (!entry.ok()) return absl::OkStatus();  // Gone already.
    json object = json::parse(*entry->text);
    if (UidOf(object) != uid) return absl::OkStatus();
    const auto written = Put(target.key(), entry->revision, std::move(object), true);
    if (written.ok()) return absl::OkStatus();
    if (written.status().code() != absl::StatusCode::kAborted) return written.status();
  }
  return Conflict(*target.kind, target.name, kStale);
}

absl::Status Rest::Edit(const Target& target, const std::function<void(json*)>& change) {
  return Update(target, false, [&change](const json& old) -> absl::StatusOr<json> {
           json changed = old;
           change(&changed);
           return changed;
         }).status();
}

}  // namespace taas::localkube
