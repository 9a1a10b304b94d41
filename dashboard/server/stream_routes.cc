#include "dashboard/server/stream_routes.h"

#include <algorithm>
#include <utility>

#include "dashboard/http/problem.h"

namespace taas::dashboard {

StreamRoutes::~StreamRoutes() = default;

void StreamRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "stream", [this](ApiCall call) { Open(std::move(call)); });
}

void StreamRoutes::Stop() {
  for (const auto& [id, tab] : tabs_) tab->Stop();
}

void StreamRoutes::Open(ApiCall call) {
  const WebRequest& request = call.request;
  TabTopics topics{.jobs = request.Is("jobs"),
                   .gpus = request.Is("gpus"),
                   .queues = request.Is("queues"),
                   .job = {}};
  if (const std::string_view job = request.Query("job"); !job.empty()) {
    // As in paths of the API: NS/PLURAL/NAME.
    const size_t first = job.find('/');
    const size_t second = first == std::string_view::npos ? first : job.find('/', first + 1);
    JobKind kind;
    std::string ns, name;
    if (second != std::string_view::npos) {
      topics.job = std::string(job.substr(first + 1, second - first)) +
                   std::string(job.substr(0, first)) + std::string(job.substr(second));
    }
    if (!ParseJobKey(topics.job, &kind, &ns, &name)) {
      return call.respond(
          ProblemResponse(400, "BadRequest", "stream: job is NAMESPACE/PLURAL/NAME"));
    }
  }
  const auto of_one = std::count_if(tabs_.begin(), tabs_.end(), [&](const auto& tab) {
    return tab.second->identity()->key == call.identity->key;
  });
  if (static_cast<size_t>(of_one) >= kTabsOfOneMax) {
    return call.respond(ProblemResponse(429, "TooManyRequests",
                                        "you have too many pages open; close some"));
  }
  std::string_view after = request.Header("last-event-id");
  if (after.empty()) after = request.Query("after");
  const uint64_t id = next_++;
  tabs_[id] = std::make_unique<TabStream>(
      context_, TabStream::Options{.identity = call.identity,
                                   .token = call.token,
                                   .topics = std::move(topics),
                                   .after = std::string(after)});
  WebResponse response{.content_type = "text/event-stream; charset=utf-8"};
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  Executor& executor = context_.executor;
  const std::weak_ptr<bool> alive = alive_;
  response.stream.opened = [this, alive, &executor, id](std::shared_ptr<StreamSink> sink) {
    executor.Post([this, alive, id, sink = std::move(sink)] {
      if (alive.lock() == nullptr) return;
      const auto tab = tabs_.find(id);
      if (tab != tabs_.end()) tab->second->Open(sink);
    });
  };
  response.stream.closed = [this, alive, &executor, id] {
    executor.Post([this, alive, id] {
      if (alive.lock() != nullptr) tabs_.erase(id);
    });
  };
  call.respond(std::move(response));
}

}  // namespace taas::dashboard
