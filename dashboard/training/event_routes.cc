#include "dashboard/training/event_routes.h"

#include <string>
#include <utility>

#include "dashboard/server/job_routes.h"

namespace taas::dashboard {
namespace {

// Of the path behind "api": jobs, NS, PLURAL, NAME, events.
constexpr size_t kPartsBefore = 5;

std::string PathBelow(const ApiCall& call) {
  std::string path;
  for (size_t i = kPartsBefore; i < call.parts(); ++i) path += "/" + std::string(call.Part(i));
  return path;
}

}  // namespace

void EventRoutes::AddTo(RouteTable* table) {
  for (const char* below : {"", "/data/runs", "/data/problems", "/data/histograms/*",
                            "/data/plugin/*/*"}) {
    table->Add("GET", std::string("jobs/*/*/*/events") + below,
               [this](ApiCall call) { Ask(std::move(call)); });
  }
}

void EventRoutes::Ask(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call),
          [this](ApiCall call, ClusterCache::JobPtr job) {
            EventMirror::Question question{.path = PathBelow(call), .query = call.request.query};
            context_.mirror.Ask(*job, context_.board.cache().PodsOf(*job), std::move(question),
                                [respond = call.respond](Answer answer) {
                                  respond({.code = answer.status,
                                           .content_type = std::move(answer.content_type),
                                           .body = Shared(std::move(answer.body))});
                                });
          });
}

}  // namespace taas::dashboard
