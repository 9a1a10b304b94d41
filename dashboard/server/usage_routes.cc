#include "dashboard/server/usage_routes.h"

#include <algorithm>
#include <utility>

#include "dashboard/server/job_routes.h"
#include "dashboard/server/pod_metrics.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// Why nothing is measured, as the page knows it.
std::string WhyNot(const absl::StatusOr<HttpReply>& reply) {
  const int code = reply.ok() ? reply->code : 0;
  const char* why = "Unavailable";
  if (code == 404) why = "NotServed";
  if (code == 401 || code == 403) why = "Forbidden";
  return DumpJson({{"pods", Json::object()}, {"why", why}});
}

std::set<std::string> NamesOf(const std::vector<ClusterCache::PodPtr>& pods) {
  std::set<std::string> names;
  for (const auto& pod : pods) names.insert(pod->meta.name);
  return names;
}

}  // namespace

std::string UsageAnswer(std::string_view list, const std::set<std::string>& pods) {
  Json out = {{"pods", Json::object()}};
  for (const PodMetrics& pod : ReadPodMetrics(list)) {
    if (pods.count(pod.name) == 0) continue;
    out["pods"][pod.name] = {{"cpu", pod.cpu}, {"memoryMiB", pod.memory_mib}};
  }
  return DumpJson(out);
}

AccessQuestion MetricsQuestion(const std::string& ns) {
  return {.verb = "list", .group = "metrics.k8s.io", .resource = "pods", .ns = ns};
}

void UsageRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/usage", [this](ApiCall call) {
    WithJob(context_.board, context_.access, std::move(call),
            [this](const ApiCall& call, const ClusterCache::JobPtr& job) { Usage(call, job); });
  });
  table->Add("GET", "jobs/*/*/*/usage/recorded", [this](ApiCall call) {
    WithJob(context_.board, context_.access, std::move(call),
            [this](const ApiCall& call, const ClusterCache::JobPtr& job) { Recorded(call, job); });
  });
}

void UsageRoutes::Recorded(const ApiCall& call, const ClusterCache::JobPtr& job) {
  const auto nothing = [call](const char* why) {
    const Json answer = {{"every", 0}, {"replicas", Json::object()}, {"why", why}};
    call.respond(JsonResponse(DumpJson(answer)));
  };
  if (context_.recorded == nullptr) return nothing("NotRecorded");
  context_.access.Check(
      call.identity, {MetricsQuestion(job->meta.ns)},
      [this, call, job, nothing](const std::vector<bool>& may) {
        if (!may[0]) return nothing("Forbidden");
        context_.recorded(job->meta.uid, [call, nothing](const std::string& used) {
          used.empty() ? nothing("NotYet") : call.respond(JsonResponse(used));
        });
      });
}

void UsageRoutes::Usage(const ApiCall& call, const ClusterCache::JobPtr& job) {
  const Respond respond = [call](const std::string& answer) {
    call.respond(JsonResponse(answer));
  };
  const std::string key = call.identity->key + "\n" + job->meta.uid;
  MakeRoom();
  Kept& kept = kept_[key];
  if (kept.waiting.empty() && context_.executor.clock().Now() < kept.until) {
    return respond(kept.answer);
  }
  kept.waiting.push_back(respond);
  if (kept.waiting.size() > 1) return;
  HttpRequest request;
  request.path = PodMetricsPath(job->meta.ns, LabelEquals(kJobLabel, job->meta.name));
  request.bearer_token = call.token;
  request.timeout = kTimeout;
  request.body_bytes_max = kBodyBytesMax;
  context_.callers.Do(std::move(request),
                      [this, key, job](const absl::StatusOr<HttpReply>& reply) {
                        OnReply(key, job, reply);
                      });
}

void UsageRoutes::OnReply(const std::string& key, const ClusterCache::JobPtr& job,
                          const absl::StatusOr<HttpReply>& reply) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  const bool measured = reply.ok() && reply->code == 200;
  Kept& kept = found->second;
  const std::vector<Respond> waiting = std::exchange(kept.waiting, {});
  kept.answer = measured
                    ? UsageAnswer(reply->body, NamesOf(context_.board.cache().PodsOf(*job)))
                    : WhyNot(reply);
  // One that does not answer may do so the next time.
  const bool nothing = reply.ok() && (reply->code == 403 || reply->code == 404);
  kept.until = context_.executor.clock().Now() + (nothing ? kNothingFresh : kFresh);
  const std::string answer = kept.answer;
  for (const Respond& respond : waiting) respond(answer);
}

void UsageRoutes::MakeRoom() {
  if (kept_.size() < kKeptMax) return;
  const Clock::Time now = context_.executor.clock().Now();
  std::erase_if(kept_, [now](const auto& entry) {
    return entry.second.waiting.empty() && now >= entry.second.until;
  });
  if (kept_.size() < kKeptMax) return;
  std::erase_if(kept_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

}  // namespace taas::dashboard
