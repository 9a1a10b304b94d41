#include "dashboard/server/watched.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/json_member.h"
#include "operator/api/quantity.h"
#include "operator/api/status_codec.h"
#include "operator/base/status.h"
#include "operator/base/utf8.h"
#include "operator/kube/json_slice.h"
#include "operator/kube/pod_decoder.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr char kProductLabel[] = "nvidia.com/gpu.product";
constexpr std::string_view kStatusPortVariable = "\"TAAS_STATUS_PORT\"";
constexpr char kMemoryLabel[] = "nvidia.com/gpu.memory";
// An event's text is cut here, at a character: what is longer is read with kubectl.
constexpr size_t kEventTextMax = 2'048;

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

int32_t WholeNumber(const Json& value, int32_t otherwise) {
  if (!value.is_number_integer()) return otherwise;
  const auto number = value.get<int64_t>();
  return number >= 0 && number <= kCountMax ? static_cast<int32_t>(number) : otherwise;
}

int64_t Amount(const Json& amounts, const std::string& resource) {
  const Json& value = Member(amounts, resource.c_str());
  const std::string text = value.is_number() ? value.dump() : Text(value);
  return QuantityMilli(text).value_or(0) / 1000;
}

std::optional<Clock::WallTime> Time(const Json& value) {
  Clock::WallTime time;
  const std::string text = Text(value);
  if (text.empty() || !ParseRfc3339(text, &time)) return std::nullopt;
  return time;
}

absl::StatusOr<ObjectMeta> ReadMeta(const Json& object) {
  const Json& metadata = Member(object, "metadata");
  ObjectMeta meta;
  meta.ns = Text(Member(metadata, "namespace"));
  meta.name = Text(Member(metadata, "name"));
  if (meta.name.empty()) return absl::InvalidArgumentError("an object without a name");
  meta.uid = Text(Member(metadata, "uid"));
  meta.resource_version = Text(Member(metadata, "resourceVersion"));
  const Json& generation = Member(metadata, "generation");
  if (generation.is_number_integer()) meta.generation = generation.get<int64_t>();
  meta.creation_time = Time(Member(metadata, "creationTimestamp"));
  meta.deletion_time = Time(Member(metadata, "deletionTimestamp"));
  return meta;
}

std::optional<Role> RoleOfKey(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key == "master" ? Role::kChief : RoleFromName(key);
}

bool IsMaster(const std::string& key) {
  return key.size() == 6 && (key[0] == 'm' || key[0] == 'M');
}

// GPUs that a container asks for: what is limited is requested.
int64_t GpusOf(const Json& container, const std::string& resource) {
  const Json& resources = Member(container, "resources");
  return std::max(Amount(Member(resources, "limits"), resource),
                  Amount(Member(resources, "requests"), resource));
}

// What no node has is a mistake of whoever wrote it, and sums of it must not overflow.
int32_t Count(int64_t gpus) {
  return static_cast<int32_t>(std::clamp<int64_t>(gpus, 0, kCountMax));
}

int32_t GpusOfTemplate(const Json& pod_template, const std::string& resource) {
  int64_t gpus = 0;
  const Json& containers = Member(Member(pod_template, "spec"), "containers");
  if (!containers.is_array()) return 0;
  for (const Json& container : containers) gpus += GpusOf(container, resource);
  return Count(gpus);
}

void ReadRoles(const Json& roles, WatchedJob* job) {
  if (!roles.is_object()) return;
  for (const auto& [key, spec] : roles.items()) {
    const std::optional<Role> role = RoleOfKey(key);
    if (!role.has_value()) continue;
    WatchedRole read{.role = *role, .name = std::string(RoleName(*role)), .key = key};
    if (IsMaster(key)) read.name = "master";
    read.desired = WholeNumber(Member(spec, "replicas"), 1);
    read.gpus = WholeNumber(Member(spec, "gpus"), 0);
    if (const Json& elastic = Member(spec, "elastic"); elastic.is_object()) {
      const ElasticSpec unsaid;
      read.elastic = {.min_replicas = WholeNumber(Member(elastic, "minReplicas"),
                                                  unsaid.min_replicas),
                      .max_replicas = WholeNumber(Member(elastic, "maxReplicas"),
                                                  unsaid.max_replicas)};
    }
    if (read.gpus == 0) read.gpus = GpusOfTemplate(Member(spec, "template"), "nvidia.com/gpu");
    job->roles.push_back(std::move(read));
  }
  std::sort(job->roles.begin(), job->roles.end(),
            [](const WatchedRole& a, const WatchedRole& b) { return a.role < b.role; });
}

void ReadNames(const Json& metadata, WatchedJob* job) {
  const Json& labels = Member(metadata, "labels");
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (job->labels.size() < kLabelsShownMax) job->labels[key] = Text(value);
    }
  }
  const std::string owner(kOwnerKey);
  job->owner = Text(Member(Member(metadata, "annotations"), owner.c_str()));
  if (job->owner.empty()) job->owner = Text(Member(labels, owner.c_str()));
  const std::string queue(kKueueQueueLabel);
  job->queue = Text(Member(labels, queue.c_str()));
}

// Where a path of the pods is, by the mount that is nearest above it.
std::optional<VolumePath> PlaceOf(const std::string& path, const Json& volumes) {
  if (path.empty() || !volumes.is_array()) return std::nullopt;
  std::optional<VolumePath> place;
  size_t longest = 0;
  for (const Json& volume : volumes) {
    std::string mount = Text(Member(volume, "mountPath"));
    while (mount.ends_with('/')) mount.pop_back();
    const bool above = path == mount || path.starts_with(mount + "/");
    if (mount.empty() || !above || mount.size() <= longest) continue;
    longest = mount.size();
    const Json& source = Member(volume, "source");
    place = {.claim = Text(Member(Member(source, "persistentVolumeClaim"), "claimName")),
             .host_path = Text(Member(Member(source, "hostPath"), "path")),
             .below = path.substr(std::min(path.size(), mount.size() + 1))};
  }
  if (!place.has_value() || (place->claim.empty() && place->host_path.empty())) return std::nullopt;
  // It would lead out of the volume.
  if (("/" + place->below + "/").find("/../") != std::string::npos) return std::nullopt;
  return place;
}

// Raw values of an array's member of each element: `containers[].resources`.
void ForEachIn(std::string_view object, std::string_view array,
               const std::function<void(std::string_view element)>& call) {
  const auto list = FindMember(object, array);
  if (!list.ok() || !list->has_value()) return;
  ForEachElement(**list, [&](std::string_view element) {
    call(element);
    return absl::OkStatus();
  }).IgnoreError();
}

Json MemberOf(std::string_view object, std::string_view key) {
  const auto member = FindMember(object, key);
  if (!member.ok() || !member->has_value()) return nullptr;
  Json value = Json::parse(**member, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? Json(nullptr) : value;
}

void ReadDevices(const Json& allocated, const std::string& gpu_resource, WatchedPod* pod) {
  if (!allocated.is_array()) return;
  for (const Json& of_resource : allocated) {
    if (Text(Member(of_resource, "name")) != gpu_resource) continue;
    const Json& resources = Member(of_resource, "resources");
    if (!resources.is_array()) continue;
    for (const Json& device : resources) {
      const std::string id = Text(Member(device, "resourceID"));
      if (id.empty()) continue;
      pod->devices.push_back(id);
      if (Text(Member(device, "health")) == "Unhealthy") pod->unhealthy.push_back(id);
    }
  }
}

}  // namespace

std::string JobKey(JobKind kind, std::string_view ns, std::string_view name) {
  return std::string(DialectOf(kind).plural) + "/" + std::string(ns) + "/" + std::string(name);
}

std::string WatchedJob::key() const { return JobKey(kind, meta.ns, meta.name); }

std::optional<double> WatchedJob::perplexity() const {
  if (!of_text || !status.progress.has_value()) return std::nullopt;
  const std::optional<Evaluation>& evaluation = status.progress->evaluation;
  if (!evaluation.has_value() || !evaluation->loss.has_value()) return std::nullopt;
  const double perplexity = std::exp(*evaluation->loss);
  return std::isfinite(perplexity) ? std::optional(perplexity) : std::nullopt;
}

absl::StatusOr<WatchedJob> ReadJob(JobKind kind, std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  WatchedJob job;
  job.kind = kind;
  ASSIGN_OR_RETURN(job.meta, ReadMeta(object));
  ReadNames(Member(object, "metadata"), &job);
  const Json& spec = Member(object, "spec");
  const bool tfjob = kind == JobKind::kTfJob;
  ReadRoles(Member(spec, tfjob ? "tfReplicaSpecs" : "roles"), &job);
  const Json& policy = tfjob && Member(spec, "runPolicy").is_object() ? spec["runPolicy"] : spec;
  job.suspend = Member(policy, "suspend") == Json(true);
  const int32_t ttl = WholeNumber(Member(policy, "ttlSecondsAfterFinished"), -1);
  if (ttl >= 0) job.ttl_seconds = ttl;
  const Json& trainer = Member(spec, "trainer");
  const Json& volumes = Member(spec, "volumes");
  job.summaries = PlaceOf(Text(Member(Member(trainer, "summaries"), "dir")), volumes);
  job.checkpoint_dir = Text(Member(Member(trainer, "checkpoint"), "dir"));
  job.checkpoints = PlaceOf(job.checkpoint_dir, volumes);
  const Json& exported = Member(trainer, "export");
  job.exported = PlaceOf(Text(Member(exported, "dir")), volumes);
  job.exported_saved_model = Text(Member(exported, "format")) == "savedModel";
  job.of_text = Text(Member(Member(trainer, "data"), "format")) == "text";
  if (job.queue.empty()) {
    job.queue = Text(Member(Member(policy, "schedulingPolicy"), "queue"));
  }
  const absl::Status read =
      ReadStatus(kind, JsonField(&Member(object, "status"), "status"), &job.status);
  if (!read.ok()) job.flaw = std::string(read.message());
  return job;
}

absl::StatusOr<WatchedPod> ReadPod(std::string_view json, const std::string& gpu_resource) {
  WatchedPod pod;
  ASSIGN_OR_RETURN(static_cast<Pod&>(pod), DecodePod(json));
  int64_t gpus = 0;
  const auto spec = FindMember(json, "spec");
  if (spec.ok() && spec->has_value()) {
    ForEachIn(**spec, "containers", [&](std::string_view container) {
      gpus += GpusOf(Json{{"resources", MemberOf(container, "resources")}}, gpu_resource);
      if (pod.job.empty()) return;
      pod.containers.push_back(Text(MemberOf(container, "name")));
      ForEachIn(container, "env", [&pod](std::string_view variable) {
        if (variable.find(kStatusPortVariable) == std::string_view::npos) return;
        const int port = std::atoi(Text(MemberOf(variable, "value")).c_str());
        if (port > 0 && port <= 65535) pod.status_port = port;
      });
    });
  }
  pod.gpus = Count(gpus);
  if (pod.gpus == 0) return pod;
  const auto status = FindMember(json, "status");
  if (status.ok() && status->has_value()) {
    ForEachIn(**status, "containerStatuses", [&](std::string_view container) {
      ReadDevices(MemberOf(container, "allocatedResourcesStatus"), gpu_resource, &pod);
    });
  }
  return pod;
}

absl::StatusOr<WatchedNode> ReadNode(std::string_view json, const std::string& gpu_resource) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  WatchedNode node;
  ASSIGN_OR_RETURN(node.meta, ReadMeta(object));
  node.schedulable = Member(Member(object, "spec"), "unschedulable") != Json(true);
  const Json& status = Member(object, "status");
  const Json& conditions = Member(status, "conditions");
  if (conditions.is_array()) {
    for (const Json& condition : conditions) {
      if (Text(Member(condition, "type")) == "Ready") {
        node.ready = Text(Member(condition, "status")) == "True";
      }
    }
  }
  const Json& labels = Member(Member(object, "metadata"), "labels");
  node.product = Text(Member(labels, kProductLabel));
  if (const std::string memory = Text(Member(labels, kMemoryLabel)); !memory.empty()) {
    node.memory_mib = std::strtoll(memory.c_str(), nullptr, 10);
  }
  node.capacity = Count(Amount(Member(status, "capacity"), gpu_resource));
  node.allocatable = Count(Amount(Member(status, "allocatable"), gpu_resource));
  return node;
}

absl::StatusOr<WatchedEvent> ReadEvent(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  WatchedEvent event;
  ASSIGN_OR_RETURN(event.meta, ReadMeta(object));
  event.warning = Text(Member(object, "type")) == "Warning";
  const Json& about = Member(object, "involvedObject");
  event.about_kind = Text(Member(about, "kind"));
  event.about_name = Text(Member(about, "name"));
  event.about_uid = Text(Member(about, "uid"));
  event.reason = CutToCharacter(Text(Member(object, "reason")), kEventTextMax);
  event.message = CutToCharacter(Text(Member(object, "message")), kEventTextMax);
  event.count = std::max(1, WholeNumber(Member(object, "count"), 1));
  const Json& series = Member(object, "series");
  event.count = std::max(event.count, WholeNumber(Member(series, "count"), 1));
  for (const Json* time : {&Member(series, "lastObservedTime"), &Member(object, "lastTimestamp"),
                           &Member(object, "eventTime"), &Member(object, "firstTimestamp")}) {
    if (const auto at = Time(*time); at.has_value()) {
      event.at = *at;
      return event;
    }
  }
  event.at = event.meta.creation_time.value_or(Clock::WallTime{});
  return event;
}

}  // namespace taas::dashboard
