#include "dashboard/server/tab_stream.h"

#include <utility>

#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

constexpr char kWhat[] = "a page's stream of the dashboard";

}  // namespace

bool ParseJobKey(std::string_view key, JobKind* kind, std::string* ns, std::string* name) {
  const size_t first = key.find('/');
  const size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
  if (second == std::string_view::npos) return false;
  for (const JobKind candidate : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    if (key.substr(0, first) != DialectOf(candidate).plural) continue;
    *kind = candidate;
    *ns = key.substr(first + 1, second - first - 1);
    *name = key.substr(second + 1);
    return !ns->empty() && !name->empty() && name->find('/') == std::string::npos;
  }
  return false;
}

std::vector<AccessQuestion> RightsQuestions(JobKind kind, const std::string& ns,
                                            const std::string& name) {
  const Dialect& dialect = DialectOf(kind);
  const std::string group(dialect.group());
  const std::string plural(dialect.plural);
  return {{.verb = "patch", .group = group, .resource = plural, .subresource = {}, .ns = ns,
           .name = name},
          {.verb = "delete", .group = group, .resource = plural, .ns = ns, .name = name},
          {.verb = "create", .group = group, .resource = plural, .ns = ns},
          {.verb = "get", .group = "", .resource = "pods", .subresource = "log", .ns = ns},
          {.verb = "list", .group = "", .resource = "events", .ns = ns}};
}

JobRights RightsOf(const std::vector<bool>& may) {
  return {.update = may[0], .remove = may[1], .create = may[2], .logs = may[3], .events = may[4]};
}

TabStream::TabStream(const Context& context, Options options)
    : context_(context),
      executor_(context.executor, kWhat, [this] { Fail(); }),
      options_(std::move(options)) {}

TabStream::~TabStream() {
  context_.board.Remove(this);
  for (const Executor::TimerId timer : {beat_timer_, recheck_timer_, maps_timer_}) {
    if (timer != 0) executor_.Cancel(timer);
  }
}

void TabStream::Try(const std::function<void()>& run) {
  if (!RunCaught(kWhat, run)) Fail();
}

void TabStream::Fail() {
  const auto end = [this] {
    End("Internal", "the dashboard could not work on this; its log says why");
  };
  if (RunCaught(kWhat, end) || sink_ == nullptr) return;
  std::exchange(sink_, nullptr)->End();
  context_.board.Remove(this);
}

// An answer may come after the tab has gone.
template <typename F>
auto TabStream::Guarded(F call) {
  return [this, call = std::move(call),
          alive = std::weak_ptr<bool>(alive_)](const auto&... arguments) {
    if (alive.lock() != nullptr) Try([&] { call(arguments...); });
  };
}

void TabStream::Open(std::shared_ptr<StreamSink> sink) {
  sink_ = std::move(sink);
  Try([this] { Begin(); });
}

void TabStream::Begin() {
  seen_ = context_.board.rows().NumberOf(options_.after);
  context_.board.Add(this);
  SendCluster();
  FindOutRights();
  beat_timer_ = executor_.PostAfter(kHeartbeat, [this] { Beat(); });
  recheck_timer_ = executor_.PostAfter(kRecheck, [this] { Recheck(); });
}

void TabStream::OnChanges(const Board::Changes& changes) {
  Try([&] { Look(changes); });
}

void TabStream::Look(const Board::Changes& changes) {
  if (changes.cluster) SendCluster();
  if (sight_ == nullptr) return;
  // In a namespace that is new to us nobody has asked yet what we see.
  if (context_.board.rows().namespaces_version() != namespaces_version_) return FindOutRights();
  if (changes.rows) SendRows();
  if (changes.jobs.count(options_.topics.job) > 0) SendDetail();
  const bool maps = options_.topics.gpus || options_.topics.queues;
  if (maps && (changes.gpus || changes.rows) && maps_timer_ == 0) {
    maps_timer_ = executor_.PostAfter(kMapsEvery, [this] {
      maps_timer_ = 0;
      SendMaps();
    });
  }
}

void TabStream::Stop() { End("ServerStops", "the dashboard's server stops; it will be back"); }

void TabStream::Beat() {
  Send(Shared(": still here\n\n"));
  beat_timer_ = executor_.PostAfter(kHeartbeat, [this] { Beat(); });
}

void TabStream::Recheck() {
  recheck_timer_ = executor_.PostAfter(kRecheck, [this] { Recheck(); });
  context_.authenticator.Authenticate(options_.token,
                                      Guarded([this](const auto& who) { OnRecheck(who); }));
}

void TabStream::OnRecheck(const absl::StatusOr<IdentityPtr>& who) {
  if (absl::IsUnauthenticated(who.status())) {
    return End("Unauthenticated", std::string(who.status().message()));
  }
  // While the API server is away nobody can say, and nothing new is shown either.
  if (!who.ok()) return;
  options_.identity = *who;
  FindOutRights();
}

void TabStream::FindOutRights() {
  namespaces_version_ = context_.board.rows().namespaces_version();
  std::set<std::string> namespaces = context_.board.Namespaces();
  JobKind kind;
  std::string ns, name;
  if (ParseJobKey(options_.topics.job, &kind, &ns, &name)) {
    namespaces.insert(ns);
    context_.access.Check(options_.identity, RightsQuestions(kind, ns, name),
                          Guarded([this](const std::vector<bool>& may) {
                            rights_ = RightsOf(may);
                            rights_known_ = true;
                            SendDetail();
                          }));
  }
  if (options_.topics.gpus || options_.topics.queues) {
    namespaces.merge(context_.map_namespaces());
  }
  if (options_.topics.queues) {
    FindQueueSight(context_.access, options_.identity, namespaces,
                   Guarded([this](const QueueSight& sight) {
                     queue_sight_ = sight;
                     SendMaps();
                   }));
  }
  FindSight(context_.access, options_.identity, context_.board.cache().Kinds(), namespaces,
            Guarded([this](SightPtr sight) { OnSight(std::move(sight)); }));
}

void TabStream::OnSight(SightPtr sight) {
  const bool same = sight_ != nullptr && *sight == *sight_;
  const bool first = sight_ == nullptr;
  if (!same) sight_ = std::move(sight);
  // Of what is in sight now and was not before the tab has never heard.
  if (!same && !first) seen_ = 0;
  SendRows();
  SendDetail();
  SendMaps();
}

void TabStream::SendRows() {
  if (!options_.topics.jobs || sight_ == nullptr || !context_.board.synced()) return;
  if (seen_ == context_.board.rows().last()) return;
  const SharedText text = context_.board.JobsEvent(seen_, sight_);
  seen_ = context_.board.rows().last();
  if (!text->empty()) Send(text);
}

void TabStream::SendDetail() {
  const bool known = rights_known_ && sight_ != nullptr && context_.board.synced();
  if (options_.topics.job.empty() || !known) return;
  const SharedText detail = context_.board.DetailEvent(options_.topics.job, *sight_, rights_);
  if (*detail == sent_detail_) return;
  sent_detail_ = *detail;
  SendEvent("job", "{\"job\":" + sent_detail_ + "}");
}

void TabStream::SendMaps() {
  if (sight_ == nullptr || !context_.board.synced()) return;
  if (options_.topics.gpus) {
    std::string gpus = context_.gpus(*sight_);
    if (gpus != sent_gpus_) SendEvent("gpus", sent_gpus_ = std::move(gpus));
  }
  if (options_.topics.queues && queue_sight_.has_value()) {
    std::string queues = context_.queues(*sight_, *queue_sight_);
    if (queues != sent_queues_) SendEvent("queues", sent_queues_ = std::move(queues));
  }
}

void TabStream::SendCluster() { SendEvent("cluster", context_.board.ClusterStateNow()); }

void TabStream::SendEvent(const char* name, std::string_view data) {
  Send(Shared("event: " + std::string(name) + "\ndata: " + std::string(data) + "\n\n"));
}

void TabStream::Send(SharedText text) {
  if (sink_ != nullptr) sink_->Write(std::move(text));
}

void TabStream::End(const char* reason, const std::string& message) {
  if (sink_ == nullptr) return;
  SendEvent("end", DumpJson({{"reason", reason}, {"message", message}}));
  std::exchange(sink_, nullptr)->End();
  context_.board.Remove(this);
}

}  // namespace taas::dashboard
