#include "dashboard/history/history_metrics.h"

#include <utility>

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
  AskNext(std::make_shared<Round>(Round{.left = namespaces_, .used = {}, .done = std::move(done)}));
}

void HistoryMetrics::AskNext(std::shared_ptr<Round> round) {
  const auto left_alone = [this, now = executor_.clock().Now()](const std::string& ns) {
    const auto from = asks_from_.find(ns);
    return from != asks_from_.end() && now < from->second;
  };
  while (!round->left.empty() && left_alone(round->left.back())) round->left.pop_back();
  if (round->left.empty()) return round->done(round->used);
  const std::string ns = std::move(round->left.back());
  round->left.pop_back();
  HttpRequest request;
  request.path = PodMetricsPath(ns, std::string(kJobLabel));
  request.timeout = kTimeout;
  request.body_bytes_max = kBodyBytesMax;
  own_.Do(std::move(request), [this, round, ns, alive = std::weak_ptr<bool>(alive_)](
                                  const absl::StatusOr<HttpReply>& reply) {
    if (alive.lock() == nullptr) return;
    OnReply(ns, reply, &round->used);
    AskNext(round);
  });
}

void HistoryMetrics::OnReply(const std::string& ns, const absl::StatusOr<HttpReply>& reply,
                             Used* used) {
  if (!reply.ok()) return Failed(ns, std::string(reply.status().message()));
  const int code = reply->code;
  if (code == 401 || code == 403 || code == 404) return Refused(ns, code);
  if (code != 200) return Failed(ns, "metrics.k8s.io answers with " + std::to_string(code));
  asks_from_.erase(ns);
  failing_.erase(ns);
  for (const PodMetrics& pod : ReadPodMetrics(reply->body)) {
    (*used)[{pod.ns, pod.name}] = {.cpu = pod.cpu, .memory_mib = pod.memory_mib};
  }
}

void HistoryMetrics::Refused(const std::string& ns, int code) {
  asks_from_[ns] = executor_.clock().Now() + kRefusedAgain;
  failing_.erase(ns);
  if (std::exchange(refused_logged_, true)) return;
  const char* const why = code == 404 ? "the cluster runs no metrics-server"
                                      : "the dashboard's account may not `list` pods of "
                                        "metrics.k8s.io (its ClusterRole)";
  Log(LogLevel::kInfo, "the history has no CPU and memory of replicas", {{"why", why}});
}

// Said once, until all answer again.
void HistoryMetrics::Failed(const std::string& ns, const std::string& why) {
  asks_from_[ns] = executor_.clock().Now() + kFailedAgain;
  const bool said = !failing_.empty();
  failing_.insert(ns);
  if (said) return;
  Log(LogLevel::kWarning, "the history lacks CPU and memory of replicas for a while",
      {{"why", why}});
}

}  // namespace taas::dashboard
