#include "dashboard/server/usage_routes.h"

#include <algorithm>
#include <utility>

#include "dashboard/server/job_routes.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"
#include "operator/api/json_member.h"
#include "operator/api/quantity.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr char kMetricsPath[] = "/apis/metrics.k8s.io/v1beta1/namespaces/";
constexpr double kMebibyte = 1 << 20;

double SumOf(const Json& containers, const char* resource) {
  double sum = 0;
  for (const Json& container : containers) {
    const std::string amount = TextOf(Member(container, "usage"), resource);
    sum += static_cast<double>(QuantityMilli(amount).value_or(0)) / 1'000;
  }
  return sum;
}

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
  const Json parsed = Json::parse(list, nullptr, /*allow_exceptions=*/false);
  Json out = {{"pods", Json::object()}};
  const Json& items = Member(parsed, "items");
  if (!items.is_array()) return DumpJson(out);
  for (const Json& item : items) {
    const std::string name = TextOf(Member(item, "metadata"), "name");
    const Json& containers = Member(item, "containers");
    if (pods.count(name) == 0 || !containers.is_array()) continue;
    out["pods"][name] = {{"cpu", SumOf(containers, "cpu")},
                         {"memoryMiB", SumOf(containers, "memory") / kMebibyte}};
  }
  return DumpJson(out);
}

void UsageRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/usage", [this](ApiCall call) {
    WithJob(context_.board, context_.access, std::move(call),
            [this](const ApiCall& call, const ClusterCache::JobPtr& job) { Usage(call, job); });
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
  request.path = WithQuery(kMetricsPath + PercentEncode(job->meta.ns) + "/pods",
                           {{"labelSelector", LabelEquals(kJobLabel, job->meta.name)}});
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
