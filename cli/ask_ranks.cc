#include "cli/ask_ranks.h"

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "cli/job_ref.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/poll_transport.h"
#include "operator/plan/replicas.h"
#include "operator/plan/trainer_report.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kStatusPortVariable[] = "TAAS_STATUS_PORT";
constexpr char kStatusPath[] = "/status";

// 0: nobody says.
int StatusPortOf(const std::string& pod) {
  const Json object = Json::parse(pod, nullptr, /*allow_exceptions=*/false);
  const auto containers = JsonField(&object, "")["spec"]["containers"].Items();
  if (!containers.ok()) return 0;
  for (const JsonField& container : *containers) {
    const auto variables = container["env"].Items();
    if (!variables.ok()) continue;
    for (const JsonField& variable : *variables) {
      std::string name, value;
      const bool read = variable["name"].Read(&name).ok() && variable["value"].Read(&value).ok();
      const int port = read && name == kStatusPortVariable ? std::atoi(value.c_str()) : 0;
      if (port > 0 && port <= 65'535) return port;
    }
  }
  return 0;
}

absl::StatusOr<std::string> GetHere(ApiClient& api, const std::string& host, int port) {
  TcpPollTransport poll(api.executor());
  auto promise = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
  std::future<absl::StatusOr<std::string>> body = promise->get_future();
  api.executor().Post([&poll, host, port, promise] {
    poll.Get(host, port, kStatusPath, [promise](absl::StatusOr<std::string> answer) {
      promise->set_value(std::move(answer));
    });
  });
  absl::StatusOr<std::string> answer = body.get();
  // The task that gave the answer may still use `poll`.
  auto over = std::make_shared<std::promise<void>>();
  std::future<void> settled = over->get_future();
  api.executor().Post([over] { over->set_value(); });
  settled.wait();
  return answer;
}

}  // namespace

bool TrainsByAllReduce(std::string_view json) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  std::string type;
  const bool read =
      JsonField(&object, "")["spec"]["trainer"]["strategy"]["type"].Read(&type).ok();
  return read && type == "AllReduce";
}

absl::StatusOr<std::optional<RankTimes>> AskRanks(ApiClient& api, const Job& job) {
  const auto main = MainReplica(job.spec);
  ASSIGN_OR_RETURN(const std::vector<JobPod> pods, PodsOf(api, job));
  for (const auto& [pod, json] : pods) {
    const bool tells = main.has_value() && pod.role == main->first && pod.index == main->second;
    const int port = tells && pod.phase == PodPhase::kRunning ? StatusPortOf(json) : 0;
    if (port == 0) continue;
    const std::string what = "ask " + pod.meta.name + " what the time of its ranks goes to";
    const std::string through = pod.meta.name + ":" + std::to_string(port);
    const bool here = !LocalDirOf(api.source()).empty();
    const std::string path =
        SubresourcePath(Resource::kPods, pod.meta.ns, through, "proxy") + kStatusPath;
    absl::StatusOr<std::string> page = here ? GetHere(api, pod.ip, port) : api.Get(path, what);
    if (!page.ok()) return here ? Annotate(page.status(), what) : page.status();
    const auto report = ParseTrainerReport(*page);
    if (report.has_value() && (report->uid.empty() || report->uid == job.meta.uid) &&
        !report->rank_times.ranks.empty()) {
      return report->rank_times;
    }
  }
  return std::optional<RankTimes>();
}

}  // namespace taas
