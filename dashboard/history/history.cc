#include "dashboard/history/history.h"

#include <algorithm>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/history/history_series.h"
#include "dashboard/logs/log_pod.h"
#include "dashboard/logs/log_tail.h"

namespace taas::dashboard {
namespace {

// A node that is asked for many logs at once has no time for what it is for.
constexpr LogTailOptions kTailOptions{
    .lines = static_cast<int>(kLogTailLines), .bytes = kLogTailBytes, .at_once = 4};

// The ends of logs as log_tail.h reads them.
decltype(HistorySource::fetch_tails) TailsFrom(const History::Context& context,
                                               const ClusterCache& cache) {
  return [context, &cache](const HistorySource::JobPtr& job, const HistorySource::Pods& pods,
                           std::function<void(std::vector<HistoryTail>)> done) {
    std::set<std::string> wanted;
    for (const auto& pod : pods) wanted.insert(pod->meta.uid);
    std::vector<LogPod> asked = LogPodsOf(cache, *job);
    std::erase_if(asked, [&](const LogPod& pod) { return wanted.count(pod.uid) == 0; });
    ReadLogTails(context.own, context.executor, asked, kTailOptions,
                 [done = std::move(done)](const std::vector<LogTail>& tails) {
                   std::vector<HistoryTail> out;
                   for (const LogTail& tail : tails) {
                     if (!tail.error.empty()) continue;
                     HistoryTail& read = out.emplace_back();
                     read.pod = tail.pod;
                     read.truncated = tail.truncated;
                     for (const LogLine& line : tail.lines) {
                       read.lines.push_back(
                           {line.time.empty() ? "" : line.time + "Z", line.text});
                     }
                   }
                   done(std::move(out));
                 });
  };
}

// Processors and memory by the cluster's metrics, GPUs by who holds them.
decltype(HistorySource::fetch_usage) UsageFrom(HistoryMetrics& metrics, const ClusterCache& cache,
                                               const History::Eyes& eyes) {
  return [&metrics, &cache, look = eyes.look_at_gpus, add_gpus = eyes.add_gpus](
             const std::vector<HistorySource::JobPtr>& jobs,
             std::function<void(const std::map<std::string, ReplicaUse>&)> done) {
    HistorySource::Pods pods;
    bool gpus = false;
    for (const auto& job : jobs) {
      for (const auto& pod : cache.PodsOf(*job)) {
        pods.push_back(pod);
        gpus = gpus || pod->gpus > 0;
      }
    }
    if (gpus && look != nullptr) look();
    metrics.Fetch([pods = std::move(pods), add_gpus, done = std::move(done)](
                      const HistoryMetrics::Used& used) {
      std::map<std::string, ReplicaUse> out;
      for (const auto& pod : pods) {
        const auto found = used.find({pod->meta.ns, pod->meta.name});
        ReplicaUse use = found == used.end() ? ReplicaUse() : found->second;
        if (pod->gpus > 0 && add_gpus != nullptr) add_gpus(*pod, &use);
        if (use.any()) out[pod->meta.uid] = use;
      }
      done(out);
    });
  };
}

HistorySource SourceOf(const History::Context& context, HistoryMetrics& metrics,
                       History::Eyes eyes) {
  const Board& board = eyes.board;
  const ClusterCache& cache = board.cache();
  return {.synced = [&board] { return board.synced(); },
          .jobs = [&cache] { return cache.Jobs(); },
          .find = [&cache](const std::string& key) { return cache.FindJob(key); },
          .pods_of = [&cache](const WatchedJob& job) { return cache.PodsOf(job); },
          .events_of = [&cache](const WatchedJob& job,
                                const auto& pods) { return cache.EventsOf(job, pods); },
          .watches =
              [&cache](JobKind kind, const std::string& ns) {
                const auto& kinds = cache.options().kinds;
                const auto& namespaces = cache.options().namespaces;
                return std::count(kinds.begin(), kinds.end(), kind) > 0 &&
                       (namespaces.empty() ||
                        std::count(namespaces.begin(), namespaces.end(), ns) > 0);
              },
          .fetch_series = std::move(eyes.fetch_series),
          .fetch_files = std::move(eyes.fetch_files),
          .fetch_checkpoints = std::move(eyes.fetch_checkpoints),
          .fetch_usage = UsageFrom(metrics, cache, eyes),
          .fetch_tails = TailsFrom(context, cache)};
}

}  // namespace

History::History(const Context& context, HistoryStore::Options options)
    : context_(context),
      thread_(context.disk == nullptr
                  ? std::make_unique<ThreadExecutor>(context.executor.clock(), "history")
                  : nullptr),
      store_(context.executor, context.disk == nullptr ? *thread_ : *context.disk,
             std::move(options)),
      routes_({.store = store_, .access = context.access}) {}

History::~History() { Close(); }

Board::Witness History::witness() {
  return {.changed =
              [this](const WatchedJob& job) {
                if (recorder_ != nullptr) recorder_->OnChanged(job);
              },
          .gone =
              [this](const WatchedJob& job) {
                if (recorder_ != nullptr) recorder_->OnGone(job);
              }};
}

void History::Start(Eyes eyes) {
  metrics_ = std::make_unique<HistoryMetrics>(context_.own, context_.executor,
                                              eyes.board.cache().options().namespaces);
  recorder_ = std::make_unique<HistoryRecorder>(
      HistoryRecorder::Context{.executor = context_.executor,
                               .store = store_,
                               .own = context_.own,
                               .source = SourceOf(context_, *metrics_, std::move(eyes))});
  recorder_->Start();
}

void History::Checkpoints(const std::string& uid,
                          std::function<void(std::string checkpoints)> done) {
  store_.Checkpoints(uid, [done = std::move(done)](const absl::StatusOr<std::string>& seen) {
    done(seen.value_or(""));
  });
}

void History::Curves(const std::string& uid, std::function<void(std::string answer)> done) {
  store_.Curves(uid, [done = std::move(done)](const absl::StatusOr<std::string>& curves) {
    const bool any = curves.ok() && !curves->empty();
    done(any ? ArchivedAnswer(*curves) : "");
  });
}

void History::Usage(const std::string& uid, std::function<void(std::string used)> done) {
  store_.Usage(uid, [done = std::move(done)](const absl::StatusOr<std::string>& used) {
    done(used.value_or(""));
  });
}

void History::Close() {
  if (std::exchange(closed_, true)) return;
  recorder_.reset();
  auto written = std::make_shared<std::promise<void>>();
  store_.Close([written] { written->set_value(); });
  if (thread_ == nullptr) return;
  written->get_future().wait();
  thread_->Stop();
}

}  // namespace taas::dashboard
