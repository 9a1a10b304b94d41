#include "dashboard/maps/kueue_objects.h"

#include <algorithm>

#include "operator/api/json_field.h"
#include "operator/api/json_member.h"
#include "operator/api/quantity.h"
#include "operator/base/status.h"
#include "operator/kube/pod_decoder.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// A message of Kueue lists what each flavor lacks; what is longer is read with kubectl.
constexpr size_t kReasonMax = 2'048;
// Kueue allows 256 flavors and resources of a queue, and 8 sets of pods of a workload.
constexpr size_t kRowsMax = 256;

// The first elements of a list; nothing where `value` is none.
std::vector<const Json*> Items(const Json& value) {
  std::vector<const Json*> out;
  if (!value.is_array()) return out;
  for (const Json& item : value) {
    if (out.size() < kRowsMax) out.push_back(&item);
  }
  return out;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

int64_t Count(const Json& value, int64_t otherwise) {
  if (!value.is_number_integer()) return otherwise;
  return std::clamp<int64_t>(value.get<int64_t>(), 0, kCountMax);
}

std::optional<int64_t> Amount(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return QuantityMilli(value.is_number() ? value.dump() : Text(value));
}

struct ConditionRead {
  bool is_true = false;
  bool is_false = false;
  std::string reason, message;
  std::optional<Clock::WallTime> at;
};

ConditionRead ConditionOf(const Json& status, std::string_view type) {
  for (const Json* condition : Items(Member(status, "conditions"))) {
    if (Text(Member(*condition, "type")) != type) continue;
    const std::string value = Text(Member(*condition, "status"));
    ConditionRead read{.is_true = value == "True",
                       .is_false = value == "False",
                       .reason = Text(Member(*condition, "reason")),
                       .message = Text(Member(*condition, "message")),
                       .at = {}};
    read.message.resize(std::min(read.message.size(), kReasonMax));
    Clock::WallTime at;
    if (ParseRfc3339(Text(Member(*condition, "lastTransitionTime")), &at)) read.at = at;
    return read;
  }
  return {};
}

std::string WordsOf(const ConditionRead& condition) {
  return condition.message.empty() ? condition.reason : condition.message;
}

KueueQuota& QuotaOf(const std::string& resource, const std::string& flavor, KueueQueue* queue) {
  for (KueueQuota& quota : queue->quotas) {
    if (quota.resource == resource && quota.flavor == flavor) return quota;
  }
  queue->quotas.push_back({.resource = resource, .flavor = flavor});
  return queue->quotas.back();
}

void ReadNominal(const Json& spec, KueueQueue* queue) {
  for (const Json* group : Items(Member(spec, "resourceGroups"))) {
    for (const Json* flavor : Items(Member(*group, "flavors"))) {
      for (const Json* resource : Items(Member(*flavor, "resources"))) {
        if (queue->quotas.size() >= kRowsMax) return;
        KueueQuota& quota = QuotaOf(Text(Member(*resource, "name")),
                                    Text(Member(*flavor, "name")), queue);
        quota.nominal = Amount(Member(*resource, "nominalQuota"));
        quota.borrowing_limit = Amount(Member(*resource, "borrowingLimit"));
      }
    }
  }
}

// Of what is reserved, as long as Kueue says it: quota that waits for an admission check is taken.
void ReadUsage(const Json& status, KueueQueue* queue) {
  const Json* usage = &Member(status, "flavorsReservation");
  // v1beta1 has the singular in LocalQueues.
  for (const char* other : {"flavorsUsage", "flavorUsage"}) {
    if (!usage->is_array()) usage = &Member(status, other);
  }
  for (const Json* flavor : Items(*usage)) {
    for (const Json* resource : Items(Member(*flavor, "resources"))) {
      if (queue->quotas.size() >= kRowsMax) return;
      KueueQuota& quota = QuotaOf(Text(Member(*resource, "name")), Text(Member(*flavor, "name")),
                                  queue);
      quota.used = Amount(Member(*resource, "total"));
      quota.borrowed = Amount(Member(*resource, "borrowed"));
    }
  }
}

absl::StatusOr<KueueQueue> ReadQueue(std::string_view json, const Json& object) {
  KueueQueue queue;
  ASSIGN_OR_RETURN(const OwnedObject owned, DecodeOwnedObject(json));
  queue.meta = owned.meta;
  const std::string policy = Text(Member(Member(object, "spec"), "stopPolicy"));
  queue.stopped = !policy.empty() && policy != "None";
  const Json& status = Member(object, "status");
  const ConditionRead active = ConditionOf(status, "Active");
  if (active.is_false) queue.inactive = WordsOf(active);
  queue.admitted = static_cast<int32_t>(Count(Member(status, "admittedWorkloads"), 0));
  return queue;
}

int64_t GpusOfPod(const Json& pod_template, const std::string& resource) {
  int64_t gpus = 0;
  for (const Json* container : Items(Member(Member(pod_template, "spec"), "containers"))) {
    const Json& resources = Member(*container, "resources");
    const auto limit = Amount(Member(Member(resources, "limits"), resource.c_str()));
    const auto request = Amount(Member(Member(resources, "requests"), resource.c_str()));
    gpus += std::max(limit.value_or(0), request.value_or(0)) / 1000;
    gpus = std::min<int64_t>(gpus, kCountMax);
  }
  return gpus;
}

int64_t GpusOf(const Json& spec, const std::string& resource) {
  int64_t gpus = 0;
  for (const Json* set : Items(Member(spec, "podSets"))) {
    const int64_t count = Count(Member(*set, "count"), 1);
    gpus += count * GpusOfPod(Member(*set, "template"), resource);
    gpus = std::min<int64_t>(gpus, kCountMax);
  }
  return gpus;
}

// What the admission checks that are not ready say.
std::string ChecksOf(const Json& status) {
  std::string out;
  for (const Json* check : Items(Member(status, "admissionChecks"))) {
    if (Text(Member(*check, "state")) == "Ready") continue;
    const std::string message = Text(Member(*check, "message"));
    out += (out.empty() ? "" : "; ") + Text(Member(*check, "name")) +
           (message.empty() ? "" : ": " + message);
    if (out.size() > kReasonMax) out.resize(kReasonMax);
  }
  return out;
}

void ReadState(const Json& object, KueueWorkload* workload) {
  using State = KueueWorkload::State;
  const Json& status = Member(object, "status");
  const ConditionRead reserved = ConditionOf(status, "QuotaReserved");
  const ConditionRead evicted = ConditionOf(status, "Evicted");
  if (ConditionOf(status, "Finished").is_true) {
    workload->state = State::kFinished;
  } else if (Member(Member(object, "spec"), "active") == Json(false)) {
    workload->state = State::kInactive;
    workload->reason = evicted.is_true ? WordsOf(evicted) : WordsOf(reserved);
  } else if (ConditionOf(status, "Admitted").is_true) {
    workload->state = State::kAdmitted;
  } else if (reserved.is_true) {
    workload->state = State::kReserved;
    workload->reason = ChecksOf(status);
  } else {
    workload->state = State::kWaiting;
    workload->reason = WordsOf(reserved);
    if (workload->reason.empty() && evicted.is_true) workload->reason = WordsOf(evicted);
  }
  workload->queued = workload->meta.creation_time.value_or(Clock::WallTime{});
  // One whose pods did not become ready in time goes to the end.
  if (evicted.is_true && evicted.reason == "PodsReadyTimeout" && evicted.at.has_value()) {
    workload->queued = *evicted.at;
  }
}

}  // namespace

absl::StatusOr<KueueQueue> ReadClusterQueue(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  ASSIGN_OR_RETURN(KueueQueue queue, ReadQueue(json, object));
  const Json& spec = Member(object, "spec");
  queue.cohort = Text(Member(spec, "cohortName"));
  if (queue.cohort.empty()) queue.cohort = Text(Member(spec, "cohort"));  // v1beta1
  queue.strategy = Text(Member(spec, "queueingStrategy"));
  ReadNominal(spec, &queue);
  ReadUsage(Member(object, "status"), &queue);
  return queue;
}

absl::StatusOr<KueueQueue> ReadLocalQueue(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  ASSIGN_OR_RETURN(KueueQueue queue, ReadQueue(json, object));
  queue.cluster_queue = Text(Member(Member(object, "spec"), "clusterQueue"));
  ReadUsage(Member(object, "status"), &queue);
  return queue;
}

absl::StatusOr<KueueWorkload> ReadWorkload(std::string_view json,
                                           const std::string& gpu_resource) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  KueueWorkload workload;
  ASSIGN_OR_RETURN(const OwnedObject owned, DecodeOwnedObject(json));
  workload.meta = owned.meta;
  const Json& spec = Member(object, "spec");
  workload.queue = Text(Member(spec, "queueName"));
  const Json& priority = Member(spec, "priority");
  if (priority.is_number_integer()) {
    workload.priority = std::clamp<int64_t>(priority.get<int64_t>(), INT32_MIN, INT32_MAX);
  }
  workload.gpus = GpusOf(spec, gpu_resource);
  const Json& admission = Member(Member(object, "status"), "admission");
  workload.cluster_queue = Text(Member(admission, "clusterQueue"));
  ReadState(object, &workload);
  for (const Json* owner : Items(Member(Member(object, "metadata"), "ownerReferences"))) {
    workload.owners.push_back({.kind = Text(Member(*owner, "kind")),
                               .name = Text(Member(*owner, "name")),
                               .uid = Text(Member(*owner, "uid")),
                               .controller = Member(*owner, "controller") == Json(true)});
  }
  return workload;
}

}  // namespace taas::dashboard
