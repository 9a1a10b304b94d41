#include "dashboard/server/job_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "dashboard/server/visible_text.h"
#include "operator/api/dialect.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using PodPtr = std::shared_ptr<const WatchedPod>;

// A status may ask for more squares than a page can have; what is beyond has its pods only.
constexpr int32_t kSquaresMax = 10'000;

void PutText(Json* object, const char* key, const std::string& text) {
  if (!text.empty()) (*object)[key] = text;
}
void PutTime(Json* object, const char* key, const std::optional<Clock::WallTime>& time) {
  if (time.has_value()) (*object)[key] = FormatRfc3339(*time);
}
void PutNumber(Json* object, const char* key, const std::optional<double>& number) {
  if (number.has_value() && std::isfinite(*number)) (*object)[key] = *number;
}
void PutHealth(Json* object, const Health& health) {
  (*object)["health"] = LevelName(health.level);
  PutText(object, "healthReason", health.reason);
}

std::string NameOfRole(const WatchedJob& job, Role role) {
  for (const WatchedRole& of_job : job.roles) {
    if (of_job.role == role) return of_job.name;
  }
  return std::string(RoleName(role));
}

Json RolesOf(const WatchedJob& job, const std::vector<PodPtr>& pods) {
  std::map<Role, int32_t> ready;
  for (const PodPtr& pod : pods) {
    // A pod whose program crashes again and again is in phase Running all the time.
    const bool runs = pod->phase == PodPhase::kRunning && !pod->meta.deletion_time.has_value();
    if (runs && pod->ready) ++ready[*pod->role];
  }
  Json out = Json::array();
  for (const WatchedRole& role : job.roles) {
    const auto found = job.status.replica_statuses.find(role.role);
    const ReplicaStatus status =
        found == job.status.replica_statuses.end() ? ReplicaStatus{} : found->second;
    out.push_back({{"role", role.name},
                   {"desired", role.desired},
                   {"ready", ready[role.role]},
                   {"succeeded", status.succeeded},
                   {"failed", status.failed}});
    if (role.elastic.has_value()) {
      out.back()["elastic"] = {{"minReplicas", role.elastic->min_replicas},
                               {"maxReplicas", role.elastic->max_replicas}};
    }
  }
  return out;
}

Json ProgressOf(const WatchedJob& job) {
  const Progress& progress = *job.status.progress;
  Json out = {{"step", progress.step},
              {"maxSteps", progress.max_steps},
              {"percent", progress.percent},
              {"examplesPerSecond", 0}};
  PutNumber(&out, "examplesPerSecond", progress.examples_per_second);
  PutNumber(&out, "loss", progress.loss);
  if (progress.eta_seconds.has_value()) out["etaSeconds"] = *progress.eta_seconds;
  if (progress.evaluation.has_value()) PutNumber(&out, "accuracy", progress.evaluation->accuracy);
  PutNumber(&out, "perplexity", job.perplexity());
  return out;
}

int32_t RestartsOf(const JobStatus& status) {
  int32_t count = 0;
  for (const auto& [cause, number] : status.restarts) count += number;
  return count;
}

int32_t GpusHeldBy(const std::vector<PodPtr>& pods) {
  int32_t gpus = 0;
  for (const PodPtr& pod : pods) {
    if (!HasStopped(*pod) && !pod->node.empty()) gpus += pod->gpus;
  }
  return gpus;
}

// Of all its replicas; of a job that is over or suspended nothing is wanted any more.
int64_t GpusAskedBy(const WatchedJob& job) {
  int64_t gpus = 0;
  if (job.ended() || job.suspend) return gpus;
  for (const WatchedRole& role : job.roles) gpus += int64_t{role.desired} * role.gpus;
  return gpus;
}

Json HistoryOf(const WatchedJob& job) {
  Json out = Json::array();
  for (const RestartRecord& record : job.status.history) {
    Json entry = {{"role", NameOfRole(job, record.role)},
                  {"index", record.index},
                  {"attempt", record.attempt},
                  {"podNumber", record.pod_number},
                  {"cause", RestartCauseName(record.cause)},
                  {"message", record.message},
                  {"node", record.node},
                  {"at", FormatRfc3339(record.time)}};
    if (record.exit_code.has_value()) entry["exitCode"] = *record.exit_code;
    out.push_back(std::move(entry));
  }
  MakeTextsVisible(&out);
  return out;
}

Json ReplicaOf(const WatchedPod& pod, Clock::WallTime now) {
  Json out = {{"state", PodState(pod)},
              {"pod", pod.meta.name},
              {"podNumber", pod.pod_number},
              {"attempt", pod.attempt},
              {"ready", pod.ready},
              {"restarts", pod.restart_count}};
  PutHealth(&out, HealthOfPod(pod, now));
  PutText(&out, "node", pod.node);
  PutText(&out, "ip", pod.ip);
  PutText(&out, "message", WhyOfPod(pod));
  const bool ended_now = pod.exit_code.has_value();
  const auto exit_code = ended_now ? pod.exit_code : pod.last_exit_code;
  if (exit_code.has_value()) {
    out["exitCode"] = *exit_code;
    PutText(&out, "exitReason", ended_now ? pod.exit_reason.str() : pod.last_exit_reason.str());
  }
  if (pod.gpus > 0) out["gpus"] = pod.gpus;
  if (!pod.devices.empty()) out["devices"] = pod.devices;
  PutTime(&out, "created", pod.meta.creation_time);
  PutTime(&out, "started", pod.started_at);
  PutTime(&out, "finished", pod.finished_at);
  MakeTextsVisible(&out);
  return out;
}

// The pod that counts where a late one of the same replica is still there.
bool IsLater(const WatchedPod& a, const WatchedPod& b) {
  return a.pod_number != b.pod_number ? a.pod_number > b.pod_number
                                      : a.meta.creation_time > b.meta.creation_time;
}

Json ReplicasOf(const WatchedJob& job, const std::vector<PodPtr>& pods, Clock::WallTime now) {
  std::map<std::pair<Role, int32_t>, PodPtr> squares;
  int32_t room = kSquaresMax;
  for (const WatchedRole& role : job.roles) {
    for (int32_t i = 0; i < role.desired && room > 0; ++i, --room) squares[{role.role, i}];
  }
  for (const PodPtr& pod : pods) {
    PodPtr& square = squares[{*pod->role, pod->index}];
    if (square == nullptr || IsLater(*pod, *square)) square = pod;
  }
  // Of a job that is over or suspended no pod is missed.
  const char* const without = job.ended() || job.suspend ? "Removed" : "Missing";
  Json out = Json::array();
  for (const auto& [place, pod] : squares) {
    Json replica = pod == nullptr ? Json{{"state", without}, {"health", "ok"}}
                                  : ReplicaOf(*pod, now);
    replica["role"] = NameOfRole(job, place.first);
    replica["index"] = place.second;
    out.push_back(std::move(replica));
  }
  return out;
}

}  // namespace

std::string ReplicaName(const WatchedJob& job, const Pod& pod) {
  return NameOfRole(job, pod.role.value_or(Role::kWorker)) + "-" + std::to_string(pod.index);
}

Json RowOf(const JobToJudge& judged) {
  const WatchedJob& job = judged.job;
  Json row = {{"uid", job.meta.uid},
              {"kind", DialectOf(job.kind).kind_name},
              {"namespace", job.meta.ns},
              {"name", job.meta.name},
              {"state", JobStateName(job.status.state)},
              {"roles", RolesOf(job, judged.pods)},
              {"gpus", GpusHeldBy(judged.pods)},
              {"restarts", RestartsOf(job.status)},
              {"message", job.flaw.empty() ? job.status.message : job.flaw}};
  PutHealth(&row, HealthOf(judged));
  const int64_t asked = GpusAskedBy(job);
  if (asked > GpusHeldBy(judged.pods)) row["gpusAsked"] = asked;
  if (job.meta.deletion_time.has_value()) row["deleting"] = true;
  if (job.status.progress.has_value()) row["progress"] = ProgressOf(job);
  PutText(&row, "owner", job.owner);
  PutText(&row, "queue", job.queue);
  if (!job.labels.empty()) row["labels"] = job.labels;
  PutTime(&row, "created", job.meta.creation_time);
  PutTime(&row, "started", job.status.start_time);
  PutTime(&row, "finished", job.status.completion_time);
  MakeTextsVisible(&row);
  return row;
}

Json ConditionsOf(const JobStatus& status) {
  Json out = Json::array();
  for (const Condition& condition : status.conditions) {
    out.push_back({{"type", condition.type},
                   {"status", condition.status},
                   {"reason", condition.reason},
                   {"message", condition.message},
                   {"at", FormatRfc3339(condition.last_transition_time)}});
  }
  MakeTextsVisible(&out);
  return out;
}

Json EventsOf(const std::vector<std::shared_ptr<const WatchedEvent>>& events,
              const WatchedJob& job, const std::vector<PodPtr>& pods) {
  Json out = Json::array();
  for (const auto& event : events) {
    std::string about = "job";
    for (const PodPtr& pod : pods) {
      const bool same = event->about_kind == "Pod" && event->about_name == pod->meta.name;
      if (same) about = ReplicaName(job, *pod);
    }
    out.push_back({{"type", event->warning ? "Warning" : "Normal"},
                   {"reason", event->reason},
                   {"message", event->message},
                   {"count", event->count},
                   {"at", FormatRfc3339(event->at)},
                   {"about", about}});
  }
  MakeTextsVisible(&out);
  return out;
}

Json DetailOf(const DetailToShow& detail) {
  static const std::vector<PodPtr> kNone;
  const WatchedJob& job = detail.judged.job;
  const std::vector<PodPtr>& pods = detail.pods_visible ? detail.judged.pods : kNone;
  Json out = RowOf(detail.judged);
  out["conditions"] = ConditionsOf(job.status);
  out["attempt"] = job.status.attempt;
  out["restartsByCause"] = Json::object();
  for (const auto& [cause, number] : job.status.restarts) {
    out["restartsByCause"][std::string(RestartCauseName(cause))] = number;
  }
  out["restartHistory"] = HistoryOf(job);
  out["replicas"] = detail.pods_visible ? ReplicasOf(job, pods, detail.judged.now) : Json::array();
  out["podsVisible"] = detail.pods_visible;
  out["events"] = EventsOf(detail.events, job, pods);
  out["suspended"] = job.suspend;
  out["access"] = {{"update", detail.may.update},
                   {"delete", detail.may.remove},
                   {"create", detail.may.create},
                   {"logs", detail.may.logs}};
  if (job.ttl_seconds.has_value()) out["finishedFor"] = {{"ttlSeconds", *job.ttl_seconds}};
  return out;
}

}  // namespace taas::dashboard
