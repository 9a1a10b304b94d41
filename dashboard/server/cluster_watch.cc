#include "dashboard/server/cluster_watch.h"

#include <utility>

#include "operator/kube/api_error.h"

namespace taas::dashboard {

ClusterWatch::ClusterWatch(KubeTransport& transport, Executor& executor,
                           std::function<void()> on_change)
    : transport_(transport), executor_(executor), on_change_(std::move(on_change)) {}

ClusterWatch::~ClusterWatch() {
  if (timer_ != 0) executor_.Cancel(timer_);
}

// Every API server answers this to everybody who is authenticated.
void ClusterWatch::Ask() {
  timer_ = 0;
  transport_.Do({.path = "/version", .timeout = kTimeout},
                [this, alive = std::weak_ptr<bool>(alive_)](const auto& reply) {
                  if (alive.lock() != nullptr) OnReply(reply);
                });
}

void ClusterWatch::OnReply(const absl::StatusOr<HttpReply>& reply) {
  timer_ = executor_.PostAfter(kEvery, [this] { Ask(); });
  // It answers, even if it says no.
  const bool connected = reply.ok() && reply->code < 500;
  if (connected) answered_ = executor_.clock().WallNow();
  State next{.connected = connected, .since = {}, .message = {}};
  if (!connected) {
    next.since = answered_;
    next.message = std::string(
        (reply.ok() ? StatusOfReply(*reply, "ask the API server") : reply.status()).message());
  }
  const bool changed = next.connected != state_.connected || next.message != state_.message;
  state_ = std::move(next);
  if (changed) on_change_();
}

}  // namespace taas::dashboard
