#include "dashboard/training/series_routes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "dashboard/server/job_routes.h"
#include "dashboard/http/problem.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {

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
                [recorded = context_.recorded, uid = job->meta.uid,
                 respond](const SeriesReply& reply) {
                  if (reply.live || recorded == nullptr) return respond(reply.text);
                  recorded(uid, [respond, live = reply.text](const std::string& kept) {
                    respond(kept.empty() ? live : kept);
                  });
                });
          });
}

}  // namespace taas::dashboard
