#include "dashboard/maps/map_routes.h"

#include <utility>

#include "dashboard/server/health.h"
#include "dashboard/http/problem.h"
#include "operator/api/dialect.h"

namespace taas::dashboard {

MapRoutes::MapRoutes(const Context& context) : context_(context) { context_.board.Add(this); }

MapRoutes::~MapRoutes() { context_.board.Remove(this); }

void MapRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "gpus", [this](ApiCall call) { AnswerGpus(std::move(call)); });
  table->Add("GET", "queues", [this](ApiCall call) { AnswerQueues(std::move(call)); });
}

void MapRoutes::OnChanges(const Board::Changes& changes) {
  // Rows: whose job it is, and whether it stands still.
  if (changes.gpus || changes.rows) Touch();
}

void MapRoutes::Touch() { gpus_.stale = queues_.stale = true; }

template <typename Table>
bool MapRoutes::IsLate(const Made<Table>& made) const {
  if (!made.table.has_value()) return true;
  return made.stale && context_.executor.clock().Now() - made.at >= kLately;
}

void MapRoutes::MakeGpus() {
  const ClusterCache& cache = context_.board.cache();
  const auto stands_still = [this](const WatchedJob& job) {
    // Whether it does is in the job alone.
    static const std::vector<ClusterCache::PodPtr> kNoPods;
    return StandsStill(context_.board.Judge(job, kNoPods));
  };
  std::function<const std::vector<DeviceReading>*(const WatchedPod& pod)> readings;
  if (context_.readings != nullptr) {
    readings = [this](const WatchedPod& pod) { return context_.readings->Of(pod); };
  }
  gpus_.table.emplace(GpuFacts{.resource = cache.options().gpu_resource,
                               .local = context_.local,
                               .nodes_known = cache.options().nodes,
                               .nodes = cache.Nodes(),
                               .pods = cache.GpuPods(),
                               .job = [&](const std::string& key) { return cache.FindJob(key); },
                               .stands_still = stands_still,
                               .readings = readings});
  gpus_.stale = false;
  gpus_.at = context_.executor.clock().Now();
  gpu_texts_.clear();
}

void MapRoutes::MakeQueues() {
  const ClusterCache& cache = context_.board.cache();
  QueueFacts facts{.resource = cache.options().gpu_resource,
                   .nodes_known = cache.options().nodes,
                   .nodes = cache.Nodes(),
                   .pods = cache.GpuPods(),
                   .waiting = {},
                   .kueue = {},
                   .job_of = [this](const KueueWorkload& workload) { return JobOf(workload); }};
  for (const auto& job : cache.Jobs()) {
    if (job->ended()) continue;
    if (auto waiting = WaitingOf(job, cache.PodsOf(*job)); waiting.has_value()) {
      facts.waiting.push_back(*std::move(waiting));
    }
  }
  if (context_.kueue != nullptr) facts.kueue = context_.kueue->Objects();
  queues_.table.emplace(facts);
  queues_.stale = false;
  queues_.at = context_.executor.clock().Now();
}

// A TFJob owns its workload; of a TrainingJob the pods do, which are the job's by label and uid.
std::shared_ptr<const WatchedJob> MapRoutes::JobOf(const KueueWorkload& workload) const {
  const ClusterCache& cache = context_.board.cache();
  const auto find = [&](std::string_view kind_name, const std::string& name,
                        const std::string& uid) -> std::shared_ptr<const WatchedJob> {
    for (const JobKind kind : cache.Kinds()) {
      if (DialectOf(kind).kind_name != kind_name) continue;
      auto job = cache.FindJob(JobKey(kind, workload.meta.ns, name));
      if (job != nullptr && job->meta.uid == uid) return job;
    }
    return nullptr;
  };
  for (const KueueOwner& owner : workload.owners) {
    if (owner.kind != "Pod") {
      if (auto job = find(owner.kind, owner.name, owner.uid); job != nullptr) return job;
      continue;
    }
    const auto pod = cache.FindPod(workload.meta.ns, owner.name);
    if (pod == nullptr || pod->meta.uid != owner.uid) continue;
    if (auto job = find(pod->owner_kind, pod->job, pod->owner_uid); job != nullptr) return job;
  }
  return nullptr;
}

std::string MapRoutes::Gpus(const Sight& sight) {
  if (context_.readings != nullptr) context_.readings->Look();
  if (gpus_.stale) MakeGpus();
  return GpusMade(sight);
}

const std::string& MapRoutes::GpusMade(const Sight& sight) {
  for (const GpuText& made : gpu_texts_) {
    if (made.sight == sight) return made.text;
  }
  if (gpu_texts_.size() >= kTextsMax) gpu_texts_.erase(gpu_texts_.begin());
  return gpu_texts_.emplace_back(GpuText{sight, gpus_.table->TextFor(sight)}).text;
}

std::string MapRoutes::Queues(const Sight& sight, const QueueSight& queue_sight) {
  if (queues_.stale) MakeQueues();
  return queues_.table->TextFor(sight, queue_sight);
}

std::set<std::string> MapRoutes::Namespaces() const {
  std::set<std::string> out;
  if (context_.kueue != nullptr) out = context_.kueue->Namespaces();
  for (const auto& pod : context_.board.cache().GpuPods()) out.insert(pod->meta.ns);
  return out;
}

void MapRoutes::AnswerGpus(ApiCall call) {
  if (!context_.board.synced()) {
    return call.respond(ProblemResponse(503, "Unavailable",
                                        "the first lists of nodes and pods have not arrived yet"));
  }
  std::set<std::string> namespaces = context_.board.Namespaces();
  namespaces.merge(Namespaces());
  FindSight(context_.access, call.identity, context_.board.cache().Kinds(), namespaces,
            [this, call](const SightPtr& sight) {
              if (context_.readings != nullptr) context_.readings->Look();
              if (IsLate(gpus_)) MakeGpus();
              call.respond(JsonResponse(GpusMade(*sight)));
            });
}

void MapRoutes::AnswerQueues(ApiCall call) {
  if (!context_.board.synced()) {
    return call.respond(ProblemResponse(503, "Unavailable",
                                        "the first lists of jobs and pods have not arrived yet"));
  }
  std::set<std::string> namespaces = context_.board.Namespaces();
  namespaces.merge(Namespaces());
  FindSight(context_.access, call.identity, context_.board.cache().Kinds(), namespaces,
            [this, call, namespaces](const SightPtr& sight) {
              FindQueueSight(context_.access, call.identity, namespaces,
                             [this, call, sight](const QueueSight& queue_sight) {
                               if (IsLate(queues_)) MakeQueues();
                               call.respond(
                                   JsonResponse(queues_.table->TextFor(*sight, queue_sight)));
                             });
            });
}

}  // namespace taas::dashboard
