#include "cli/log_follow.h"

#include <algorithm>
#include <utility>

#include "cli/job_ref.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/log_container.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

// Between two looks at what is left to read of a job that is over.
constexpr std::chrono::milliseconds kLookAgain{100};

}  // namespace

std::string ReplicaName(const Pod& pod) {
  return std::string(RoleName(pod.role.value_or(Role::kWorker))) + "-" + std::to_string(pod.index);
}

std::string LogName(const Pod& pod) {
  const InitContainer* const init = LogInit(pod);
  return ReplicaName(pod) + (init == nullptr ? "" : "/" + init->name);
}

struct LogFollow::Tail {
  // As last seen while this was the container that it had come to.
  std::shared_ptr<const LoggedPod> pod;
  bool gone = false;                     // It was deleted.
  bool past = false;                     // The pod has come to its next container.
  bool done = false;                     // Nothing will follow.
  std::unique_ptr<ContainerLog> log;
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
                       return ReadSeenJob(kind, json);
                     },
                     {.path = JobsPath(options_.kind, options_.ns),
                      .field_selector = "metadata.name=" + options_.job}) {}

LogFollow::~LogFollow() {
  GoOn();
  for (const auto& [uid, tail] : tails_) {
    if (tail->timer != 0) executor_.Cancel(tail->timer);
  }
}

absl::StatusOr<LogFollow::LoggedPod> LogFollow::DecodeLoggedPod(std::string_view json,
                                                                JobKind kind) {
  LoggedPod pod;
  ASSIGN_OR_RETURN(static_cast<Pod&>(pod), DecodePod(json));
  pod.container = LogContainerOf(pod, ContainerNames(json), kind);
  return pod;
}

void LogFollow::Start() {
  pods_.set_on_change([this](const auto& before, const auto& after) {
    if (after != nullptr && (before == nullptr || before->meta.uid == after->meta.uid)) {
      return OnPod(after);
    }
    ForEachTailOf(before->meta.uid, [](Tail& tail) { tail.gone = true; });
    after != nullptr ? OnPod(after) : CheckEnd();
  });
  jobs_.set_on_change([this](const auto&, const std::shared_ptr<const SeenJob>&) {
    const std::shared_ptr<const SeenJob> job = FindJob();
    if (job != nullptr && options_.on_job != nullptr) options_.on_job(*job);
    CheckEnd();
  });
  pod_reflector_.set_on_synced([this] {
    if (pods_after_end_ == PodsAfterEnd::kAsked) pods_after_end_ = PodsAfterEnd::kListed;
    CheckEnd();
  });
  job_reflector_.set_on_synced([this] { CheckEnd(); });
  // Who may not list would be kept for ever.
  const auto on_failure = [this](const absl::Status& why) {
    const bool began = pod_reflector_.synced() && job_reflector_.synced();
    if (IsRefused(why) && !began) End(why);
  };
  pod_reflector_.set_on_failure(on_failure);
  job_reflector_.set_on_failure(on_failure);
  pod_reflector_.Start();
  job_reflector_.Start();
}

void LogFollow::ForEachTailOf(const std::string& uid, const std::function<void(Tail&)>& visit) {
  const std::string prefix = uid + "/";
  for (auto at = tails_.lower_bound(prefix);
       at != tails_.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at) {
    visit(*at->second);
  }
}

void LogFollow::OnPod(const std::shared_ptr<const LoggedPod>& pod) {
  if (!options_.filter.Wants(*pod) || !MayHaveLog(*pod)) return;
  ForEachTailOf(pod->meta.uid,
                [&](Tail& tail) { tail.past = tail.pod->container != pod->container; });
  std::unique_ptr<Tail>& tail = tails_[pod->meta.uid + "/" + pod->container];
  const bool is_new = tail == nullptr;
  if (is_new) tail = std::make_unique<Tail>();
  tail->pod = pod;
  if (is_new) tail->log = LogOf(*tail);
  // Its log ended before this news came: what is left of it is all there.
  const bool again = tail->timer != 0 && HasStopped(*pod);
  if (again) executor_.Cancel(std::exchange(tail->timer, 0));
  if (is_new || again) tail->log->Open();
}

std::unique_ptr<ContainerLog> LogFollow::LogOf(Tail& tail) {
  return std::make_unique<ContainerLog>(
      transport_, executor_.clock(),
      ContainerLog::Options{.ns = tail.pod->meta.ns,
                            .pod = tail.pod->meta.name,
                            .container = tail.pod->container,
                            .since_time = options_.since_time,
                            .tail_lines = options_.tail_lines},
      [this, &tail](std::string_view line) { print_(LogName(*tail.pod), line); },
      [this, &tail] { OnEnded(tail); });
}

void LogFollow::OnEnded(Tail& tail) {
  const bool ended = tail.gone || tail.past || HasStopped(*tail.pod);
  const bool given_up = tail.log->failures() >= ContainerLog::kFailuresMax;
  tail.done = ended && (tail.log->read_whole() || tail.gone || given_up);
  if (tail.done) return CheckEnd();
  // The stream is given up from a task of its own: this is a call of it.
  tail.timer = executor_.PostAfter(ContainerLog::kAgain, [&tail] {
    tail.timer = 0;
    tail.log->Open();
  });
}

// Null: it is gone. Another of its name is another job.
std::shared_ptr<const SeenJob> LogFollow::FindJob() const {
  const std::shared_ptr<const SeenJob> job = jobs_.Find(options_.ns, options_.job);
  const std::string& uid = options_.filter.uid;
  return job != nullptr && !uid.empty() && job->meta.uid != uid ? nullptr : job;
}

void LogFollow::CheckEnd() {
  if (done_ == nullptr || !pod_reflector_.synced() || !job_reflector_.synced()) return;
  if (const std::shared_ptr<const SeenJob> job = FindJob(); job != nullptr) {
    has_ended_ = job->HasEnded();
    if (!has_ended_) return GoOn();
  }
  const Clock::Time now = executor_.clock().Now();
  if (!over_since_.has_value()) BeOver();
  bool settled = pods_after_end_ == PodsAfterEnd::kListed || now - *over_since_ >= kAfterEnd;
  for (const auto& [uid, tail] : tails_) settled = settled && IsSettled(*tail, now);
  if (settled) {
    return End(has_ended_ ? absl::OkStatus()
                          : absl::NotFoundError("job " + options_.ns + "/" + options_.job +
                                                " was deleted"));
  }
  if (look_timer_ != 0) return;
  look_timer_ = executor_.PostAfter(kLookAgain, [this] {
    look_timer_ = 0;
    CheckEnd();
  });
}

void LogFollow::End(const absl::Status& status) {
  if (done_ != nullptr) std::exchange(done_, nullptr)(status);
}

// Nothing more is to be had of this log now that the job is over.
bool LogFollow::IsSettled(const Tail& tail, Clock::Time now) const {
  if (tail.done) return true;
  const bool writes = !tail.gone && !tail.past && !HasStopped(*tail.pod);
  if (writes) return now - *over_since_ >= kAfterEnd;
  // What is written is read to its end, however much that is, while it comes.
  if (tail.log->code() == 0) return now - *over_since_ >= ContainerLog::kAnswer;
  return now - std::max(*over_since_, tail.log->heard()) >= kAfterEnd;
}

void LogFollow::BeOver() {
  over_since_ = executor_.clock().Now();
  // Not at once: this may be a call of that very reflector.
  ask_timer_ = executor_.PostAfter(Clock::Duration::zero(), [this] {
    ask_timer_ = 0;
    pods_after_end_ = PodsAfterEnd::kAsked;
    pod_reflector_.Start();
  });
}

void LogFollow::GoOn() {
  for (Executor::TimerId* timer : {&ask_timer_, &look_timer_}) {
    if (*timer != 0) executor_.Cancel(*timer);
    *timer = 0;
  }
  over_since_.reset();
  pods_after_end_ = PodsAfterEnd::kUnasked;
}

}  // namespace taas
