#include "localkube/node/node.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>

#include "localkube/node/admission.h"
#include "localkube/node/container_log.h"
#include "localkube/node/container_run.h"
#include "localkube/node/gpu_slots.h"
#include "localkube/node/log_pin.h"
#include "localkube/node/node_objects.h"
#include "localkube/node/pod_changes.h"
#include "localkube/node/pod_json.h"
#include "localkube/node/pod_run.h"
#include "localkube/node/pod_runs.h"
#include "localkube/node/regular_file.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

// Records wake us; this is for shims that were killed and could write none.
constexpr auto kPollEvery = 1s;
// After a failure of disk or API.
constexpr auto kRetryAfter = 500ms;
// A shim claims its run within milliseconds of its start; one that has not by then was killed
// before.
constexpr auto kClaimPatience = 5s;
// Between looks at the runs of a pod whose object is gone.
constexpr auto kOrphanLookEvery = 50ms;
// How long the directory of such a pod stays for those who read its logs: a follower has all lines
// within one of its polls; of one that has stopped reading, a disk must not be full for ever.
constexpr auto kReadersPatience = 10s;

// Of a list of slots, of which a node has at most 1,024.
constexpr size_t kGpusBytesMax = 64 << 10;

// An API server lets objects through that we do not expect, and memory may run out over one; it
// must not end the node, and all other pods with it.
absl::Status WithoutExceptions(const std::function<absl::Status()>& task) {
  try {
    return task();
  } catch (const std::exception& error) {
    return absl::InternalError(std::string("read the pod: ") + error.what());
  }
}

// Those whose processes there are to look at.
std::vector<UsageSampler::Run> RunningRuns(const PodDirs& dirs, const std::string& uid,
                                           const std::map<std::string, ContainerRuns>& runs) {
  std::vector<UsageSampler::Run> out;
  for (const auto& [name, container] : runs) {
    if (container.run.phase != RunPhase::kRunning || !container.run.state.has_value()) continue;
    out.push_back({name, container.run.state->pid, dirs.Run(uid, name, container.number).dir});
  }
  return out;
}

RunContext CommonContext(const Node::Options& options) {
  return {.pod_dir = "",
          .volumes_dir = options.volumes_dir,
          .volume_bindings = options.volume_bindings,
          .trainer_path = options.trainer_path,
          .base_env = options.base_env,
          .sandbox = options.sandbox,
          .owner_lock = options.owner_lock,
          .node = {},
          .gpus = {},
          .real_gpus = options.real_gpus};
}

}  // namespace

Node::Node(Options options, Api& api, Store& store, UsageSampler& usage, FileSystem& disk,
           const Clock& clock)
    : options_(std::move(options)),
      api_(api),
      events_(api, clock, "kubelet"),
      usage_(usage),
      disk_(disk),
      clock_(clock),
      dirs_(options_.pods_dir),
      preparer_(CommonContext(options_), api_, disk_, dirs_),
      executor_(clock, "node"),
      watcher_(std::make_unique<RunWatcher>([this](const std::string& dir) {
        // D/pods/UID/containers/NAME/RUN
        std::string uid = dir.substr(std::min(dir.size(), options_.pods_dir.size() + 1));
        uid = uid.substr(0, uid.find('/'));
        executor_.Post([this, uid] { Sync(uid); });
      })),
      watch_(store, executor_, "pods",
             {.restarted =
                  [this] {
                    listing_ = true;
                    listed_.clear();
                  },
              .changed = [this](const StoreEvent& event) { OnEvent(event); }}) {}

Node::~Node() {
  // First, because its tasks use and replace the rest; what that still posts is dropped.
  executor_.Stop();
  watcher_.reset();
}

absl::Status Node::Start() {
  RETURN_IF_ERROR(disk_.MakeDirs(options_.pods_dir));
  RETURN_IF_ERROR(disk_.MakeDirs(options_.volumes_dir));
  RETURN_IF_ERROR(WriteNodeObjects(api_, options_.nodes, clock_.WallNow()));
  executor_.Post([this] {
    watch_.Start();
    Poll();
  });
  return absl::OkStatus();
}

const NodeCapacity* Node::FindNode(const std::string& name) const {
  const auto found = std::find_if(options_.nodes.begin(), options_.nodes.end(),
                                  [&](const NodeCapacity& node) { return node.name == name; });
  return found == options_.nodes.end() ? nullptr : &*found;
}

void Node::OnEvent(const StoreEvent& event) {
  const absl::Status status = WithoutExceptions([&] {
    event.type == StoreEventType::kInitialEnd ? OnInitialEnd() : OnObject(event.type, event.text);
    return absl::OkStatus();
  });
  if (status.ok()) return;
  Log(LogLevel::kWarning, "pod not taken up",
      {{"pod", event.key.ns + "/" + event.key.name}, {"cause", std::string(status.message())}});
}

void Node::OnObject(StoreEventType type, const StoreText& text) {
  const Json pod = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const std::string node = Text(Member(pod, "spec"), "nodeName");
  if (node.empty()) return;
  if (FindNode(node) == nullptr) {
    // The next list finds it again if this fails.
    const absl::Status status = type == StoreEventType::kDeleted ? absl::OkStatus()
                                                                 : CollectLost(pod);
    if (!status.ok() && !absl::IsAborted(status) && !absl::IsNotFound(status)) {
      Log(LogLevel::kWarning, "pod of a lost node stays",
          {{"node", node}, {"cause", std::string(status.message())}});
    }
    return;
  }
  const std::string uid = Text(Member(pod, "metadata"), "uid");
  Entry& entry = pods_[uid];
  entry.node = node;
  entry.ns = Text(Member(pod, "metadata"), "namespace");
  entry.name = Text(Member(pod, "metadata"), "name");
  entry.text = type == StoreEventType::kDeleted ? nullptr : text;
  if (listing_) {
    listed_.insert(uid);
    const std::string phase = Text(Member(pod, "status"), "phase");
    entry.ended = phase == "Succeeded" || phase == "Failed";
  }
  Sync(uid);
}

// A pod of a node that there is not, or not any more: nobody else will ever end it.
absl::Status Node::CollectLost(const Json& pod) {
  const Json& meta = Member(pod, "metadata");
  const std::string path = PodPath(Text(meta, "namespace"), Text(meta, "name"));
  const std::string phase = Text(Member(pod, "status"), "phase");
  if (phase != "Succeeded" && phase != "Failed") {
    Json lost = pod;
    Json& status = lost["status"];
    if (!status.is_object()) status = Json::object();
    status["phase"] = "Failed";
    Json conditions = Elements(status, "conditions");
    conditions.push_back({{"type", "DisruptionTarget"},
                          {"status", "True"},
                          {"reason", "DeletionByPodGC"},
                          {"message", "PodGC: node no longer exists"},
                          {"lastTransitionTime", FormatRfc3339(clock_.WallNow())}});
    status["conditions"] = std::move(conditions);
    // The event of this write brings the pod here again, then to be deleted.
    return api_.Put(path + "/status", lost.dump(-1, ' ', false, Json::error_handler_t::replace))
        .status();
  }
  const Json options = {{"gracePeriodSeconds", 0},
                        {"preconditions", {{"uid", Text(meta, "uid")}}}};
  return api_.Delete(path, options.dump()).status();
}

// What we knew, or find on disk, and the API does not know any more was deleted while nobody
// watched.
void Node::OnInitialEnd() {
  listing_ = false;
  const absl::StatusOr<std::vector<std::string>> uids = dirs_.Pods(disk_);
  if (uids.ok()) {
    for (const std::string& uid : *uids) pods_[uid];
  }
  std::vector<std::string> all;
  for (auto& [uid, entry] : pods_) {
    if (listed_.count(uid) == 0) entry.text = nullptr;
    LoadGpus(uid, &entry);
    LoadAdmission(uid, &entry);
    all.push_back(uid);
  }
  for (const std::string& uid : all) Sync(uid);
}

// What an earlier node gave a pod, before any pod gets slots of this one.
void Node::LoadGpus(const std::string& uid, Entry* entry) {
  if (entry->gpus_known) return;
  const std::string text = ReadEnd(GpusPath(uid), kGpusBytesMax).text;
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return;
  for (const Json& slot : list) {
    if (slot.is_number_integer()) entry->gpus.push_back(slot.get<int>());
  }
  entry->gpus_known = true;
}

// Whoever has had a run was taken by an earlier node: it is asked for no room again.
void Node::LoadAdmission(const std::string& uid, Entry* entry) {
  if (entry->admitted || entry->text == nullptr) return;
  const auto containers = dirs_.Containers(disk_, uid);
  if (!containers.ok() || containers->empty()) return;
  entry->admitted = true;
  entry->requests =
      ReadPodToPlace(Json::parse(*entry->text, nullptr, /*allow_exceptions=*/false)).requests;
}

// False: the node has no room for the pod, which has failed with that.
absl::StatusOr<bool> Node::AdmitPod(const Json& pod, Entry* entry) {
  if (entry->admitted) return true;
  const PodToPlace wanted = ReadPodToPlace(pod);
  if (!wanted.holds || Member(pod, "metadata").contains("deletionTimestamp")) return true;
  std::vector<Resources> others;
  for (const auto& [uid, other] : pods_) {
    const bool holds = other.admitted && !other.ended && other.text != nullptr;
    if (holds && other.node == entry->node) others.push_back(other.requests);
  }
  const auto refusal = Admit(wanted.requests, others, FindNode(entry->node)->allocatable);
  if (refusal.has_value()) {
    RETURN_IF_ERROR(WriteStatus(
        pod, RefusedStatus(pod, *refusal, FormatRfc3339(clock_.WallNow())), *entry));
    events_.Emit(pod, {.reason = refusal->reason,
                       .message = refusal->message,
                       .warning = true});
    return false;
  }
  entry->admitted = true;
  entry->requests = wanted.requests;
  return true;
}

void Node::Poll() {
  std::vector<std::string> uids;
  for (const auto& [uid, entry] : pods_) {
    if (!entry.ended) uids.push_back(uid);
  }
  for (const std::string& uid : uids) Sync(uid);
  executor_.PostAfter(kPollEvery, [this] { Poll(); });
}

void Node::SyncLater(const std::string& uid, Clock::Duration delay) {
  Entry& entry = pods_[uid];
  if (entry.timer != 0) executor_.Cancel(entry.timer);
  entry.timer = executor_.PostAfter(delay, [this, uid] {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    found->second.timer = 0;
    Sync(uid);
  });
}

void Node::Sync(const std::string& uid) {
  const auto found = pods_.find(uid);
  // Before the list is complete a record on disk may belong to a pod that we have not heard of, and
  // GPU slots that look free may have been given to one.
  if (found == pods_.end() || listing_) return;
  if (found->second.text == nullptr) {
    bool gone = false;
    const absl::Status status =
        WithoutExceptions([&] { return EndOrphan(uid, &found->second, &gone); });
    if (gone) {
      if (found->second.timer != 0) executor_.Cancel(found->second.timer);
      pods_.erase(found);
      return;
    }
    if (!status.ok()) {
      Log(LogLevel::kWarning, "end a pod that was deleted",
          {{"uid", uid}, {"cause", std::string(status.message())}});
    }
    SyncLater(uid, status.ok() ? Clock::Duration(kOrphanLookEvery) : kRetryAfter);
    return;
  }
  const absl::Status status = WithoutExceptions([&] { return TrySync(uid, &found->second); });
  if (status.ok()) return;
  // A conflict or a missing object means that an event is on its way.
  if (!absl::IsAborted(status) && !absl::IsNotFound(status)) {
    Log(LogLevel::kWarning, "pod not synced",
        {{"pod", found->second.ns + "/" + found->second.name},
         {"cause", std::string(status.message())}});
  }
  SyncLater(uid, kRetryAfter);
}

absl::StatusOr<PodPlan> Node::PlanNow(const std::string& uid, const Json& pod,
                                      const Entry& entry) {
  ASSIGN_OR_RETURN(auto runs, ReadPodRuns(disk_, dirs_, *watcher_, uid, ContainerNames(pod)));
  usage_.SetRuns(uid, entry.node, RunningRuns(dirs_, uid, runs));
  for (const auto& [name, problem] : entry.problems) runs[name].problem = problem;
  for (auto& [name, container] : runs) {
    container.gpus = ContainerSlots(pod, name, entry.gpus);
  }
  return PlanPod(pod, runs, clock_.WallNow());
}

absl::Status Node::TrySync(const std::string& uid, Entry* entry) {
  const Json pod = Json::parse(*entry->text, nullptr, /*allow_exceptions=*/false);
  ASSIGN_OR_RETURN(const bool admitted, AdmitPod(pod, entry));
  if (!admitted) return absl::OkStatus();
  ASSIGN_OR_RETURN(PodPlan plan, PlanNow(uid, pod, *entry));
  for (const StopContainer& stop : plan.stops) {
    RETURN_IF_ERROR(StopRun(uid, pod, stop, *entry));
  }
  // All stops of a round have the same time.
  if (!plan.stops.empty()) {
    const Clock::WallTime by = clock_.WallNow() + plan.stops[0].grace;
    entry->stop_by = entry->stop_by.has_value() ? std::min(*entry->stop_by, by) : by;
  }
  entry->problems.clear();
  if (!plan.starts.empty()) {
    RETURN_IF_ERROR(AssignGpus(uid, pod, entry));
  }
  for (const StartContainer& start : plan.starts) {
    const absl::Status launched = LaunchRun(uid, pod, start, entry);
    if (launched.ok()) continue;
    // What it needs does not exist yet, or the disk is full, or no process can be made. Poll tries
    // again; until then the pod says why.
    const bool config = absl::IsFailedPrecondition(launched);
    entry->problems[start.container] = {
        config ? "CreateContainerConfigError" : "CreateContainerError", MessageOf(launched)};
  }
  if (!entry->problems.empty()) {
    ASSIGN_OR_RETURN(plan, PlanNow(uid, pod, *entry));
  }
  RETURN_IF_ERROR(WriteStatus(pod, plan.status, *entry));
  if (plan.confirm_deletion) {
    const Json options = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid}}}};
    return api_.Delete(PodPath(entry->ns, entry->name), options.dump()).status();
  }
  if (plan.wake_at.has_value()) {
    SyncLater(uid, std::max<Clock::Duration>(*plan.wake_at - clock_.WallNow(), 1ms));
  }
  return absl::OkStatus();
}

absl::Status Node::StopRun(const std::string& uid, const Json& pod, const StopContainer& stop,
                           const Entry& entry) {
  const Clock::WallTime by = clock_.WallNow() + stop.grace;
  // Deletion times are whole seconds; the same request seen again is not a new one.
  if (entry.stop_by.has_value() && by > *entry.stop_by - 1s) return absl::OkStatus();
  RETURN_IF_ERROR(
      WriteStop(disk_, dirs_.Run(uid, stop.container, stop.number), {.grace = stop.grace}));
  events_.Emit(pod, {.reason = "Killing",
                     .message = "Stopping container " + stop.container,
                     .container = stop.container});
  return absl::OkStatus();
}

absl::Status Node::LaunchRun(const std::string& uid, const Json& pod, const StartContainer& start,
                             Entry* entry) {
  const RunFiles files = dirs_.Run(uid, start.container, start.number);
  const auto launched = entry->launched.find(files.dir);
  if (launched != entry->launched.end() && clock_.Now() < launched->second + kClaimPatience) {
    SyncLater(uid, kClaimPatience);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(disk_.MakeDirs(files.dir));
  // Who is not woken polls.
  if (const absl::Status watching = watcher_->Watch(files.dir); !watching.ok()) {
    Log(LogLevel::kDebug, "polling", {{"cause", std::string(watching.message())}});
  }
  const absl::Status prepared =
      preparer_.Prepare(uid, pod, start.container, files,
                        {.node = FindNode(entry->node)->allocatable, .gpus = entry->gpus});
  if (absl::IsInvalidArgument(prepared)) {
    // Never to be started: the user must change the pod.
    const Clock::WallTime now = clock_.WallNow();
    return WriteExit(disk_, files,
                     {.exit_code = kStartErrorCode,
                      .reason = "StartError",
                      .message = MessageOf(prepared),
                      .started_at = now,
                      .finished_at = now});
  }
  RETURN_IF_ERROR(prepared);
  entry->launched[files.dir] = clock_.Now();
  RETURN_IF_ERROR(StartRun(options_.shim_path, files));
  // As on a cluster the run before can be asked about, those before that cannot.
  if (start.number >= 2) {
    RemoveLog(disk_, dirs_.Run(uid, start.container, start.number - 2).log);
  }
  const Json* container = FindContainer(pod, start.container);
  if (start.number > 0 || container == nullptr) return absl::OkStatus();
  for (const PodEvent& event : StartEvents(*container)) events_.Emit(pod, event);
  return absl::OkStatus();
}

std::string Node::GpusPath(const std::string& uid) const { return dirs_.Pod(uid) + "/gpus.json"; }

// The lowest free slots, written down so that the next node knows them.
absl::Status Node::AssignGpus(const std::string& uid, const Json& pod, Entry* entry) {
  if (entry->gpus_known) return absl::OkStatus();
  const int64_t wanted = ReadPodToPlace(pod).requests.gpus;
  if (wanted > 0) {
    std::set<int> used;
    for (const auto& [other, pod_entry] : pods_) {
      if (pod_entry.ended || pod_entry.node != entry->node) continue;
      used.insert(pod_entry.gpus.begin(), pod_entry.gpus.end());
    }
    const int64_t all = FindNode(entry->node)->allocatable.gpus;
    if (wanted > all - static_cast<int64_t>(used.size())) {
      return absl::UnavailableError("give pod " + entry->ns + "/" + entry->name +
                                    " its GPU slots: a pod that was deleted has not ended yet");
    }
    std::vector<int> slots;
    for (int slot = 0; static_cast<int64_t>(slots.size()) < wanted; ++slot) {
      if (used.count(slot) == 0) slots.push_back(slot);
    }
    RETURN_IF_ERROR(disk_.MakeDirs(dirs_.Pod(uid)));
    RETURN_IF_ERROR(disk_.WriteAtomically(GpusPath(uid), Json(slots).dump()));
    entry->gpus = std::move(slots);
  }
  entry->gpus_known = true;
  return absl::OkStatus();
}

absl::Status Node::WriteStatus(const Json& pod, const std::string& status, const Entry& entry) {
  Json wanted = Json::parse(status, nullptr, /*allow_exceptions=*/false);
  const std::string phase = Text(wanted, "phase");
  pods_[Text(Member(pod, "metadata"), "uid")].ended = phase == "Succeeded" || phase == "Failed";
  if (Member(pod, "status") == wanted) return absl::OkStatus();
  const std::vector<PodEvent> events = ChangeEvents(pod, wanted);
  Json object = pod;
  object["status"] = std::move(wanted);
  RETURN_IF_ERROR(api_.Put(PodPath(entry.ns, entry.name) + "/status",
                           object.dump(-1, ' ', false, Json::error_handler_t::replace))
                      .status());
  for (const PodEvent& event : events) events_.Emit(pod, event);
  return absl::OkStatus();
}

// Ends all that still runs of a pod whose object is gone. True: there is nothing.
absl::StatusOr<bool> Node::StopRuns(const std::string& uid) {
  ASSIGN_OR_RETURN(const auto names, dirs_.Containers(disk_, uid));
  ASSIGN_OR_RETURN(const auto runs, ReadPodRuns(disk_, dirs_, *watcher_, uid, names));
  bool alive = false;
  for (const auto& [name, container] : runs) {
    if (container.number < 0 || container.run.phase == RunPhase::kEnded) continue;
    const RunFiles files = dirs_.Run(uid, name, container.number);
    if (container.run.phase == RunPhase::kNew) {
      const absl::Status retired = RetireRun(disk_, files);
      if (retired.ok()) continue;
      // A shim claimed it meanwhile.
      if (!absl::IsFailedPrecondition(retired)) return retired;
    }
    alive = true;
    // An earlier stop may leave it a grace period that it no longer has.
    const auto stop = ReadStop(disk_, files);
    if (!stop.ok() || !stop->has_value() || (*stop)->grace > 0ms) {
      RETURN_IF_ERROR(WriteStop(disk_, files, {.grace = 0ms}));
    }
  }
  return !alive;
}

// The object of this pod is gone: nothing of it may run, and nothing needs its directory.
absl::Status Node::EndOrphan(const std::string& uid, Entry* entry, bool* gone) {
  if (!entry->idle_since.has_value()) {
    ASSIGN_OR_RETURN(const bool idle, StopRuns(uid));
    if (!idle) return absl::OkStatus();
    KillLeftovers(disk_, dirs_.Pod(uid));
    usage_.SetRuns(uid, "", {});
    entry->ended = true;
    entry->idle_since = clock_.Now();
  }
  // Who follows a log gets its last lines.
  const bool patient = clock_.Now() < *entry->idle_since + kReadersPatience;
  if (patient && IsBeingRead(dirs_.Pod(uid))) return absl::OkStatus();
  RETURN_IF_ERROR(disk_.RemoveAll(dirs_.Pod(uid)));
  *gone = true;
  return absl::OkStatus();
}

}  // namespace taas::localkube
