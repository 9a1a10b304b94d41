#include "dashboard/training/series_routes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "dashboard/history/history_series.h"
#include "dashboard/server/job_routes.h"
#include "dashboard/http/problem.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {

std::string CompleteAnswer(const std::string& answer, const std::string& files,
                           const WatchedJob& job, Clock::WallTime now) {
  // What was written later is another job's, into the same directory.
  constexpr std::chrono::seconds kWrittenAfterEnd{60};
  const std::chrono::duration<double> until =
      (job.status.completion_time.value_or(now) + kWrittenAfterEnd).time_since_epoch();
  const std::string filled = FilledCurves(answer, files, until.count());
  nlohmann::json out = nlohmann::json::parse(WithLastPoints(filled, LastPointsOf(job, now)),
                                             nullptr, /*allow_exceptions=*/false);
  if (!out.is_object()) return answer;
  const bool any = !out.value("series", nlohmann::json::object()).empty() ||
                   out.contains("evaluator");
  if (any && !out.contains("source")) {
    // Nobody answers, and nobody has to.
    out["archived"] = true;
    out.erase("message");
  }
  return DumpJson(out);
}

std::string SeriesSince(const std::string& answer, double step) {
  nlohmann::json out = nlohmann::json::parse(answer, nullptr, /*allow_exceptions=*/false);
  for (const char* part : {"series", "evaluator"}) {
    if (!out.is_object() || !out.contains(part)) continue;
    for (auto& [name, points] : out[part].items()) {
      points.erase(std::remove_if(points.begin(), points.end(),
                                  [step](const auto& point) {
                                    return point[0].template get<double>() <= step;
                                  }),
                   points.end());
    }
  }
  return DumpJson(out);
}

void SeriesRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/series", [this](ApiCall call) { Series(std::move(call)); });
}

void SeriesRoutes::Series(ApiCall call) {
  const std::string since(call.request.Query("since"));
  char* end = nullptr;
  const double step = std::strtod(since.c_str(), &end);
  if (*end != '\0') {
    return call.respond(ProblemResponse(400, "BadRequest", "series: since is a step"));
  }
  WithJob(context_.board, context_.access, std::move(call),
          [this, since, step](ApiCall call, ClusterCache::JobPtr job) {
            const auto respond = [call, since, step](const std::string& answer) {
              call.respond(JsonResponse(since.empty() ? answer : SeriesSince(answer, step)));
            };
            context_.source.Fetch(
                *job, context_.board.cache().PodsOf(*job),
                [this, job, respond](const SeriesReply& reply) {
                  if (reply.live || context_.recorded == nullptr) {
                    return Complete(job, reply.text, respond);
                  }
                  context_.recorded(job->meta.uid, [this, job, respond, live = reply.text](
                                                       const std::string& kept) {
                    Complete(job, kept.empty() ? live : kept, respond);
                  });
                });
          });
}

void SeriesRoutes::Complete(const ClusterCache::JobPtr& job, std::string answer,
                            std::function<void(const std::string& answer)> respond) {
  if (!job->ended()) return respond(answer);
  const auto complete = [job, answer = std::move(answer), respond = std::move(respond),
                         now = context_.executor.clock().WallNow()](const std::string& files) {
    respond(CompleteAnswer(answer, files, *job, now));
  };
  if (context_.written == nullptr || !job->summaries.has_value()) return complete("");
  context_.written(*job, context_.board.cache().PodsOf(*job), complete);
}

}  // namespace taas::dashboard
