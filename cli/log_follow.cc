#include "cli/log_follow.h"

#include <utility>

#include "cli/job_ref.h"
#include "operator/api/job_codec.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/log_container.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

// A trainer may be silent for long; a log that is read again costs one request.
constexpr std::chrono::hours kSilence{1};
// Before a log is asked for again: the container starts, or the connection was lost.
constexpr std::chrono::seconds kAgain{1};
// A pod that has ended and still cannot be read this often has lost its log.
constexpr int kFailuresMax = 5;
// A pod that nobody has deleted so long after the end of its job runs on without end, as a server
// that joins does under cleanPodPolicy None. Until then the operator's deletion, or the news that
// the pod has ended by itself, may be on its way.
constexpr std::chrono::seconds kRunsOn{5};

}  // namespace

std::string ReplicaName(const Pod& pod) {
  return std::string(RoleName(pod.role.value_or(Role::kWorker))) + "-" + std::to_string(pod.index);
}

struct LogFollow::Tail {
  std::shared_ptr<const LoggedPod> pod;  // As last seen.
  bool gone = false;                     // It was deleted.
  bool done = false;                     // Nothing will follow.
  int code = 0;                          // Of the present request.
  int failures = 0;                      // In a row.
  LineSplitter lines;
  SeenLines seen;
  std::unique_ptr<KubeTransport::StreamHandle> stream;
  Executor::TimerId timer = 0;
};

LogFollow::LogFollow(KubeTransport& transport, Executor& executor, Random& random, Options options,
                     Print print, Done done)
    : transport_(transport),
      executor_(executor),
      options_(std::move(options)),
      print_(std::move(print)),
      done_(std::move(done)),
      pod_reflector_(transport, executor, random, pods_,
                     [kind = options_.kind](std::string_view json) {
                       return DecodeLoggedPod(json, kind);
                     },
                     {.path = CollectionPath(Resource::kPods, options_.ns),
                      .label_selector = LabelEquals(kJobLabel, options_.job)}),
      job_reflector_(transport, executor, random, jobs_,
                     [kind = options_.kind](std::string_view json) {
                       return DecodeJob(kind, json);
                     },
                     {.path = JobsPath(options_.kind, options_.ns)}) {}

LogFollow::~LogFollow() {
  if (end_timer_ != 0) executor_.Cancel(end_timer_);
  for (const auto& [uid, tail] : tails_) {
    if (tail->timer != 0) executor_.Cancel(tail->timer);
  }
}

absl::StatusOr<LogFollow::LoggedPod> LogFollow::DecodeLoggedPod(std::string_view json,
                                                                JobKind kind) {
  LoggedPod pod;
  ASSIGN_OR_RETURN(static_cast<Pod&>(pod), DecodePod(json));
  pod.container = LogContainer(ContainerNames(json), kind);
  return pod;
}

void LogFollow::Start() {
  pods_.set_on_change([this](const auto& before, const auto& after) {
    if (after != nullptr && (before == nullptr || before->meta.uid == after->meta.uid)) {
      return OnPod(after);
    }
    const auto tail = tails_.find(before->meta.uid);
    if (tail != tails_.end()) tail->second->gone = true;
    after != nullptr ? OnPod(after) : CheckEnd();
  });
  jobs_.set_on_change([this](const auto&, const std::shared_ptr<const Job>& job) {
    const bool ours = job != nullptr && job->meta.name == options_.job;
    if (ours && options_.on_job != nullptr) options_.on_job(*job);
    CheckEnd();
  });
  pod_reflector_.set_on_synced([this] { CheckEnd(); });
  job_reflector_.set_on_synced([this] { CheckEnd(); });
  pod_reflector_.Start();
  job_reflector_.Start();
}

void LogFollow::OnPod(const std::shared_ptr<const LoggedPod>& pod) {
  // A pod that has not started has no log yet.
  if (!options_.filter.Wants(*pod) || pod->phase == PodPhase::kPending) return;
  std::unique_ptr<Tail>& tail = tails_[pod->meta.uid];
  const bool is_new = tail == nullptr;
  if (is_new) tail = std::make_unique<Tail>();
  tail->pod = pod;
  if (is_new) Open(*tail);
}

void LogFollow::Open(Tail& tail) {
  tail.code = 0;
  tail.lines.Clear();
  tail.seen.Restart();
  HttpRequest request;
  const std::string seen = tail.seen.SinceTime();
  request.path = WithQuery(
      SubresourcePath(Resource::kPods, tail.pod->meta.ns, tail.pod->meta.name, "log"),
      {{"container", tail.pod->container},
       {"follow", "true"},
       {"timestamps", "true"},
       {"sinceTime", seen.empty() ? options_.since_time : seen},
       {"tailLines", seen.empty() ? options_.tail_lines : ""}});
  request.accept = "*/*";
  request.timeout = kSilence;
  tail.stream = transport_.Stream(
      std::move(request), {.opened = [&tail](int code) { tail.code = code; },
                           .data =
                               [this, &tail](std::string_view chunk) {
                                 if (tail.code != 200) return;
                                 tail.failures = 0;
                                 // Too long a line is dropped, and what follows on it.
                                 const auto print = [this, &tail](std::string_view line) {
                                   PrintLine(tail, line);
                                   return absl::OkStatus();
                                 };
                                 if (!tail.lines.Add(chunk, print).ok()) tail.lines.Clear();
                               },
                           .ended =
                               [this, &tail](const absl::Status& status) {
                                 if (!status.ok() || tail.code != 200) ++tail.failures;
                                 OnEnded(tail);
                               }});
}

void LogFollow::PrintLine(Tail& tail, std::string_view text) {
  const LogLine line = ParseLogLine(text);
  if (tail.seen.IsNew(line)) print_(ReplicaName(*tail.pod), line.text);
}

void LogFollow::OnEnded(Tail& tail) {
  if (!tail.lines.rest().empty() && tail.code == 200) {
    const std::string rest = tail.lines.rest();
    PrintLine(tail, rest);
  }
  const bool ended = tail.gone || HasStopped(*tail.pod);
  const bool read_whole = tail.code == 200 && tail.failures == 0;
  tail.done = ended && (read_whole || tail.gone || tail.failures >= kFailuresMax);
  if (tail.done) return CheckEnd();
  // The stream is given up from a task of its own: this is a call of it.
  tail.timer = executor_.PostAfter(kAgain, [this, &tail] {
    tail.timer = 0;
    Open(tail);
  });
}

void LogFollow::CheckEnd() {
  if (done_ == nullptr || !pod_reflector_.synced() || !job_reflector_.synced()) return;
  const std::shared_ptr<const Job> job = jobs_.Find(options_.ns, options_.job);
  if (job != nullptr) {
    has_ended_ =
        job->status.state == JobState::kSucceeded || job->status.state == JobState::kFailed;
  }
  if (job != nullptr && !has_ended_) return StopWaiting();
  const auto is_done = [&](const Tail& tail) {
    const bool leaves = HasStopped(*tail.pod) || tail.pod->meta.deletion_time.has_value();
    return tail.done || (waited_ && !leaves);
  };
  // Pods and jobs are watched apart: the end of a short job may be seen before its pods.
  if (job != nullptr && tails_.empty() && !waited_) return WaitForPods();
  for (const auto& [uid, tail] : tails_) {
    if (!is_done(*tail)) return WaitForPods();
  }
  const Done done = std::exchange(done_, nullptr);
  done(has_ended_ ? absl::OkStatus()
                  : absl::NotFoundError("job " + options_.ns + "/" + options_.job +
                                        " was deleted"));
}

void LogFollow::WaitForPods() {
  if (waited_ || end_timer_ != 0) return;
  end_timer_ = executor_.PostAfter(kRunsOn, [this] {
    end_timer_ = 0;
    waited_ = true;
    CheckEnd();
  });
}

void LogFollow::StopWaiting() {
  if (end_timer_ != 0) executor_.Cancel(end_timer_);
  end_timer_ = 0;
  waited_ = false;
}

}  // namespace taas
