#include "dashboard/training/series_source.h"

#include <utility>

#include "dashboard/server/job_view.h"
#include "dashboard/training/answering_replicas.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using PodPtr = std::shared_ptr<const WatchedPod>;

// More than any trainer of ours keeps; a page of a user's program may hold anything.
constexpr size_t kCurvesMax = 100;
constexpr size_t kPointsMax = 5'000;

bool IsPoint(const Json& point) {
  return point.is_array() && point.size() == 3 && point[0].is_number() && point[1].is_number() &&
         point[2].is_number();
}

}  // namespace

absl::StatusOr<Json> ReadSeriesPage(std::string_view body) {
  ASSIGN_OR_RETURN(const Json page, ParseJsonObject(body));
  const auto found = page.find("series");
  if (found == page.end() || !found->is_object()) {
    return absl::InvalidArgumentError("/series: there is no object `series` in the answer");
  }
  Json out = Json::object();
  for (const auto& [name, points] : found->items()) {
    if (!points.is_array() || out.size() >= kCurvesMax) continue;
    Json& curve = out[name] = Json::array();
    for (const Json& point : points) {
      if (IsPoint(point) && curve.size() < kPointsMax) curve.push_back(point);
    }
  }
  return out;
}

// The two pages of one job.
struct SeriesSource::Round {
  std::string source;  // "chief-0"
  absl::StatusOr<Json> main = absl::NotFoundError("");
  absl::StatusOr<Json> evaluator = absl::NotFoundError("");
  int missing = 0;
};

SeriesSource::SeriesSource(PollTransport& transport, Executor& executor)
    : transport_(transport), executor_(executor) {}

SeriesSource::~SeriesSource() = default;

void SeriesSource::Fetch(const WatchedJob& job, const Pods& pods, Done done) {
  MakeRoom();
  const std::string uid = job.meta.uid;
  Answer& answer = answers_[uid];
  const bool fresh = executor_.clock().Now() - answer.at < kLately;
  if (!answer.reply.text.empty() && fresh && !answer.asking) return done(answer.reply);
  answer.waiting.push_back(std::move(done));
  if (!std::exchange(answer.asking, true)) Ask(uid, job, pods);
}

void SeriesSource::Ask(const std::string& uid, const WatchedJob& job, const Pods& pods) {
  const AnsweringReplicas replicas = FindAnsweringReplicas(job, pods);
  auto round = std::make_shared<Round>();
  std::vector<std::pair<PodPtr, absl::StatusOr<Json> Round::*>> asked;
  if (replicas.main != nullptr) {
    round->source = ReplicaName(job, *replicas.main);
    asked.emplace_back(replicas.main, &Round::main);
  }
  if (replicas.evaluator != nullptr) {
    asked.emplace_back(replicas.evaluator, &Round::evaluator);
  }
  if (asked.empty()) return OnAll(uid, *round);
  round->missing = static_cast<int>(asked.size());
  for (const auto& [pod, page] : asked) {
    transport_.Get(pod->ip, pod->status_port, "/series",
                   [this, uid, round, page = page, alive = std::weak_ptr<bool>(alive_)](
                       const absl::StatusOr<std::string>& body) {
                     if (alive.lock() == nullptr) return;
                     (*round).*page = body.ok() ? ReadSeriesPage(*body)
                                                : absl::StatusOr<Json>(body.status());
                     if (--round->missing == 0) OnAll(uid, *round);
                   });
  }
}

void SeriesSource::OnAll(const std::string& uid, const Round& round) {
  Json out = {{"series", round.main.ok() ? *round.main : Json::object()}};
  if (round.main.ok()) out["source"] = round.source;
  if (round.evaluator.ok()) out["evaluator"] = *round.evaluator;
  if (!round.main.ok()) {
    out["message"] = round.source.empty()
                         ? "no replica that keeps curves runs now"
                         : round.source + " does not answer: " +
                               std::string(round.main.status().message());
  }
  Answer& answer = answers_[uid];
  answer.reply = {.text = DumpJson(out), .live = round.main.ok()};
  answer.at = executor_.clock().Now();
  answer.asking = false;
  const SeriesReply reply = answer.reply;
  for (const Done& done : std::exchange(answer.waiting, {})) done(reply);
}

void SeriesSource::MakeRoom() {
  if (answers_.size() < kAnswersMax) return;
  const Clock::Time now = executor_.clock().Now();
  std::erase_if(answers_, [now](const auto& entry) {
    return !entry.second.asking && now - entry.second.at >= kLately;
  });
}

}  // namespace taas::dashboard
