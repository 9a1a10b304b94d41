#include "dashboard/history/history_metrics.h"

#include "dashboard/server/pod_metrics.h"
#include "operator/api/job.h"
#include "operator/base/log.h"

namespace taas::dashboard {

HistoryMetrics::HistoryMetrics(KubeTransport& own, Executor& executor,
                               std::vector<std::string> namespaces)
    : own_(own),
      executor_(executor),
      namespaces_(namespaces.empty() ? std::vector<std::string>{""} : std::move(namespaces)) {}

void HistoryMetrics::Fetch(Done done) {
  if (executor_.clock().Now() < asks_from_) return done({});
  AskNext(std::make_shared<Round>(Round{.left = namespaces_, .used = {}, .done = std::move(done)}));
}

void HistoryMetrics::AskNext(std::shared_ptr<Round> round) {
  if (round->left.empty()) return round->done(round->used);
  HttpRequest request;
  request.path = PodMetricsPath(round->left.back(), std::string(kJobLabel));
  request.timeout = kTimeout;
  request.body_bytes_max = kBodyBytesMax;
  round->left.pop_back();
  own_.Do(std::move(request), [this, round, alive = std::weak_ptr<bool>(alive_)](
                                  const absl::StatusOr<HttpReply>& reply) {
    if (alive.lock() != nullptr) OnReply(round, reply);
  });
}

void HistoryMetrics::OnReply(const std::shared_ptr<Round>& round,
                             const absl::StatusOr<HttpReply>& reply) {
  const int code = reply.ok() ? reply->code : 0;
  if (code == 401 || code == 403 || code == 404) {
    asks_from_ = executor_.clock().Now() + kRefusedAgain;
    if (!std::exchange(refused_logged_, true)) {
      const char* const why = code == 404
                                  ? "the cluster runs no metrics-server"
                                  : "the dashboard's account may not `list` pods of metrics.k8s.io "
                                    "(its ClusterRole)";
      Log(LogLevel::kInfo, "the history has no CPU and memory of replicas", {{"why", why}});
    }
    return round->done(round->used);
  }
  if (code == 200) {
    for (const PodMetrics& pod : ReadPodMetrics(reply->body)) {
      round->used[{pod.ns, pod.name}] = {.cpu = pod.cpu, .memory_mib = pod.memory_mib};
    }
  }
  AskNext(round);
}

}  // namespace taas::dashboard
