#include "dashboard/logs/log_routes.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "dashboard/server/job_routes.h"
#include "dashboard/logs/log_text.h"
#include "dashboard/http/problem.h"
#include "operator/base/status.h"
#include "operator/kube/log_line.h"

namespace taas::dashboard {

absl::StatusOr<LogStream::Options> LogOptionsOf(const WebRequest& request) {
  LogStream::Options options{.tail = LogRoutes::kTailDefault,
                             .previous = request.Is("previous"),
                             .follow = request.Is("follow"),
                             .plain = request.Is("download")};
  for (const auto& [key, value] : request.query) {
    if (key == "replica" && !value.empty()) options.replicas.insert(value);
  }
  if (const std::string_view tail = request.Query("tail"); !tail.empty()) {
    const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), options.tail);
    if (error != std::errc() || end != tail.data() + tail.size() || options.tail < 0) {
      return absl::InvalidArgumentError("read the logs: tail is a number of lines; 0: all");
    }
  }
  if (const std::string_view since = request.Query("since"); !since.empty()) {
    options.since = ParseLogLine(since).time;
    if (options.since.empty()) {
      return absl::InvalidArgumentError("read the logs: since is a time as 2026-11-21T05:54:17Z");
    }
  }
  if (options.plain) options.tail = 0;
  // What has ended is not followed.
  if (options.plain || options.previous) options.follow = false;
  return options;
}

LogRoutes::LogRoutes(const Context& context) : context_(context) {
  context_.board.Add(this);
  recheck_timer_ = context_.executor.PostAfter(kRecheck, [this] { Recheck(); });
}

LogRoutes::~LogRoutes() {
  context_.board.Remove(this);
  if (recheck_timer_ != 0) context_.executor.Cancel(recheck_timer_);
}

// An answer may come after we have gone.
template <typename F>
auto LogRoutes::Guarded(F call) {
  return [call = std::move(call), alive = std::weak_ptr<bool>(alive_)](auto&&... arguments) {
    if (alive.lock() != nullptr) call(std::forward<decltype(arguments)>(arguments)...);
  };
}

void LogRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/logs", [this](ApiCall call) { Logs(std::move(call)); });
}

void LogRoutes::Logs(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call), [this](ApiCall call, auto job) {
    const AccessQuestion question{
        .verb = "get", .resource = "pods", .subresource = "log", .ns = job->meta.ns};
    context_.access.Check(
        call.identity, {question}, Guarded([this, call, job](const std::vector<bool>& may) {
          if (may[0]) return Begin(call, job);
          call.respond(ProblemResponse(403, "Forbidden",
                                       "read the logs of job " + job->key() +
                                           ": you may not get pods/log in namespace " +
                                           job->meta.ns));
        }));
  });
}

size_t LogRoutes::WindowsBytes() const {
  size_t taken = 0;
  for (const auto& [id, open] : streams_) taken += open.windows_bytes;
  const size_t left = kAllWindowsBytes - std::min(taken, kAllWindowsBytes);
  return std::clamp(left / 2, kLeastWindowsBytes, LogStream::kWindowsBytes);
}

void LogRoutes::Begin(const ApiCall& call, const ClusterCache::JobPtr& job) {
  absl::StatusOr<LogStream::Options> options = LogOptionsOf(call.request);
  if (!options.ok()) return call.respond(ProblemResponse(options.status()));
  const auto of_one = std::count_if(streams_.begin(), streams_.end(), [&](const auto& open) {
    return open.second.identity->key == call.identity->key;
  });
  if (static_cast<size_t>(of_one) >= kStreamsOfOneMax || streams_.size() >= kStreamsMax) {
    return call.respond(ProblemResponse(
        429, "TooManyRequests", "too many logs are being read at once; close some pages of logs"));
  }
  options->token = call.token;
  options->windows_bytes = WindowsBytes();
  const std::string file =
      options->plain ? SafeFileName(job->meta.ns + "_" + job->meta.name) + "_logs.txt" : "";
  const uint64_t id = next_++;
  const std::string key = job->key(), uid = job->meta.uid;
  streams_[id] = {.identity = call.identity,
                  .token = call.token,
                  .key = key,
                  .windows_bytes = options->windows_bytes,
                  .stream = std::make_unique<LogStream>(
                      LogStream::Context{.executor = context_.executor,
                                         .callers = context_.callers,
                                         .pods = [this, key, uid] { return PodsOf(key, uid); }},
                      *std::move(options))};
  Respond(call, id, file);
}

LogPods LogRoutes::PodsOf(const std::string& key, const std::string& uid) const {
  const ClusterCache::JobPtr job = context_.board.cache().FindJob(key);
  if (job == nullptr || job->meta.uid != uid) return {.over = true};
  return {.pods = LogPodsOf(context_.board.cache(), *job), .over = job->ended()};
}

void LogRoutes::Respond(const ApiCall& call, uint64_t id, const std::string& file) {
  WebResponse response{.content_type = file.empty() ? "application/x-ndjson; charset=utf-8"
                                                    : "text/plain; charset=utf-8"};
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  if (!file.empty()) {
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + file + "\"");
  }
  Executor& executor = context_.executor;
  response.stream.opened = [this, alive = std::weak_ptr<bool>(alive_), &executor,
                            id](std::shared_ptr<StreamSink> sink) {
    executor.Post([this, alive, id, sink = std::move(sink)] {
      if (alive.lock() == nullptr) return;
      const auto open = streams_.find(id);
      if (open != streams_.end()) open->second.stream->Open(sink);
    });
  };
  response.stream.closed = [this, alive = std::weak_ptr<bool>(alive_), &executor, id] {
    executor.Post([this, alive, id] {
      if (alive.lock() != nullptr) streams_.erase(id);
    });
  };
  call.respond(std::move(response));
}

void LogRoutes::OnChanges(const Board::Changes& changes) {
  for (const auto& [id, open] : streams_) {
    if (changes.jobs.count(open.key) > 0) open.stream->OnChange();
  }
}

void LogRoutes::Recheck() {
  recheck_timer_ = context_.executor.PostAfter(kRecheck, [this] { Recheck(); });
  // Answers may come at once, and end streams.
  std::map<uint64_t, std::string> tokens;
  for (const auto& [id, open] : streams_) tokens[id] = open.token;
  for (const auto& [id, token] : tokens) {
    context_.authenticator.Authenticate(
        token, Guarded([this, id](const absl::StatusOr<IdentityPtr>& who) {
          const auto open = streams_.find(id);
          if (open == streams_.end() || !absl::IsUnauthenticated(who.status())) return;
          open->second.stream->End("read the logs: " + std::string(who.status().message()));
        }));
  }
}

void LogRoutes::Stop() {
  for (const auto& [id, open] : streams_) open.stream->End("the dashboard's server stops");
}

}  // namespace taas::dashboard
